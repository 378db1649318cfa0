"""Pathways for subsets of contexts race for what the common pathway leaves, free or at a cost."""

from itertools import combinations

import jax
import jax.numpy as jnp
import numpy as np

from mdsgdln import gates, networks, squared_error, tasks, theory, training
from mdsgdln_book import linear_maps, sweeps
from mdsgdln_book.experiments.reduced import reduce_network
from mdsgdln_book.tables import Table

NUM_ITEMS, HIDDEN = 2, 20  # neurons of a pathway
STRENGTH = 1.0  # κ, the singular value of a tree of two items without its mean


def half_residual_time(kind: str, scale: float, seed: int) -> dict:
    """Return the time at which half of the residual is learned, in units of ln(1/a₀)/(2κ)."""
    sum_step, num_steps = 0.01, 6000
    num_contexts, subset_size = (int(word) for word in kind.split() if word.isdigit())
    task = tasks.contextual(num_contexts, NUM_ITEMS)
    rate = sum_step * task.num_samples
    network = networks.contextual_pathways(task, num_contexts, subset_size, HIDDEN)
    small = reduce_network(network, network.init(jax.random.key(seed), scale), task)
    run = training.train(*small, rate, num_steps, observe="outputs")
    residual = np.asarray(linear_maps.linear_residual(small[2]).targets)
    learned = np.tensordot(run.observed, residual) / np.sum(residual**2)
    half = rate * np.argmax(learned > 0.5)
    start = theory.expected_initial_strength(HIDDEN, scale)
    unit = task.num_samples / STRENGTH * np.log(1 / start) / 2
    return {"time": half / unit}


def decaying_item_modes(num_contexts: int, cost: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the item modes of pathways active in 1, 2, … contexts, summed by size.

    Weights of contextual pathways decay at the rate ``cost`` κ/P (κ = 1) times the number of
    contexts in which the pathway is active. Shapes: time / P (T,), strengths (sizes, T).
    """
    sum_step, num_steps, every, scale = 0.02, 14000, 700, 1e-12
    task = tasks.contextual(num_contexts, NUM_ITEMS)
    inputs, targets, count = task.inputs, task.targets, task.num_samples
    contexts = range(num_contexts)  # all of them are the common pathway, the last one
    subsets = [s for size in contexts for s in combinations(contexts, size + 1)]
    sizes = np.array([len(subset) for subset in subsets])
    on = np.repeat(gates.context_gates(num_contexts, NUM_ITEMS, subsets), HIDDEN, axis=0)
    seen = np.ones((len(on), len(inputs)))
    seen[:-HIDDEN, NUM_ITEMS:] = 0  # the others see the items only
    decay = np.repeat(sizes * (sizes < num_contexts), HIDDEN) * cost / count
    item = np.zeros(len(inputs))
    item[:2] = 1 / np.sqrt(2), -1 / np.sqrt(2)
    of_size = jnp.asarray(sizes[:, None] == np.arange(1, num_contexts + 1)).astype(float)
    into, out = ("input", "hidden"), ("hidden", "output")
    neurons = {"input": len(inputs), "hidden": len(on), "output": len(targets)}
    network = networks.GatedNetwork(neurons, [into, out], {"hidden": on})

    def taxed(network, weights, task):
        squares = jnp.sum(weights[into] ** 2, axis=1) + jnp.sum(weights[out] ** 2, axis=0)
        masked = weights | {into: seen * weights[into]}
        return squared_error(network, masked, task) + decay @ squares / 2

    def record(weights):
        first, second = weights[into], weights[out]
        answer = (second * (first @ item)).reshape(len(targets), -1, HIDDEN).sum(axis=2)
        return jnp.linalg.norm(answer, axis=0) @ of_size

    keys = jax.random.split(jax.random.key(0))
    weights = {
        into: scale * seen * jax.random.normal(keys[0], seen.shape),
        out: scale * jax.random.normal(keys[1], (len(targets), len(on))),
    }
    rate, options = sum_step * count, {"observe": record, "every": every, "loss": taxed}
    run = training.train(network, weights, task, rate, num_steps, **options)
    strengths = np.asarray(run.observed).T
    return sum_step * every * np.arange(strengths.shape[1]), strengths


TABLES = {
    "race_law": Table(
        half_residual_time,
        sweeps.grid(
            kind=[f"{c} contexts, {k} on" for c in range(3, 9) for k in range(1, c)],
            scale=[1e-3, 1e-5, 1e-7, 1e-9],
            seed=range(3),
        ),
    ),
}
