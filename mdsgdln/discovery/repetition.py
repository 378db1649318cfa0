"""The number of kinds, from gates that repeat, and their certainty, from resampled recordings."""

from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.stats import norm

from mdsgdln.discovery.clusters import (
    SMALLEST_SHARE,
    Patterns,
    disagreement,
    distances,
    distinct,
    k_means,
    rounded,
)
from mdsgdln.discovery.recordings import Recording, listed

MOST_PATHWAYS = 12
REPETITIONS = 7  # clusterings that have to agree
EXACT = 0.002  # mismatch of gates that repeat exactly, but for a rare poor optimum of k-means
REPEATABLE = 0.01  # mismatch of further gates
SURROGATES = 20
APART = 2.0  # standard deviations above the surrogates
STRONG = 0.8  # a silhouette that needs no comparison: groups hardly overlap
MANY_STARTS = 5  # of each k-means of the recording; surrogates have the default number
MOST_NEURONS = 500  # of a surrogate


class Clustering(NamedTuple):
    """A clustering into one number of clusters."""

    gates: np.ndarray  # of the repetition that agrees best with the others, (K, P)
    mismatch: float  # its mean disagreement with the others
    silhouette: float  # mean of 1 − (distance to own gate) / (distance to the next one)
    needed: float  # the silhouette that kinds have to exceed: of surrogates, plus two deviations
    above: float  # standard deviations above the surrogates; ∞ for a strong silhouette


def number_of_kinds(found: dict[int, Clustering]) -> tuple[int | None, str]:
    """Return the number of clusters that are kinds, or None and the reason why there are none."""
    if not found:
        return None, "all neurons have one pattern"
    several = [number for number, each in found.items() if len(each.gates) > 1]
    if not several:
        share = f"{SMALLEST_SHARE:.0%}"
        return None, f"no number of clusters has two gates with {share} of the weight each"
    exact = [number for number in several if found[number].mismatch <= EXACT]
    if not exact:
        number = min(several, key=lambda number: found[number].mismatch)
        return None, (
            f"gates do not repeat: with {number} clusters, the best, repetitions agree on "
            f"{1 - found[number].mismatch:.1%} of the entries, and {1 - EXACT:.1%} are needed"
        )
    kinds = [number for number in exact if found[number].silhouette > found[number].needed]
    if not kinds:
        number = max(exact, key=lambda number: found[number].above)
        return None, (
            f"gates repeat with {listed(exact)} clusters, but are no farther apart than without "
            f"kinds: with {number} the silhouette is {found[number].silhouette:.2f}, and has to "
            f"exceed {found[number].needed:.2f}"
        )
    number = max(kinds, key=lambda number: (found[number].above, number))
    while number + 1 in several and found[number + 1].mismatch <= REPEATABLE:
        number += 1
    return number, ""


def clusterings(patterns: Patterns, num_neurons: int) -> dict[int, Clustering]:
    """Return the clustering into each number of clusters."""
    found = {}
    surrogates = _surrogates(patterns, min(num_neurons, MOST_NEURONS))
    for num_clusters in range(2, min(MOST_PATHWAYS, len(patterns.gates)) + 1):
        gates, mismatch = _repeated(patterns, num_clusters)
        own = _silhouette(gates, patterns)
        null = [_null(each, num_clusters) for each in surrogates]
        mean, deviation = float(np.mean(null)), float(np.std(null))
        needed = min(mean + APART * deviation, STRONG)
        above = np.inf if own > STRONG else (own - mean) / max(deviation, 1e-6)
        found[num_clusters] = Clustering(gates, mismatch, own, needed, above)
    return found


def _repeated(patterns: Patterns, num_clusters: int) -> tuple[np.ndarray, float]:
    """Return the gates that repetitions agree on best, and their mean disagreement with others."""
    rng = np.random.default_rng(num_clusters)
    reweighted = patterns.shares * rng.uniform(0.5, 1.5, (REPETITIONS, len(patterns.gates)))
    repeated = []
    for seed, shares in enumerate(reweighted):
        centroids = k_means(Patterns(patterns.gates, shares), num_clusters, seed, MANY_STARTS)
        repeated.append(_noticeable(centroids, patterns))
    table = np.array([[disagreement(gates, others) for others in repeated] for gates in repeated])
    index = table.sum(axis=1).argmin()
    return repeated[index], float(np.delete(table[index], index).mean())


