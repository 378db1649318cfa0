"""The kinds of neurons in a recording, and how sure each neuron's is."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from scipy.optimize import linear_sum_assignment

from mdsgdln import _checks as checks
from mdsgdln._checks import Numbers
from mdsgdln.discovery.clusters import (
    checked,
    differing,
    distances,
    distinct,
    gates_of,
    held,
    k_means,
    one_thread,
)
from mdsgdln.discovery.recordings import Recording
from mdsgdln.discovery.repetition import MANY_STARTS, Number, number_of_kinds, numbers


@dataclass(frozen=True, eq=False, repr=False)
class Found:
    """Kinds of neurons that were found; printed, a table; ``plots.kinds`` draws it.

    Attributes:
        gates: 0 or 1, shape (K, P), the largest first.
        gate_of: index of each neuron's gate, the nearest one, shape (neurons,); −1 if never on.
        sure: share of the resampled recordings in which the neuron has the same gate again, shape
            (neurons,). Trials are resampled where there are several of each condition, else
            neurons.
        shares: of the weight, of each gate, shape (K,).
        agreement: {number of clusters: share of the entries of the gates that repetitions agree
            on, matched row to row}.
        silhouette: {number of clusters: how much nearer neurons are to their own gate than to the
            next one, 1 − a/b in the mean}.
        null: {number of clusters: the silhouette that kinds have to exceed}.
        halves: agreement of the gates of two halves, of the trials or else of the neurons.
        repeatable: whether there are kinds. If not, ``gates`` is what most neurons do.
        activity: as it was given, shape (neurons, P).
    """

    gates: Int[np.ndarray, "K P"]
    gate_of: Int[np.ndarray, " neurons"]
    sure: Float[np.ndarray, " neurons"]
    shares: Float[np.ndarray, " K"]
    agreement: dict[int, float]
    silhouette: dict[int, float]
    null: dict[int, float]
    halves: float
    repeatable: bool
    activity: Float[np.ndarray, "neurons P"]

    def __repr__(self) -> str:
        verdict = f"{len(self.gates)} kinds of neurons" if self.repeatable else "no kinds"
        lines = [f"{verdict}; halves agree on {self.halves:.0%} of the entries of the gates", ""]
        lines.append("gate  on for  neurons  share  sure")
        for index, (gate, share) in enumerate(zip(self.gates, self.shares, strict=True)):
            own = self.gate_of == index
            sure = f"{self.sure[own].mean():4.0%}" if own.any() else "   –"
            lines.append(
                f"{index + 1:4d} {gate.sum():4d}/{len(gate):<3d}{own.sum():7d} {share:6.0%}  {sure}"
            )
        lines += ["", "clusters  agreement  silhouette  null"]
        lines += [
            f"{number:8d} {self.agreement[number]:10.1%} {self.silhouette[number]:11.2f} "
            f"{self.null[number]:5.2f}"
            for number in self.agreement
        ]
        return "\n".join(lines)


def discover(activity: Numbers, weights: Numbers | None = None) -> Int[np.ndarray, "K P"]:
    """Return the gates of ``find``: those of recorded neurons, without being told how many.

    Args:
        activity: as in ``find``.
        weights: as in ``find``.

    Returns:
        gates, 0 or 1, shape (K, P): one distinct, non-empty row per pathway, those that are on for
        the most samples first. A single one where there are no kinds.

    Raises:
        ValueError: as ``find``.
    """
    activity, weights = _weighed(activity, weights)
    return _chosen(activity, weights, complete=False)[0]


def find(
    activity: Numbers | Recording, weights: Numbers | None = None, resamples: int = 20
) -> Found:
    """Find the kinds of recorded neurons without being told how many there are, or that there are.

    Patterns of on and off are clustered by k-means into K = 2, 3, … groups, whose centres, rounded
    at ½, are the gates. A gate counts if it holds a twentieth of the weight.

    1. *Which numbers repeat?* (Stability of clusters.) Each of seven clusterings stresses the
       recording: every distinct pattern counts half to one and a half times its weight. The
       repetition most like the others must agree with them on all entries of the gates. One group
       too few, or too many, comes back different.
    2. *Which of them are kinds?* Groups have to be farther apart than they are without kinds (the
       elliptical null of the ePAIRS test of mixed selectivity): the silhouette has to exceed that
       of surrogates by two standard deviations. Surrogates are Gaussians with the same correlations
       between samples, cut where they are as often on. Manifolds of low dimension and tuning curves
       can sometimes be divided repeatably, but not that far apart. Above 0.8 the neurons of a group
       are nearly alike, and nothing is compared.
    3. *How many?* The number that is farthest above its surrogates, or the last of those above 0.8;
       and then the next ones as long as repetitions agree on 99 % of the entries.

    The answer depends neither on the order of the neurons nor on random numbers from outside.

    Args:
        activity: of neurons (rows) for samples (columns), shape (neurons, P): binary or real,
            several recordings stacked if there are several. On where above zero. Or what
            ``activity_by_condition`` returns.
        weights: importance of each neuron, shape (neurons,), as from ``importance``. If not given,
            a neuron counts by how active it is, its mean activity above zero, or all alike where
            activity is binary.
        resamples: recordings drawn to say how sure a neuron's gate is.

    Raises:
        ValueError: wrong shapes, non-finite entries, negative weights, or no neuron that is ever
            on and has weight.
    """
    resamples = checks.positive_integer("resamples", resamples)
    recording = activity if isinstance(activity, Recording) else None
    given = activity.activity if isinstance(activity, Recording) else activity
    activity, weights = _weighed(given, weights)
    gates, tried = _chosen(activity, weights, complete=True)
    gate_of = _nearest(activity, gates)
    rng, same = np.random.default_rng(0), np.zeros(len(activity))
    for seed in range(resamples):
        seen, counted = _resampled(recording, activity, weights, rng)
        same += _nearest(seen, _again(seen, counted, gates, seed)) == gate_of
    return Found(
        gates=gates,
        gate_of=gate_of,
        sure=np.where(gate_of >= 0, same / resamples, 0.0),
        shares=held(gates, *distinct(activity, weights)),
        agreement={number: 1 - value.differing for number, value in tried.items()},
        silhouette={number: value.silhouette for number, value in tried.items()},
        null={number: value.needed for number, value in tried.items()},
        halves=1 - differing(*_halves(recording, activity, weights, gates, rng)),
        repeatable=len(gates) > 1,
        activity=activity,
    )


def _weighed(
    activity: Numbers, weights: Numbers | None
) -> tuple[Float[np.ndarray, "neurons P"], Float[np.ndarray, " neurons"]]:
    """Return activity and weights, which are how active neurons are if not given."""
    checked_activity, checked_weights = checked(activity, weights)
    graded = len(np.unique(checked_activity[checked_activity > 0])) > 1
    if weights is None and graded:
        checked_weights = np.maximum(checked_activity, 0).mean(axis=1)
    return checked_activity, checked_weights


def _chosen(
    activity: np.ndarray, weights: np.ndarray, complete: bool
) -> tuple[Int[np.ndarray, "K P"], dict[int, Number]]:
    """Return the gates, and what was found for every number of clusters."""
    patterns, shares = distinct(activity, weights)
    on = (activity > 0).any(axis=1) & (weights > 0)
    tried = numbers(patterns, shares, int(on.sum()), complete)
    number = number_of_kinds(tried)
    if number is not None:
        return tried[number].gates, tried
    common = gates_of(shares[None, :] @ patterns)
    return common if len(common) else patterns[[shares.argmax()]].astype(int), tried


def _nearest(activity: np.ndarray, gates: np.ndarray) -> Int[np.ndarray, " neurons"]:
    """Return the index of each neuron's nearest gate, −1 if it is never on."""
    on = (activity > 0).astype(float)
    return np.where(on.any(axis=1), distances(on, gates).argmin(axis=1), -1)


