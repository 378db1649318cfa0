"""Letting go with items that have similar inputs, and from default initial weights."""

import jax
import numpy as np

from mdsgdln import networks, tasks
from mdsgdln_book import linear_maps, sweeps
from mdsgdln_book.experiments import letting_go
from mdsgdln_book.experiments.letting_go_tasks import contextual_task, structure_blocks
from mdsgdln_book.tables import Table

CONTEXTS, NUM_ITEMS, NEURONS = 3, 8, 300


def similar_items(structure: str, similarity: float, targets: str, seed: int) -> tasks.Task:
    """Return the contextual task with items whose inputs are as similar as their properties.

    An item is √(1 − a) times a one-hot vector over √a times its properties, of length one, with
    similarity a. ``targets`` are "whole", or the "linear" part that the best linear map gives.
    """
    properties = structure_blocks(structure, CONTEXTS, seed, NUM_ITEMS)[0]
    properties = properties / np.linalg.norm(properties, axis=0)
    task = contextual_task(structure, CONTEXTS, NUM_ITEMS, seed)
    one_hot, contexts = np.split(np.asarray(task.inputs), [NUM_ITEMS])
    alike = [np.sqrt(1 - similarity) * one_hot, np.sqrt(similarity) * properties @ one_hot]
    task = tasks.Task(np.vstack([*alike, contexts]), task.targets)
    return linear_maps.linear_part(task) if targets == "linear" else task


def let_go_with_similar_items(
    structure: str, similarity: float, targets: str, weights: str, seed: int
) -> dict:
    """Train to 5 and 1 % of the loss; count contexts let go, and how many were foretold, at 1 %.

    ``shares`` of the weight active in 0, 1, … C contexts, ``recovered`` from the initial
    preferences and ``chance``, each by letting_go.RULES. Initial ``weights`` are "small", or the
    "default" of PyTorch's layers, uniform up to the inverse root of the number of their inputs.
    """
    task = similar_items(structure, similarity, targets, seed)
    network = networks.ReLUNetwork((len(task.inputs), NEURONS, len(task.targets)))
    start = network.init(jax.random.key(seed), 1e-4)
    if weights == "default":
        keys = jax.random.split(jax.random.key(seed))
        bounds = (len(task.inputs) ** -0.5, NEURONS**-0.5)
        start = [
            bound * jax.random.uniform(key, layer.shape, minval=-1.0)
            for key, layer, bound in zip(keys, start, bounds, strict=True)
        ]
    *_, end = letting_go.train_to_levels(network, start, task)
    numbers = np.repeat(np.arange(CONTEXTS), NUM_ITEMS)
    preference, *_ = letting_go.forecasts(network, start, task, numbers)
    return letting_go.count_and_forecast(end, task, [preference])


STRUCTURES, SEEDS = ["tree", "ring", "random"], range(50, 55)
TABLES = {
    "letting_go_inputs": Table(
        let_go_with_similar_items,
        sweeps.grid(
            structure=STRUCTURES,
            similarity=[0.0, 0.6, 1.0],
            targets=["whole", "linear"],
            weights=["small"],
            seed=SEEDS,
        )
        + sweeps.grid(
            structure=STRUCTURES,
            similarity=[0.0],
            targets=["whole", "linear"],
            weights=["default"],
            seed=SEEDS,
        ),
    ),
}
