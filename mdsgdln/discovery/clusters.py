"""Patterns of on and off, and the gates of a given number of clusters of them."""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int
from scipy.optimize import linear_sum_assignment
from threadpoolctl import threadpool_limits

from mdsgdln import _checks as checks
from mdsgdln._checks import Numbers

SMALLEST_SHARE = 0.05  # of the weight: less is no pathway
STARTS = 3  # of k-means, if no number is given


def cluster(
    activity: Numbers,
    num_clusters: int,
    weights: Numbers | None = None,
    seed: int = 0,
    rounded: bool = True,
) -> Int[np.ndarray, "K P"] | Float[np.ndarray, "K P"]:
    """Find gates by k-means with a given number of clusters (MHS App. B, Algorithm 1).

    Centroids are rounded at ½; empty gates are dropped and equal ones merged, so that there may be
    fewer gates than clusters. Without rounding, every centroid is returned as it is.

    Args:
        activity: as in ``find``; Algorithm 1 stacks recordings from several trainings and
            times. Neurons that are never on stay in.
        num_clusters: number of clusters, at most that of distinct patterns.
        weights: importance of each neuron, shape (neurons,); all equal if not given.
        seed: of the random starts of k-means.
        rounded: whether gates are 0 or 1; if not, they are the shares of each cluster that are on.

    Returns:
        gates, shape (K, P), the largest first; if rounded, none, (0, P), where no centroid has
        an entry above ½.

    Raises:
        ValueError: as ``find``; too many clusters.
    """
    checks.instance("seed", seed, int | np.integer)
    num_clusters = checks.positive_integer("num_clusters", num_clusters)
    patterns, shares = distinct(*checked(activity, weights), silent=True)
    if num_clusters > len(patterns):
        raise ValueError(
            f"num_clusters: expected at most the number of distinct patterns, {len(patterns)}, "
            f"got {num_clusters}"
        )
    with one_thread():
        centroids = k_means(patterns, shares, num_clusters, seed)
    return gates_of(centroids) if rounded else centroids[np.argsort(-centroids.sum(axis=1))]


class CommonPatterns(NamedTuple):
    """The patterns of activity that many neurons share.

    Attributes:
        gates: 1 where on, shape (K, P), the heaviest first.
        shares: of the weight of all neurons, shape (K,).
    """

    gates: Int[np.ndarray, "K P"]
    shares: Float[np.ndarray, " K"]


def common_patterns(activity: Numbers, weights: Numbers | None = None) -> CommonPatterns:
    """Return the patterns of on and off that hold a twentieth of the neurons' weight or more each.

    This counts and clusters nothing: neurons share a pattern if they agree on every sample. Where
    ``find`` sees a single gate, it says whether a noiseless recording has others.

    Args:
        activity: as in ``find``. What is above zero by rounding alone counts as on.
        weights: importance of each neuron, shape (neurons,); all equal if not given.

    Raises:
        ValueError: as ``find``.
    """
    patterns, shares = distinct(*checked(activity, weights), silent=True)
    heaviest = np.argsort(-shares)
    common = heaviest[(shares[heaviest] >= SMALLEST_SHARE) & patterns[heaviest].any(axis=1)]
    return CommonPatterns(patterns[common].astype(int), shares[common])


def one_thread() -> threadpool_limits:
    """Limit k-means to one thread: sums do not depend on the number of cores.

    Threads would also wait for each other for longer than they work.
    """
    import sklearn.cluster  # noqa: F401  # brings the threads that are limited

    return threadpool_limits(1)


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
    return mismatch(gates, others)


def mismatch(gates: np.ndarray, others: np.ndarray) -> float:
    """Return ``disagreement`` of arrays that are known to fit."""
    if not (len(gates) and len(others)):
        return 0.5 * (len(gates) != len(others))
    distances = (gates[:, None, :] != others[None, :, :]).mean(axis=2)
    matched = distances[linear_sum_assignment(distances)].sum()
    return float((matched + abs(len(gates) - len(others)) / 2) / max(len(gates), len(others)))


def checked(
    activity: Numbers, weights: Numbers | None
) -> tuple[Float[np.ndarray, "neurons P"], Float[np.ndarray, " neurons"]]:
    """Return activity and weights as arrays, or raise ``ValueError`` in words."""
    activity = np.asarray(checks.finite_array("activity", activity, 2, "(neurons, P)"))
    if weights is None:
        weights = np.ones(len(activity))
    weights = np.asarray(checks.finite_array("weights", weights, 1, "(neurons,)"))
    if weights.shape != activity.shape[:1]:
        raise ValueError(f"weights: expected one per neuron, {len(activity)}, got {weights.shape}")
    if weights.min() < 0:
        raise ValueError(f"weights: expected none below 0, got {weights.min()}")
    if not ((activity > 0).any(axis=1) & (weights > 0)).any():
        raise ValueError("activity: expected a neuron with weight that is on, got none above 0")
    return activity, weights


def distinct(
    activity: np.ndarray, weights: np.ndarray, silent: bool = False
) -> tuple[Float[np.ndarray, "patterns P"], Float[np.ndarray, " patterns"]]:
    """Return the distinct patterns, in a fixed order, and their shares of the weight."""
    on = activity > 0
    used = (weights > 0) & (on.any(axis=1) | silent)
    packed = np.packbits(on[used], axis=1)
    keys = np.ascontiguousarray(packed).view(f"V{packed.shape[1]}").ravel()
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    shares = np.bincount(inverse, weights[used])
    return on[used][first].astype(np.float32), shares / shares.sum()


def k_means(
    patterns: Float[np.ndarray, "patterns P"],
    weights: Float[np.ndarray, " patterns"],
    num_clusters: int,
    seed: int,
    starts: int = STARTS,
) -> Float[np.ndarray, "clusters P"]:
    """Return the centroids of weighted patterns."""
    from sklearn.cluster import KMeans  # half a second, and most programs cluster nothing

    means = KMeans(num_clusters, n_init=starts, random_state=seed, tol=1e-3)
    return means.fit(patterns, sample_weight=weights).cluster_centers_


def gates_of(centroids: np.ndarray) -> Int[np.ndarray, "K P"]:
    """Return centroids rounded at ½, each gate once, none empty, the largest first."""
    gates = np.unique((centroids > 0.5).astype(int), axis=0)
    gates = gates[gates.any(axis=1)]
    return gates[np.lexsort([*gates.T[::-1], gates.sum(axis=1)])[::-1]]


def distances(patterns: np.ndarray, gates: np.ndarray) -> Float[np.ndarray, "patterns K"]:
    """Return the number of samples in which 0/1 patterns differ from gates."""
    lengths = patterns.sum(axis=1)[:, None] + gates.sum(axis=1)[None, :]
    return lengths - 2 * patterns @ gates.T


def held(gates: np.ndarray, patterns: np.ndarray, shares: np.ndarray) -> Float[np.ndarray, " K"]:
    """Return the share of the weight whose patterns are nearest to each gate."""
    nearest = np.argmin(distances(patterns, gates), axis=1)
    return np.bincount(nearest, shares, minlength=len(gates))


def noticeable(
    gates: np.ndarray, patterns: np.ndarray, shares: np.ndarray
) -> Int[np.ndarray, "K P"]:
    """Drop gates that hold too small a share of the weight."""
    if not len(gates):
        return gates
    return gates[held(gates, patterns, shares) >= SMALLEST_SHARE]
