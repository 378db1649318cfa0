"""Inputs and targets of a task, one sample per column."""

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
    """Inputs and targets, one sample per column: a pytree of two arrays with static labels.

    If samples are rows, as in scikit-learn and PyTorch, use ``Task.from_samples``. Two unlabelled
    arrays of one shape with fewer columns than rows probably have samples as rows: this warns.

    Args:
        inputs: X, shape (N_in, P).
        targets: Y, shape (N_out, P).
        labels: a name per sample, for figures; stored as a tuple of strings.
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
        number = inputs.shape[1]
        expected = f"{number} columns, as inputs (Task.from_samples takes samples that are rows)"
        checks.require(targets.shape[1] == number, "targets", expected, targets.shape[1])
        if inputs.shape == targets.shape and len(inputs) > inputs.shape[1] and labels is None:
            warnings.warn(
                f"Task: both arrays have {len(inputs)} rows and {inputs.shape[1]} columns, and "
                "columns are samples; if rows are samples, use Task.from_samples(X, Y), otherwise "
                "label the samples",
                stacklevel=2,
            )
        labels = _names(labels, number)
        vars(self).update(inputs=inputs, targets=targets, labels=labels)

    @classmethod
    def from_samples(
        cls, X: Any, Y: Any, labels: Sequence[str] | np.ndarray | None = None
    ) -> "Task":
        """Return the task of samples that are rows, as in scikit-learn, PyTorch and tables.

        Args:
            X: inputs, shape (P, N_in); an array, or a table or a tensor that NumPy can read.
            Y: targets, shape (P, N_out), or (P,) for a single output. Rows are read by position.
                Pandas tables with labels in common need the same index.
            labels: a name per sample, for figures.
        """
        inputs = checks.finite_array("X", X, 2, "(P, N_in)")
        targets = checks.rows_of_samples("Y", Y)
        expected = f"{len(inputs)} rows, as X"
        checks.require(len(targets) == len(inputs), "Y", expected, len(targets))
        if hasattr(X, "iloc") and hasattr(Y, "iloc") and not X.index.equals(Y.index):
            shared = set(X.index) & set(Y.index)
            expected = "the index of X: pass Y.loc[X.index], or Y.to_numpy() as it is"
            checks.require(not shared, "Y", expected, Y.index)
        with jax.ensure_compile_time_eval():  # data stay concrete inside a compiled function
            return _unchecked(inputs.T, targets.T, _names(labels, len(inputs)))

    def __repr__(self) -> str:
        return f"Task(inputs {np.shape(self.inputs)}, targets {np.shape(self.targets)})"

    @property
    def num_samples(self) -> int:
        """P, the number of samples."""
        return self.inputs.shape[1]

    def unlabelled(self) -> "Task":
        """Return the task without labels, which are static: tasks share compiled programs."""
        return _unchecked(self.inputs, self.targets, None)

    def take(self, columns: Numbers | slice) -> "Task":
        """Return the task of the samples ``columns`` alone: indices, a slice or a Boolean mask.

        A network that stores gates needs the same samples, ``network.take(columns)``: with samples
        in another order it would apply the wrong gates without an error. Traced indices, as of a
        batch, are not checked, and their samples have no labels.
        """
        columns = checks.sample_indices("columns", columns, self.num_samples)
        labels = None
        if self.labels is not None and not checks.is_traced(columns):
            labels = tuple(self.labels[index] for index in columns)
        return _unchecked(self.inputs[:, columns], self.targets[:, columns], labels)


def with_ones(task: Task) -> Task:
    """Return the task with a last row of ones in its inputs: weights on it are biases."""
    checks.instance("task", task, Task)
    inputs = jnp.concatenate([task.inputs, jnp.ones((1, task.num_samples), task.inputs.dtype)])
    return _unchecked(inputs, task.targets, task.labels)


def _names(labels: Sequence[str] | np.ndarray | None, number: int) -> tuple[str, ...] | None:
    if labels is None:
        return None
    checks.several("labels", labels, number)
    return tuple(map(str, labels))


def _unchecked(inputs: Any, targets: Any, labels: tuple[str, ...] | None) -> Task:
    """Check nothing: inside a transformation the leaves are tracers."""
    task = object.__new__(Task)
    vars(task).update(inputs=inputs, targets=targets, labels=labels)
    return task


jax.tree_util.register_pytree_node(
    Task,
    lambda task: ((task.inputs, task.targets), task.labels),
    lambda labels, arrays: _unchecked(*arrays, labels),
)
