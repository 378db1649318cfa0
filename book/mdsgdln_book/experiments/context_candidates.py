"""ReLU networks in contexts, as published, and gated networks that may imitate them."""

import jax
import jax.numpy as jnp

from mdsgdln import deviation, networks, tasks, theory, training
from mdsgdln_book import sweeps
from mdsgdln_book.experiments import letting_go
from mdsgdln_book.experiments.published import (
    HIDDEN,
    NUM_ITEMS,
    NUM_STEPS,
    PATHWAY_HIDDEN,
    SCALE,
    SUM_STEP,
)
from mdsgdln_book.experiments.reduced import reduce_network, reduced_losses
from mdsgdln_book.tables import Table

FACTORS = tuple(2**k for k in range(11))  # of σ in contextual pathways
STRUCTURES = {
    "3 contexts": ["tree"] * 3,
    "tree, ring, cross": ["tree", "ring", "cross"],
    "4 contexts": ["tree"] * 4,
    "5 contexts": ["tree"] * 5,
}


def contextual_setting(case: str):
    """Return the task, the learning rate and the ReLU network."""
    structures = STRUCTURES["3 contexts" if case == "trees" else case]
    task = tasks.contextual(len(structures), NUM_ITEMS, structures)
    relu = networks.ReLUNetwork((len(task.inputs), HIDDEN, len(task.targets)))
    return task, SUM_STEP * task.num_samples, relu


def compare_candidates(case: str, seed: int) -> dict:
    """Train the ReLU network and each candidate; return relative errors and thinned losses."""
    task, rate, relu = contextual_setting(case)
    num_contexts = len(STRUCTURES[case])
    relu_key, *keys = jax.random.split(jax.random.key(seed), 5)

    def losses(network, scale, key):
        return reduced_losses(network, network.init(key, scale), task, rate, NUM_STEPS)

    reference = losses(relu, SCALE, relu_key)
    curves = {"relu": reference}
    all_but_one = networks.contextual_pathways(task, num_contexts, num_contexts - 1, PATHWAY_HIDDEN)
    curves["all_but_one"] = losses(all_but_one, SCALE, keys[0])
    curves["doubled"] = losses(all_but_one, scale_contextual_pathways(all_but_one, 2), keys[0])
    one = networks.contextual_pathways(task, num_contexts, 1, PATHWAY_HIDDEN)
    curves["one_context"] = losses(one, SCALE, keys[1])
    num_pairs = num_contexts * (num_contexts - 1) // 2
    width = PATHWAY_HIDDEN * (num_contexts + 1) // (num_pairs + 1)  # the same neurons in all
    pairs = networks.contextual_pathways(task, num_contexts, 2, width)
    curves["pairs"] = losses(pairs, SCALE, keys[2])
    deviations = {name: deviation(curve, reference) for name, curve in curves.items()}
    del deviations["relu"]
    return deviations | {f"{name}_losses": curve[::80] for name, curve in curves.items()}


