"""Finding the gates: from recorded activity to a few pathways.

A neuron is *on* for a sample where its activity is above zero. Rows that are alike form a pathway,
whose gate is what most of its neurons do.
"""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from mdsgdln import _checks as checks
from mdsgdln._checks import Numbers

__all__ = [
    "MOST_PATHWAYS",
    "SMALLEST_SHARE",
    "cluster",
    "disagreement",
    "discover",
    "importance",
]


def __dir__() -> list[str]:
    return __all__


REPETITIONS = 7  # clusterings that have to agree
SMALLEST_SHARE = 0.05  # of the weight: less is no pathway
MOST_PATHWAYS = 12
REPEATABLE = 0.01  # of the entries may differ between repetitions, else there is one pathway
STARTS = 3  # of each k-means


def discover(activity: Numbers, weights: Numbers | None = None) -> Int[np.ndarray, "K P"]:
    """Find the gates of recorded neurons without being told how many there are.

    The patterns are clustered into K = 2, 3, … groups several times. Each time every distinct
    pattern counts by a different random amount, between half and one and a half of its weight. Of
    the K whose groups all hold a noticeable share of the weight, the one on which the repetitions
    agree best is chosen, the largest of equals: groups that are there in the recording come back
    whatever is stressed, and one group too many splits another now here, now there. Agreement is
    the median ``disagreement`` with the repetition that is most like the others, so that a k-means
    that ended badly does not count; of equal medians the mean. Where no K > 1 is repeatable there
    is one pathway, on for what most neurons are on for.

    The answer depends neither on the order of the neurons nor on random numbers from outside.

    Args:
        activity: of neurons (rows) for samples (columns), shape (neurons, P): binary or real,
            several recordings stacked if there are several. On where above zero.
        weights: importance of each neuron, shape (neurons,), as from ``importance``; all equal if
            not given.

    Returns:
        gates, 0 or 1, shape (K, P): one distinct, non-empty row per pathway, those that are on for
        the most samples first.

    Raises:
        ValueError: wrong shapes, non-finite entries, negative weights, or no neuron that is ever
            on and has weight.
    """
    patterns, shares = _distinct(activity, weights)
    rng = np.random.default_rng(0)
    stressed = shares[None, :] * rng.uniform(0.5, 1.5, (REPETITIONS, len(patterns)))
    found, least = _gates(shares[None, :] @ patterns), (REPEATABLE, 1.0)
    if not len(found):
        found = patterns[[shares.argmax()]].astype(int)
    with threadpool_limits(1):  # threads of k-means wait for each other longer than they work
        for num_clusters in range(2, min(MOST_PATHWAYS, len(patterns)) + 1):
            repeated = [
                _gates(_k_means(patterns, weights, num_clusters, seed))
                for seed, weights in enumerate(stressed)
            ]
            gates, differing = _most_typical(repeated)
            repeatable = len(gates) and differing <= least
            if repeatable and _held(gates, patterns, shares).min() >= SMALLEST_SHARE:
                found, least = gates, differing
    return found


def cluster(
    activity: Numbers, num_clusters: int, weights: Numbers | None = None, seed: int = 0
) -> Int[np.ndarray, "K P"]:
    """Find gates by k-means with a given number of clusters (MHS App. B, Algorithm 1).

    Centroids are rounded at ½; empty gates are dropped and equal ones merged, so that there may be
    fewer gates than clusters.

    Args:
        activity: as in ``discover``; Algorithm 1 stacks recordings from several trainings and
            times. Neurons that are never on stay in.
        num_clusters: number of clusters, at most that of distinct patterns.
        weights: as in ``discover``.
        seed: of the random starts of k-means.

    Returns:
        gates, shape (K, P), ordered as in ``discover``; none, (0, P), where no centroid has an
        entry above ½.

    Raises:
        ValueError: as ``discover``; too many clusters.
    """
    checks.instance("seed", seed, int | np.integer)
    num_clusters = checks.positive_integer("num_clusters", num_clusters)
    patterns, shares = _distinct(activity, weights, silent=True)
    if num_clusters > len(patterns):
        raise ValueError(
            f"num_clusters: expected at most the number of distinct patterns, {len(patterns)}, "
            f"got {num_clusters}"
        )
    with threadpool_limits(1):  # as in ``discover``; sums do not depend on the number of cores
        return _gates(_k_means(patterns, shares, num_clusters, seed))


