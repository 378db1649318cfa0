"""Kinds of neurons found in spikes of networks made elsewhere, and in recordings without kinds."""

import warnings
from itertools import combinations

import numpy as np

from mdsgdln import discovery, gates, sweeps, tasks
from mdsgdln_book.tables import Table

ITEMS, HIDDEN, SCALE = 8, 200, 0.005 / 700  # σ as in MHS App. H
RATE, STEPS, LEARNED = 0.12, 20000, 1e-3  # the last: of the loss at the start, where it stops
SPIKES = 10.0  # a trial, where a neuron is on, in the mean
STRUCTURES = {"tree": ["tree"] * 4, "mixed": ["tree", "ring", "cross", "tree"]}
WITHOUT = ("noise", "half-waves", "ring", "line", "place", "plane", "space", "loop", "ellipse")


def relu_network(inputs, targets, hidden: int, scale: float, rate: float, steps: int, seed: int):
    """Train a ReLU network in plain NumPy; return both layers' weights."""
    rng = np.random.default_rng(seed)
    first = scale * rng.standard_normal((hidden, len(inputs)))
    second = scale * rng.standard_normal((len(targets), hidden))
    rate = rate / inputs.shape[1]
    for _ in range(steps):
        active = np.maximum(first @ inputs, 0)
        error = second @ active - targets
        back = (second.T @ error) * (active > 0)
        second = second - rate * error @ active.T
        first = first - rate * back @ inputs.T
        if (error**2).sum() < LEARNED * (targets**2).sum():
            break
    return first, second


def candidates(num_contexts: int) -> np.ndarray:
    """Return the gates of the candidate ReLN: all contexts, and all but one."""
    contexts = range(num_contexts)
    return gates.context_gates(
        num_contexts, ITEMS, [contexts, *combinations(contexts, num_contexts - 1)]
    )


def foreign(num_contexts: int, structures: str, seed: int):
    """Return the activity of a trained network, and the gates that its neurons have.

    Every neuron belongs to the candidate gate that it differs from least; a gate counts if its
    neurons hold a twentieth of the weight ‖w_in‖ ‖w_out‖. No spike is looked at.
    """
    task = tasks.contextual(num_contexts, ITEMS, STRUCTURES[structures][:num_contexts])
    inputs, targets = np.asarray(task.inputs), np.asarray(task.targets)
    weights = relu_network(inputs, targets, HIDDEN, SCALE, RATE, STEPS, seed)
    activity = np.maximum(weights[0] @ inputs, 0)
    rows, mass = candidates(num_contexts), np.asarray(discovery.importance(*weights))
    nearest = ((activity > 0)[:, None] != rows[None]).sum(axis=2).argmin(axis=1)
    shares = np.bincount(nearest, mass, minlength=len(rows)) / mass.sum()
    return activity, rows[shares >= discovery.SMALLEST_SHARE]


def spikes(activity: np.ndarray, trials: int, seed: int) -> np.ndarray:
    """Return Poisson counts, (trials, neurons, conditions)."""
    rate = SPIKES * activity / activity[activity > 0.01 * activity.max()].mean()
    return np.random.default_rng(1000 + seed).poisson(rate, (trials, *rate.shape))


def found(contexts: int, structures: str, trials: int, seed: int) -> dict:
    """Return how many kinds are found in spikes, how many there are, and what is right."""
    activity, truth = foreign(contexts, structures, seed)
    kinds = discovery.discover(spikes(activity, trials, seed).mean(axis=0))
    rows = candidates(contexts)
    return {
        "kinds": len(kinds),
        "expected": len(truth),
        "right": round(1 - discovery.disagreement(truth, kinds), 4),
        "right_of_candidates": round(1 - discovery.disagreement(rows, kinds), 4),
    }


