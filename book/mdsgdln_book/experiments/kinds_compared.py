"""Populations with planted kinds and without any: what ``find`` and other methods see in them.

All methods get the patterns of on and off, and numbers of clusters up to ``MOST``.
"""

import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from mdsgdln import discovery
from mdsgdln.gates import context_gates
from mdsgdln_book import sweeps
from mdsgdln_book.experiments import own_recording
from mdsgdln_book.tables import Table

MOST = 15  # clusters
FOUR = own_recording.TRUTH.astype(float)
FIVE = context_gates(4, 8, [(0, 1, 2, 3), (0, 1, 2), (0, 1, 3), (0, 2, 3), (1, 2, 3)]).astype(float)


class Population(NamedTuple):
    """Activity of neurons, on above zero, and what is planted in it.

    Attributes:
        activity: shape (neurons, P).
        kind: of each neuron, −1 for none.
        gates: of the kinds, (K, P); none in an empty population.
    """

    activity: np.ndarray
    kind: np.ndarray
    gates: np.ndarray


# Populations --------------------------------------------------------------------------------------


def planted(
    gates,
    neurons: int,
    rate: float = 10.0,
    trials: int = 10,
    *,
    outside: float = 0.0,
    shares=None,
    baseline: float = 0.0,
    on_a_ring: bool = False,
) -> Callable:
    """Return a function of a generator: Poisson counts of neurons with gates, and of others.

    Gates are (K, P), or (number, P) of random ones. Others are on in a random half, or on a ring.
    """

    def draw(rng) -> Population:
        truth = drawn_gates(gates, rng)
        kind = rng.choice(len(truth), neurons, p=shares)
        kind = np.where(rng.random(neurons) < outside, -1, kind)
        size = neurons, truth.shape[1]
        own = ring(size, 0.3, rng) > 0 if on_a_ring else rng.random(size) < 0.5
        on = np.where(kind[:, None] < 0, own, truth[kind])
        rates = baseline + on * rate * rng.gamma(2, 0.5, (neurons, 1))
        before = rng.poisson(baseline, (neurons, trials * size[1])) if baseline else None
        counts = rng.poisson(np.tile(rates, trials))
        conditions = np.tile(np.arange(size[1]), trials)
        recording = discovery.activity_by_condition(counts, conditions, before)
        return Population(recording.activity, kind[list(recording.neurons)], truth)

    return draw


def flipped(gates, neurons: int, share: float) -> Callable:
    """Return a function of a generator: gates in which a share of the entries is flipped."""

    def draw(rng) -> Population:
        truth = drawn_gates(gates, rng)
        kind = rng.choice(len(truth), neurons)
        on = truth[kind]
        return Population(np.where(rng.random(on.shape) < share, 1 - on, on), kind, truth)

    return draw


def drawn_gates(gates, rng) -> np.ndarray:
    """Return given gates, or random ones of the given shape."""
    return (rng.random(gates) < 0.45).astype(float) if isinstance(gates, tuple) else gates


def ring(size: tuple[int, int], width: float, rng) -> np.ndarray:
    """Return cosines of the distance from a preferred angle, minus a threshold."""
    neurons, conditions = size
    turns = np.arange(conditions) / conditions - rng.random((neurons, 1))
    return np.cos(2 * np.pi * turns) - width


def bump(neurons: int, kappa: float, rng) -> np.ndarray:
    """Return von Mises tuning curves, with a threshold."""
    return np.exp(kappa * (ring((neurons, 24), 1.0, rng))) - 0.1


def plane(neurons: int, rng) -> np.ndarray:
    """Return bumps on a square of five by five places."""
    places = np.stack(np.meshgrid(np.arange(5), np.arange(5)), -1).reshape(-1, 2)
    centres = rng.uniform(-0.5, 4.5, (neurons, 1, 2))
    return np.exp(-((places - centres) ** 2).sum(axis=2) / 4.5) - 0.5


def gaussian(rank: int, neurons: int, threshold: float, rng) -> np.ndarray:
    """Return Gaussian activity of a low rank in 24 conditions."""
    return rng.normal(size=(neurons, rank)) @ rng.normal(size=(rank, 24)) / rank**0.5 - threshold


def layer(cue: float, rng) -> np.ndarray:
    """Return an untrained ReLU layer, for eight items in three contexts."""
    items, contexts = np.tile(np.eye(8), 3), cue * np.repeat(np.eye(3), 8, axis=1)
    return np.maximum(rng.normal(size=(700, 11)) @ np.vstack([items, contexts]), 0)


def gain(rng) -> np.ndarray:
    """Return neurons that share their gain."""
    return rng.gamma(1, 1, (300, 1)) * rng.gamma(1, 1, (1, 24)) * rng.gamma(2, 0.5, (300, 24))


def walk(rng) -> np.ndarray:
    """Return activity that drifts from condition to condition."""
    steps = np.cumsum(rng.normal(size=(200, 24)), axis=1)
    return steps - steps.mean(axis=1, keepdims=True)


def counted(activity: np.ndarray, trials: int, rng) -> np.ndarray:
    """Return the mean of Poisson counts."""
    return rng.poisson(5 * trials * np.maximum(activity, 0)) / trials


