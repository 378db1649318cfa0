"""Small tasks: exclusive or, semantic structures, items in contexts, handwritten digits."""

from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Float

from mdsgdln import _checks as checks
from mdsgdln._checks import Numbers, Scalar
from mdsgdln.tasks.task import Task


def xor(margin: Scalar) -> Task:
    """Exclusive or in two dimensions, linearly separable with ``margin`` Δ in the third.

    MHS Eqs. 11–12: (1, 1, Δ), (−1, −1, Δ) have target +1 and (1, −1, −Δ), (−1, 1, −Δ) target −1,
    in this order.
    """
    margin = checks.non_negative("margin", margin)
    inputs = [[1, -1, 1, -1], [1, -1, -1, 1], [margin, margin, -margin, -margin]]
    return Task(inputs, [[1, 1, -1, -1]], labels=("+ +", "− −", "+ −", "− +"))


def _tree(num_items: int) -> Float[np.ndarray, "rows items"]:
    """Indicator rows of a binary tree: all items, each half, each quarter, …, each item."""
    depth = num_items.bit_length() - 1
    if num_items != 2**depth:
        raise ValueError(f"num_items: expected a power of two for a tree or cross, got {num_items}")
    return np.vstack(
        [np.kron(np.eye(2**level), np.ones(num_items // 2**level)) for level in range(depth + 1)]
    )


def _ring(num_items: int) -> Float[np.ndarray, "rows items"]:
    """Items on a ring: a row of ones, then a bump shifted around the ring, twice (MHS Fig. 3)."""
    if num_items < 4 or num_items % 2:
        raise ValueError(f"num_items: expected an even number from 4 for a ring, got {num_items}")
    rise = np.linspace(0, 1, num_items // 2)
    bump = np.concatenate([rise, rise[::-1]])
    bumps = np.array([np.roll(bump, -shift) for shift in range(num_items - 1)])
    return np.vstack([np.ones(num_items), bumps, bumps])


def _cross_cutting(num_items: int) -> Float[np.ndarray, "rows items"]:
    """A tree with pairs drawn across quarters: {0, 2}, {1, 3}, {4, 6}, {5, 7} (MHS Fig. 3)."""
    if num_items < 4:
        raise ValueError(f"num_items: expected at least 4 for a cross-cut tree, got {num_items}")
    rows = _tree(num_items)
    order = np.arange(num_items).reshape(-1, 2, 2).swapaxes(1, 2).ravel()
    first = num_items // 2 - 1  # rows above the pairs: 1 + 2 + … + n/4
    pairs = slice(first, first + num_items // 2)
    rows[pairs] = rows[pairs][:, np.argsort(order)]
    return rows


# {name: function of the number of items that returns rows (rows, items)}; one's own may be added.
STRUCTURES: dict[str, Callable[[int], Numbers]] = {
    "tree": _tree,
    "ring": _ring,
    "cross": _cross_cutting,
}


def structure(name: str | Numbers, num_items: int) -> Float[np.ndarray, "rows items"]:
    """Return the rows of a structure, one column per item.

    Args:
        name: of ``STRUCTURES``: ``"tree"`` (all items, each half, each quarter, …, each item),
            ``"ring"``, ``"cross"`` (a tree with pairs drawn across quarters) or one added to it; or
            the rows themselves, (rows, items).
        num_items: n; for trees a power of two, for crosses one from 4 on, for rings an even number
            from 4 on.

    Raises:
        ValueError: an unknown name, a number of items that it cannot have, or rows without one
            column per item.
    """
    return _rows("name", name, num_items)


def _rows(argument: str, given: str | Numbers, num_items: int) -> Float[np.ndarray, "rows items"]:
    """Return the rows of a structure that was given as ``argument``."""
    num_items = checks.positive_integer("num_items", num_items)
    if isinstance(given, str):
        if given not in STRUCTURES:
            raise ValueError(f"{argument}: expected one of {sorted(STRUCTURES)}, got {given!r}")
        given = STRUCTURES[given](num_items)
    rows = np.asarray(checks.finite_array(argument, given, 2, "(rows, items)"))
    if rows.shape[1] != num_items:
        raise ValueError(
            f"{argument}: expected {num_items} columns, one per item, got {rows.shape}"
        )
    return rows


def semantic(structure: str | Numbers = "tree", num_items: int = 8) -> Task:
    """One-hot items with structured properties: X = I, Y the rows of ``structure`` (MHS Fig. 7)."""
    rows = _rows("structure", structure, num_items)
    return Task(np.eye(num_items), rows)


def contextual(
    num_contexts: int = 3,
    num_items: int = 8,
    structures: Sequence[str | Numbers] | None = None,
    common: str | Numbers = "tree",
) -> Task:
    """Items queried in contexts (MHS §4, Fig. 3).

    Inputs: a one-hot item over a one-hot context, samples in context-major order, P = n C.
    Targets: the common block in every context, then one block per context, zero in the others.

    Args:
        num_contexts: C.
        num_items: n, one that the structures can have (see ``structure``).
        structures: a name (``tree``, ``ring``, ``cross``) or an array (rows, items) per context;
            trees if not given.
        common: the same for the common block.

    Raises:
        ValueError: not one structure per context, an unknown name, an array without one column
            per item.
    """
    num_contexts = checks.positive_integer("num_contexts", num_contexts)
    structures = ["tree"] * num_contexts if structures is None else structures
    checks.several("structures", structures, num_contexts)
    blocks = [_rows("structures", structure, num_items) for structure in structures]
    shared = np.tile(_rows("common", common, num_items), num_contexts)
    items = np.tile(np.eye(num_items), num_contexts)
    contexts = np.repeat(np.eye(num_contexts), num_items, axis=1)
    own = [np.kron(here, block) for here, block in zip(np.eye(num_contexts), blocks, strict=True)]
    return Task(
        np.vstack([items, contexts]),
        np.vstack([shared, *own]),
        labels=[f"item {i}, context {c}" for c in range(num_contexts) for i in range(num_items)],
    )


def digits() -> Task:
    """Return scikit-learn's 1797 handwritten digits: pixels (64, P) in 0 … 1, one-hot targets.

    The set is part of scikit-learn: nothing is fetched. Labels name the digit of each sample; a
    picture is a column of the inputs as 8 × 8, row by row.
    """
    from sklearn.datasets import load_digits  # here, as its import takes a second

    found = load_digits()
    return Task(found.data.T / 16, np.eye(10)[found.target].T, labels=found.target)
