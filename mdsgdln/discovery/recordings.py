"""Single trials, averaged to the activity of every neuron in every condition."""

import warnings
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from mdsgdln import _checks as checks
from mdsgdln.discovery.trials import aligned, conditions_of, listed, of_each_neuron, read_trials

STANDARD_ERRORS = 2.0  # above the baseline, from which a neuron counts as on
MANY_SILENT = 0.1  # share of neurons that are never on, and may be suppressed
MANY_TORN = 0.2  # of neurons that are half as often on one side of the baseline as on the other
MISSING = 0.25  # share of a neuron's conditions that were never recorded
SPLITS = 5  # of trials into halves
BOTH, NO_LEVEL = 'True, False or "both"', "there is no baseline or threshold"


@dataclass(frozen=True, eq=False, repr=False)
class Recording:
    """Neurons recorded in single trials, and their mean activity in every condition.

    Attributes:
        activity: mean over the trials of a condition minus the level of silence, shape (neurons,
            conditions); above zero where the neuron is active, NaN where it was not recorded.
        trials: single trials minus baseline and threshold, shape (neurons, trials), NaN where not
            recorded; with the opposite sign for suppressed neurons.
        condition: index of each trial's condition, shape (trials,).
        silence: activity above zero that still counts as silence, shape (neurons, conditions).
        suppressed: whether the neuron counts as active below its baseline, shape (neurons,).
        conditions: their labels, sorted.
        neurons: names of the neurons in ``activity``.
        silent: names of neurons that are excluded because they are never on.
        incomplete: names of neurons that are excluded because a quarter of the conditions, or
            more, was never recorded.
    """

    activity: Float[np.ndarray, "neurons conditions"]
    trials: Float[np.ndarray, "neurons trials"]
    condition: Int[np.ndarray, " trials"]
    silence: Float[np.ndarray, "neurons conditions"]
    suppressed: Bool[np.ndarray, " neurons"]
    conditions: tuple[Hashable, ...]
    neurons: tuple[Hashable, ...]
    silent: tuple[Hashable, ...]
    incomplete: tuple[Hashable, ...]

    def __repr__(self) -> str:
        counts = np.median(_moments(self.trials, self.condition, len(self.conditions))[0], axis=0)
        several = " to ".join(f"{count:.0f}" for count in sorted({counts.min(), counts.max()}))
        neurons, conditions = self.activity.shape
        text = f"{neurons} neurons, {conditions} conditions, {several} trials each"
        for kind, names in (("never on", self.silent), ("incomplete", self.incomplete)):
            if names:
                text += f"; left out, {kind}: {listed(names)}"
        return text

    def noise(self, rng: np.random.Generator) -> Float[np.ndarray, " neurons"]:
        """Return the share of conditions in which trial noise changes a neuron's pattern.

        Halves of the trials that differ from the truth in a share q differ from each other in
        2q(1 − q), if at random: half of their mean difference is about q. What both halves miss
        alike, as weak responses that stay below the level of silence, is not in it. It is NaN for a
        neuron without two trials of a condition.
        """
        shares = []
        with warnings.catch_warnings(action="ignore", category=RuntimeWarning):  # all are NaN
            for one, two in [self.halves(rng) for _ in range(SPLITS)]:
                differ = np.where(np.isnan(one + two), np.nan, (one > 0) != (two > 0))
                shares.append(np.nanmean(differ, axis=1) / 2)
        return np.mean(shares, axis=0)

    def halves(self, rng: np.random.Generator) -> list[Float[np.ndarray, "neurons conditions"]]:
        """Return the activity in two halves of the trials, split at random in each condition."""
        number = len(self.conditions)
        shuffled = [rng.permutation(np.flatnonzero(self.condition == i)) for i in range(number)]
        activity = []
        for half in (0, 1):
            trials = np.concatenate([trials[half::2] for trials in shuffled])
            _, means, _ = _moments(self.trials[:, trials], self.condition[trials], number)
            activity.append(means - np.sqrt(2) * self.silence)  # errors of half of the trials
        return activity


