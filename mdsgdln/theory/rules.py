"""Two properties of learning rules that decide whether a small network can represent a wide one.

They are tested on random gradients and weights over a few updates, as an optax optimiser is a
function of which nothing else is known.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import optax

UPDATES = 3  # memory and schedules show in the second and third one
SIZES = (2, 3, 2)  # of the small network: inputs, hidden neurons, outputs
COPIES = 2
LENGTHS = (1e-3, 1.0, 1e3)  # of gradients: clipping by their norm acts on some of them
SAME = 1e-3  # relative difference of two updates that is rounding

Pair = list[np.ndarray]  # W₁ and W₂


@lru_cache(maxsize=64)
def can_be_reduced(optimiser: optax.GradientTransformation) -> bool:
    """Return whether updates commute with orthonormal maps: U(A G Bᵀ) = A U(G) Bᵀ.

    Then a layer may be written in any basis, and directions without gradient may be removed.
    Gradient descent, momentum, decay, and clipping by the global norm commute; rules that treat
    each entry separately, as Adam does, do not.
    """
    rng = np.random.default_rng(0)
    inputs, hidden, outputs = (
        np.linalg.qr(rng.standard_normal((2 * size + 1, size)))[0] for size in SIZES
    )
    return _commutes(
        optimiser, lambda pair: [hidden @ pair[0] @ inputs.T, outputs @ pair[1] @ hidden.T]
    )


@lru_cache(maxsize=64)
def preserves_copies(optimiser: optax.GradientTransformation) -> bool:
    """Return whether a neuron's update depends on this neuron alone: copies remain copies.

    Gradient descent, momentum, Adam and decay have this property; clipping by a norm of all
    gradients has not.
    """
    return _commutes(
        optimiser, lambda pair: [np.tile(pair[0], (COPIES, 1)), np.tile(pair[1], (1, COPIES))]
    )


def _commutes(optimiser: optax.GradientTransformation, change: Callable[[Pair], Pair]) -> bool:
    """Return whether changed updates are the updates of changed weights by changed gradients.

    Of a rule that updates nothing as yet, as one that collects gradients, this is not known.
    """
    for length in LENGTHS:
        plain, changed = (_updates(optimiser, each, length) for each in (lambda pair: pair, change))
        if not any(part.any() for update in plain for part in update):
            return False
        for update, actual in zip(plain, changed, strict=True):
            for expected, part in zip(change(update), actual, strict=True):
                if np.linalg.norm(part - expected) >= SAME * (np.linalg.norm(expected) or 1.0):
                    return False
    return True


def _updates(optimiser: Any, change: Callable[[Pair], Pair], length: float) -> list[Pair]:
    rng = np.random.default_rng(1)
    inputs, hidden, outputs = SIZES

    def draw(size: float) -> Pair:
        shapes = (hidden, inputs), (outputs, hidden)
        pair = [(size * rng.standard_normal(shape)).astype(np.float32) for shape in shapes]
        return [np.asarray(part, np.float32) for part in change(pair)]

    weights, updates = draw(1.0), []
    memory = optimiser.init(weights)
    for _ in range(UPDATES):
        update, memory = optimiser.update(draw(length), memory, weights)
        weights = [np.asarray(w + u) for w, u in zip(weights, update, strict=True)]
        updates.append([np.asarray(part) for part in update])
    return updates
