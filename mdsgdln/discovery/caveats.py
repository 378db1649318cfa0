"""What a recording cannot tell, in words."""

from collections.abc import Hashable, Sequence

import numpy as np

from mdsgdln.discovery.density import States
from mdsgdln.discovery.recordings import Recording, listed

CENTRE = 1e-3  # of its deviation, within which a neuron's mean is zero
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