def activity_by_condition(
    trials: Any,
    labels: Any,
    baseline: Any = None,
    threshold: Any = None,
    suppressed: bool | str = False,
) -> Recording:
    """Average single trials by condition and subtract the level of silence, ready for ``find``.

    Gates need a definition of silence. Without a baseline, it is zero. With a baseline, it is two
    standard errors of the mean above the baseline. A baseline of each trial is subtracted from this
    trial; the errors are of these differences, of a typical condition (the median variance).

    Args:
        trials: firing rates or spike counts, shape (neurons, trials), none below 0 unless there is
            a baseline or threshold. Or a pandas table with a named column for each neuron and a row
            for each trial; every column that is not a label is a neuron. NaN, masked or NA where a
            neuron was not recorded.
        labels: condition of each trial: numbers, names or tuples, shape (trials,), or several
            columns, (trials, columns); for a table also the names of one or several of its columns.
            What has the index of the table, in whatever order, is read by it.
        baseline: activity before the stimulus, in the units of ``trials``: a number, one per
            neuron, or one per trial and neuron, as an array of the shape of ``trials`` or a table;
            NaN where it was not recorded.
        threshold: the level of silence above the baseline, a number or one per neuron. Needed for
            z-scores, whose zero is not silence. For neurons that are never silent use each neuron's
            own mean; then none is active everywhere.
        suppressed: find activity *below* the baseline or threshold in place of activity above it.
            With ``"both"`` a neuron that is below its baseline, by the threshold if there is one,
            in more conditions than above counts as suppressed.

    Warns:
        UserWarning: single trials have no standard error, many neurons may be suppressed, or are
            both excited and suppressed, or one column outweighs all others together.
    """
    if hasattr(baseline, "columns") and hasattr(trials, "columns"):
        baseline = aligned("baseline", baseline, trials)
    trials, names, labels = read_trials(trials, labels)
    neurons = range(len(trials)) if names is None else names
    conditions, condition = conditions_of(labels, trials.shape[1])
    with_level = baseline is not None or threshold is not None
    lowest = trials.min(initial=0.0, where=~np.isnan(trials))
    positive = "rates or counts of at least 0, or a baseline or threshold: zero is not silence"
    checks.require(with_level or lowest >= 0, "trials", positive, lowest)
    checks.require(suppressed in (True, False, "both"), "suppressed", BOTH, suppressed)
    checks.require(with_level or not suppressed, "suppressed", f"False: {NO_LEVEL}", suppressed)
    before = of_each_neuron("baseline", baseline, names, trials.shape)
    level = of_each_neuron("threshold", threshold, names, (len(trials), 1))
    checks.finite("threshold", level)
    above = trials - before - level
    counts, means, variances = _moments(above, condition, len(conditions))
    silence = np.zeros_like(means)
    if baseline is not None and threshold is None:
        paired = before if np.ndim(baseline) == 2 else None
        silence = STANDARD_ERRORS * _errors(counts, means, variances, paired)
    complete = np.isnan(means).mean(axis=1) < MISSING
    both = suppressed == "both"
    mirror = 2 * level if both else 0  # as far below the baseline as the threshold is above
    up, down = ((each > silence).sum(axis=1) for each in (means, -means - mirror))
    falls = down > up if both else np.full(len(means), bool(suppressed))
    on = np.where(falls, down, up) > 0
    used, never = complete & on, complete & ~on
    checks.require(complete.any(), "trials", "a neuron recorded in most conditions", trials)
    checks.require(used.any(), "trials", "a neuron that is active in a condition", trials)
    of_suppression = _both_ways(used, up, down) if both else _hidden(never)
    asked = both or (baseline is not None and not suppressed)
    for doubt in of_suppression * asked + _outweighed(neurons, means):
        warnings.warn(f"activity_by_condition: {doubt}", stacklevel=2)
    named = [
        tuple(neurons[index] for index in np.flatnonzero(part)) for part in (used, never, ~complete)
    ]
    above, means = (np.where(falls[:, None], -each - mirror, each) for each in (above, means))
    activity = means - silence
    parts = above[used], condition, silence[used], falls[used]
    return Recording(activity[used], *parts, conditions, *named)


def _hidden(never: Bool[np.ndarray, " neurons"]) -> list[str]:
    """Return the doubt that neurons are left out because they are active below their baseline."""
    text = (
        f"{never.sum()} of {len(never)} neurons are excluded, as they are never above their "
        'baseline; suppressed="both" finds gates of those that are below'
    )
    return [text] * bool(never.mean() >= MANY_SILENT)


def _both_ways(used: np.ndarray, up: np.ndarray, down: np.ndarray) -> list[str]:
    """Return the doubt that neurons are active above *and* below their baseline."""
    torn = used & (2 * np.minimum(up, down) > np.maximum(up, down))
    text = (
        f"{torn.sum()} of {used.sum()} neurons are often both above and below their baseline; "
        "call it twice: suppressed=False takes activity above it, suppressed=True activity below"
    )
    return [text] * bool(torn.sum() > MANY_TORN * used.sum())


def _outweighed(neurons: Sequence, means: np.ndarray) -> list[str]:
    """Return the doubt that a column is no neuron, as it outweighs all others."""
    size = np.nansum(np.abs(means), axis=1)
    text = f"{neurons[int(size.argmax())]!r} outweighs all other neurons together: is it a neuron?"
    return [text] * bool(len(size) > 2 and 2 * size.max() > size.sum())


def _errors(counts, means, variances, paired) -> Float[np.ndarray, "neurons conditions"]:
    """Return the standard errors of means; zero, and a warning, where they are unknown."""
    if paired is not None:
        with warnings.catch_warnings(action="ignore", category=RuntimeWarning):  # all are NaN
            typical = np.nanmedian(variances, axis=1, keepdims=True)
            single = 2 * np.nanvar(paired, axis=1, ddof=1, keepdims=True)
        variances = np.where(np.isnan(typical), single, typical)
    with np.errstate(divide="ignore", invalid="ignore"):
        errors = np.sqrt(variances / counts)
    if (np.isnan(errors) & ~np.isnan(means)).any():
        warnings.warn(
            "activity_by_condition: single trials have no standard error: a neuron counts as on "
            "above its baseline; give a threshold, or a baseline for each trial",
            stacklevel=3,
        )
    return np.where(np.isnan(errors), 0.0, errors)


def _moments(
    trials: Float[np.ndarray, "neurons trials"], condition: Int[np.ndarray, " trials"], number: int
):
    """Return number, mean and variance of recorded trials, each (neurons, conditions)."""
    groups = [trials[:, condition == index] for index in range(number)]
    counts = np.stack([(~np.isnan(group)).sum(axis=1) for group in groups], axis=1)
    with warnings.catch_warnings(action="ignore", category=RuntimeWarning):  # NaN for too few
        means = np.stack([np.nanmean(group, axis=1) for group in groups], axis=1)
        variances = np.stack([np.nanvar(group, axis=1, ddof=1) for group in groups], axis=1)
    return counts, means, variances