def importance(incoming: Numbers, outgoing: Numbers) -> Float[Array, " H"]:
    """Return ‖w_in‖ ‖w_out‖ of each neuron of a hidden layer: how much it passes on.

    Args:
        incoming: weights of the layer, shape (H, N_in).
        outgoing: weights of the next one, shape (N_out, H).
    """
    incoming = checks.finite_array("incoming", incoming, 2, "(H, N_in)")
    outgoing = checks.finite_array("outgoing", outgoing, 2, "(N_out, H)")
    checks.of_shape("outgoing", outgoing, (len(outgoing), len(incoming)))
    return jnp.linalg.norm(incoming, axis=1) * jnp.linalg.norm(outgoing, axis=0)


def disagreement(gates: Numbers, others: Numbers) -> float:
    """Return the share of entries in which two sets of gates differ, best matched row to row.

    A row without partner, where one set has more rows, counts as half wrong.
    """
    gates = np.asarray(checks.finite_array("gates", gates, 2, "(K, P)", may_be_empty=True))
    others = np.asarray(checks.finite_array("others", others, 2, "(K, P)", may_be_empty=True))
    if gates.shape[1] != others.shape[1]:
        raise ValueError(f"others: expected {gates.shape[1]} columns, got {others.shape[1]}")
    return _disagreement(gates, others)


def _disagreement(gates: np.ndarray, others: np.ndarray) -> float:
    if not (len(gates) and len(others)):
        return 0.5 * (len(gates) != len(others))
    distances = (gates[:, None, :] != others[None, :, :]).mean(axis=2)
    matched = distances[linear_sum_assignment(distances)].sum()
    return float((matched + abs(len(gates) - len(others)) / 2) / max(len(gates), len(others)))


def _distinct(
    activity: Numbers, weights: Numbers | None, silent: bool = False
) -> tuple[Float[np.ndarray, "patterns P"], Float[np.ndarray, " patterns"]]:
    """Return the distinct patterns, in a fixed order, and their shares of the weight."""
    activity = np.asarray(checks.finite_array("activity", activity, 2, "(neurons, P)"))
    if weights is None:
        weights = np.ones(len(activity))
    weights = np.asarray(checks.finite_array("weights", weights, 1, "(neurons,)"))
    if weights.shape != activity.shape[:1]:
        raise ValueError(f"weights: expected one per neuron, {len(activity)}, got {weights.shape}")
    if weights.min() < 0:
        raise ValueError(f"weights: expected none below 0, got {weights.min()}")
    on = activity > 0
    used = (weights > 0) & (on.any(axis=1) | silent)
    if not (used & on.any(axis=1)).any():
        raise ValueError("activity: expected a neuron with weight that is on, got none above 0")
    packed = np.packbits(on[used], axis=1)
    keys = np.ascontiguousarray(packed).view(f"V{packed.shape[1]}").ravel()
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    shares = np.bincount(inverse, weights[used])
    return on[used][first].astype(np.float32), shares / shares.sum()


def _most_typical(repeated) -> tuple[Int[np.ndarray, "K P"], tuple[float, float]]:
    """Return the gates most like the others, and their median and mean disagreement with them."""
    table = np.array([[_disagreement(gates, others) for others in repeated] for gates in repeated])
    index = table.sum(axis=1).argmin()
    others = np.delete(table[index], index)
    return repeated[index], (float(np.median(others)), float(np.mean(others)))


def _squared_distances(patterns, centroids) -> Float[np.ndarray, "patterns K"]:
    """Return ‖x − c‖² of 0/1 patterns x."""
    lengths = patterns.sum(axis=1)[:, None] + (centroids**2).sum(axis=1)[None, :]
    return lengths - 2 * patterns @ centroids.T


def _k_means(
    patterns: Float[np.ndarray, "patterns P"],
    weights: Float[np.ndarray, " patterns"],
    num_clusters: int,
    seed: int,
) -> Float[np.ndarray, "clusters P"]:
    """Return the centroids of weighted patterns."""
    means = KMeans(num_clusters, n_init=STARTS, random_state=seed, tol=1e-3)
    return means.fit(patterns, sample_weight=weights).cluster_centers_


def _gates(centroids) -> Int[np.ndarray, "K P"]:
    """Return centroids rounded at ½, each gate once, none empty, the largest first."""
    gates = np.unique((centroids > 0.5).astype(int), axis=0)
    gates = gates[gates.any(axis=1)]
    return gates[np.lexsort([*gates.T[::-1], gates.sum(axis=1)])[::-1]]


def _held(gates, patterns, shares) -> Float[np.ndarray, " K"]:
    """Return the share of the weight whose patterns are nearest to each gate."""
    nearest = np.argmin(_squared_distances(patterns, gates), axis=1)
    return np.bincount(nearest, shares, minlength=len(gates))
