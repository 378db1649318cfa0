"""Trials, labels and levels of neurons, read from arrays or pandas tables."""

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from mdsgdln import _checks as checks

MOST_NAMES = 12  # in a list


def read_trials(trials: Any, labels: Any) -> tuple[Float[np.ndarray, "neurons trials"], Any, Any]:
    """Return trials as an array, names of neurons if they come in a pandas table, and labels."""
    checks.dense("trials", trials)
    columns = [labels] if isinstance(labels, str) else labels
    names = None
    if hasattr(trials, "iloc"):
        named = isinstance(columns, list) and all(isinstance(column, str) for column in columns)
        if named and len(columns) != len(trials):
            unknown = [column for column in columns if column not in trials.columns]
            checks.require(not unknown, "labels", "columns of the trials", unknown)
            labels, trials = trials[columns], trials.drop(columns=columns)
        elif hasattr(labels, "iloc"):
            own = labels.columns if labels.ndim == 2 else [labels.name]
            both = [name for name in own if isinstance(name, str) and name in trials.columns]
            checks.require(not both, "labels", "columns of the trials by their names", both)
            labels = aligned("labels", labels, trials)
        names, trials = list(trials.columns), trials.T
    array = _real("trials", trials, "finite numbers or NaN, (neurons, trials)")
    fits = array.ndim == 2 and array.size
    checks.require(fits, "trials", "shape (neurons, trials)", array.shape)
    return array, names, labels


def aligned(name: str, table: Any, trials: Any) -> Any:
    """Return a pandas table in the order of the index of another."""
    if table.index.equals(trials.index) or len(table) != len(trials):
        return table  # another length is refused in words
    unique = table.index.is_unique and trials.index.is_unique
    same = unique and trials.index.isin(table.index).all()
    checks.require(same, name, "the index of the trials", table.index)
    return table.loc[trials.index]


def of_each_neuron(
    name: str, value: Any, names: list | None, shape: tuple[int, int]
) -> Float[np.ndarray, "neurons rows"]:
    """Return numbers per neuron, or per neuron and trial, as an array of the given shape."""
    expected = f"a number, one for each of the {shape[0]} neurons, or shape {shape}, no infinity"
    if hasattr(value, "iloc"):  # a pandas table, read by name where there are names
        value = value.T
        if names is not None:
            checks.require(set(names) <= set(value.index), name, expected, value)
            value = value.loc[names]
    array = _real(name, 0.0 if value is None else value, expected)
    # A column would pass for one of several trials.
    checks.require(array.shape in ((), shape[:1], shape), name, expected, array.shape)
    return np.broadcast_to(array[:, None] if array.ndim == 1 else array, shape)


def conditions_of(labels: Any, num_trials: int) -> tuple[tuple, Int[np.ndarray, " trials"]]:
    """Return the distinct labels, sorted, and each trial's index among them."""
    checks.several("labels", labels)
    try:
        table = np.asarray(labels, dtype=object)
        rows = [row if table.ndim == 1 else tuple(row) for row in table.tolist()]
        rows = [row[0] if isinstance(row, tuple) and len(row) == 1 else row for row in rows]
        missing = any(entry is None or entry != entry for row in rows for entry in entries(row))
        distinct = () if missing else tuple(sorted(set(rows)))
    except (TypeError, ValueError) as error:
        raise ValueError(f"labels: expected labels of one kind, got {labels!r:.80}") from error
    expected = f"one per trial, of {num_trials} columns (transpose a recording with trials as rows)"
    checks.require(len(rows) == num_trials, "labels", expected, len(rows))
    checks.require(not missing, "labels", "a label for every trial, not NaN", labels)
    checks.require(len(distinct) > 1, "labels", "at least two conditions", distinct)
    index = {label: number for number, label in enumerate(distinct)}
    return distinct, np.array([index[row] for row in rows])


def listed(names: Sequence[Hashable]) -> str:
    """Return names, separated by commas; the first of many, with their number."""
    first = [" ".join(map(str, entries(name))) for name in names[:MOST_NAMES]]
    more = f", … ({len(names)})" if len(names) > MOST_NAMES else ""
    return ", ".join(first) + more


def entries(label: Hashable) -> tuple:
    """Return the entries of a label: its own if it is a tuple, else itself alone."""
    return label if isinstance(label, tuple) else (label,)


def _real(name: str, value: Any, expected: str) -> np.ndarray:
    """Return a float array, NaN where masked or NA."""
    try:
        if hasattr(value, "iloc"):  # a pandas table, whose NA is no float
            value = value.to_numpy(dtype=float, na_value=np.nan)
        if np.iscomplexobj(value):
            raise TypeError("complex numbers")
        array = np.ma.filled(np.ma.asarray(value).astype(float), np.nan)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name}: expected {expected}, got {value!r:.80}") from error
    checks.require(not np.isinf(array).any(), name, expected, value)
    return array