def train_without_common_block(seed: int) -> dict:
    """Train on three trees without a common block; compare candidates and active contexts.

    ``on``: the share of the weight in 0, 1, 2 and 3 contexts, at first ``untrained``.
    """
    full, rate, _ = contextual_setting("3 contexts")
    task = tasks.Task(full.inputs, full.targets[len(full.targets) // 4 :])
    relu = networks.ReLUNetwork((len(task.inputs), HIDDEN, len(task.targets)))
    key, *keys = jax.random.split(jax.random.key(seed), 3)
    start = relu.init(key, SCALE)
    run = training.train(relu, start, task, rate, 2 * NUM_STEPS)
    found = {}
    for name, weights in (("on", run.weights), ("untrained", start)):
        off, mass = letting_go.inactive_contexts(weights, task, 3)
        found[name] = letting_go.share_by_context_count(off, mass)
    for size, of_pathways in zip((1, 2), keys, strict=True):
        gated = networks.contextual_pathways(task, 3, size, PATHWAY_HIDDEN)
        start = gated.init(of_pathways, SCALE)
        losses = reduced_losses(gated, start, task, rate, 2 * NUM_STEPS)
        found[f"in {size}"] = deviation(losses, run.losses)
    return found


def scale_contextual_pathways(network: networks.GatedNetwork, factor: float) -> dict:
    """Return σ per edge, multiplied in contextual pathways, in MHS App. H by 2."""
    return {edge: SCALE * (1 if "pathway 0" in edge else factor) for edge in network.graph.edges}


def sample_pathways(task: tasks.Task) -> networks.GatedNetwork:
    """Return a common pathway plus one pathway for each sample of three contexts.

    It has as many neurons in all as the all-but-one network. The modules share their input and
    output, so they stand side by side in one layer.
    """
    num_inputs, width = len(task.inputs), 4 * PATHWAY_HIDDEN // (task.num_samples + 1)
    rows = {"all": slice(num_inputs), "items": slice(NUM_ITEMS)}
    sizes = {"all": num_inputs, "items": NUM_ITEMS, "output": len(task.targets)}
    sizes |= {"common": width, "modules": width * task.num_samples}
    edges = [("all", "common"), ("items", "modules"), ("common", "output"), ("modules", "output")]
    on = {"modules": jnp.repeat(jnp.eye(task.num_samples), width, axis=0)}
    return networks.GatedNetwork(sizes, edges, on, rows=rows)


RIVALS = {
    "a module for each sample": sample_pathways,
    # So say MHS App. F and G.1, against App. H.
    "as many neurons": lambda task: networks.contextual_pathways(task, 3, 2, HIDDEN // 4),
}


def losses_of_rival(network: str, case: str, seed: int) -> dict:
    """Return the losses of one of RIVALS."""
    task, rate, _ = contextual_setting(case)
    rival = RIVALS[network](task)
    weights = rival.init(jax.random.key(seed), SCALE)
    return {"losses": reduced_losses(rival, weights, task, rate, NUM_STEPS)[::80]}


def losses_of_scaled_pathways(case: str, subset_size: int) -> dict:
    """Return predicted losses with σ of the contextual pathways multiplied by each of FACTORS."""
    task, rate, _ = contextual_setting(case)
    network = networks.contextual_pathways(task, 3, subset_size, PATHWAY_HIDDEN)

    def losses(factor):
        scale = scale_contextual_pathways(network, factor)
        return theory.predict(network, scale, task, rate, NUM_STEPS).losses[::80]

    return {"losses": jnp.stack([losses(factor) for factor in FACTORS])}


def loss_ratio_with_frozen_gates(case: str, seed: int) -> dict:
    """Return the summed loss with gates frozen at initialisation over that of the ReLU network."""
    task, rate, relu = contextual_setting(case)
    relu, (first, second), task = reduce_network(relu, relu.init(jax.random.key(seed), SCALE), task)
    losses = training.train(relu, [first, second], task, rate, NUM_STEPS).losses
    sizes = dict(zip(("input", "hidden", "output"), relu.sizes, strict=True))
    into, out = ("input", "hidden"), ("hidden", "output")
    gates = {"hidden": relu.gates([first, second], task.inputs)[0]}
    gated = networks.GatedNetwork(sizes, [into, out], gates)
    kept = training.train(gated, {into: first, out: second}, task, rate, NUM_STEPS).losses
    return {"summed_loss": kept.sum() / losses.sum()}


TABLES = {
    "context_candidates": Table(
        compare_candidates, sweeps.grid(case=list(STRUCTURES), seed=range(5))
    ),
    "other_candidates": Table(
        losses_of_rival,
        sweeps.grid(network=list(RIVALS), case=list(STRUCTURES)[:2], seed=range(3)),
        repeated=(5, 11),
    ),
    "scaled_pathways": Table(
        losses_of_scaled_pathways,
        sweeps.grid(case=["trees", "tree, ring, cross"], subset_size=[1, 2]),
    ),
    "no_common_block": Table(train_without_common_block, sweeps.grid(seed=range(3))),
    "exact_freezing": Table(
        loss_ratio_with_frozen_gates, sweeps.grid(case=["4 contexts"], seed=range(3))
    ),
}
