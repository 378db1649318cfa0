"""From single trials to a table: the activity of every neuron in every condition."""

import warnings
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from mdsgdln import _checks as checks
from mdsgdln._checks import Numbers

STANDARD_ERRORS = 2.0  # above the baseline, where a neuron counts as on
FEW_SILENT = 0.02  # of all entries: where fewer are silent, nothing counts as silence


@dataclass(frozen=True, eq=False, repr=False)
class Recording:
    """Neurons recorded in single trials, and their mean activity in every condition.

    Attributes:
        activity: mean over the trials of a condition less what counts as silence, shape (neurons,
            conditions); above zero where the neuron is on.
        trials: single trials less the baseline, shape (trials, neurons), NaN where not recorded.
        condition: index of each trial's condition, shape (trials,).
        silence: what counts as silence above the baseline, shape (neurons, conditions).
        conditions: their labels, sorted.
        neurons: names of the neurons that are kept.
        silent: names of neurons left out because they are never on.
        incomplete: names of neurons left out because a condition was never recorded.
    """

    activity: Float[np.ndarray, "neurons conditions"]
    trials: Float[np.ndarray, "trials neurons"]
    condition: Int[np.ndarray, " trials"]
    silence: Float[np.ndarray, "neurons conditions"]
    conditions: tuple[Hashable, ...]
    neurons: tuple[Hashable, ...]
    silent: tuple[Hashable, ...]
    incomplete: tuple[Hashable, ...]

    def __repr__(self) -> str:
        counts = np.bincount(self.condition)
        several = " to ".join(str(count) for count in sorted({counts.min(), counts.max()}))
        neurons, conditions = self.activity.shape
        text = f"{neurons} neurons, {conditions} conditions, {several} trials each"
        for kind, names in (("never on", self.silent), ("incomplete", self.incomplete)):
            if names:
                listed = ", ".join(map(str, names[:8])) + (", …" if len(names) > 8 else "")
                text += f"; left out, {kind}: {listed}"
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
    def can_be_split(self) -> bool:
        """Whether there are two trials of every condition."""
        return bool(np.bincount(self.condition).min() > 1)

    def _trials_by_condition(self) -> list[Int[np.ndarray, " some"]]:
        return [np.flatnonzero(self.condition == index) for index in range(len(self.conditions))]

    def _activity(self, chosen, scale: float) -> Float[np.ndarray, "neurons conditions"]:
        """Return mean less silence; a part of the trials has a larger standard error."""
        means = _means(self.trials[chosen], self.condition[chosen], len(self.conditions))
        return np.nan_to_num(means - scale * self.silence)


def activity_by_condition(
    trials: Any,
    labels: Any,
    baseline: Numbers | None = None,
    threshold: Numbers | None = None,
) -> Recording:
    """Average single trials by condition, less what counts as silence, ready for ``find``.

    Where a neuron is on has to be known before gates can be found. Without a baseline, zero is
    silence. Above a baseline, two standard errors of the mean are: of the baseline if it was
    recorded in every trial, else of the trials of the condition.

    Args:
        trials: firing rates or spike counts, shape (trials, neurons), none below 0; an array or a
            table with named columns, as of pandas. NaN where a neuron was not recorded.
        labels: condition of each trial, shape (trials,): numbers or names; or the name of the
            column of ``trials`` that holds them.
        baseline: activity before the stimulus, in the units of ``trials``: a number, one for each
            neuron, or for each trial and neuron, (trials, neurons).
        threshold: what counts as silence above the baseline, a number or one for each neuron.
            Needed for data with entries below 0, such as z-scores, whose zero is the mean and no
            silence.

    Raises:
        ValueError: shapes that do not fit, entries below 0 without a threshold, infinite entries,
            or no neuron that is ever on.

    Warns:
        UserWarning: hardly an entry counts as silent, so that a baseline is missing; or standard
            errors are needed of single trials.
    """
    trials, labels, names = _table(trials, labels)
    conditions, condition = _conditions(labels, len(trials))
    lowest = np.min(trials, initial=np.inf, where=~np.isnan(trials))
    if threshold is None and lowest < 0:
        raise ValueError(
            f"trials: expected rates or counts, none below 0, got {lowest:.3g}; where they are "
            "z-scored or a baseline is subtracted, zero is no silence: give a threshold"
        )
    before = _broadcast("baseline", 0.0 if baseline is None else baseline, trials)
    above = trials - _means(before, np.zeros(len(before), int), 1)[:, 0]
    means = _means(above, condition, len(conditions))
    if threshold is not None:
        silence = _broadcast("threshold", threshold, trials[:1]).T + np.zeros_like(means)
    elif baseline is None:
        silence = np.zeros_like(means)
    else:
        varied = before if np.ndim(baseline) == 2 else above
        silence = STANDARD_ERRORS * _standard_errors(
            varied, above, condition, np.ndim(baseline) == 2
        )
    complete, on = ~np.isnan(means).any(axis=1), (means > silence).any(axis=1)
    kept = complete & on
    if not kept.any():
        raise ValueError("trials: expected a neuron that is on in a condition, got none")
    activity = means[kept] - silence[kept]
    if (activity <= 0).mean() < FEW_SILENT:
        warnings.warn(
            "nearly every neuron is on in every condition: is there a baseline to subtract?",
            stacklevel=2,
        )
    named = [
        tuple(name for name, is_chosen in zip(names, chosen, strict=True) if is_chosen)
        for chosen in (kept, complete & ~on, ~complete)
    ]
    return Recording(activity, above[:, kept], condition, silence[kept], conditions, *named)


