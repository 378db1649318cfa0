"""The kinds of neurons in a recording, and the certainty of each neuron's kind."""

import warnings
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from mdsgdln import _checks as checks
from mdsgdln._checks import Numbers
from mdsgdln.discovery.clusters import Patterns, checked_activity, distinct, rounded
from mdsgdln.discovery.recordings import Recording, entries, listed
from mdsgdln.discovery.repetition import certainty, clusterings, nearest, number_of_kinds

SURE = 0.95  # hardly reached by a neuron without a kind
FEW_CONDITIONS, FEW_NEURONS, FEW_TRIALS = 8, 50, 8
HARDLY_SILENT = 0.9  # share of entries that are on, from which silence carries no information


@dataclass(frozen=True, eq=False, repr=False)
class Kinds:
    """Kinds of neurons; printed as a table, drawn by ``plots.kinds``.

    Attributes:
        gates: 0 or 1, shape (K, P), in decreasing order of size. Without kinds, the gate of all
            neurons together.
        gate_of: index of each neuron's nearest gate, shape (neurons,); −1 if it is never on.
        sure: share of resamples, of trials or without trials of neurons, in which the neuron has
            the same gate, shape (neurons,); NaN without kinds. Assign a neuron to a kind from 0.95.
        shares: of the weight, of each gate, shape (K,).
        agreement: {number of clusters: share of the entries on which repetitions agree}.
        silhouette: {number of clusters: mean of 1 − (distance to own gate) / (to the next one)}.
        null: {number of clusters: the silhouette that kinds have to exceed}.
        halves: agreement of the gates of two halves, of trials or without trials of neurons.
        reason: why there are no kinds, in words; empty if there are kinds.
        caveats: warnings that the recording is too small or too one-sided.
        activity: as given, shape (neurons, P).
        neurons: their names as in the ``Recording``, or their indices.
        conditions: names of the samples as in the ``Recording``, or empty.
    """

    gates: Int[np.ndarray, "K P"]
    gate_of: Int[np.ndarray, " neurons"]
    sure: Float[np.ndarray, " neurons"]
    shares: Float[np.ndarray, " K"]
    agreement: dict[int, float]
    silhouette: dict[int, float]
    null: dict[int, float]
    halves: float
    reason: str
    caveats: tuple[str, ...]
    activity: Float[np.ndarray, "neurons P"]
    neurons: tuple[Hashable, ...]
    conditions: tuple[Hashable, ...]

    @property
    def repeatable(self) -> bool:
        """Whether there are kinds."""
        return not self.reason

    @property
    def on_for(self) -> list[str]:
        """Conditions in which each gate is on: ``["gate 1: all", "gate 2: A, B"]``."""
        names = self.conditions or range(self.gates.shape[1])
        return [
            f"gate {index}: {in_words(gate, names)}" for index, gate in enumerate(self.gates, 1)
        ]

    def __repr__(self) -> str:
        neurons, conditions = self.activity.shape
        verdict = f"{len(self.gates)} kinds of neurons" if self.repeatable else "no kinds"
        lines = [
            f"{neurons} neurons (rows) in {conditions} conditions (columns): {verdict}",
            self.reason or f"halves agree on {self.halves:.0%} of the entries of the gates",
            "",
            f"gate  on for  neurons  share  sure (≥ {SURE:.0%})",
        ]
        for index, (gate, share) in enumerate(zip(self.gates, self.shares, strict=True)):
            own = self.gate_of == index
            sure = str((self.sure[own] >= SURE).sum()) if self.repeatable else "–"
            row = f"{index + 1:4d} {gate.sum():4d}/{len(gate):<3d}{own.sum():7d} {share:6.0%}"
            lines.append(f"{row} {sure:>5}")
        lines += ["", "on for", *self.on_for] if self.conditions else []
        lines += ["", "clusters  agreement  silhouette  null"]
        for number, agreement in self.agreement.items():
            row = f"{number:8d} {agreement:10.1%} {self.silhouette[number]:11.2f}"
            lines.append(f"{row} {self.null[number]:5.2f}")
        return "\n".join([*lines, *([""] if self.caveats else []), *self.caveats])


def in_words(gate: Int[np.ndarray, " P"], names: Sequence[Hashable]) -> str:
    """Return the conditions in which a gate is on, in words.

    If labels are tuples and the gate depends on one of their entries alone, the values of this
    entry are listed; otherwise the conditions, or the missing ones if they are fewer.
    """
    on = [name for name, entry in zip(names, gate, strict=True) if entry]
    off = [name for name, entry in zip(names, gate, strict=True) if not entry]
    if not off:
        return "all"
    for position in range(min(len(entries(name)) for name in names)):
        values, others = ({entries(name)[position] for name in part} for part in (on, off))
        if len(values) < len(on) and not values & others:
            return listed(sorted(values))
    return f"all but {listed(off)}" if len(off) < len(on) else listed(on)


