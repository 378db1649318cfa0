"""Pathways for subsets of contexts race for what the common pathway leaves."""

import jax
import numpy as np

from mdsgdln import networks, tasks, theory, training
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
