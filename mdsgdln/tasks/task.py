"""Inputs and targets of a regression task, one sample per column."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from mdsgdln import _checks as checks
from mdsgdln._checks import Numbers


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Task:
    """Inputs and targets of a regression task: a pytree of two arrays, its names are static.

    Samples are columns. Where they are rows, as in scikit-learn and PyTorch, ``Task.from_samples``
    takes them as they are. If both arrays have the same shape and fewer columns than rows, the
    rows are probably samples, and this warns.

    Args:
        inputs: X, shape (N_in, P), one sample per column.
        targets: Y, shape (N_out, P).
        node_rows: rows of ``inputs`` or ``targets`` that belong to a named input or output node,
            ``{node: slice}``; needed only where there are several of them.
        labels: a name per sample, for figures; kept as a tuple of texts.

    Raises:
        ValueError: wrong number of axes, differing numbers of samples, non-finite entries, rows
            outside of the data, or a wrong number of labels.
    """

    inputs: Float[Array, "N_in P"]
    targets: Float[Array, "N_out P"]
    node_rows: Mapping[object, slice] | None
    labels: tuple[str, ...] | None

    def __init__(
        self,
        inputs: Numbers,
        targets: Numbers,
        node_rows: Mapping[object, slice] | None = None,
        labels: Sequence[str] | np.ndarray | None = None,
    ):
        inputs = checks.finite_array("inputs", inputs, 2, "(N_in, P)")
        targets = checks.finite_array("targets", targets, 2, "(N_out, P)")
        if inputs.shape[1] != targets.shape[1]:
            raise ValueError(
                f"targets: expected one column per column of inputs, {inputs.shape[1]}, got "
                f"{targets.shape[1]}; samples are columns, and Task.from_samples takes rows"
            )
        if inputs.shape == targets.shape and len(inputs) > inputs.shape[1] and not node_rows:
            warnings.warn(
                f"Task: both arrays have {len(inputs)} rows and {inputs.shape[1]} columns, and "
                "columns are samples; if rows are, use Task.from_samples(X, Y), and if columns are "
                "indeed, Task.from_samples(X.T, Y.T)",
                stacklevel=2,
            )
        checks.instance("node_rows", node_rows, Mapping | None)
        most_rows = max(len(inputs), len(targets))
        for node, rows in (node_rows or {}).items():
            within = isinstance(rows, slice) and (rows.stop or 0) <= most_rows
            if not within or not range(most_rows)[rows]:
                raise ValueError(
                    f"node_rows[{node!r}]: expected a slice of {most_rows} rows, got {rows!r}"
                )
        labels = _names(labels, inputs.shape[1])
        _fill(self, inputs, targets, dict(node_rows or {}) or None, labels)

    @classmethod
    def from_samples(
        cls, X: Any, Y: Any, labels: Sequence[str] | np.ndarray | None = None
    ) -> "Task":
        """Return the task of samples that are rows, as scikit-learn, PyTorch and tables have them.

        Args:
            X: inputs, shape (P, N_in); an array, or a table or a tensor that NumPy can read.
            Y: targets, shape (P, N_out), or (P,) for a single output.
            labels: a name per sample, for figures.

        Raises:
            ValueError: wrong number of axes, differing numbers of samples, non-finite entries, or
                a wrong number of labels.
        """
        inputs = checks.finite_array("X", checks.plain(X), 2, "(P, N_in)")
        targets = _rows_of("Y", Y)
        if len(inputs) != len(targets):
            raise ValueError(f"Y: expected one row per row of X, {len(inputs)}, got {len(targets)}")
        labels = _names(labels, len(inputs))
        with jax.ensure_compile_time_eval():  # data stay known inside a compiled function
            inputs, targets = inputs.T, targets.T
        return _fill(object.__new__(cls), inputs, targets, None, labels)

    def __repr__(self) -> str:
        return f"Task(inputs {np.shape(self.inputs)}, targets {np.shape(self.targets)})"

    def _with(self, inputs: Numbers, targets: Numbers, labels: Sequence[str] | None) -> "Task":
        """Return the task of other samples whose rows belong to the same nodes."""
        with jax.ensure_compile_time_eval():  # data stay known inside a compiled function
            arrays = jnp.asarray(inputs), jnp.asarray(targets)
        return _fill(object.__new__(Task), *arrays, self.node_rows, labels)

    @property
    def num_samples(self) -> int:
        """P, the number of samples."""
        return self.inputs.shape[1]

    def take(self, columns: Numbers | slice) -> "Task":
        """Return the task of the samples ``columns`` alone: indices, a slice or a Boolean mask.

        Take the same of a network that stores gates, ``network.take(columns)``: samples in another
        order, as many as before, would meet the gates of others without an error. Traced indices,
        as of a batch, are not checked, and their samples have no labels.

        Raises:
            ValueError: an index outside of the samples, a mask of the wrong length, or no sample.
        """
        columns = _sample_indices(columns, self.num_samples)
        labels = None
        if self.labels is not None and not isinstance(columns, jax.core.Tracer):
            labels = tuple(self.labels[index] for index in columns)
        return self._with(self.inputs[:, columns], self.targets[:, columns], labels)


def with_ones(task: Task) -> Task:
    """Return the task whose inputs have a last row of ones, on which weights are biases.

    Raises:
        ValueError: a task that gives rows to named nodes: say yourself who reads the new one.
    """
    checks.instance("task", task, Task)
    if task.node_rows is not None:
        raise ValueError(f"task: expected one without node_rows, got {dict(task.node_rows)!r:.80}")
    inputs = jnp.concatenate([task.inputs, jnp.ones((1, task.num_samples), task.inputs.dtype)])
    return task._with(inputs, task.targets, task.labels)


def _rows_of(name: str, outputs: Any) -> Float[Array, "P N_out"]:
    """Return outputs (P, N_out), or (P,) of a single one, as rows, or raise ``ValueError``."""
    array = checks.real_array(name, checks.plain(outputs), "(P, N_out) or (P,)")
    array = array[:, None] if array.ndim == 1 else array
    return checks.finite_array(name, array, 2, "(P, N_out) or (P,)")


def _sample_indices(columns: Numbers | slice, num_samples: int) -> np.ndarray | Array:
    """Return ``columns`` (indices, a slice or a Boolean mask) as indices, as ``Task.take`` says."""
    if isinstance(columns, jax.core.Tracer):
        return columns
    try:
        indices = np.atleast_1d(np.arange(num_samples)[columns])  # type: ignore[index]  # or an error
    except (IndexError, TypeError) as error:
        raise ValueError(
            f"columns: expected indices of {num_samples} samples, got {columns!r:.80}"
        ) from error
    if indices.ndim != 1 or indices.size == 0:
        raise ValueError(f"columns: expected at least one sample, got {columns!r:.80}")
    return indices


def _names(labels: Sequence[str] | np.ndarray | None, number: int) -> tuple[str, ...] | None:
    """Return a text per sample, if there are labels, or raise ``ValueError``."""
    if labels is None:
        return None
    checks.several("labels", labels, number)
    return tuple(map(str, labels))


def _fill(task: Task, inputs, targets, node_rows, labels) -> Task:
    """Set the fields of a frozen task and return it."""
    vars(task).update(inputs=inputs, targets=targets, node_rows=node_rows, labels=labels)
    return task


def _flatten(task: Task):
    """Return the arrays as leaves and the names as static data; slices are not hashable yet."""
    rows = task.node_rows and tuple(
        (node, rows.start, rows.stop, rows.step) for node, rows in task.node_rows.items()
    )
    return (task.inputs, task.targets), (rows, task.labels)


def _unflatten(names, arrays) -> Task:
    """Return the task, without checks: inside a transformation its leaves are tracers."""
    rows, labels = names
    inputs, targets = arrays
    rows = rows and {node: slice(*ends) for node, *ends in rows}
    return _fill(object.__new__(Task), inputs, targets, rows, labels)


jax.tree_util.register_pytree_node(Task, _flatten, _unflatten)
