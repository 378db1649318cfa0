"""Letting go with two hidden layers, images as items, similar inputs and default weights."""

import jax
import numpy as np

from mdsgdln import networks, tasks
from mdsgdln_book import linear_maps, sweeps
from mdsgdln_book.experiments import letting_go
from mdsgdln_book.experiments.letting_go_tasks import contextual_task, structure_blocks
from mdsgdln_book.tables import Table

CONTEXTS, NUM_ITEMS, NEURONS = 3, 8, 300
WIDTH, DEEP_SCALE = 154, 1e-3  # of two hidden layers
IMAGES, DIGITS_SCALE, DIGITS_STEP = 100, 1e-3, 5e-4


def digits_in_contexts(seed: int) -> tasks.Task:
    """Return random digit images in contexts, with six binary features per context.

    Inputs are 64 centred pixels, on average of length 1, over a one-hot context. Each of the ten
    digits has six binary features in every context and six that all contexts share.
    """
    generator, every = np.random.default_rng(seed), tasks.digits()
    chosen = generator.permutation(every.num_samples)[:IMAGES]
    images = np.asarray(every.inputs).T[chosen]
    classes = np.asarray(every.targets).argmax(axis=0)[chosen]
    images = images - images.mean(axis=0)
    images /= np.linalg.norm(images, axis=1).mean()
    common, *own = generator.integers(0, 2, (CONTEXTS + 1, 6, 10))[:, :, classes].astype(float)
    items = tasks.contextual(CONTEXTS, IMAGES, list(own), common)
    one_hot, contexts = np.split(np.asarray(items.inputs), [IMAGES])
    return tasks.Task(np.vstack([images.T @ one_hot, contexts]), items.targets)


def layer_forecast_accuracy(weights, seen: tasks.Task, end, seen_at_end: tasks.Task) -> list:
    """Return how well one layer's initial weights forecast its inactive contexts.

    ``weights`` are those into the layer and from it to the outputs, ``end`` those into and out of
    it after training; the inputs of ``seen`` are what the layer sees, initially and in the end.
    """
    layer = networks.ReLUNetwork((len(seen.inputs), len(weights[0]), len(seen.targets)))
    numbers = np.repeat(np.arange(CONTEXTS), seen.num_samples // CONTEXTS)
    scores = letting_go.forecasts(layer, weights, seen, numbers)
    off, mass = letting_go.inactive_contexts(end, seen_at_end, CONTEXTS)
    return [letting_go.forecast_accuracy(score, off, mass) for score in scores]


def forecast_by_layer(case: str, seed: int) -> dict:
    """Train to 1 % of the loss; return the accuracy of each of FORECASTS, one row per layer."""
    if case == "digits":
        task, sizes, scale, step = digits_in_contexts(seed), (300,), DIGITS_SCALE, DIGITS_STEP
    else:
        task = tasks.contextual(CONTEXTS, 8)
        sizes, scale, step = (WIDTH, WIDTH), DEEP_SCALE, letting_go.SUM_STEP
    network = networks.ReLUNetwork((len(task.inputs), *sizes, len(task.targets)))
    start = network.init(jax.random.key(seed), scale)
    *_, end = letting_go.train_to_levels(network, start, task, step=step)
    before, after = (
        [task.inputs, *network.activations(weights, task.inputs)] for weights in (start, end)
    )
    found = []
    for layer in range(len(sizes)):
        outgoing = start[-1] if layer + 1 == len(sizes) else start[-1] @ start[-2]
        seen, at_end = (tasks.Task(data[layer], task.targets) for data in (before, after))
        found.append(
            layer_forecast_accuracy([start[layer], outgoing], seen, end[layer : layer + 2], at_end)
        )
    return {"recovered": np.array(found)}


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
CASES = ["two hidden layers", "digits"]
TABLES = {  # with two hidden layers, rounding decides where neurons end: digits are repeated
    "letting_go_further": Table(
        forecast_by_layer, sweeps.grid(case=CASES, seed=range(3, 8)), repeated=(8,)
    ),
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
