"""Several input and output domains, of which some pairs are trained (NRR Figs. 4–7)."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool

from mdsgdln import _checks as checks
from mdsgdln._checks import Numbers
from mdsgdln.tasks.task import Task


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
    maps = [np.asarray(checks.finite_array(name, each, 2, "(rows, N)")) for each in maps]
    for each in maps:
        checks.of_shape(name, each, (len(each), len(data)))
    return [each @ data for each in maps]
