"""Gated networks of the papers: pathways side by side, and domains that share hidden layers."""

from collections.abc import Hashable, Sequence
from itertools import combinations, product

import jax
import numpy as np

from mdsgdln import _checks as checks
from mdsgdln._checks import Numbers
from mdsgdln.gates import context_gates
from mdsgdln.networks.gated import GatedNetwork
from mdsgdln.tasks import Task, trained_routes


def pathways(
    task: Task,
    gates: Numbers,
    num_hidden: int | Sequence[int],
    input_masks: Numbers | None = None,
) -> GatedNetwork:
    """Return the two-layer gated network with a hidden node per row of ``gates`` (MHS Figs. 2, 3).

    Hidden nodes are called ``"pathway 0"``, ``"pathway 1"``, …, the output ``"output"`` and the
    input ``"input"``. With masks there is an input node per distinct mask (``"input 0"``, …), a
    layer of the visible rows only.

    Args:
        task: gives the numbers of inputs, outputs and samples.
        gates: shape (K, P), one row per pathway.
        num_hidden: neurons of a pathway, or one number per pathway.
        input_masks: shape (K, N_in), non-zero where the pathway sees the input.

    Raises:
        ValueError: gates that do not have one column per sample, masks of the wrong shape or blind.
    """
    checks.instance("task", task, Task)
    gates = checks.finite_array("gates", gates, 2, "(K, P)")
    num_pathways, num_samples = gates.shape
    if num_samples != task.num_samples:
        raise ValueError(
            f"gates: expected {task.num_samples} columns, one per sample, got {num_samples}"
        )
    hidden: list = list(num_hidden) if checks.is_list(num_hidden) else [num_hidden] * num_pathways
    if len(hidden) != num_pathways:
        raise ValueError(
            f"num_hidden: expected one number or {num_pathways}, got {num_hidden!r:.80}"
        )
    hidden = [checks.positive_integer("num_hidden", number) for number in hidden]
    names: list[Hashable] = [f"pathway {index}" for index in range(num_pathways)]
    visible = _visible(input_masks, (num_pathways, len(task.inputs)))
    views = list(dict.fromkeys(visible))  # distinct masks, in order of appearance
    view_names: list[Hashable] = [f"input {index}" for index in range(len(views))]
    if len(views) == 1:
        view_names = ["input"]
    rows = dict(zip(view_names, views, strict=True))
    # By NumPy gates stay known inside a compiled function.
    rows_of_gates = gates if isinstance(gates, jax.core.Tracer) else np.asarray(gates)
    return GatedNetwork(
        {node: len(seen) for node, seen in rows.items()}
        | dict(zip(names, hidden, strict=True))
        | {"output": len(task.targets)},
        [(view_names[views.index(seen)], name) for name, seen in zip(names, visible, strict=True)]
        + [(name, "output") for name in names],
        node_gates=dict(zip(names, rows_of_gates, strict=True)),
        rows=rows,
    )


def _visible(masks: Numbers | None, shape: tuple[int, int]) -> list[tuple[int, ...]]:
    """Return the rows of the inputs that each pathway sees; ``shape`` is (K, N_in)."""
    if masks is None:
        return [tuple(range(shape[1]))] * shape[0]
    seen = np.asarray(checks.finite_array("input_masks", masks, 2, "(K, N_in)")) != 0
    if seen.shape != shape or not seen.any(axis=1).all():
        raise ValueError(
            f"input_masks: expected shape {shape} and an input for every pathway, got {seen.shape}"
        )
    return [tuple(np.flatnonzero(row).tolist()) for row in seen]