def _again(
    activity: np.ndarray, weights: np.ndarray, gates: np.ndarray, seed: int
) -> Int[np.ndarray, "K P"]:
    """Return as many gates of another recording, in the order of those that they are most like."""
    patterns, shares = distinct(activity, weights)
    with one_thread():
        centroids = k_means(patterns, shares, min(len(gates), len(patterns)), seed, MANY_STARTS)
    found = (centroids > 0.5).astype(int)
    mine, theirs = linear_sum_assignment(distances(gates.astype(float), found))
    matched = np.full_like(gates, 2)  # one that is not found again is like none
    matched[mine] = found[theirs]
    return matched


def _resampled(
    recording: Recording | None, activity: np.ndarray, weights: np.ndarray, rng
) -> tuple[np.ndarray, np.ndarray]:
    """Return the activity of another draw of trials, or neurons that count by another draw."""
    if recording is not None and recording.can_be_split:
        return recording.resampled(rng), weights
    return activity, weights * rng.multinomial(
        len(weights), np.full(len(weights), 1 / len(weights))
    )


def _halves(
    recording: Recording | None,
    activity: np.ndarray,
    weights: np.ndarray,
    gates: np.ndarray,
    rng: np.random.Generator,
) -> list[Int[np.ndarray, "K P"]]:
    """Return as many gates of each of two halves: of the trials or, without any, the neurons."""
    if recording is not None and recording.can_be_split:
        halves = [(half, weights) for half in recording.halves(rng)]
    else:
        first = rng.permuted(np.arange(len(weights)) % 2).astype(bool)
        halves = [(activity[part], weights[part]) for part in (first, ~first)]
    return [
        _again(*half, gates, seed) if (half[0] > 0).any() else np.zeros_like(gates)
        for seed, half in enumerate(halves)
    ]
