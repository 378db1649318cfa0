"""Conditions: from the labels of single trials, and gates in their words."""

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from jaxtyping import Int

from mdsgdln import _checks as checks

MOST_NAMES = 12  # that are listed


def conditions(labels: Any, num_trials: int) -> tuple[tuple, Int[np.ndarray, " trials"]]:
    """Return the distinct labels, sorted, and each trial's index among them.

    Args:
        labels: one for each trial: numbers, names or tuples; or several columns, (trials, columns),
            whose rows are the labels.
        num_trials: how many there are.
    """
    checks.several("labels", labels)
    if np.ndim(labels) == 2 or hasattr(labels, "columns"):
        rows = [tuple(row) for row in np.asarray(labels, dtype=object).tolist()]
        labels = [row[0] if len(row) == 1 else row for row in rows]
    else:
        labels = labels.tolist() if isinstance(labels, np.ndarray) else list(labels)
    if len(labels) != num_trials:
        raise ValueError(
            f"labels: expected one per trial, and {num_trials} trials are the columns of the "
            f"recording, got {len(labels)}; if its rows are trials, transpose it"
        )
    try:
        if any(entry != entry for label in labels for entry in _entries(label)):
            raise ValueError("labels: expected a label for every trial, got NaN")
        distinct = sorted(set(labels))
    except TypeError as error:
        raise ValueError(f"labels: expected labels of one kind, got {labels!r:.80}") from error
    if len(distinct) < 2:
        raise ValueError(f"labels: expected at least two conditions, got {distinct}")
    index = {label: place for place, label in enumerate(distinct)}
    return tuple(distinct), np.array([index[label] for label in labels])


def in_words(gate: Int[np.ndarray, " P"], names: Sequence[Hashable]) -> str:
    """Return the conditions in which a gate is on, in words.

    If labels are tuples and the gate depends on one of their entries alone, the values of this
    entry say it. Otherwise the conditions are listed, or those that are missing if they are fewer.
    """
    on = [name for name, entry in zip(names, gate, strict=True) if entry]
    off = [name for name, entry in zip(names, gate, strict=True) if not entry]
    if not off:
        return "all"
    for position in range(min(len(_entries(name)) for name in names)):
        values, others = ({_entries(name)[position] for name in part} for part in (on, off))
        if len(values) < len(on) and not values & others:
            return listed(sorted(values))
    return f"all but {listed(off)}" if len(off) < len(on) else listed(on)


def listed(names: Sequence[Hashable]) -> str:
    """Return names, separated by commas; of many the first ones, and how many there are."""
    shown = [" ".join(map(str, _entries(name))) for name in names[:MOST_NAMES]]
    more = f", … ({len(names)})" if len(names) > MOST_NAMES else ""
    return ", ".join(shown) + more


def _entries(label: Hashable) -> tuple:
    return label if isinstance(label, tuple) else (label,)
