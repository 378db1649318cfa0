"""What a rule of learning does when the neurons of a layer are mixed, or copied.

Whether a small network can stand for a wide one depends on the rule that trains both. Two
properties are tested, on random gradients and weights over a few updates, as an optimiser of optax
is a function of which nothing else is known.
"""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import optax

UPDATES = 3  # memory and schedules show in the second and third one
SIZES = (2, 3, 2)  # of the small network: inputs, hidden neurons, outputs
COPIES = 2
LENGTHS = (1e-3, 1.0, 1e3)  # of gradients: what clips by their norm does so for some
SAME = 1e-3  # relative difference of two updates that is rounding

Pair = list[np.ndarray]  # W₁ and W₂


def can_be_reduced(optimiser: optax.GradientTransformation) -> bool:
    """Return whether updates commute with orthonormal maps: U(A G Bᵀ) = A U(G) Bᵀ.

    Then a layer may be written in any basis, and directions without gradient may be left out.
    Gradient descent, momentum, decay, and clipping by the global norm are such rules; those that
    treat each entry by itself, as Adam does, are not.
    """
    rng = np.random.default_rng(0)
    inputs, hidden, outputs = (
        np.linalg.qr(rng.standard_normal((2 * size + 1, size)))[0] for size in SIZES
    )

    def embedded(pair: Pair) -> Pair:
        return [hidden @ pair[0] @ inputs.T, outputs @ pair[1] @ hidden.T]

    return _commutes(optimiser, embedded)


def keeps_copies(optimiser: optax.GradientTransformation) -> bool:
    """Return whether a neuron's update depends on that neuron alone: copies remain copies.

    Gradient descent, momentum, Adam and decay are such rules; clipping by a norm of all gradients
    is not.
    """

    def copied(pair: Pair) -> Pair:
        return [np.tile(pair[0], (COPIES, 1)), np.tile(pair[1], (1, COPIES))]

    return _commutes(optimiser, copied)


def _commutes(optimiser: optax.GradientTransformation, change: Callable[[Pair], Pair]) -> bool:
    """Return whether updates of changed gradients and weights are the changed updates."""
    return all(_difference(optimiser, change, length) < SAME for length in LENGTHS)


def _difference(optimiser: Any, change: Callable[[Pair], Pair], length: float) -> float:
    """Return the largest relative difference of the two ways over a few updates."""
    rng = np.random.default_rng(1)
    inputs, hidden, outputs = SIZES
    shapes = (hidden, inputs), (outputs, hidden)
    weights = [rng.standard_normal(shape).astype(np.float32) for shape in shapes]
    ways = [weights, _single(change(weights))]
    memories = [optimiser.init(way) for way in ways]
    largest = 0.0
    for _ in range(UPDATES):
        gradient = [(length * rng.standard_normal(shape)).astype(np.float32) for shape in shapes]
        updates = []
        for index, slope in enumerate((gradient, _single(change(gradient)))):
            update, memories[index] = optimiser.update(slope, memories[index], ways[index])
            updates.append([np.asarray(part) for part in update])
            ways[index] = [np.asarray(w + u) for w, u in zip(ways[index], update, strict=True)]
        for expected, found in zip(change(updates[0]), updates[1], strict=True):
            size = np.linalg.norm(expected) or 1.0
            largest = max(largest, float(np.linalg.norm(found - expected) / size))
    return largest


def _single(pair: Pair) -> Pair:
    """Return arrays in single precision, the least that optimisers keep."""
    return [np.asarray(part, np.float32) for part in jax.tree.leaves(pair)]