PLANTED = {
    "four kinds, 100 neurons": planted(FOUR, 100),
    "two trials of 3 Hz": planted(FOUR, 200, 3.0, 2),
    "a fifth of no kind": planted(FOUR, 200, outside=0.2),
    "half of no kind": planted(FOUR, 200, outside=0.5),
    "a rare kind": planted(FOUR, 500, shares=[0.32, 0.32, 0.32, 0.04]),
    "thirteen kinds": flipped((13, 40), 400, 0.0),
    "many fast cells": planted(FOUR, 200, 40.0, 20, shares=[0.7, 0.1, 0.1, 0.1]),
    "baseline, a fifth on a ring": planted(FOUR, 200, outside=0.2, baseline=2.0, on_a_ring=True),
    "two kinds": planted((2, 24), 80),
    "six kinds, 16 conditions": planted((6, 16), 300, trials=5),
    "a tenth flipped": flipped(FOUR, 240, 0.1),
    "five kinds, 32 conditions": planted(FIVE, 400, trials=6),
}
EMPTY = {
    "independent, a fifth on": lambda rng: (rng.random((300, 24)) < 0.2).astype(float),
    "independent, sparse": lambda rng: (rng.random((500, 24)) < 0.05).astype(float),
    "Gaussian, rank 1": lambda rng: gaussian(1, 300, 0.5, rng),
    "Gaussian, rank 2, noisy": lambda rng: counted(gaussian(2, 200, 0.0, rng), 8, rng),
    "Gaussian, rank 3": lambda rng: gaussian(3, 300, 0.0, rng),
    "Gaussian, rank 6": lambda rng: gaussian(6, 300, 0.5, rng),
    "ring of 12, noisy": lambda rng: counted(ring((200, 12), 0.5, rng), 20, rng),
    "ring of 24": lambda rng: ring((200, 24), 0.0, rng),
    "narrow tuning, noisy": lambda rng: counted(bump(200, 3.0, rng), 16, rng),
    "plane, noisy": lambda rng: counted(plane(400, rng), 10, rng),
    "untrained layer": lambda rng: layer(1.0, rng),
    "untrained layer, strong cue": lambda rng: layer(3.0, rng),
    "drift": walk,
    "shared gain": lambda rng: counted(gain(rng), 4, rng),
}


# Methods ------------------------------------------------------------------------------------------


def found_by_density(population: Population, on: np.ndarray, seed: int):
    """Return the gate index of each neuron, the gates, and whether there was a warning."""
    with warnings.catch_warnings(action="ignore", category=UserWarning):
        found = discovery.find(population.activity, resamples=3)
    return found.gate_of, found.gates, bool(found.caveats)


def found_by_k_means(population: Population, on: np.ndarray, seed: int):
    """Cluster into the number with the largest silhouette."""
    from sklearn.cluster import KMeans  # here, as its import takes a while
    from sklearn.metrics import silhouette_score

    fits = [KMeans(number, n_init=3, random_state=seed).fit(on) for number in numbers(on)[1:]]
    best = max(fits, key=lambda fit: silhouette_score(on, fit.labels_)).labels_
    return best, majorities(on, best), False


def found_by_gaussians(population: Population, on: np.ndarray, seed: int):
    """Fit mixtures of Gaussians with diagonal covariance; take the number of lowest BIC."""
    from sklearn.mixture import GaussianMixture

    fits = [
        GaussianMixture(number, covariance_type="diag", reg_covar=1e-2, random_state=seed).fit(on)
        for number in numbers(on)
    ]
    best = min(fits, key=lambda fit: fit.bic(on)).predict(on)
    return best, majorities(on, best), False


METHODS = {
    "find": found_by_density,
    "k-means, silhouette": found_by_k_means,
    "Gaussian mixture, BIC": found_by_gaussians,
}


def numbers(on: np.ndarray) -> range:
    """Return the numbers of clusters that are tried: no more than there are patterns."""
    return range(1, min(MOST, len(np.unique(on, axis=0)), len(on) - 1) + 1)


def majorities(on: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return the gates of clusters, none if there is one cluster only."""
    used = np.unique(labels)
    if len(used) < 2:
        return on[:0]
    return np.stack([on[labels == label].mean(axis=0) > 0.5 for label in used]).astype(int)


# Comparison ---------------------------------------------------------------------------------------


def compare_methods(population: str, seed: int) -> dict:
    """Return what each method finds.

    ``planted`` is the number of planted gates that are found, right in every entry, ``other`` that
    of other gates, ``outsiders`` the share of the neurons of no kind that are given one, 0 without
    such neurons, and ``warned`` whether there was a warning.
    """
    rng = np.random.default_rng(seed)
    if population in PLANTED:
        drawn = PLANTED[population](rng)
    else:
        activity = EMPTY[population](rng)
        drawn = Population(activity, np.full(len(activity), -1), activity[:0])
    some = (drawn.activity > 0).any(axis=1)
    drawn = Population(drawn.activity[some], drawn.kind[some], drawn.gates)
    on, results = (drawn.activity > 0).astype(float), {}
    outside, truth = drawn.kind < 0, {*map(tuple, drawn.gates)}
    with warnings.catch_warnings(action="ignore"):  # fits that are slow
        for name, method in METHODS.items():
            labels, gates, warned = method(drawn, on, seed)
            hits = len({*map(tuple, gates)} & truth)
            results[f"{name}: planted"] = hits
            results[f"{name}: other"] = len(gates) - hits
            given = (labels[outside] >= 0).mean() if outside.any() and len(gates) else 0.0
            results[f"{name}: outsiders"] = float(given)
            results[f"{name}: warned"] = float(warned)
    return results | {"kinds": len(drawn.gates)}


TABLES = {
    "kinds_compared": Table(
        compare_methods,
        sweeps.grid(population=[*PLANTED, *EMPTY], seed=range(5)),
        repeated=(0,),
    ),
}
