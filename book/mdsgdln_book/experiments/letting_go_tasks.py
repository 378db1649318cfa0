"""Tasks and networks whose neurons let contexts go."""

import jax
import numpy as np

from mdsgdln import networks, tasks
from mdsgdln_book.experiments.published import HIDDEN, NUM_ITEMS, SCALE

# {size: neurons, σ}
SIZES = {"published": (HIDDEN, SCALE), "300": (300, 1e-4), "few": (30, 1e-4), "large": (300, 0.1)}


def structure_blocks(case: str, num_contexts: int, seed: int, num_items: int) -> list[np.ndarray]:
    """Return the structure of the common block and of each context, (rows, items) each."""
    generator, number = np.random.default_rng(seed), num_contexts + 1
    tree = np.asarray(tasks.structure("tree", num_items))
    match case:
        case "random":
            return [generator.integers(0, 2, (15, num_items)).astype(float)] * number
        case "random, each":
            return list(generator.integers(0, 2, (number, 15, num_items)).astype(float))
        case "identity":
            return [np.eye(num_items)] * number
        case "graded":
            places = np.arange(num_items)
            return [1 - abs(places[:, None] - places) / num_items] * number
        case "trees of three sizes":
            return [tree, *(size * tree for size in np.geomspace(0.8, 1.25, num_contexts))]
        case "tree, ring, cross":
            names = ["tree", "tree", "ring", "cross"]
        case _:
            names = [case] * number
    return [np.asarray(tasks.structure(name, num_items)) for name in names]


def contextual_task(case: str, num_contexts: int, num_items: int, seed: int = 0) -> tasks.Task:
    """Return items in contexts."""
    shared, *own = structure_blocks(case, num_contexts, seed, num_items)
    return tasks.contextual(num_contexts, num_items, own, shared)


def contextual_setting(case: str, num_contexts: int, size: str, seed: int):
    """Return the network, its initial weights, the task, and the context of each sample."""
    task = contextual_task(case, num_contexts, NUM_ITEMS, seed)
    num_hidden, scale = SIZES[size]
    network = networks.ReLUNetwork((len(task.inputs), num_hidden, len(task.targets)))
    contexts = np.repeat(np.arange(num_contexts), NUM_ITEMS)
    return network, network.init(jax.random.key(seed), scale), task, contexts


def remove_item_means(task, num_contexts: int) -> tasks.Task:
    """Replace F by F̃ in the target block of each context."""
    blocks = np.array(task.targets).reshape(num_contexts + 1, -1, num_contexts, NUM_ITEMS)
    blocks[1:] -= blocks[1:].mean(axis=3, keepdims=True)
    return tasks.Task(task.inputs, blocks.reshape(-1, task.num_samples))