def contextual_pathways(
    task: Task, num_contexts: int, subset_size: int, num_hidden: int | Sequence[int]
) -> GatedNetwork:
    """Return the candidate ReLN of a contextual task (MHS Figs. 3 and 5).

    Its first pathway is common: always on, sees items and contexts. One further pathway for each
    subset of ``subset_size`` contexts is on in those and sees the items only. All but one context
    is ``subset_size`` = C − 1.

    Args:
        task: as from ``tasks.contextual``.
        num_contexts: C.
        subset_size: k, contexts in which a contextual pathway is on.
        num_hidden: neurons of a pathway, or one number per pathway.

    Raises:
        ValueError: k outside of 1 … C, or a task that has not C contexts.
    """
    checks.instance("task", task, Task)
    num_contexts = checks.positive_integer("num_contexts", num_contexts)
    subset_size = checks.positive_integer("subset_size", subset_size)
    num_items = len(task.inputs) - num_contexts
    if num_items < 1 or num_items * num_contexts != task.num_samples:
        raise ValueError(
            f"num_contexts: expected n + C inputs and n C samples, got {len(task.inputs)} inputs "
            f"and {task.num_samples} samples with C = {num_contexts}"
        )
    if subset_size > num_contexts:
        raise ValueError(f"subset_size: expected at most {num_contexts}, got {subset_size}")
    subsets = [range(num_contexts), *combinations(range(num_contexts), subset_size)]
    masks = np.ones((len(subsets), len(task.inputs)))
    masks[1:, num_items:] = 0
    gates = context_gates(num_contexts, num_items, subsets)
    return pathways(task, gates, num_hidden, masks)


def routing_network(
    task: Task,
    num_domains: int,
    num_trained: int,
    num_hidden: int,
    num_layers: int = 2,
    num_sharing: int | None = None,
) -> GatedNetwork:
    """Return the network of the routing task (NRR Figs. 4 and 5a).

    Every input domain has a matrix into the first hidden layer and every output domain one out of
    the last; the hidden layers are always on, an output is gated on where it is trained. Where
    fewer than all domains share, each block of m input and m output domains has hidden layers of
    its own, and its own copies of the outer matrices: every output is then the sum over blocks, of
    which only the one of the sample's input domain is active.

    Nodes are ``input i``, ``hidden l`` (``hidden l of a, b`` for input block a and
    output block b) and ``output j``.

    Args:
        task: as from ``tasks.routing``.
        num_domains: M, input domains, and output domains, of the task.
        num_trained: Q, output domains trained with each input domain; decides the output gates.
        num_hidden: neurons of a hidden layer (of each block's).
        num_layers: hidden layers; paths have one more edge than that.
        num_sharing: m, input (output) domains of a block, a divisor of M; M if not given.

    Raises:
        ValueError: a task that does not consist of M domains, Q above M, m that does not divide M.
    """
    checks.instance("task", task, Task)
    num_hidden = checks.positive_integer("num_hidden", num_hidden)
    num_layers = checks.positive_integer("num_layers", num_layers)
    num_domains = checks.positive_integer("num_domains", num_domains)
    sizes: dict[Hashable, int] = {}
    for kind, number in (("input", len(task.inputs)), ("output", len(task.targets))):
        if number % num_domains or task.num_samples % num_domains:
            raise ValueError(
                f"task: expected {num_domains} domains, got {number} {kind}s and "
                f"{task.num_samples} samples"
            )
        sizes |= {f"{kind} {i}": number // num_domains for i in range(num_domains)}
    trained = trained_routes(num_domains, num_trained)
    sharing = num_domains if num_sharing is None else num_sharing
    sharing = checks.positive_integer("num_sharing", sharing)
    if num_domains % sharing:
        raise ValueError(f"num_sharing: expected a divisor of {num_domains}, got {sharing}")
    edges: list[tuple[str, str]] = []
    members = range(sharing)
    for a, b in product(range(num_domains // sharing), repeat=2):
        group = "" if sharing == num_domains else f" of {a}, {b}"
        layers = [f"hidden {layer}{group}" for layer in range(1, num_layers + 1)]
        sizes |= dict.fromkeys(layers, num_hidden)
        edges += [(f"input {a * sharing + i}", layers[0]) for i in members]
        edges += zip(layers[:-1], layers[1:], strict=True)
        edges += [(layers[-1], f"output {b * sharing + j}") for j in members]
    repeats = task.num_samples // num_domains
    gates: dict[Hashable, np.ndarray] = {
        f"output {j}": np.repeat(trained[:, j], repeats) for j in range(num_domains)
    }
    return GatedNetwork(sizes, edges, node_gates=gates)
