"""ReLU networks in contexts, as published, and gated networks that may imitate them."""

from functools import lru_cache

import jax
import jax.numpy as jnp
import numpy as np

from mdsgdln import networks, reln, sweeps, tasks, theory, training
from mdsgdln_book.experiments.published import (
    HIDDEN,
    NUM_ITEMS,
    NUM_STEPS,
    PATHWAY_HIDDEN,
    SCALE,
    SUM_STEP,
)
from mdsgdln_book.experiments.reduced import reduced
from mdsgdln_book.tables import Table

EVERY = 50  # steps between two records of the ReLU network's weights
kept = jax.jit(lambda weights: weights)  # what is recorded; compiled once
FACTORS = tuple(2**k for k in range(11))  # of σ in contextual pathways
STRUCTURES = {
    "3 contexts": ["tree"] * 3,
    "tree, ring, cross": ["tree", "ring", "cross"],
    "4 contexts": ["tree"] * 4,
    "5 contexts": ["tree"] * 5,
}


def setup(case: str):
    """Return the task, the learning rate and the ReLU network."""
    structures = STRUCTURES["3 contexts" if case == "trees" else case]
    task = tasks.contextual(len(structures), NUM_ITEMS, structures)
    relu = networks.ReLUNetwork((len(task.inputs), HIDDEN, len(task.targets)))
    return task, SUM_STEP * task.num_samples, relu


def candidates(case: str, seed: int) -> dict:
    """Train the ReLU network and each candidate; return deviations and thinned loss curves."""
    task, rate, relu = setup(case)
    num_contexts = len(STRUCTURES[case])
    relu_key, *keys = jax.random.split(jax.random.key(seed), 5)

    def losses(network, scale, key):
        small = reduced(network, network.init(key, scale), task)
        return training.train(*small, rate, NUM_STEPS).losses

    reference = losses(relu, SCALE, relu_key)
    curves = {"relu": reference}
    all_but_one = networks.contextual_pathways(task, num_contexts, num_contexts - 1, PATHWAY_HIDDEN)
    curves["all_but_one"] = losses(all_but_one, SCALE, keys[0])
    curves["doubled"] = losses(all_but_one, doubled(all_but_one), keys[0])
    one = networks.contextual_pathways(task, num_contexts, 1, PATHWAY_HIDDEN)
    curves["one_context"] = losses(one, SCALE, keys[1])
    num_pairs = num_contexts * (num_contexts - 1) // 2
    width = PATHWAY_HIDDEN * (num_contexts + 1) // (num_pairs + 1)  # the same neurons in all
    pairs = networks.contextual_pathways(task, num_contexts, 2, width)
    curves["pairs"] = losses(pairs, SCALE, keys[2])
    deviations = {name: reln.deviation(curve, reference) for name, curve in curves.items()}
    del deviations["relu"]
    return deviations | {f"{name}_losses": curve[::80] for name, curve in curves.items()}


def doubled(network: networks.GatedNetwork) -> dict:
    """Return σ per edge, doubled where it belongs to a contextual pathway (MHS App. H)."""
    return {edge: SCALE * (1 if "pathway 0" in edge else 2) for edge in network.graph.edges}


def samples_alone(case: str, seed: int) -> dict:
    """Return the losses of a common pathway beside a module for each sample, which sees the item.

    It has as many neurons in all as the all-but-one network. The modules share their input and
    output, so they stand side by side in one layer.
    """
    task, rate, _ = setup(case)
    num_contexts, num_inputs = len(STRUCTURES[case]), len(task.inputs)
    width = PATHWAY_HIDDEN * (num_contexts + 1) // (task.num_samples + 1)
    rows = {"all": slice(num_inputs), "items": slice(NUM_ITEMS)}
    task = tasks.Task(task.inputs, task.targets, node_rows=rows)
    sizes = {"all": num_inputs, "items": NUM_ITEMS, "output": len(task.targets)}
    sizes |= {"common": width, "modules": width * task.num_samples}
    edges = [("all", "common"), ("items", "modules"), ("common", "output"), ("modules", "output")]
    on = {"modules": jnp.repeat(jnp.eye(task.num_samples), width, axis=0)}
    network = networks.GatedNetwork(sizes, edges, on)
    weights = network.init(jax.random.key(seed), SCALE)
    small = reduced(network, weights, task)
    return {"losses": training.train(*small, rate, NUM_STEPS).losses[::80]}


