"""The symmetries of trees in contexts, and the classes of errors that they leave.

A permutation of items and contexts that leaves the task as it is also leaves the law of Gaussian
weights as it is, and so the function that infinitely many neurons learn. Its error therefore has
one number per *class*, an orbit of (output, sample) pairs.
"""

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from mdsgdln import tasks
from mdsgdln_book.experiments.published import NUM_ITEMS


def tree_task(num_contexts: int) -> tasks.Task:
    """Return trees in contexts with rotated outputs that make the item permutations explicit.

    The rows H of a tree span one dimension per item. (HᵀH)^{1/2} has the same second moments and
    one output per item: for a network with Gaussian weights it is the same task.
    """
    tree = tasks.structure("tree", NUM_ITEMS)
    values, vectors = np.linalg.eigh(tree.T @ tree)
    root = vectors * np.sqrt(values) @ vectors.T
    return tasks.contextual(num_contexts, NUM_ITEMS, [root] * num_contexts, root)


def tree_symmetries(num_contexts: int) -> list:
    """Return permutations (outputs, samples) that generate the symmetry group of ``tree_task``.

    The halves of a branch may be swapped, in the items of every block at once, and so may contexts,
    with their blocks.
    """
    items, blocks = np.arange(NUM_ITEMS), np.arange(num_contexts)
    generators = []
    for size in 2 ** np.arange(1, NUM_ITEMS.bit_length()):  # halves of the first branch of a size
        order = np.concatenate([np.roll(items[:size], size // 2), items[size:]])
        shifts = NUM_ITEMS * np.arange(num_contexts + 1)[:, None]
        generators.append(((shifts + order).ravel(), (shifts[:-1] + order).ravel()))
    for order in (np.roll(blocks, 1), np.r_[1, 0, blocks[2:]]):
        columns = (NUM_ITEMS * order[:, None] + items).ravel()
        generators.append((np.r_[items, NUM_ITEMS + columns], columns))
    return generators


def symmetry_classes(task: tasks.Task, generators: list) -> np.ndarray:
    """Return the class number of each (output, sample) pair, shape (N_out, P)."""
    targets = np.asarray(task.targets)
    places = np.arange(targets.size).reshape(targets.shape)
    moved = [places[np.ix_(rows, columns)] for rows, columns in generators]
    pairs = (np.tile(places.ravel(), len(moved)), np.ravel(moved))
    joined = coo_array((np.ones(len(pairs[0])), pairs), (targets.size, targets.size))
    return connected_components(joined, directed=False)[1].reshape(targets.shape)


def class_membership(classes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a one-hot column per class, (N_out P, classes), and the class sizes."""
    members = np.eye(classes.max() + 1)[classes.ravel()]
    return members, members.sum(axis=0)