def without_kinds(kind: str, neurons: int, trials: int, seed: int) -> np.ndarray:
    """Return mean counts of neurons that have no kinds, (neurons, conditions).

    Noise; half-waves of a Gaussian; tuning curves on a ring, on a line, in a plane ("place");
    rectified projections of random points in two and three dimensions ("plane", "space"), of a
    closed curve ("loop"), and of an elongated Gaussian ("ellipse").
    """
    rng = np.random.default_rng(seed)
    num = 24
    place = np.arange(num) / num
    if kind == "noise":
        rates = rng.gamma(2, 10, (neurons, num)) * (rng.random((neurons, num)) < rng.random(num))
    elif kind == "half-waves":
        rates = 15 * rng.standard_normal((neurons, num))
    elif kind == "ring":
        away = np.cos(2 * np.pi * (place - rng.random((neurons, 1)))) - 1
        rates = 20 * np.exp(away * rng.uniform(1, 6)) - 2
    elif kind == "line":
        away = (place - rng.uniform(-0.1, 1.1, (neurons, 1))) / rng.uniform(0.08, 0.25)
        rates = 20 * np.exp(-(away**2) / 2) - 2
    elif kind == "place":
        grid = np.stack(np.meshgrid(np.arange(6), np.arange(4)), -1).reshape(-1, 2) / 5
        away = (grid - rng.random((neurons, 1, 2))) / 0.25
        rates = 20 * np.exp(-(away**2).sum(axis=2) / 2) - 2
    elif kind in ("plane", "space"):
        points = rng.standard_normal((2 if kind == "plane" else 3, num))
        rates = 10 * rng.standard_normal((neurons, len(points))) @ points
        rates = rates + 3 * rng.standard_normal((neurons, 1))
    elif kind == "loop":
        angle = 2 * np.pi * place
        curve = np.array([np.cos(angle), np.sin(angle), np.cos(2 * angle)])
        rates = 12 * (rng.standard_normal((neurons, 3)) @ curve - 0.3)
    else:
        spread = np.array([3, 2, 1.5, 1, 0.7, 0.5])[:, None]
        rates = 4 * rng.standard_normal((neurons, 6)) @ (spread * rng.standard_normal((6, num)))
    return rng.poisson(np.maximum(rates, 0) * trials / 2) * 2 / trials


def false_kinds(kind: str, seed: int) -> dict:
    """Return how many kinds are found where there are none: one means none."""
    rng = np.random.default_rng(seed)
    neurons, trials = int(rng.choice([60, 100, 200, 400])), int(rng.choice([4, 16, 64]))
    activity = without_kinds(kind, neurons, trials, seed)
    return {"kinds": len(discovery.discover(activity[activity.any(axis=1)]))}


def decision(seed: int) -> dict:
    """Return what is found and what is counted in a network that decides by context."""
    motion, colour = np.array([[-1, -1, 1, 1], [-1, 1, -1, 1]])
    rule = np.repeat(np.eye(2), 4, axis=1)
    inputs = np.vstack([np.tile([motion, colour], 2), rule])
    targets = np.hstack([motion, colour])[None, :].astype(float)
    weights = relu_network(inputs, targets, 400, 1e-4, 0.4, 2500, seed)
    activity = np.maximum(weights[0] @ inputs, 0)
    mass = np.asarray(discovery.importance(*weights))
    kinds = discovered(activity, mass)
    rows = discovery.common_patterns(activity, mass).gates
    return {
        "kinds": len(kinds),
        "counted": len(rows),
        "same": round(1 - discovery.disagreement(rows, kinds), 4),
    }


def discovered(activity, weights=None) -> np.ndarray:
    """Return the gates that are found, knowing that neurons, conditions or trials are few."""
    with warnings.catch_warnings(action="ignore", category=UserWarning):
        return discovery.discover(activity, weights)


TABLES = {
    "found_kinds": Table(
        found,
        sweeps.grid(
            contexts=[3, 4], structures=["tree", "mixed"], trials=[32, 128], seed=range(50, 60)
        ),
        row=20,
    ),
    "found_kinds_none": Table(
        false_kinds,
        [
            {"kind": kind, "seed": 500 + 10 * index + number}
            for index, kind in enumerate(WITHOUT)
            for number in range(6 if kind in ("ring", "line", "place", "ellipse", "plane") else 5)
        ],
        row=49,
    ),
    "found_kinds_decision": Table(decision, sweeps.grid(seed=range(50, 60)), row=3),
}
