"""Gating patterns: of subsets of contexts, and which of them a ReLU neuron can have."""

import math
from collections.abc import Iterable

import numpy as np
from jaxtyping import Bool, Float

from mdsgdln import _checks as checks
from mdsgdln._checks import Numbers

__all__ = ["are_realisable", "context_gates", "count_realisable", "is_realisable"]
__dir__ = __all__.copy  # what completion shows


def context_gates(
    num_contexts: int, num_items: int, subsets: Iterable[Iterable[int]]
) -> Float[np.ndarray, "K P"]:
    """Return one gate per subset of contexts, on for all items in these contexts (MHS §4).

    Args:
        num_contexts: C.
        num_items: n; samples are in context-major order, P = n C, as in ``tasks.contextual``.
        subsets: contexts in which each pathway is active, numbered from 0.
    """
    num_items = checks.positive_integer("num_items", num_items)
    num_contexts = checks.positive_integer("num_contexts", num_contexts)
    checks.several("subsets", subsets)
    on = []
    for subset in subsets:
        try:
            contexts = [checks.index(context) for context in subset]
        except TypeError:
            contexts = []
        known = contexts and all(context in range(num_contexts) for context in contexts)
        expected = f"numbers of contexts from 0 to {num_contexts - 1}"
        checks.require(known, "subsets", expected, subset)
        on.append(np.isin(range(num_contexts), contexts))
    checks.require(on, "subsets", "at least one subset of contexts", on)
    return np.repeat(np.array(on, float), num_items, axis=1)


def is_realisable(pattern: Numbers) -> bool:
    """Return whether a ReLU neuron without a bias can have this gating pattern (MHS Lemma 4.1).

    Inputs are one-hot items over one-hot contexts: a neuron with weights a_i and b_c is on where
    a_i + b_c > 0. Patterns of this kind are those in which the sets of contexts of any two items
    are nested (*lonesum* matrices). For other inputs see ``are_realisable``.

    Args:
        pattern: 0 or 1 per item and context, shape (n, C).
    """
    on = _binary("pattern", pattern, "(n, C)")
    by_size = on[np.argsort(on.sum(axis=1))]
    return bool((by_size[:-1] <= by_size[1:]).all())


def are_realisable(gates: Numbers, inputs: Numbers) -> Bool[np.ndarray, " K"]:
    """Return for each gate whether a ReLU neuron without a bias can have it on these inputs.

    A linear program finds the largest margin m ≤ 1 with wᵀx ≥ m where the gate is on and wᵀx ≤ 0
    where it is off; m is 1 or 0. The solver's tolerance is 1e-7. So rows are first scaled to one
    size, where one is constant, as for a bias, from their first entry; then inputs to length 1.

    Args:
        gates: 0 or 1, shape (K, P).
        inputs: X, shape (N_in, P). A bias is a row of ones.
    """
    on = _binary("gates", gates, "(K, P)")
    inputs = checks.concrete_array("inputs", inputs, 2, "(N_in, P)")
    checks.of_shape("inputs", inputs, (len(inputs), on.shape[1]))
    inputs = _comparable_rows(inputs)
    lengths = np.linalg.norm(inputs, axis=0)
    inputs = inputs / np.where(lengths > 0, lengths, 1)
    return np.array([_largest_margin(row, inputs) for row in on]) > 0.5


def _binary(name: str, value: Numbers, axes: str) -> Float[np.ndarray, "rows columns"]:
    value = checks.concrete_array(name, value, 2, axes)
    checks.require(np.isin(value, (0, 1)).all(), name, "entries 0 or 1", np.unique(value))
    return value


def _comparable_rows(inputs: Float[np.ndarray, "N_in P"]) -> Float[np.ndarray, "N_in P"]:
    """Return rows of one size that span the same, and begin at zero if one is constant.

    They are divided by powers of two, which rounds nothing.
    """
    varies = np.ptp(inputs, axis=1, keepdims=True) > 0
    if inputs[~varies[:, 0]].any():
        inputs = inputs - varies * inputs[:, :1]
    size = np.abs(inputs).max(axis=1, keepdims=True)
    return inputs / np.exp2(np.floor(np.log2(np.where(size > 0, size, 1))))


def _largest_margin(on: Float[np.ndarray, " P"], inputs: Float[np.ndarray, "N_in P"]) -> float:
    """Solve for (w, m) of a gate."""
    from scipy import optimize  # here, as its import takes a while

    program = optimize.linprog(
        c=np.append(np.zeros(len(inputs)), -1),
        A_ub=np.column_stack([(1 - 2 * on)[:, None] * inputs.T, on]),
        b_ub=np.zeros(len(on)),
        bounds=[*[(None, None)] * len(inputs), (0, 1)],
    )
    if program.status != 0:
        raise RuntimeError(f"the linear program was not solved: {program.message}")
    return program.x[-1]


def count_realisable(num_items: int, num_contexts: int) -> int:
    """Return the number of gating patterns of n items and C contexts that a ReLU neuron can have.

    It is the poly-Bernoulli number Σ_j (j!)² S(n+1, j+1) S(C+1, j+1), S the Stirling numbers of the
    second kind.
    """
    num_items = checks.positive_integer("num_items", num_items)
    num_contexts = checks.positive_integer("num_contexts", num_contexts)
    from scipy.special import stirling2  # here, as its import takes a while

    return sum(
        math.factorial(j) ** 2
        * stirling2(num_items + 1, j + 1, exact=True)
        * stirling2(num_contexts + 1, j + 1, exact=True)
        for j in range(min(num_items, num_contexts) + 1)
    )
