"""Several input and output domains, of which some pairs are trained (NRR Figs. 4–7)."""

import numpy as np
from jaxtyping import Bool

from mdsgdln import _checks as checks
from mdsgdln.tasks.task import Task


def trained_routes(num_domains: int, num_trained: int) -> Bool[np.ndarray, "M_in M_out"]:
    """Return which routes are trained: input domain i with outputs i − ⌊(Q−1)/2⌋ … i + ⌊Q/2⌋.

    Args:
        num_domains: M; output domains are counted modulo M.
        num_trained: Q (K in NRR Fig. 4), output domains trained with each input domain.

    Raises:
        ValueError: Q above M, or a number that is not a positive integer.
    """
    num_domains = checks.positive_integer("num_domains", num_domains)
    num_trained = checks.positive_integer("num_trained", num_trained)
    if num_trained > num_domains:
        raise ValueError(f"num_trained: expected at most {num_domains}, got {num_trained}")
    distance = np.arange(num_domains)[None, :] - np.arange(num_domains)[:, None]
    return (distance + (num_trained - 1) // 2) % num_domains < num_trained


def hierarchy() -> Task:
    """Four items in two groups: seven properties of unequal strength (NRR Fig. 4c)."""
    groups = [[4, 4, 0, 0], [0, 0, 4, 4]]
    return Task(np.eye(4), np.vstack([np.full((1, 4), 6.0), groups, 3 * np.eye(4)]))


def routing(
    num_domains: int = 7, num_trained: int | None = None, items: Task | None = None
) -> Task:
    """Return the routing task: each item, shown to one input domain, answered by several outputs.

    A sample is one item in one input domain, P = M n in domain-major order; the rows of every
    other input domain are zero, and so are the targets of output domains that are not trained with
    it. All trained outputs of a sample at once have the gradient of one by one, in fewer samples.

    Args:
        num_domains: M.
        num_trained: Q, output domains trained with each input domain; all of them if not given.
        items: the task within a domain; ``hierarchy()`` if not given.

    Returns:
        a task whose ``node_rows`` name ``input 0`` … and ``output 0`` …

    Raises:
        ValueError: Q above M.
    """
    trained = trained_routes(num_domains, num_domains if num_trained is None else num_trained)
    items = hierarchy() if items is None else items
    checks.instance("items", items, Task)
    return Task(
        np.kron(np.eye(num_domains), items.inputs),
        np.kron(trained.T, items.targets),
        _rows("input", num_domains, len(items.inputs))
        | _rows("output", num_domains, len(items.targets)),
        [f"input {i}, item {j}" for i in range(num_domains) for j in range(items.num_samples)],
    )


def _rows(kind: str, number: int, size: int) -> dict[object, slice]:
    """Return {node: rows} of equal blocks, one below the other."""
    return {f"{kind} {i}": slice(size * i, size * (i + 1)) for i in range(number)}
