"""Small tasks: XOR, semantic structures, items in contexts, routing, handwritten digits."""

from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Bool, Float

from mdsgdln import _checks as checks
from mdsgdln._checks import Numbers, Scalar
from mdsgdln.tasks.task import Task


def xor(margin: Scalar) -> Task:
    """Return XOR in two dimensions, linearly separable with ``margin`` Δ in the third.

    MHS Eqs. 11–12: (1, 1, Δ), (−1, −1, Δ) have target +1 and (1, −1, −Δ), (−1, 1, −Δ) target −1,
    in this order.
    """
    margin = checks.positive("margin", margin, or_zero=True)
    inputs = [[1, -1, 1, -1], [1, -1, -1, 1], [margin, margin, -margin, -margin]]
    return Task(inputs, [[1, 1, -1, -1]], labels=("+ +", "− −", "+ −", "− +"))


def _tree(num_items: int) -> Float[np.ndarray, "rows items"]:
    depth = num_items.bit_length() - 1
    fits = num_items == 2**depth
    checks.require(fits, "num_items", "a power of two for a tree or cross", num_items)
    return np.vstack(
        [np.kron(np.eye(2**level), np.ones(num_items // 2**level)) for level in range(depth + 1)]
    )


def _ring(num_items: int) -> Float[np.ndarray, "rows items"]:
    fits = num_items >= 4 and num_items % 2 == 0
    checks.require(fits, "num_items", "an even number from 4 for a ring", num_items)
    rise = np.linspace(0, 1, num_items // 2)
    bump = np.concatenate([rise, rise[::-1]])
    bumps = np.array([np.roll(bump, -shift) for shift in range(num_items - 1)])
    return np.vstack([np.ones(num_items), bumps, bumps])


def _cross_cutting(num_items: int) -> Float[np.ndarray, "rows items"]:
    checks.require(num_items >= 4, "num_items", "at least 4 for a cross-cut tree", num_items)
    rows = _tree(num_items)
    order = np.arange(num_items).reshape(-1, 2, 2).swapaxes(1, 2).ravel()
    first = num_items // 2 - 1  # rows above the pairs: 1 + 2 + … + n/4
    pairs = slice(first, first + num_items // 2)
    rows[pairs] = rows[pairs][:, np.argsort(order)]  # {0, 2}, {1, 3}, {4, 6}, {5, 7}, …
    return rows


# {name: function of the number of items that returns rows (rows, items)}; users may add theirs.
STRUCTURES: dict[str, Callable[[int], Numbers]] = {
    "tree": _tree,
    "ring": _ring,
    "cross": _cross_cutting,
}


def structure(name: str | Numbers, num_items: int) -> Float[np.ndarray, "rows items"]:
    """Return the rows of a structure, one column per item.

    Args:
        name: a key of ``STRUCTURES``: ``"tree"`` (all items, each half, each quarter, …, each
            item), ``"ring"`` (a row of ones, then a bump shifted around the ring, twice),
            ``"cross"`` (a tree with pairs drawn across quarters; all in MHS Fig. 3) or one that you
            added; or the rows themselves, (rows, items).
        num_items: n; for trees a power of two, for crosses also at least 4, for rings even and at
            least 4.
    """
    return _rows("name", name, num_items)


def _rows(argument: str, given: str | Numbers, num_items: int) -> Float[np.ndarray, "rows items"]:
    num_items = checks.positive_integer("num_items", num_items)
    if isinstance(given, str):
        checks.require(given in STRUCTURES, argument, f"one of {sorted(STRUCTURES)}", given)
        given = STRUCTURES[given](num_items)
    rows = checks.concrete_array(argument, given, 2, "(rows, items)")
    checks.of_shape(argument, rows, (len(rows), num_items))
    return rows


def semantic(structure: str | Numbers = "tree", num_items: int = 8) -> Task:
    """Return one-hot items, X = I, with the rows of ``structure`` as targets (MHS Fig. 7)."""
    rows = _rows("structure", structure, num_items)  # which checks the number of items
    return Task(np.eye(num_items), rows)


def contextual(
    num_contexts: int = 3,
    num_items: int = 8,
    structures: Sequence[str | Numbers] | None = None,
    common: str | Numbers = "tree",
) -> Task:
    """Return items that are queried in contexts (MHS §4, Fig. 3).

    Inputs: a one-hot item over a one-hot context, samples in context-major order, P = n C.
    Targets: the common block in every context, then one block per context, zero in all others.

    Args:
        num_contexts: C.
        num_items: n, a number that the structures allow (see ``structure``).
        structures: a name (``tree``, ``ring``, ``cross``) or an array (rows, items) per context;
            trees by default.
        common: name or array of the common block.
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


def trained_routes(num_domains: int, num_trained: int) -> Bool[np.ndarray, "M_in M_out"]:
    """Return a mask of trained routes: input domain i with outputs i − ⌊(Q−1)/2⌋ … i + ⌊Q/2⌋.

    Args:
        num_domains: M; output domains are counted modulo M.
        num_trained: Q (K in NRR Fig. 4), output domains trained with each input domain.
    """
    num_domains = checks.positive_integer("num_domains", num_domains)
    num_trained = checks.positive_integer("num_trained", num_trained)
    fits = num_trained <= num_domains
    checks.require(fits, "num_trained", f"at most {num_domains}", num_trained)
    distance = np.arange(num_domains)[None, :] - np.arange(num_domains)[:, None]
    return (distance + (num_trained - 1) // 2) % num_domains < num_trained


def hierarchy() -> Task:
    """Return four items in two groups with seven properties of unequal strength (NRR Fig. 4c)."""
    groups = [[4, 4, 0, 0], [0, 0, 4, 4]]
    return Task(np.eye(4), np.vstack([np.full((1, 4), 6.0), groups, 3 * np.eye(4)]))


def routing(
    num_domains: int = 7,
    num_trained: int | None = None,
    items: Task | None = None,
    input_maps: Sequence[Numbers] | None = None,
    output_maps: Sequence[Numbers] | None = None,
) -> Task:
    """Return the routing task: each item in each input domain has targets in several outputs.

    A sample is one item in one input domain, P = M n in domain-major order. The inputs of all
    other input domains are zero, and so are the targets of output domains that are not trained with
    it. One sample with all its trained outputs has the gradient of Q samples with one each.

    Args:
        num_domains: M.
        num_trained: Q, output domains trained with each input domain; M by default.
        items: the task within a domain; ``hierarchy()`` by default.
        input_maps: a matrix (rows, N_in) per input domain, applied to the items' inputs.
        output_maps: a matrix (rows, N_out) per output domain, applied to their targets.
    """
    trained = trained_routes(num_domains, num_domains if num_trained is None else num_trained)
    items = hierarchy() if items is None else items
    checks.instance("items", items, Task)
    inputs = _mapped("input_maps", input_maps, np.asarray(items.inputs), num_domains)
    targets = _mapped("output_maps", output_maps, np.asarray(items.targets), num_domains)
    domains, shown = range(num_domains), np.eye(num_domains, dtype=bool)
    return Task(
        np.block([[np.where(shown[i, j], inputs[i], 0) for j in domains] for i in domains]),
        np.block([[np.where(trained[i, j], targets[j], 0) for i in domains] for j in domains]),
        [f"input {i}, item {item}" for i in domains for item in range(items.num_samples)],
    )


def _mapped(name: str, maps, data: np.ndarray, num_domains: int) -> list[np.ndarray]:
    if maps is None:
        return [data] * num_domains
    checks.several(name, maps, num_domains)
    maps = [checks.concrete_array(name, each, 2, "(rows, N)") for each in maps]
    for each in maps:
        checks.of_shape(name, each, (len(each), len(data)))
    return [each @ data for each in maps]


def digits() -> Task:
    """Return scikit-learn's 1797 handwritten digits: pixels (64, P) in 0 … 1, one-hot targets.

    The set is part of scikit-learn: nothing is downloaded. Labels name the digit of each sample; a
    picture is a column of the inputs, reshaped to 8 × 8.
    """
    from sklearn.datasets import load_digits  # here, as its import takes a second

    bunch = load_digits()
    return Task(bunch.data.T / 16, np.eye(10)[bunch.target].T, labels=bunch.target)
