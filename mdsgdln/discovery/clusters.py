"""Patterns of on and off, and the gates of a given number of clusters."""

from functools import cache
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int
from scipy.optimize import linear_sum_assignment
from threadpoolctl import ThreadpoolController

from mdsgdln import _checks as checks
from mdsgdln._checks import Numbers

SMALLEST_SHARE = 0.05  # of the weight, for a pathway

_threads = cache(ThreadpoolController)  # it looks for libraries, which takes time


class Patterns(NamedTuple):
    """Distinct gating patterns of neurons, before any clustering.

    Attributes:
        gates: 1 where on, shape (K, P).
        shares: of the weight of all neurons, shape (K,).
    """

    gates: Float[np.ndarray, "K P"] | Int[np.ndarray, "K P"]
    shares: Float[np.ndarray, " K"]

    def share_of(self, gates: np.ndarray) -> Float[np.ndarray, " gates"]:
        """Return the share of the weight whose patterns are nearest to each of other gates."""
        nearest = np.argmin(distances(self.gates, gates), axis=1)
        return np.bincount(nearest, self.shares, minlength=len(gates))


def k_means_gates(
    activity: Numbers, num_clusters: int, weights: Numbers | None = None, seed: int = 0
) -> Int[np.ndarray, "K P"]:
    """Cluster neurons' active samples by k-means; return rounded centroids (MHS Algorithm 1).

    Centroids are rounded at ½; empty gates are dropped and equal ones merged, so that there may be
    fewer gates than clusters, and none if no centroid has an entry above ½. They are in decreasing
    order of size.

    Args:
        activity: as in ``find``; Algorithm 1 stacks recordings of several trainings and times.
            Neurons that are never on are included.
        num_clusters: number of clusters, at most one per distinct pattern.
        weights: importance of each neuron, shape (neurons,); equal by default.
        seed: of the random starts of k-means.
    """
    checks.instance("seed", seed, int | np.integer)
    num_clusters = checks.positive_integer("num_clusters", num_clusters)
    patterns = distinct(*checked_activity(activity, weights), silent=True)
    most = len(patterns.gates)
    expected = f"at most {most}, one per pattern"
    checks.require(num_clusters <= most, "num_clusters", expected, num_clusters)
    return rounded(k_means(patterns, num_clusters, seed))


def common_patterns(activity: Numbers, weights: Numbers | None = None) -> Patterns:
    """Return the patterns of on and off that have at least a twentieth of the weight each.

    They are in decreasing order of weight. Neurons share a pattern if they agree on every sample: a
    recording without noise may have several patterns where ``find`` returns one gate. Arguments and
    errors are those of ``k_means_gates``.
    """
    gates, shares = distinct(*checked_activity(activity, weights), silent=True)
    heaviest = np.argsort(-shares)
    common = heaviest[(shares[heaviest] >= SMALLEST_SHARE) & gates[heaviest].any(axis=1)]
    return Patterns(gates[common].astype(int), shares[common])


def importance(incoming: Numbers, outgoing: Numbers) -> Float[Array, " H"]:
    """Return ‖w_in‖ ‖w_out‖ of each neuron of a hidden layer, its weight in the output.

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

    Gates are (K, P), the others (K', P). A row without a match counts as half wrong.
    """
    gates, others = (
        np.asarray(checks.finite_array(name, value, 2, "(K, P)", may_be_empty=True))
        for name, value in (("gates", gates), ("others", others))
    )
    checks.of_shape("others", others, (len(others), gates.shape[1]))
    if not (len(gates) and len(others)):
        return 0.5 * (len(gates) != len(others))
    differing = (gates[:, None, :] != others[None, :, :]).mean(axis=2)
    matched = differing[linear_sum_assignment(differing)].sum()
    return float((matched + abs(len(gates) - len(others)) / 2) / max(len(gates), len(others)))


def checked_activity(
    activity: Numbers, weights: Numbers | None
) -> tuple[Float[np.ndarray, "neurons P"], Float[np.ndarray, " neurons"]]:
    """Return activity and weights as arrays, or raise ``ValueError``."""
    activity = checks.finite_array("activity", activity, 2, "(neurons, P)")
    weights = np.ones(len(activity)) if weights is None else weights
    weights = checks.finite_array("weights", weights, 1, "(neurons,)")
    checks.of_shape("weights", weights, activity.shape[:1])
    activity, weights = np.asarray(activity), np.asarray(weights)
    checks.require(weights.min() >= 0, "weights", "entries of at least 0", weights)
    used = (activity > 0).any(axis=1) & (weights > 0)
    checks.require(used.any(), "activity", "a neuron with weight that is active, above 0", activity)
    return activity, weights


def distinct(activity: np.ndarray, weights: np.ndarray, silent: bool = False) -> Patterns:
    """Return the distinct patterns in a fixed order; with ``silent``, also the empty one."""
    on = activity > 0
    used = (weights > 0) & (on.any(axis=1) | silent)
    packed = np.packbits(on[used], axis=1)  # sorted much faster
    _, first, inverse = np.unique(packed, axis=0, return_index=True, return_inverse=True)
    shares = np.bincount(inverse.ravel(), weights[used])
    return Patterns(on[used][first].astype(np.float32), shares / shares.sum())


def k_means(
    patterns: Patterns, num_clusters: int, seed: int = 0, starts: int = 3
) -> Float[np.ndarray, "clusters P"]:
    """Return centroids, by one thread: sums then do not depend on the number of cores."""
    from sklearn.cluster import KMeans  # half a second, and most programs cluster nothing

    means = KMeans(num_clusters, n_init=starts, random_state=seed, tol=1e-3)
    with _threads().limit(limits=1):
        return means.fit(patterns.gates, sample_weight=patterns.shares).cluster_centers_


def rounded(centroids: np.ndarray) -> Int[np.ndarray, "K P"]:
    """Return distinct non-empty gates, centroids rounded at ½, in decreasing order of size."""
    gates = np.unique((centroids > 0.5).astype(int), axis=0)
    gates = gates[gates.any(axis=1)]
    return gates[np.lexsort([*gates.T[::-1], gates.sum(axis=1)])[::-1]]


def distances(patterns: np.ndarray, gates: np.ndarray) -> Float[np.ndarray, "patterns K"]:
    """Return the number of samples in which 0/1 patterns differ from gates."""
    lengths = patterns.sum(axis=1)[:, None] + gates.sum(axis=1)[None, :]
    return lengths - 2 * patterns @ gates.T
