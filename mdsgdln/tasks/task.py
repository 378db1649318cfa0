"""Inputs and targets of a regression task, one sample per column."""

import warnings
from collections.abc import Sequence
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
    rows are probably samples: unless samples are labelled, this warns.

    Args:
        inputs: X, shape (N_in, P), one sample per column.
        targets: Y, shape (N_out, P).
        labels: a name per sample, for figures; kept as a tuple of texts.

    Raises:
        ValueError: wrong number of axes, differing numbers of samples, non-finite entries, or a
            wrong number of labels.
    """

    inputs: Float[Array, "N_in P"]
    targets: Float[Array, "N_out P"]
    labels: tuple[str, ...] | None

    def __init__(
        self,
        inputs: Numbers,
        targets: Numbers,
        labels: Sequence[str] | np.ndarray | None = None,
    ):
        inputs = checks.finite_array("inputs", inputs, 2, "(N_in, P)")
        targets = checks.finite_array("targets", targets, 2, "(N_out, P)")
        if inputs.shape[1] != targets.shape[1]:
            raise ValueError(
                f"targets: expected one column per column of inputs, {inputs.shape[1]}, got "
                f"{targets.shape[1]}; samples are columns, and Task.from_samples takes rows"
            )
        if inputs.shape == targets.shape and len(inputs) > inputs.shape[1] and labels is None:
            warnings.warn(
                f"Task: both arrays have {len(inputs)} rows and {inputs.shape[1]} columns, and "
                "columns are samples; if rows are, use Task.from_samples(X, Y), and if columns are "
                "indeed, give them labels",
                stacklevel=2,
            )
        _fill(self, inputs, targets, _names(labels, inputs.shape[1]))

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
        targets = checks.rows_of_samples("Y", Y)
        if len(inputs) != len(targets):
            raise ValueError(f"Y: expected one row per row of X, {len(inputs)}, got {len(targets)}")
        labels = _names(labels, len(inputs))
        with jax.ensure_compile_time_eval():  # data stay known inside a compiled function
            inputs, targets = inputs.T, targets.T
        return _fill(object.__new__(cls), inputs, targets, labels)

    def __repr__(self) -> str:
        return f"Task(inputs {np.shape(self.inputs)}, targets {np.shape(self.targets)})"

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
        columns = checks.sample_indices("columns", columns, self.num_samples)
        labels = None
        if self.labels is not None and not isinstance(columns, jax.core.Tracer):
            labels = tuple(self.labels[index] for index in columns)
        parts = self.inputs[:, columns], self.targets[:, columns]
        return _fill(object.__new__(Task), *parts, labels)


def with_ones(task: Task) -> Task:
    """Return the task whose inputs have a last row of ones, on which weights are biases."""
    checks.instance("task", task, Task)
    inputs = jnp.concatenate([task.inputs, jnp.ones((1, task.num_samples), task.inputs.dtype)])
    return _fill(object.__new__(Task), inputs, task.targets, task.labels)


def _names(labels: Sequence[str] | np.ndarray | None, number: int) -> tuple[str, ...] | None:
    """Return a text per sample, if there are labels, or raise ``ValueError``."""
    if labels is None:
        return None
    checks.several("labels", labels, number)
    return tuple(map(str, labels))


def _fill(task: Task, inputs: Any, targets: Any, labels: tuple[str, ...] | None) -> Task:
    """Set the fields of a frozen task and return it."""
    vars(task).update(inputs=inputs, targets=targets, labels=labels)
    return task


def _unflatten(labels: tuple[str, ...] | None, arrays: tuple) -> Task:
    """Return the task, without checks: inside a transformation its leaves are tracers."""
    inputs, targets = arrays
    return _fill(object.__new__(Task), inputs, targets, labels)


jax.tree_util.register_pytree_node(
    Task, lambda task: ((task.inputs, task.targets), task.labels), _unflatten
)