def _noticeable(centroids: np.ndarray, patterns: Patterns) -> np.ndarray:
    """Return rounded centroids without those of too small a share."""
    gates = rounded(centroids)
    return gates[patterns.share_of(gates) >= SMALLEST_SHARE] if len(gates) else gates


def _silhouette(gates: np.ndarray, patterns: Patterns) -> float:
    """Return the simplified silhouette: mean of 1 − a/b, a to the nearest gate, b to the next."""
    if len(gates) < 2:
        return 0.0
    nearest, following = np.sort(distances(patterns.gates, gates), axis=1)[:, :2].T
    return float(patterns.shares @ (1 - nearest / np.maximum(following, 1)))


def _null(patterns: Patterns, num_clusters: int) -> float:
    centroids = k_means(patterns, min(num_clusters, len(patterns.gates)))
    return _silhouette(_noticeable(centroids, patterns), patterns)


def _surrogates(patterns: Patterns, num_neurons: int) -> list[Patterns]:
    """Return patterns without kinds: thresholded Gaussians of the same covariance.

    They are active equally often in every sample and pair of samples: an elliptical null, as in
    the ePAIRS test of mixed selectivity. Correlations of a Gaussian follow from those of its signs,
    ρ = sin(πφ/2), which is exact if half of the neurons are active.
    """
    rng = np.random.default_rng(0)
    mean = patterns.shares @ patterns.gates
    centred = patterns.gates - mean
    covariance = centred.T @ (centred * patterns.shares[:, None])
    deviations = np.sqrt(np.maximum(np.diag(covariance), 1e-12))
    signs = np.clip(covariance / np.outer(deviations, deviations), -1, 1)
    values, vectors = np.linalg.eigh(np.sin(np.pi / 2 * signs))
    factor = vectors * np.sqrt(np.maximum(values, 0))
    factor /= np.maximum(np.linalg.norm(factor, axis=1, keepdims=True), 1e-12)
    thresholds = norm.ppf(np.clip(mean, 1e-9, 1 - 1e-9))
    drawn = [rng.standard_normal((num_neurons, len(mean))) @ factor.T for _ in range(SURROGATES)]
    return [distinct(activity < thresholds, np.ones(num_neurons)) for activity in drawn]


def certainty(
    recording: Recording | None, activity, weights, gates, gate_of, resamples: int
) -> tuple[np.ndarray, float]:
    """Return how often each neuron has its gate in resamples, and the agreement of two halves.

    Trials are resampled and split or, with fewer than two in a condition, neurons.
    """
    rng, number = np.random.default_rng(0), len(weights)
    if recording and recording.fewest_trials > 1:
        drawn = [(recording.resampled(rng), weights) for _ in range(resamples)]
        halves = [(half, weights) for half in recording.halves(rng)]
    else:
        even = np.full(number, 1 / number)
        drawn = [(activity, weights * rng.multinomial(number, even)) for _ in range(resamples)]
        first = rng.permuted(np.arange(number) % 2).astype(bool)
        halves = [(activity[part], weights[part]) for part in (first, ~first)]
    again = [nearest(each[0], _rematched(*each, gates, seed)) for seed, each in enumerate(drawn)]
    sure = np.where(gate_of >= 0, np.mean(np.array(again) == gate_of, axis=0), 0.0)
    of_halves = [_rematched(*half, gates, seed) for seed, half in enumerate(halves)]
    return sure, 1 - disagreement(*of_halves)


def nearest(activity: np.ndarray, gates: np.ndarray) -> np.ndarray:
    """Return the index of each neuron's nearest gate, −1 if it is never on."""
    on = (activity > 0).astype(float)
    return np.where(on.any(axis=1), distances(on, gates).argmin(axis=1), -1)


def _rematched(
    activity: np.ndarray, weights: np.ndarray, gates: np.ndarray, seed: int
) -> np.ndarray:
    """Return the same number of gates of another recording, matched to given ones."""
    if not (activity > 0).any():
        return np.zeros_like(gates)
    patterns = distinct(activity, weights)
    others = k_means(patterns, min(len(gates), len(patterns.gates)), seed, MANY_STARTS) > 0.5
    row, column = linear_sum_assignment(distances(gates.astype(float), others))
    matched = np.full_like(gates, 2)  # a gate without a match agrees with no neuron
    matched[row] = others[column]
    return matched