def find(
    activity: Numbers | Recording, weights: Numbers | None = None, resamples: int = 20
) -> Kinds:
    """Find the kinds of recorded neurons and their number, if there are any.

    Patterns of on and off are clustered by k-means into K = 2, 3, … groups, whose centroids,
    rounded at ½, are the gates. A gate counts if it has a twentieth of the weight.

    1. *Which K repeat?* Of seven clusterings, which weight each pattern at random, the one that
       agrees best with the others has to agree with them on 99.8 % of the entries.
    2. *Which of these are kinds?* The silhouette has to exceed 0.8, or by two standard deviations
       that of surrogates without kinds: thresholded Gaussians, on as often in every sample and with
       the same correlations between samples (the elliptical null of the ePAIRS test).
    3. *How many?* The K that is farthest above its surrogates, or the last of those above 0.8, and
       then the next ones as long as repetitions agree on 99 % of the entries.

    For a trained network, in which silence is zero, use a layer of ``network.activations`` and, as
    weights, the ``importance`` of its neurons.

    The same activity gives the same result; if neurons come in another order, the gates and their
    shares are the same, and ``sure`` and ``halves``, which are from resamples, nearly so.

    Args:
        activity: shape (neurons, P), binary or real, on where above zero; stack several recordings.
            Or a ``Recording``, as from ``activity_by_condition``.
        weights: importance of each neuron, shape (neurons,); by default its mean activity above
            zero, or equal weights for binary activity.
        resamples: resampled recordings, from which ``sure`` is computed.

    Warns:
        UserWarning: the recording is too small or too one-sided, or transposed.
    """
    resamples = checks.positive_integer("resamples", resamples)
    recording = activity if isinstance(activity, Recording) else None
    given = activity.activity if isinstance(activity, Recording) else activity
    activity, weight = checked_activity(given, weights)
    if weights is None and len(np.unique(activity[activity > 0])) > 1:
        weight = np.maximum(activity, 0).mean(axis=1)
    patterns = distinct(activity, weight)
    num_neurons = int(((activity > 0).any(axis=1) & (weight > 0)).sum())
    of_each = clusterings(patterns, num_neurons)
    number, reason = number_of_kinds(of_each)
    gates = _common(patterns) if number is None else of_each[number].gates
    gate_of = nearest(activity, gates)
    sure, halves = certainty(recording, activity, weight, gates, gate_of, resamples)
    if number is not None and not sure.any():
        number, gates = None, _common(patterns)
        gate_of, reason = nearest(activity, gates), "no neuron has its gate in any resample"
    caveats = _caveats(recording, activity, num_neurons, gates)
    if caveats:
        warnings.warn(f"find: {' '.join(caveats)}", stacklevel=2)
    return Kinds(
        gates=gates,
        gate_of=gate_of,
        sure=np.full(len(activity), np.nan) if number is None else sure,
        shares=patterns.share_of(gates),
        agreement={number: 1 - each.mismatch for number, each in of_each.items()},
        silhouette={number: each.silhouette for number, each in of_each.items()},
        null={number: each.needed for number, each in of_each.items()},
        halves=halves,
        reason=reason,
        caveats=caveats,
        activity=activity,
        neurons=recording.neurons if recording else tuple(range(len(activity))),
        conditions=recording.conditions if recording else (),
    )


def _common(patterns: Patterns) -> np.ndarray:
    """Return the gate of all neurons together, or the commonest pattern if it is empty."""
    common = rounded(patterns.shares[None, :] @ patterns.gates)
    return common if len(common) else patterns.gates[[patterns.shares.argmax()]].astype(int)


def _caveats(
    recording: Recording | None, activity: np.ndarray, neurons: int, gates: np.ndarray
) -> tuple[str, ...]:
    conditions, kinds, caveats = activity.shape[1], len(gates) > 1, []
    trials = recording.fewest_trials if recording else FEW_TRIALS
    if conditions > len(activity):
        caveats.append(
            f"More conditions ({conditions}) than neurons ({len(activity)}): neurons are rows and "
            "conditions are columns; if yours are the other way round, transpose the activity."
        )
    if kinds and (neurons < FEW_NEURONS or conditions <= FEW_CONDITIONS):
        caveats.append(
            f"{len(gates)} kinds from {neurons} neurons in {conditions} conditions: with fewer "
            f"than {FEW_NEURONS} neurons, or with {FEW_CONDITIONS} conditions or fewer, kinds are "
            "also found where there are none, and their number is often wrong."
        )
    if kinds and trials < FEW_TRIALS:
        caveats.append(
            f"{trials} trials of a condition: with fewer than {FEW_TRIALS} the gates may repeat "
            "and yet miss a kind, such as neurons active everywhere, or count one twice."
        )
    if not kinds and gates.all() and (activity > 0).mean() > HARDLY_SILENT:
        caveats.append(
            f"One gate, open in all {conditions} conditions: neurons that are never silent cannot "
            "be distinguished. Subtract a baseline, or a threshold such as each neuron's mean."
        )
    return tuple(caveats)
