"""What a recording cannot tell, in words."""

from collections.abc import Hashable, Sequence
from itertools import combinations

import numpy as np

from mdsgdln.discovery.density import States
from mdsgdln.discovery.evidence import are_many, groups_of, is_clear
from mdsgdln.discovery.recordings import Recording
from mdsgdln.discovery.trials import listed

CENTRE = 1e-3  # of its deviation, within which a neuron's mean is zero
MANY_GROUPS, FAR = 6, 3  # groups of conditions; in which neighbouring kinds differ
DIVIDED = 1.5  # times the cells that one more kind of a variable makes of them, at most
CHANGED, MANY_CHANGED = 0.5, 0.25  # of a kind's neurons; of the conditions in which it is on
HARDLY_SILENT = 0.9  # share of entries that are on, from which silence carries no information
ABOVE_ZERO = (
    "A neuron counts as on above zero. Where noise is above zero, subtract a baseline and its "
    "noise, as activity_by_condition does; where neurons are hardly ever silent, subtract a "
    "threshold such as each neuron's mean."
)
CLOSE = (
    "Of {} patterns that many neurons share, some differ in one or two conditions only, as in "
    "noise or a continuum: see discovery.common_patterns."
)
OUTSIDE = "Most neurons have no kind. If these are tuned, kinds may be stretches of a continuum."
CENTRED = "Each neuron's mean is zero, as with z-scores, so that none is on in all conditions."


def never_recorded(patterns: States, kind: np.ndarray, conditions: Sequence[Hashable]) -> list[str]:
    """Return in which conditions no neuron of a kind was recorded, so that its gate is off."""
    caveats = []
    for number in range(kind.max(initial=-1) + 1):
        known = patterns.take(kind == number).known.sum(axis=0)
        unknown = np.flatnonzero(known == 0).tolist()
        names = [conditions[index] for index in unknown]
        if names:
            off = f"Gate {number + 1} is off in {listed(names)}"
            caveats.append(f"{off} for want of a recording of its neurons.")
    return caveats


def unsteady(halves: Sequence[np.ndarray], kind: np.ndarray) -> list[str]:
    """Return how many kinds have other gates in the other half of the trials."""
    number = 0
    for members in (kind == index for index in range(kind.max(initial=-1) + 1)):
        shares = []
        for half in halves:
            known = ~np.isnan(half[members])
            on = (half[members] > 0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
            shares.append(np.where(known.any(axis=0), on, np.nan))
        changed = np.abs(shares[0] - shares[1]) > CHANGED
        number += int(changed.sum() > MANY_CHANGED * (np.fmax(*shares) > CHANGED).sum())
    return [
        f"Kinds whose gates differ between random halves of the trials: {number}. Their neurons "
        "may share bursts or movements: look at single trials."
    ] * (number > 0)


def silence_is_unknown(activity: np.ndarray, recording: Recording | None) -> bool:
    """Return whether neurons are hardly ever silent, or the level of silence is in doubt.

    That is so in trials without a baseline or threshold, and in means from which one was taken:
    those of silent neurons are above zero as often as below.
    """
    if recording is None:
        in_doubt = (activity < 0).mean() > 1 - HARDLY_SILENT
    else:
        in_doubt = np.nanmin(recording.trials) >= 0
    return bool(in_doubt or (activity > 0).mean() > HARDLY_SILENT)


def is_centred(activity: np.ndarray) -> bool:
    """Return whether each neuron that varies has the mean zero, and more values than two."""
    deviation = activity.std(axis=1)
    varies = deviation > CENTRE * deviation.max()
    zero = np.abs(activity.mean(axis=1)) <= CENTRE * deviation
    return bool(zero[varies].all() and len(np.unique(activity)) > 2)


def of_shape(neurons: int, conditions: int) -> list[str]:
    """Return that a recording may be the other way round, if it has more conditions."""
    return [
        f"More conditions ({conditions}) than neurons ({neurons}): neurons are rows and "
        "conditions are columns; if yours are the other way round, transpose the activity."
    ] * (conditions > neurons)


def coarseness(gates: np.ndarray, apart: float, null: float) -> list[str]:
    """Return that kinds, or some of them, could be stretches of a continuum, sampled coarsely."""
    number = len(gates)
    if number == 2 or not is_clear(gates, apart, null):
        coarse = [list(range(number))]
    else:
        coarse = [family for family in _families(gates) if _is_coarse(gates[family])]
    if not coarse:
        return []
    groups, steps = groups_of(gates[coarse[0]])  # of the largest
    some = len(coarse[0])
    which = f"The {number} kinds" if some == number else f"Of the {number} kinds, {some}"
    return [
        f"{which} differ in {groups} group{'s' * (groups > 1)} of conditions, neighbours in "
        f"{steps}: a continuum that is sampled so coarsely could look the same."
    ]


def _is_coarse(gates: np.ndarray) -> bool:
    groups, steps = groups_of(gates)
    return steps < FAR and (are_many(gates) or groups >= MANY_GROUPS)


def _families(gates: np.ndarray) -> list[list[int]]:
    """Return all kinds, and those that depend on one of several variables, three or more.

    Kinds of one variable divide the conditions into few cells, each more into few more; those of
    another divide every cell, as where orientations are crossed with positions.
    """

    def divided(cells: np.ndarray, kind: int) -> np.ndarray:
        parts = np.vstack([cells * gates[kind], cells * (1 - gates[kind])])
        return parts[parts.any(axis=1)]

    always = np.flatnonzero(gates.all(axis=1)).tolist()  # such a kind divides nothing
    everything = np.ones((1, gates.shape[1]))
    families, seen = {frozenset(range(len(gates)))}, set()
    for pair in combinations(sorted(set(range(len(gates))) - set(always)), 2):
        family, cells = frozenset(pair), divided(divided(everything, pair[0]), pair[1])
        while family not in seen and len(family) + len(always) < len(gates):
            seen.add(family)
            on = gates @ cells.T
            finer = (on > 0).sum(axis=1) + (on < cells.sum(axis=1)).sum(axis=1)  # cells with each
            finer[[*family, *always]] = 2 * len(cells) + 1
            best = int(finer.argmin())
            if finer[best] > DIVIDED * len(cells):
                break
            family, cells = family | {best}, divided(cells, best)
        families |= {family} if len(family) > 2 else set()
    return sorted(map(sorted, families), key=len, reverse=True)
