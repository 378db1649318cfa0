"""How the agreement with a ReLU network depends on the initial scale of the gated network."""

import jax

from mdsgdln import networks, reln, tasks, training

RELU_HIDDEN, PATHWAY_HIDDEN, SCALE = 700, 100, 0.005 / 700
NUM_STEPS, SUM_STEP = 8001, 0.001
STRUCTURES = {"trees": ["tree"] * 3, "tree, ring, cross": ["tree", "ring", "cross"]}


def experiment(case: str, ratio: float, seed: int) -> dict:
    """Return the deviation of the all-but-one network with ``ratio`` times the ReLU network's σ."""
    task = tasks.contextual(3, 8, STRUCTURES[case])
    rate = SUM_STEP * task.num_samples
    keys = jax.random.split(jax.random.key(seed))
    relu = networks.ReLUNetwork((len(task.inputs), RELU_HIDDEN, len(task.targets)))
    gated = reln.context_candidate(task, 3, 2, PATHWAY_HIDDEN)
    reference, losses = (
        training.train(network, network.init(key, scale), task, rate, NUM_STEPS).losses
        for network, key, scale in zip((relu, gated), keys, (SCALE, SCALE * ratio), strict=True)
    )
    return {
        "deviation": reln.deviation(losses, reference),
        "summed_loss": losses.sum() / reference.sum(),
    }
