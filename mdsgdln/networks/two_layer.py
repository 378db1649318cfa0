"""The two-layer gated network: one hidden node per gating pattern."""

from collections.abc import Hashable, Sequence
from itertools import combinations

import jax
import numpy as np

from mdsgdln import _checks as checks
from mdsgdln._checks import Numbers
from mdsgdln.gates import context_gates
from mdsgdln.networks.gated import GatedNetwork
from mdsgdln.tasks import Task


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
    num_inputs = len(task.inputs)
    masks = np.ones((num_pathways, num_inputs), bool)
    if input_masks is not None:
        masks = np.asarray(checks.finite_array("input_masks", input_masks, 2, "(K, N_in)")) != 0
    if masks.shape != (num_pathways, num_inputs) or not masks.any(axis=1).all():
        raise ValueError(
            f"input_masks: expected shape {(num_pathways, num_inputs)} and an input for every "
            f"pathway, got {masks.shape}"
        )
    visible = [tuple(map(int, np.flatnonzero(mask))) for mask in masks]
    views = list(dict.fromkeys(visible))  # distinct masks, in order of appearance
    view_names: list[Hashable] = (
        ["input"] if len(views) == 1 else [f"input {view}" for view in range(len(views))]
    )
    rows = dict(zip(view_names, views, strict=True))
    known = not isinstance(gates, jax.core.Tracer)  # also inside a compiled function
    rows_of_gates = list(np.asarray(gates) if known else gates)
    names: list[Hashable] = [f"pathway {index}" for index in range(num_pathways)]
    network = GatedNetwork(
        {node: len(seen) for node, seen in rows.items()}
        | dict(zip(names, hidden, strict=True))
        | {"output": len(task.targets)},
        [(view_names[views.index(seen)], name) for name, seen in zip(names, visible, strict=True)]
        + [(name, "output") for name in names],
        node_gates=dict(zip(names, rows_of_gates, strict=True)),
    )
    return network._on_graph(network.graph._with_rows(rows))


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
