"""The same gates once more: from other trials or, where there are none, from other neurons."""

import numpy as np
from jaxtyping import Float, Int
from scipy.optimize import linear_sum_assignment

from mdsgdln.discovery.clusters import distances, distinct, k_means, mismatch, one_thread
from mdsgdln.discovery.recordings import Recording
from mdsgdln.discovery.repetition import MANY_STARTS


def nearest(activity: np.ndarray, gates: np.ndarray) -> Int[np.ndarray, " neurons"]:
    """Return the index of each neuron's nearest gate, −1 if it is never on."""
    on = (activity > 0).astype(float)
    return np.where(on.any(axis=1), distances(on, gates).argmin(axis=1), -1)


def certainty(
    recording: Recording | None,
    activity: np.ndarray,
    weights: np.ndarray,
    gates: np.ndarray,
    gate_of: np.ndarray,
    resamples: int,
) -> tuple[Float[np.ndarray, " neurons"], float]:
    """Return how often each neuron has its gate again, and the agreement of two halves.

    Trials are drawn with replacement and split in two or, where there are fewer than two of a
    condition, neurons are.
    """
    if recording is not None and recording.fewest_trials < 2:
        recording = None
    rng, same = np.random.default_rng(0), 0
    number = len(weights)
    for seed in range(resamples):
        if recording:
            seen, counted = recording.resampled(rng), weights
        else:
            seen, counted = activity, weights * rng.multinomial(number, np.full(number, 1 / number))
        same = same + (nearest(seen, _again(seen, counted, gates, seed)) == gate_of)
    if recording:
        halves = [(half, weights) for half in recording.halves(rng)]
    else:
        first = rng.permuted(np.arange(number) % 2).astype(bool)
        halves = [(activity[part], weights[part]) for part in (first, ~first)]
    of_halves = [
        _again(*half, gates, seed) if (half[0] > 0).any() else np.zeros_like(gates)
        for seed, half in enumerate(halves)
    ]
    return np.where(gate_of >= 0, same / resamples, 0.0), 1 - mismatch(*of_halves)


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
