"""From single trials to a table: the activity of every neuron in every condition."""

import warnings
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float, Int

from mdsgdln import _checks as checks

STANDARD_ERRORS = 2.0  # above the baseline, where a neuron counts as on
MOST_NAMES = 12  # that are listed
MANY_SILENT = 0.1  # of the neurons: so many that are never on may be suppressed


@dataclass(frozen=True, eq=False, repr=False)
class Recording:
    """Neurons recorded in single trials, and their mean activity in every condition.

    Attributes:
        activity: mean over the trials of a condition less what counts as silence, shape (neurons,
            conditions); above zero where the neuron is on.
        trials: single trials less baseline and threshold, shape (neurons, trials), NaN where not
            recorded; with the opposite sign if neurons that are suppressed are looked for.
        condition: index of each trial's condition, shape (trials,).
        silence: how far above zero still counts as silence, shape (neurons, conditions).
        conditions: their labels, sorted.
        neurons: names of the neurons that are kept.
        silent: names of neurons left out because they are never on.
        incomplete: names of neurons left out because a condition was never recorded.
    """

    activity: Float[np.ndarray, "neurons conditions"]
    trials: Float[np.ndarray, "neurons trials"]
    condition: Int[np.ndarray, " trials"]
    silence: Float[np.ndarray, "neurons conditions"]
    conditions: tuple[Hashable, ...]
    neurons: tuple[Hashable, ...]
    silent: tuple[Hashable, ...]
    incomplete: tuple[Hashable, ...]

    def __repr__(self) -> str:
        counts = self._recorded()
        several = " to ".join(f"{count:.0f}" for count in sorted({counts.min(), counts.max()}))
        neurons, conditions = self.activity.shape
        text = f"{neurons} neurons, {conditions} conditions, {several} trials each"
        for kind, names in (("never on", self.silent), ("incomplete", self.incomplete)):
            if names:
                text += f"; left out, {kind}: {listed(names)}"
        return text

    def resampled(self, rng: np.random.Generator) -> Float[np.ndarray, "neurons conditions"]:
        """Return the activity of as many trials, drawn with replacement in each condition."""
        return self._activity([rng.choice(trials, len(trials)) for trials in self._members()], 1.0)

    def halves(self, rng: np.random.Generator) -> list[Float[np.ndarray, "neurons conditions"]]:
        """Return the activity in two halves of the trials, split at random in each condition."""
        shuffled = [rng.permutation(trials) for trials in self._members()]
        halves = [[trials[half::2] for trials in shuffled] for half in (0, 1)]
        return [self._activity(half, np.sqrt(2)) for half in halves]

    @property
    def fewest_trials(self) -> int:
        """Trials of the condition that has the fewest, as most neurons were recorded in them."""
        return int(self._recorded().min())

    def _recorded(self) -> pd.Series:
        """Return the number of trials recorded in each condition, the median over neurons."""
        return pd.DataFrame(self.trials.T).groupby(self.condition).count().median(axis=1)

    def _members(self) -> list[Int[np.ndarray, " some"]]:
        return [np.flatnonzero(self.condition == index) for index in range(len(self.conditions))]

    def _activity(self, chosen, scale: float) -> Float[np.ndarray, "neurons conditions"]:
        """Return mean less silence; a part of the trials has a larger standard error."""
        trials = np.concatenate(chosen)
        means = pd.DataFrame(self.trials.T[trials]).groupby(self.condition[trials]).mean()
        return np.nan_to_num(means.to_numpy().T - scale * self.silence)


def activity_by_condition(
    trials: Any,
    labels: Any,
    baseline: Any = None,
    threshold: Any = None,
    suppressed: bool = False,
) -> Recording:
    """Average single trials by condition, less what counts as silence, ready for ``find``.

    Where a neuron is on has to be known before gates can be found. Without a baseline, zero is
    silence. Above a baseline, two standard errors of the mean are: of the baseline if it was
    recorded in every trial, else of the trials of the condition.

    Args:
        trials: firing rates or spike counts, shape (neurons, trials), none below 0. Or a table of
            pandas with a named column for each neuron and a row for each trial; any column but
            those of the labels is taken for a neuron. NaN where a neuron was not recorded.
        labels: condition of each trial: numbers, names or tuples, shape (trials,), or several
            columns, (trials, columns); of a table also the names of one or several of its columns.
        baseline: activity before the stimulus, in the units of ``trials``: a number, one for each
            neuron, or for each trial and neuron, in the shape of ``trials`` or as such a table;
            NaN where it was not recorded.
        threshold: what counts as silence above the baseline, a number or one for each neuron.
            Needed for data with entries below 0, such as z-scores, whose zero is no silence. Each
            neuron's own mean serves where neurons never fall silent, but none is on everywhere.
        suppressed: whether to look for what is *below* the baseline, or below the threshold, as
            far as otherwise for what is above it.

    Raises:
        ValueError: shapes that do not fit, entries below 0 without a threshold, infinite entries,
            nothing below which neurons can be suppressed, or no neuron that is ever on.

    Warns:
        UserWarning: single trials have no standard error, or many neurons may be suppressed.
    """
    table, labels = _table(trials, labels)
    conditions, condition = _conditions(labels, len(table))
    lowest = table.min(axis=None)
    if threshold is None and lowest < 0:
        raise ValueError(
            f"trials: expected rates or counts, none below 0, got {lowest:.3g}; where they are "
            "z-scored or a baseline is subtracted, zero is no silence: give a threshold"
        )
    if suppressed and baseline is None and threshold is None:
        raise ValueError("suppressed: expected a baseline or a threshold, got neither")
    before = _of_each_neuron("baseline", baseline, table, len(table))
    level = _of_each_neuron("threshold", threshold, table, 1)
    if level.isna().any(axis=None):
        raise ValueError("threshold: expected finite entries, got NaN")
    above = (table - before.mean() - level.iloc[0]) * (-1 if suppressed else 1)
    by_condition = above.groupby(condition)
    means = by_condition.mean()
    silence = 0.0 * means
    if baseline is not None and threshold is None:
        each_trial = np.ndim(baseline) == 2
        errors = before.std() / np.sqrt(by_condition.count()) if each_trial else by_condition.sem()
        silence = STANDARD_ERRORS * errors.fillna(0.0)
        if (errors.isna() & means.notna()).any(axis=None):
            warnings.warn(
                "single trials have no standard error: a neuron is taken as on above its baseline; "
                "give a threshold, or a baseline for each trial",
                stacklevel=2,
            )
    complete, on = means.notna().all(), (means > silence).any()
    kept, never = complete & on, complete & ~on
    if not complete.any():
        raise ValueError("trials: expected a neuron that is recorded in every condition, got none")
    if not kept.any():
        raise ValueError("trials: expected a neuron that is on in a condition, got none")
    if baseline is not None and not suppressed and never.mean() >= MANY_SILENT:
        warnings.warn(
            f"activity_by_condition: {never.sum()} of {len(never)} neurons are left out, as they "
            "are never above their baseline; suppressed=True finds gates of those that fall below",
            stacklevel=2,
        )
    named = [tuple(table.columns[chosen]) for chosen in (kept, never, ~complete)]
    mean, trials, silence = (part.loc[:, kept].to_numpy().T for part in (means, above, silence))
    return Recording(mean - silence, trials, condition, silence, conditions, *named)


