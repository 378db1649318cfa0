"""From single trials to a table: the activity of every neuron in every condition."""

import warnings
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from mdsgdln.discovery.labels import conditions, listed

STANDARD_ERRORS = 2.0  # above the baseline, where a neuron counts as on
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
        drawn = np.concatenate(
            [rng.choice(trials, len(trials)) for trials in self._trials_by_condition()]
        )
        return self._activity(drawn, 1.0)

    def halves(self, rng: np.random.Generator) -> list[Float[np.ndarray, "neurons conditions"]]:
        """Return the activity in two halves of the trials, split at random in each condition."""
        shuffled = [rng.permutation(trials) for trials in self._trials_by_condition()]
        return [
            self._activity(np.concatenate([trials[half::2] for trials in shuffled]), np.sqrt(2))
            for half in (0, 1)
        ]

    @property
    def fewest_trials(self) -> int:
        """Trials of the condition that has the fewest, as most neurons were recorded in them."""
        return int(self._recorded().min())

    def _recorded(self) -> Float[np.ndarray, " conditions"]:
        """Return the number of trials recorded in each condition, the median over neurons."""
        return np.median(_sums(self.trials, self.condition)[1], axis=0)

    def _trials_by_condition(self) -> list[Int[np.ndarray, " some"]]:
        return [np.flatnonzero(self.condition == index) for index in range(len(self.conditions))]

    def _activity(self, chosen, scale: float) -> Float[np.ndarray, "neurons conditions"]:
        """Return mean less silence; a part of the trials has a larger standard error."""
        means = _means(self.trials[:, chosen], self.condition[chosen])
        return np.nan_to_num(means - scale * self.silence)


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
        trials: firing rates or spike counts, shape (neurons, trials), none below 0: neurons are
            rows and trials are columns, as in ``find``. Or a table, as of pandas, with a named
            column for each neuron and a row for each trial; any column but those of the labels is
            taken for a neuron. NaN where a neuron was not recorded.
        labels: condition of each trial: numbers, names or tuples, shape (trials,), or several
            columns, (trials, columns); of a table also the names of one or several of its columns.
        baseline: activity before the stimulus, in the units of ``trials``: a number, one for each
            neuron, or for each trial and neuron, in the shape of ``trials`` or as such a table;
            NaN where it was not recorded.
        threshold: what counts as silence above the baseline, a number or one for each neuron.
            Needed for data with entries below 0, such as z-scores, whose zero is no silence. Each
            neuron's own mean serves where neurons never fall silent and fire about alike wherever
            they are on; those that are on everywhere are then on at random.
        suppressed: whether to look for what is *below* the baseline, or below the threshold, as
            far as otherwise for what is above it.

    Raises:
        ValueError: shapes that do not fit, entries below 0 without a threshold, infinite entries,
            nothing below which neurons can be suppressed, or no neuron that is ever on.

    Warns:
        UserWarning: standard errors are needed of single trials, or a tenth of the neurons or more
            are never above their baseline: they may be suppressed.
    """
    trials, labels, names, ordered = _table(trials, labels)
    labelled, condition = conditions(labels, trials.shape[1])
    lowest = np.min(trials, initial=np.inf, where=~np.isnan(trials))
    if threshold is None and lowest < 0:
        raise ValueError(
            f"trials: expected rates or counts, none below 0, got {lowest:.3g}; where they are "
            "z-scored or a baseline is subtracted, zero is no silence: give a threshold"
        )
    if suppressed and baseline is None and threshold is None:
        raise ValueError("suppressed: expected a baseline or a threshold, got neither")
    sign = -1 if suppressed else 1
    before = _broadcast(
        "baseline", 0.0 if baseline is None else ordered("baseline", baseline), trials
    )
    level = _broadcast(
        "threshold", 0.0 if threshold is None else ordered("threshold", threshold), trials[:, :1]
    )
    if np.isnan(level).any():
        raise ValueError("threshold: expected finite entries, got NaN")
    together = np.zeros_like(condition)
    above = sign * (trials - _means(before, together) - level)
    means = _means(above, condition)
    if threshold is not None or baseline is None:
        silence = np.zeros_like(means)
    elif np.ndim(baseline) == 2:
        silence = STANDARD_ERRORS * _standard_errors(before, together, above, condition)
    else:
        silence = STANDARD_ERRORS * _standard_errors(above, condition, above, condition)
    complete, on = ~np.isnan(means).any(axis=1), (means > silence).any(axis=1)
    kept = complete & on
    if not complete.any():
        raise ValueError("trials: expected a neuron that is recorded in every condition, got none")
    if not kept.any():
        raise ValueError("trials: expected a neuron that is on in a condition, got none")
    never = complete & ~on
    if baseline is not None and not suppressed and never.mean() >= MANY_SILENT:
        warnings.warn(
            f"activity_by_condition: {never.sum()} of {len(never)} neurons are left out, as they "
            "are never above their baseline; suppressed=True finds gates of those that fall below",
            stacklevel=2,
        )
    named = [
        tuple(name for name, is_chosen in zip(names, chosen, strict=True) if is_chosen)
        for chosen in (kept, never, ~complete)
    ]
    activity = means[kept] - silence[kept]
    return Recording(activity, above[kept], condition, silence[kept], labelled, *named)


def _table(
    trials: Any, labels: Any
) -> tuple[np.ndarray, Any, Sequence[Hashable], Callable[[str, Any], Any]]:
    """Return trials as an array, their labels, names of the neurons, and how tables are ordered."""
    names = None
    if hasattr(trials, "columns"):
        columns = [labels] if isinstance(labels, str) else labels
        if isinstance(columns, list) and all(isinstance(column, str) for column in columns):
            unknown = [column for column in columns if column not in trials.columns]
            if not unknown:
                labels = trials[columns]
                trials = trials[[column for column in trials.columns if column not in columns]]
            elif len(columns) != len(trials):
                raise ValueError(f"labels: expected columns of the trials, got {unknown!r:.80}")
        names = list(trials.columns)
        trials = trials.to_numpy().T
    try:
        array = _real(trials)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"trials: expected numbers of shape (neurons, trials), got {trials!r:.80}"
        ) from error
    if array.ndim != 2 or not array.size:
        raise ValueError(f"trials: expected shape (neurons, trials), got {array.shape}")
    if np.isinf(array).any():
        raise ValueError("trials: expected finite entries or NaN, got infinity")

    def ordered(name: str, values: Any) -> Any:
        """Return a table as an array of shape (neurons, trials), its neurons as in the trials."""
        if names is not None and hasattr(values, "loc"):
            missing = [neuron for neuron in names if neuron not in values.T.index]
            if missing:
                raise ValueError(
                    f"{name}: expected all neurons of the trials, lacks {missing!r:.80}"
                )
            values = values[names]
        return values.to_numpy().T if hasattr(values, "to_numpy") else values

    return array, labels, names or range(len(array)), ordered


def _real(value: Any) -> np.ndarray:
    """Return numbers as floats, gaps as NaN; raise ``TypeError`` unless they are real."""
    if np.iscomplexobj(value):
        raise TypeError("complex numbers")
    return np.asarray(value, dtype=float)


def _broadcast(name: str, value: Any, trials: np.ndarray) -> Float[np.ndarray, "neurons trials"]:
    """Return a number, one for each neuron, or for each neuron and trial, for all of them."""
    try:
        array = _real(value)
        if array.ndim == 1:
            array = array[:, None]
        if array.ndim == 2 and array.shape not in (trials.shape, (len(trials), 1)):
            raise ValueError("another shape")
        expected = np.broadcast_to(array, trials.shape)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{name}: expected a number, one for each of {len(trials)} neurons, or shape "
            f"{trials.shape}, got {value!r:.80}"
        ) from error
    if np.isinf(array).any():
        raise ValueError(f"{name}: expected finite entries or NaN, got infinity")
    return expected


def _sums(
    trials: np.ndarray, condition: np.ndarray
) -> tuple[Float[np.ndarray, "neurons conditions"], Float[np.ndarray, "neurons conditions"]]:
    """Return the sum over the recorded trials of each condition, and their number."""
    member = (condition[:, None] == np.arange(condition.max() + 1)).astype(float)
    recorded = ~np.isnan(trials)
    return np.where(recorded, trials, 0.0) @ member, recorded @ member


def _means(trials: np.ndarray, condition: np.ndarray) -> Float[np.ndarray, "neurons conditions"]:
    """Return the mean over the trials of each condition, NaN where there is none."""
    sums, counts = _sums(trials, condition)
    return np.divide(sums, counts, out=np.full_like(sums, np.nan), where=counts > 0)


def _standard_errors(
    trials: np.ndarray, group: np.ndarray, averaged: np.ndarray, condition: np.ndarray
) -> Float[np.ndarray, "neurons conditions"]:
    """Return standard errors of the means of ``averaged`` in each condition.

    The spread is that of ``trials`` in groups: the conditions, or all trials together.
    """
    squares, recorded = _sums((trials - _means(trials, group)[:, group]) ** 2, group)
    counts = _sums(averaged, condition)[1]
    if (np.where(counts.any(axis=1, keepdims=True), recorded, 2) < 2).any():
        warnings.warn(
            "single trials have no standard error: a neuron is taken as on above its baseline; "
            "give a threshold, or a baseline for each trial",
            stacklevel=3,
        )
    variances = squares / np.maximum(recorded - 1, 1)
    return np.sqrt(variances / np.maximum(counts, 1))
