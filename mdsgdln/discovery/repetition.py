"""How many kinds of neurons: what comes back when a recording is stressed, and no Gaussian has."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from scipy.stats import norm

from mdsgdln.discovery.clusters import (
    SMALLEST_SHARE,
    distances,
    distinct,
    gates_of,
    k_means,
    mismatch,
    noticeable,
    one_thread,
)
from mdsgdln.discovery.labels import listed

MOST_PATHWAYS = 12
REPETITIONS = 7  # clusterings that have to agree
EXACT = 0.002  # of the entries: gates that repeat exactly, but for a rare bad end of k-means
REPEATABLE = 0.01  # of the entries: gates that may be added to them
SURROGATES = 20
APART = 2.0  # standard deviations above the surrogates
STRONG = 0.8  # a silhouette that needs no comparison: groups hardly overlap
MANY_STARTS = 5  # of each k-means of the recording; surrogates have the usual number
MOST_NEURONS = 500  # of a surrogate


class Clustering(NamedTuple):
    """What is found for one number of clusters.

    Attributes:
        gates: of the repetition most like the others, (K, P).
        mismatch: its mean disagreement with the others.
        silhouette: mean of 1 − (distance to own gate) / (distance to the next one).
        null: mean and standard deviation of the surrogates' silhouettes; NaN where none are made.
    """

    gates: Int[np.ndarray, "K P"]
    mismatch: float
    silhouette: float
    null: tuple[float, float] = (np.nan, np.nan)

    @property
    def repeats(self) -> bool:
        """Whether there are several gates, and the repetitions agree on them."""
        return len(self.gates) > 1 and self.mismatch <= REPEATABLE

    @property
    def is_exact(self) -> bool:
        """Whether there are several gates, and the repetitions agree on them exactly."""
        return len(self.gates) > 1 and self.mismatch <= EXACT

    @property
    def above(self) -> float:
        """Standard deviations by which the silhouette is above surrogates; ∞ where it is strong."""
        mean, deviation = self.null
        if self.silhouette > STRONG:
            return np.inf
        return (self.silhouette - mean) / max(deviation, 1e-6)

    @property
    def needed(self) -> float:
        """The silhouette that kinds have to exceed: that of surrogates, with room."""
        mean, deviation = self.null
        return min(mean + APART * deviation, STRONG)

    @property
    def kinds(self) -> bool:
        """Whether they repeat exactly, and are farther apart than those of surrogates."""
        return self.is_exact and self.silhouette > self.needed


def number_of_kinds(found: dict[int, Clustering]) -> int | None:
    """Return the number of clusters that are kinds; ``None`` if there are no kinds.

    Of the numbers whose gates repeat exactly it is the one that is farthest above the surrogates,
    of strong ones the last; the next ones follow as long as their gates repeat.
    """
    kinds = [number for number, clustering in found.items() if clustering.kinds]
    if not kinds:
        return None
    number = max(kinds, key=lambda k: (found[k].above, k))
    while number + 1 in found and found[number + 1].repeats:
        number += 1
    return number


def why_none(found: dict[int, Clustering]) -> str:
    """Return which condition for kinds failed in every number of clusters, and by how much."""
    several = {number: kind for number, kind in found.items() if len(kind.gates) > 1}
    repeating = {number: kind for number, kind in several.items() if kind.is_exact}
    if repeating:
        number, nearest = max(repeating.items(), key=lambda item: item[1].above)
        return (
            f"gates repeat with {listed(list(repeating))} clusters, but are no farther apart than "
            f"without kinds: with {number} the silhouette is {nearest.silhouette:.2f}, and has to "
            f"exceed {nearest.needed:.2f}"
        )
    if several:
        number, nearest = min(several.items(), key=lambda item: item[1].mismatch)
        return (
            f"gates do not repeat: with {number} clusters, the best, repetitions agree on "
            f"{1 - nearest.mismatch:.1%} of the entries, and {1 - EXACT:.1%} are needed"
        )
    if found:
        return f"no number of clusters has two gates with {SMALLEST_SHARE:.0%} of the weight each"
    return "all neurons have one pattern"


def clusterings(
    patterns: np.ndarray, shares: np.ndarray, num_neurons: int, complete: bool
) -> dict[int, Clustering]:
    """Return the clustering into each number of clusters.

    Unless ``complete``, surrogates are made only where gates repeat exactly.
    """
    found = {}
    with one_thread():
        for num_clusters in range(2, min(MOST_PATHWAYS, len(patterns)) + 1):
            found[num_clusters] = _repeated(patterns, shares, num_clusters)
        surrogates = _surrogates(patterns, shares, min(num_neurons, MOST_NEURONS))
        for num_clusters, clustering in found.items():
            if not (complete or clustering.is_exact):
                continue
            apart = [_apart(*surrogate, num_clusters) for surrogate in surrogates]
            null = float(np.mean(apart)), float(np.std(apart))
            found[num_clusters] = clustering._replace(null=null)
    return found


def _repeated(patterns: np.ndarray, shares: np.ndarray, num_clusters: int) -> Clustering:
    """Cluster several times, each distinct pattern counting by half to one and a half."""
    rng = np.random.default_rng(num_clusters)
    stressed = shares * rng.uniform(0.5, 1.5, (REPETITIONS, len(shares)))
    repeated = [
        noticeable(
            gates_of(k_means(patterns, weights, num_clusters, seed, MANY_STARTS)), patterns, shares
        )
        for seed, weights in enumerate(stressed)
    ]
    table = np.array([[mismatch(gates, others) for others in repeated] for gates in repeated])
    index = table.sum(axis=1).argmin()
    return Clustering(
        repeated[index],
        float(np.delete(table[index], index).mean()),
        silhouette(repeated[index], patterns, shares),
    )


def silhouette(gates: np.ndarray, patterns: np.ndarray, shares: np.ndarray) -> float:
    """Return the simplified silhouette: mean of 1 − a/b, a to the nearest gate, b to the next."""
    if len(gates) < 2:
        return 0.0
    nearest, following = np.sort(distances(patterns, gates), axis=1)[:, :2].T
    return float(shares @ (1 - nearest / np.maximum(following, 1)))


def _apart(patterns: np.ndarray, shares: np.ndarray, num_clusters: int) -> float:
    """Return the silhouette of patterns that are clustered once."""
    centroids = k_means(patterns, shares, min(num_clusters, len(patterns)), 0)
    return silhouette(noticeable(gates_of(centroids), patterns, shares), patterns, shares)


def _surrogates(
    patterns: np.ndarray, shares: np.ndarray, num_neurons: int
) -> list[tuple[Float[np.ndarray, "patterns P"], Float[np.ndarray, " patterns"]]]:
    """Return patterns without kinds: Gaussians of the same covariance, cut where they are on.

    They are as often on in every sample, and as often together in every pair of samples: an
    elliptical null, as in the ePAIRS test of mixed selectivity. Correlations of a Gaussian follow
    from those of its signs, ρ = sin(πφ/2), which is exact where half of the neurons are on.
    """
    rng = np.random.default_rng(0)
    mean = shares @ patterns
    centred = patterns - mean
    covariance = centred.T @ (centred * shares[:, None])
    deviations = np.sqrt(np.maximum(np.diag(covariance), 1e-12))
    signs = np.clip(covariance / np.outer(deviations, deviations), -1, 1)
    values, vectors = np.linalg.eigh(np.sin(np.pi / 2 * signs))
    factor = vectors * np.sqrt(np.maximum(values, 0))
    factor /= np.maximum(np.linalg.norm(factor, axis=1, keepdims=True), 1e-12)
    thresholds = norm.ppf(np.clip(mean, 1e-9, 1 - 1e-9))
    surrogates = []
    for _ in range(SURROGATES):
        on = rng.standard_normal((num_neurons, len(mean))) @ factor.T < thresholds
        surrogates.append(distinct(on, np.ones(num_neurons)))
    return surrogates