def _table(trials: Any, labels: Any) -> tuple[pd.DataFrame, Any]:
    """Return trials as a table, a column for each neuron, and their labels."""
    columns = [labels] if isinstance(labels, str) else labels
    names = None
    if isinstance(trials, pd.DataFrame):
        named = isinstance(columns, list) and all(isinstance(column, str) for column in columns)
        if named and len(columns) != len(trials):
            unknown = [column for column in columns if column not in trials.columns]
            if unknown:
                raise ValueError(f"labels: expected columns of the trials, got {unknown!r:.80}")
            labels, trials = trials[columns], trials.drop(columns=columns)
        names, trials = trials.columns, trials.to_numpy().T
    try:
        array = _real(trials)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"trials: expected finite numbers or NaN, (neurons, trials), got {trials!r:.80}"
        ) from error
    if array.ndim != 2 or not array.size:
        raise ValueError(f"trials: expected shape (neurons, trials), got {array.shape}")
    return pd.DataFrame(array.T, columns=names), labels


def _real(value: Any) -> np.ndarray:
    """Return numbers as floats, gaps as NaN, or raise an error unless they are real and finite."""
    if np.iscomplexobj(value):
        raise TypeError("complex numbers")
    array = np.asarray(value, dtype=float)
    if np.isinf(array).any():
        raise ValueError("infinity")
    return array


def _of_each_neuron(name: str, value: Any, table: pd.DataFrame, num_rows: int) -> pd.DataFrame:
    """Return a number, one for each neuron, or for each neuron and trial, as rows of a table."""
    neurons = table.columns
    shapes = ((), (len(neurons),), (len(neurons), 1), (len(neurons), num_rows))
    try:
        if isinstance(value, pd.Series | pd.DataFrame):
            is_named = not isinstance(neurons, pd.RangeIndex)
            value = value.T.loc[list(neurons)].to_numpy() if is_named else value.to_numpy().T
        array = _real(0.0 if value is None else value)
        if array.shape not in shapes:
            raise ValueError("another shape")
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(
            f"{name}: expected a number, one for each of the {len(neurons)} neurons, or shape "
            f"{shapes[-1]}, all finite or NaN, got {value!r:.80}"
        ) from error
    rows = np.broadcast_to(np.atleast_2d(array.T), (num_rows, len(neurons)))
    return pd.DataFrame(rows, columns=neurons)


def _conditions(labels: Any, num_trials: int) -> tuple[tuple, Int[np.ndarray, " trials"]]:
    """Return the distinct labels, sorted, and each trial's index among them."""
    checks.several("labels", labels)
    try:
        table = pd.DataFrame(checks.plain(labels))
        rows = [row[0] if len(row) == 1 else row for row in table.itertuples(False, None)]
        distinct = sorted(set(rows))
    except (TypeError, ValueError) as error:
        raise ValueError(f"labels: expected labels of one kind, got {labels!r:.80}") from error
    if len(rows) != num_trials:
        raise ValueError(
            f"labels: expected one per trial, and {num_trials} trials are the columns of the "
            f"recording, got {len(rows)}; if its rows are trials, transpose it"
        )
    if table.isna().any(axis=None):
        raise ValueError("labels: expected a label for every trial, got NaN")
    if len(distinct) < 2:
        raise ValueError(f"labels: expected at least two conditions, got {distinct}")
    return tuple(distinct), np.array([distinct.index(row) for row in rows])


def listed(names: Sequence[Hashable]) -> str:
    """Return names, separated by commas; of many the first ones, and how many there are."""
    shown = [" ".join(map(str, entries(name))) for name in names[:MOST_NAMES]]
    more = f", … ({len(names)})" if len(names) > MOST_NAMES else ""
    return ", ".join(shown) + more


def entries(label: Hashable) -> tuple:
    """Return the entries of a label: its own if it is a tuple, else itself alone."""
    return label if isinstance(label, tuple) else (label,)