def _table(trials: Any, labels: Any) -> tuple[np.ndarray, Any, list]:
    """Return trials as an array, their labels, and the names of the neurons."""
    if hasattr(trials, "columns"):
        if isinstance(labels, str):
            if labels not in trials.columns:
                raise ValueError(f"labels: expected a column of the trials, got {labels!r}")
            labels, trials = trials[labels], trials[[c for c in trials.columns if c != labels]]
        names = list(trials.columns)
    else:
        names = None
    try:
        array = _real(trials)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"trials: expected numbers of shape (trials, neurons), got {trials!r:.80}"
        ) from error
    if array.ndim != 2 or not array.size:
        raise ValueError(f"trials: expected shape (trials, neurons), got {array.shape}")
    if np.isinf(array).any():
        raise ValueError("trials: expected finite entries or NaN, got infinity")
    return array, labels, names if names is not None else list(range(array.shape[1]))


def _conditions(labels: Any, num_trials: int) -> tuple[tuple, Int[np.ndarray, " trials"]]:
    """Return the distinct labels, sorted, and each trial's index among them."""
    checks.several("labels", labels)
    labels = np.asarray(labels)
    if labels.shape != (num_trials,):
        raise ValueError(f"labels: expected one per trial, {num_trials}, got {labels.shape}")
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise ValueError("labels: expected a label for every trial, got NaN or infinity")
    try:
        distinct, condition = np.unique(labels, return_inverse=True)
    except TypeError as error:
        raise ValueError(f"labels: expected labels of one kind, got {labels!r:.80}") from error
    if len(distinct) < 2:
        raise ValueError(f"labels: expected at least two conditions, got {distinct}")
    return tuple(distinct.tolist()), condition


def _real(value: Any) -> np.ndarray:
    """Return numbers as floats, gaps as NaN; raise ``TypeError`` unless they are real."""
    if np.iscomplexobj(value):
        raise TypeError("complex numbers")
    return np.asarray(value, dtype=float)


def _broadcast(name: str, value: Any, trials: np.ndarray) -> Float[np.ndarray, "trials neurons"]:
    """Return a number, one for each neuron, or for each trial and neuron, for all of them."""
    try:
        array = _real(value)
        expected = np.broadcast_to(array, trials.shape)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{name}: expected a number, one for each of {trials.shape[1]} neurons, or shape "
            f"{trials.shape}, got {value!r:.80}"
        ) from error
    if not array.size or not np.isfinite(array).all():
        raise ValueError(f"{name}: expected finite entries, got NaN or infinity")
    return expected


def _means(
    trials: np.ndarray, condition: np.ndarray, number: int
) -> Float[np.ndarray, "neurons conditions"]:
    """Return the mean over the trials of each condition, NaN where there is none."""
    recorded = ~np.isnan(trials)
    member = (condition == np.arange(number)[:, None]).astype(float)
    counts = member @ recorded
    sums = member @ np.where(recorded, trials, 0.0)
    return np.divide(sums, counts, out=np.full_like(sums, np.nan), where=counts > 0).T


def _standard_errors(
    trials: np.ndarray, averaged: np.ndarray, condition: np.ndarray, together: bool
) -> Float[np.ndarray, "neurons conditions"]:
    """Return standard errors of the means, from the spread in each condition or in all together."""
    number = int(condition.max()) + 1
    recorded = ~np.isnan(averaged)
    groups = np.zeros_like(condition) if together else condition
    num_groups = 1 if together else number
    deviations = trials - _means(trials, groups, num_groups).T[groups]
    squares = _means(deviations**2, groups, num_groups)
    member = (condition == np.arange(number)[:, None]).astype(float)
    counts = (member @ recorded).T
    of_group = (np.bincount(groups)[None, :] if together else counts) * np.ones_like(squares)
    if (of_group < 2).any():
        warnings.warn(
            "single trials have no standard error: a neuron is taken as on above its baseline; "
            "give a threshold, or a baseline for each trial",
            stacklevel=3,
        )
    variances = squares * of_group / np.maximum(of_group - 1, 1)
    return np.sqrt(np.nan_to_num(variances) / np.maximum(counts, 1))