def as_many_neurons(case: str, seed: int) -> dict:
    """Return the losses of the all-but-one network with as many neurons in all as the ReLU network.

    So say MHS App. F and G.1, against App. H.
    """
    task, rate, _ = setup(case)
    network = networks.contextual_pathways(task, 3, 2, HIDDEN // 4)
    weights = network.init(jax.random.key(seed), SCALE)
    small = reduced(network, weights, task)
    return {"losses": training.train(*small, rate, NUM_STEPS).losses[::80]}


def of_other(network: str, case: str, seed: int) -> dict:
    """Return the losses of one of OTHERS."""
    return OTHERS[network](case, seed)


OTHERS = {"a module for each sample": samples_alone, "as many neurons": as_many_neurons}


def scaled_pathways(case: str, subset_size: int) -> dict:
    """Return the predicted losses with each of FACTORS times the ReLU network's σ in contexts."""
    task, rate, _ = setup(case)
    network = networks.contextual_pathways(task, 3, subset_size, PATHWAY_HIDDEN)
    times = rate * jnp.arange(0, NUM_STEPS, 80)

    def losses(factor):
        scale = {e: SCALE * (1 if "pathway 0" in e else factor) for e in network.graph.edges}
        return theory.predict_losses(network, task, scale, times, rate)

    return {"losses": jnp.stack([losses(factor) for factor in FACTORS])}


@lru_cache(maxsize=3)
def trained(case: str, seed: int) -> training.Run:
    """Train the ReLU network, once for all times of freezing; keep its weights now and then.

    Returns the network, the task and the run, all in the space of the targets.
    """
    task, rate, relu = setup(case)
    small = reduced(relu, relu.init(jax.random.key(seed), SCALE), task)
    run = training.train(*small, rate, NUM_STEPS, observe=kept, every=EVERY)
    return small[0], small[2], run


def frozen(case: str, time: float, seed: int) -> dict:
    """Freeze the gates at ``time``, in units of the time at which a tenth of the loss is gone.

    Until then the gated network is the ReLU network.
    """
    _, rate, _ = setup(case)
    relu, task, run = trained(case, seed)
    tenth = jnp.argmax(run.losses < 0.9 * run.losses[0])
    step = int(jnp.round(time * tenth))
    near = [weight[step // EVERY] for weight in run.observed]
    near = training.train(relu, near, task, rate, EVERY, observe=kept).observed
    first, second = (weight[step % EVERY] for weight in near)
    sizes = dict(zip(("input", "hidden", "output"), relu.sizes, strict=True))
    gates = {"hidden": relu.gates([first, second], task.inputs)[0]}
    into, out = ("input", "hidden"), ("hidden", "output")
    gated = networks.GatedNetwork(sizes, [into, out], gates)
    after = training.train(gated, {into: first, out: second}, task, rate, NUM_STEPS).losses
    losses = np.concatenate([run.losses[:step], after[: NUM_STEPS - step]])
    return {
        "step": step,
        "learned": 1 - run.losses[step] / run.losses[0],
        "deviation": reln.deviation(losses, run.losses),
        "summed_loss": losses.sum() / run.losses.sum(),
    }


TABLES = {
    "context_candidates": Table(candidates, sweeps.grid(case=list(STRUCTURES), seed=range(5))),
    "other_candidates": Table(
        of_other, sweeps.grid(network=list(OTHERS), case=list(STRUCTURES)[:2], seed=range(3)), row=5
    ),
    "scaled_pathways": Table(
        scaled_pathways, sweeps.grid(case=["trees", "tree, ring, cross"], subset_size=[1, 2])
    ),
    "exact_freezing": Table(
        frozen,
        sweeps.grid(
            case=["3 contexts", "tree, ring, cross", "4 contexts"],
            time=[0.0, 0.5, 0.7, 0.85, 1.0, 1.5, 2.0, 3.0, 6.0, 12.0],
            seed=range(3),
        ),
    ),
}
