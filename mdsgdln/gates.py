"""Gating patterns over items and contexts: pure combinatorics."""

from collections.abc import Iterable

import numpy as np
from jaxtyping import Float

from mdsgdln import checks


def context_gates(
    num_items: int, num_contexts: int, subsets: Iterable[Iterable[int]]
) -> Float[np.ndarray, "K P"]:
    """Return one gate per subset of contexts, on for every item in those contexts (MHS §4).

    Args:
        num_items: n.
        num_contexts: C; samples are in context-major order, P = n C, as in ``tasks.contextual``.
        subsets: contexts in which each pathway is on, numbered from 0.

    Raises:
        ValueError: a non-positive size, no subset, or a context that there is not.
    """
    num_items = checks.positive_integer("num_items", num_items)
    num_contexts = checks.positive_integer("num_contexts", num_contexts)
    subsets = [tuple(subset) for subset in subsets]
    if not subsets:
        raise ValueError("subsets: expected at least one subset of contexts, got none")
    gates = np.zeros((len(subsets), num_contexts, num_items))
    for gate, subset in zip(gates, subsets, strict=True):
        if not subset or not set(subset) <= set(range(num_contexts)):
            raise ValueError(
                f"subsets: expected contexts from 0 to {num_contexts - 1}, got {subset!r}"
            )
        gate[list(subset)] = 1
    return gates.reshape(len(subsets), -1)
