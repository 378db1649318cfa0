"""ReLU networks in contexts, and gated networks that may imitate them, from five starts each."""

import jax

from mdsgdln import networks, reln, tasks, training

# MHS App. H: hidden neurons of the ReLU network and of a pathway, σ, steps, step of the summed loss
RELU_HIDDEN, PATHWAY_HIDDEN, SCALE = 700, 100, 0.005 / 700
NUM_STEPS, SUM_STEP = 8001, 0.001
STRUCTURES = {
    "3 contexts": [["tree"] * 3],
    "tree, ring, cross": [["tree", "ring", "cross"]],
    "4 contexts": [["tree"] * 4],
    "5 contexts": [["tree"] * 5],
}


def experiment(case: str, seed: int) -> dict:
    """Train the ReLU network and each candidate; return deviations and thinned loss curves."""
    (structures,) = STRUCTURES[case]
    num_contexts = len(structures)
    task = tasks.contextual(num_contexts, 8, structures)
    rate = SUM_STEP * task.num_samples
    relu_key, *keys = jax.random.split(jax.random.key(seed), 5)

    def losses(network, scale, key):
        return training.train(network, network.init(key, scale), task, rate, NUM_STEPS).losses

    relu = networks.ReLUNetwork((len(task.inputs), RELU_HIDDEN, len(task.targets)))
    reference = losses(relu, SCALE, relu_key)
    curves = {"relu": reference}
    all_but_one = reln.context_candidate(task, num_contexts, num_contexts - 1, PATHWAY_HIDDEN)
    curves["all_but_one"] = losses(all_but_one, SCALE, keys[0])
    curves["doubled"] = losses(all_but_one, _doubled(all_but_one), keys[0])
    one = reln.context_candidate(task, num_contexts, 1, PATHWAY_HIDDEN)
    curves["one_context"] = losses(one, SCALE, keys[1])
    num_pairs = num_contexts * (num_contexts - 1) // 2
    width = PATHWAY_HIDDEN * (num_contexts + 1) // (num_pairs + 1)  # the same neurons in all
    curves["pairs"] = losses(reln.context_candidate(task, num_contexts, 2, width), SCALE, keys[2])
    deviations = {name: reln.deviation(curve, reference) for name, curve in curves.items()}
    del deviations["relu"]
    return deviations | {f"{name}_losses": curve[::80] for name, curve in curves.items()}


def _doubled(network: networks.GatedNetwork) -> dict:
    """Return σ per edge, doubled where it belongs to a contextual pathway (MHS App. H)."""
    return {edge: SCALE * (1 if "pathway 0" in edge else 2) for edge in network.graph.edges}
