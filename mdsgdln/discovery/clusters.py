"""Gates of a given number of clusters, and what neurons weigh."""

from functools import cache
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int
from threadpoolctl import ThreadpoolController

from mdsgdln import _checks as checks
from mdsgdln._checks import Numbers
from mdsgdln.discovery.recordings import Recording

COMMON = 0.05  # of the weight

_threads = cache(ThreadpoolController)  # it looks for libraries, which takes time


class Patterns(NamedTuple):
    """Patterns of on and off, shape (K, P), and their shares of the weight, shape (K,)."""

    gates: Int[np.ndarray, "K P"]
    shares: Float[np.ndarray, " K"]


def k_means_gates(
    activity: Numbers | Recording, num_clusters: int, weights: Numbers | None = None, seed: int = 0
) -> Int[np.ndarray, "K P"]:
    """Cluster neurons' active samples by k-means; return rounded centroids (MHS Algorithm 1).

    Centroids are rounded at ½; empty gates are dropped and equal ones merged, so that there may be
    fewer gates than clusters. They are in decreasing order of size.

    Args:
        activity: as in ``find``; Algorithm 1 stacks recordings of several trainings and times.
            Neurons that are never on are included.
        num_clusters: number of clusters, at most one per distinct pattern.
        weights: importance of each neuron, shape (neurons,); equal by default.
        seed: of the random starts of k-means.
    """
    return rounded(k_means_centroids(activity, num_clusters, weights, seed))


def k_means_centroids(
    activity: Numbers | Recording, num_clusters: int, weights: Numbers | None = None, seed: int = 0
) -> Float[np.ndarray, "clusters P"]:
    """Return what ``k_means_gates`` rounds, by one thread: sums do not depend on their number."""
    from sklearn.cluster import KMeans  # half a second, and most programs cluster nothing

    checks.seed(seed)
    num_clusters = checks.positive_integer("num_clusters", num_clusters)
    patterns, weight = _distinct(activity, weights)
    expected = f"at most {len(patterns)}, one per pattern"
    checks.require(num_clusters <= len(patterns), "num_clusters", expected, num_clusters)
    means = KMeans(num_clusters, n_init=3, random_state=seed, tol=1e-3)
    with _threads().limit(limits=1):
        return means.fit(patterns.astype(np.float32), sample_weight=weight).cluster_centers_


def rounded(centroids: np.ndarray) -> Int[np.ndarray, "K P"]:
    """Return distinct non-empty gates, centroids rounded at ½, in decreasing order of size."""
    gates = np.unique((centroids > 0.5).astype(int), axis=0)
    gates = gates[gates.any(axis=1)]
    return gates[np.lexsort([*gates.T[::-1], gates.sum(axis=1)])[::-1]]


def common_patterns(activity: Numbers | Recording, weights: Numbers | None = None) -> Patterns:
    """Return the patterns of on and off that have a twentieth of the weight each, or more.

    They are in decreasing order of weight. No gap between them is required, so that with few
    conditions noise has such patterns, too. Arguments and errors are those of ``k_means_gates``.
    """
    gates, shares = _distinct(activity, weights)
    heaviest = np.argsort(-shares, kind="stable")
    common = heaviest[(shares[heaviest] >= COMMON) & gates[heaviest].any(axis=1)]
    return Patterns(gates[common].astype(int), shares[common])


def importance(incoming: Any, outgoing: Any) -> Float[Array, " H"]:
    """Return ‖w_in‖ ‖w_out‖ of each neuron of a hidden layer, its weight in the output.

    Args:
        incoming: weights of the layer, shape (H, N_in), or a pair of these and biases (H,), which
            count as the weights of one more input.
        outgoing: weights of the next one, shape (N_out, H), or a pair of these and biases.
    """
    (incoming, biases), (outgoing, _) = _weights_and_biases(incoming), _weights_and_biases(outgoing)
    incoming = checks.finite_array("incoming", incoming, 2, "(H, N_in)")
    outgoing = checks.finite_array("outgoing", outgoing, 2, "(N_out, H)")
    checks.of_shape("outgoing", outgoing, (len(outgoing), len(incoming)))
    if biases is not None:
        biases = checks.finite_array("incoming[1]", biases, 1, "(H,)")
        checks.of_shape("incoming[1]", biases, incoming.shape[:1])
        incoming = jnp.column_stack([incoming, biases])
    return jnp.linalg.norm(incoming, axis=1) * jnp.linalg.norm(outgoing, axis=0)


def _weights_and_biases(layer: Any) -> tuple[Any, Any]:
    """Return the weights of a layer and its biases, or None."""
    pair = isinstance(layer, tuple | list) and len(layer) == 2 and np.ndim(layer[0]) == 2
    return tuple(layer) if pair else (layer, None)


def checked_activity(activity: Numbers) -> Float[np.ndarray, "neurons P"]:
    """Return activity as an array, or raise ``ValueError``."""
    return checks.concrete_array("activity", activity, 2, "(neurons, P)")


def checked_weights(activity: np.ndarray, weights: Numbers | None) -> Float[np.ndarray, " neurons"]:
    """Return weights as an array, or raise ``ValueError``, also if no neuron is active."""
    weights = np.ones(len(activity)) if weights is None else weights
    weights = checks.concrete_array("weights", weights, 1, "(neurons,)")
    checks.of_shape("weights", weights, activity.shape[:1])
    checks.require(weights.min() >= 0, "weights", "entries of at least 0", weights)
    used = (activity > 0).any(axis=1) & (weights > 0)
    checks.require(used.any(), "activity", "a neuron with weight that is active, above 0", activity)
    return weights


def _distinct(
    activity: Numbers | Recording, weights: Numbers | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct patterns of neurons with weight, in a fixed order, and their shares."""
    activity = checked_activity(activity.activity if isinstance(activity, Recording) else activity)
    weights = checked_weights(activity, weights)
    on = (activity > 0)[weights > 0]
    packed = np.packbits(on, axis=1)  # sorted much faster
    _, first, inverse = np.unique(packed, axis=0, return_index=True, return_inverse=True)
    shares = np.bincount(inverse.ravel(), weights[weights > 0])
    return on[first], shares / shares.sum()
