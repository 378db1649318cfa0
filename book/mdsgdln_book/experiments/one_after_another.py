"""One context after another: forgetting predicted, by similarity, and what blocks do to neurons.

A network sees one context at a time, in *blocks* of equal length, in the order 1, 2, …, C, 1, ….
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import optax

import mdsgdln as md
from mdsgdln_book import linear_maps
from mdsgdln_book.experiments import letting_go
from mdsgdln_book.experiments.letting_go_tasks import contextual_task
from mdsgdln_book.tables import Table

HIDDEN, NEURONS = 300, 128  # of the network, and of what predicts it
RATE = 0.1  # of descent
RULES = {
    "descent": (optax.sgd(RATE), md.squared_error),
    "momentum": (optax.sgd(RATE / 10, momentum=0.9), md.squared_error),
    "Adam": (optax.adam(1e-3), md.squared_error),
    "logistic": (optax.sgd(2 * RATE), md.logistic),
}
BLOCK = 600  # steps in which a context is learned
LENGTHS = (0.1, 1.0, 2.0, 3.0, 4.5, 7.0, 10.0, 16.0)  # of blocks, step size × steps


@partial(jax.jit, static_argnames=("rule", "num_steps", "every"))
def train_in_turn(network, weights, parts, rule, block, num_steps, every):
    """Train on one context of ``parts`` after another, for ``block`` steps each, by one of RULES.

    Returns:
        the weights, and the loss of each context before every ``every``-th step, (records, C).
    """
    optimiser, loss = RULES[rule]

    def step(state, number):
        weights, memory = state
        part = jax.tree.map(lambda each: each[(number // block) % len(parts.inputs)], parts)
        slope = jax.grad(loss, argnums=1)(network, weights, part)
        change, memory = optimiser.update(slope, memory, weights)
        return (optax.apply_updates(weights, change), memory), None

    def record(state, number):
        losses = jax.vmap(lambda part: loss(network, state[0], part))(parts)
        return jax.lax.scan(step, state, number * every + jnp.arange(every))[0], losses

    state = weights, optimiser.init(weights)
    (weights, _), losses = jax.lax.scan(record, state, jnp.arange(num_steps // every))
    return weights, losses


def by_context(task: md.Task, num_contexts: int) -> md.Task:
    """Return a task whose arrays have an axis of contexts in front."""
    return jax.tree.map(
        lambda each: jnp.stack(jnp.split(jnp.asarray(each, float), num_contexts, axis=1)),
        task.unlabelled(),
    )


def relative_error(losses, reference) -> float:
    """Return the absolute difference over the reference, both summed over times and contexts."""
    return float(np.abs(losses - reference).sum() / reference.sum())


def forgetting_predicted(
    rule: str, case: str, contexts: int, items: int, scale: float, blocks: int, seed: int
) -> dict:
    """Follow each context's loss while contexts are learned in turn, and predict it.

    Three curves are held against the network's: of a ``stand_in``, of a ``plain`` random network
    of as many neurons with √(H/N) times as large weights, and of a second seed, ``seeds``. Each has
    its relative ``error`` over all blocks and ``late``, in the last block alone. ``forgotten`` is
    the loss of the first context at the end of the second block over its start, also of the
    ``network``.
    """
    task = contextual_task(case, contexts, items, seed=seed)
    optimiser, loss = RULES[rule]
    keys = jax.random.split(jax.random.key(seed), 4)
    wide, plain = (
        md.ReLUNetwork((len(task.inputs), H, len(task.targets))) for H in (HIDDEN, NEURONS)
    )
    how = {"num_neurons": NEURONS, "key": keys[2], "loss": loss}
    how |= {} if rule == "descent" else {"optimiser": optimiser}
    runs = {
        "network": (wide, wide.init(keys[0], scale), task),
        "stand_in": md.theory.stand_in(wide, scale, task, **how),
        "plain": (plain, plain.init(keys[3], scale * (HIDDEN / NEURONS) ** 0.5), task),
        "seeds": (wide, wide.init(keys[1], scale), task),
    }
    curves, found = {}, {}
    for name, (network, weights, data) in runs.items():
        turn = rule, BLOCK, BLOCK * blocks + 10, 10
        _, losses = train_in_turn(network, weights, by_context(data, contexts), *turn)
        curves[name] = np.asarray(losses)
        found[f"{name}_forgotten"] = losses[2 * BLOCK // 10, 0] / losses[0, 0]
    true = curves.pop("network")
    for name, losses in curves.items():
        found[f"{name}_error"] = relative_error(losses, true)
        found[f"{name}_late"] = relative_error(losses[-BLOCK // 10 :], true[-BLOCK // 10 :])
    return found


def two_tasks(similarity: float, cue: float) -> md.Task:
    """Return two tasks on the same eight items and outputs, each with a cue of its own.

    Targets of the first are the rows F of a tree over zeros, those of the second s F over
    √(1 − s²) F, so that their cosine is s.
    """
    items, rows = 8, np.asarray(md.tasks.structure("tree", 8))
    other = max(1 - similarity**2, 0) ** 0.5 * rows
    inputs = np.vstack([np.tile(np.eye(items), 2), cue * np.repeat(np.eye(2), items, axis=1)])
    return md.Task(inputs, np.block([[rows, similarity * rows], [0 * rows, other]]))


def forgetting_by_similarity(
    activation: str, similarity: float, cue: float, scale: float, seed: int
) -> dict:
    """Learn two tasks in turn: the loss of the first after the second, over its start.

    ``forgotten`` by the network, ``predicted`` by a stand-in; ``left`` is the largest part of a
    task that the network has not learned at the end of its own block.
    """
    task = two_tasks(similarity, cue)
    sizes = (len(task.inputs), HIDDEN, len(task.targets))
    network = md.ReLUNetwork(sizes) if activation == "relu" else md.LinearNetwork(sizes)
    keys = jax.random.split(jax.random.key(seed), 2)
    small = md.theory.stand_in(network, scale, task, num_neurons=NEURONS, key=keys[1])
    block, ends = 1280, []
    for net, weights, data in [(network, network.init(keys[0], scale), task), small]:
        turn = "descent", block, 3 * block, block
        _, losses = train_in_turn(net, weights, by_context(data, 2), *turn)
        ends.append(np.asarray(losses / losses[0]))
    (_, first, last), (*_, told) = ends
    return {"forgotten": last[0], "predicted": told[0], "left": max(first[0], last[1])}


def mixing(
    case: str,
    contexts: int,
    items: int,
    scale: float,
    targets: str,
    length: float,
    seed: int,
) -> dict:
    """Train in blocks that last ``length`` (step size × steps), and count neurons' contexts.

    ``shares`` of the weight in 0, 1, …, C contexts by each of letting_go.RULES, after 3000 steps;
    ``left`` is the part of the loss on all contexts then. ``targets`` are the whole task's or what
    its best linear map gives.
    """
    task = contextual_task(case, contexts, items, seed)
    if targets == "linear":
        task = linear_maps.linear_part(task)
    network = md.ReLUNetwork((len(task.inputs), 200, len(task.targets)))
    start, parts = network.init(jax.random.key(seed), scale), by_context(task, contexts)
    turn = "descent", round(length / RATE), 3000, 100
    weights, losses = train_in_turn(network, start, parts, *turn)
    left = float(losses[-1].mean() / losses[0].mean())
    return {"shares": letting_go.shares_by_rule(weights, task, contexts), "left": left}


SEEDS = range(50, 55)
SIMILARITIES = (-1.0, -0.5, 0.0, 0.5, 0.8, 1.0)
USUAL = {"case": "tree", "contexts": 3, "items": 8, "scale": 1e-4}
# What differs from USUAL, trees, ReLUs, a cue of 1, descent and three blocks.
IN_TURN = [{}, {"scale": 1e-2}, {"scale": 5e-2}, {"blocks": 9}, {"case": "tree, ring, cross"}]
IN_TURN += [{"contexts": 4}, {"items": 16}, *({"rule": rule} for rule in list(RULES)[1:])]
PAIRS = [{}, {"cue": 0.5}, {"scale": 0.1}, {"activation": "linear"}]
CASES = ("tree", "ring", "random")
STRUCTURES = [{"case": case, "scale": scale} for case in CASES for scale in (1e-2, 1e-4, 1e-6)]
STRUCTURES += [{"case": case, "contexts": 4} for case in CASES]
MIXED = USUAL | {"targets": "whole"}
TABLES = {
    "forgetting_predicted": Table(
        forgetting_predicted,
        [
            USUAL | {"rule": "descent", "blocks": 3} | other | {"seed": seed}
            for other in IN_TURN
            for seed in SEEDS
        ],
    ),
    "forgetting_by_similarity": Table(
        forgetting_by_similarity,
        [
            {"activation": "relu", "cue": 1.0, "scale": 1e-4}
            | other
            | {"similarity": similarity, "seed": seed}
            for other in PAIRS
            for similarity in SIMILARITIES
            for seed in SEEDS
        ],
    ),
    "mixing": Table(
        mixing,
        [
            MIXED | other | {"length": length, "seed": seed}
            for other in STRUCTURES
            for length in LENGTHS
            for seed in SEEDS
        ]
        + [
            MIXED | {"targets": "linear", "length": length, "seed": seed}
            for length in (0.1, 4.5, 16.0)
            for seed in SEEDS
        ],
    ),
}
