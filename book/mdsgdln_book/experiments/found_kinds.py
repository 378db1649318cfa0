"""Kinds of neurons found in spikes of networks made elsewhere."""

import warnings
from functools import cache
from itertools import combinations

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.stats import poisson

from mdsgdln import discovery, gates, tasks
from mdsgdln_book import sweeps
from mdsgdln_book.experiments.published import NUM_ITEMS, SCALE
from mdsgdln_book.tables import Table

HIDDEN = 200
RATE, STEPS, LEARNED = 0.12, 20000, 1e-3  # the last: of the loss at the start, where it stops
A_TWENTIETH = 0.05
SPIKES = 10.0  # a trial, where a neuron is active, in the mean
STRUCTURES = {"tree": ["tree"] * 4, "mixed": ["tree", "ring", "cross", "tree"]}


def train_in_numpy(inputs, targets, seed: int):
    """Train a ReLU network in plain NumPy; return both layers' weights."""
    rng = np.random.default_rng(seed)
    first = SCALE * rng.standard_normal((HIDDEN, len(inputs)))
    second = SCALE * rng.standard_normal((len(targets), HIDDEN))
    rate = RATE / inputs.shape[1]
    for _ in range(STEPS):
        active = np.maximum(first @ inputs, 0)
        error = second @ active - targets
        back = (second.T @ error) * (active > 0)
        second = second - rate * error @ active.T
        first = first - rate * back @ inputs.T
        if (error**2).sum() < LEARNED * (targets**2).sum():
            break
    return first, second


@cache
def activity_and_gates(num_contexts: int, structures: str, seed: int):
    """Return the activity of a trained network, and the gates that its neurons have.

    Candidates are those of the ReLN: all contexts, and all but one. Every neuron belongs to the one
    that it differs from least; a gate counts if its neurons hold a twentieth of the weight ‖w_in‖
    ‖w_out‖. No spike is looked at.
    """
    task = tasks.contextual(num_contexts, NUM_ITEMS, STRUCTURES[structures][:num_contexts])
    inputs, targets = np.asarray(task.inputs), np.asarray(task.targets)
    weights = train_in_numpy(inputs, targets, seed)
    activity = np.maximum(weights[0] @ inputs, 0)
    contexts = range(num_contexts)
    candidates = [contexts, *combinations(contexts, num_contexts - 1)]
    rows = gates.context_gates(num_contexts, NUM_ITEMS, candidates)
    mass = np.asarray(discovery.importance(*weights))
    nearest = ((activity > 0)[:, None] != rows[None]).sum(axis=2).argmin(axis=1)
    shares = np.bincount(nearest, mass, minlength=len(rows)) / mass.sum()
    return activity, rows[shares >= A_TWENTIETH]


def poisson_counts(activity: np.ndarray, trials: int, seed: int) -> np.ndarray:
    """Return Poisson counts, (trials, neurons, conditions).

    Each is the quantile of a uniform number of its own: rates that differ in rounding, as on
    another processor, change hardly a count, where a generator's would all change.
    """
    rate = SPIKES * activity / activity[activity > 0.01 * activity.max()].mean()
    uniform = np.random.default_rng(1000 + seed).random((trials, *rate.shape))
    return poisson.ppf(uniform, rate)


def disagreement(gates: np.ndarray, others: np.ndarray) -> float:
    """Return the share of entries in which two sets of gates differ, best matched row to row.

    Gates are (K, P), the others (K', P). A row without a match counts as half wrong.
    """
    if not (len(gates) and len(others)):
        return 0.5 * (len(gates) != len(others))
    differing = (gates[:, None, :] != others[None, :, :]).mean(axis=2)
    matched = differing[linear_sum_assignment(differing)].sum()
    return float((matched + abs(len(gates) - len(others)) / 2) / max(len(gates), len(others)))


def score_discovered_kinds(contexts: int, structures: str, trials: int, seed: int) -> dict:
    """Return the numbers of kinds found, of the network's gates, and of these among those."""
    activity, truth = activity_and_gates(contexts, structures, seed)
    counts = poisson_counts(activity, trials, seed).transpose(1, 0, 2)
    conditions = np.tile(np.arange(activity.shape[1]), trials)
    with warnings.catch_warnings(action="ignore", category=UserWarning):
        recording = discovery.activity_by_condition(counts.reshape(HIDDEN, -1), conditions)
        found = discovery.find(recording, resamples=3)
    return {
        "kinds": len(found.gates),
        "expected": len(truth),
        "true": sum((gate == truth).all(axis=1).any() for gate in found.gates),
    }


TABLES = {
    "found_kinds": Table(
        score_discovered_kinds,
        sweeps.grid(
            contexts=[3, 4], structures=["tree", "mixed"], seed=range(50, 55), trials=[4, 32, 128]
        ),
        repeated=(4,),
    ),
}
