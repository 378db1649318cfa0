"""Simulated recordings of neurons with known gates: firing rates with Poisson noise."""

import warnings

import numpy as np

from mdsgdln import discovery, gates
from mdsgdln_book import sweeps
from mdsgdln_book.experiments.found_kinds import disagreement
from mdsgdln_book.tables import Table

ITEMS, CONTEXTS = 8, 3
TRUTH = gates.context_gates(CONTEXTS, ITEMS, [(0, 1, 2), (0, 1), (0, 2), (1, 2)])
BASELINE, WINDOW = 5.0, 0.5  # spikes per second before the stimulus, seconds counted


def simulate_recording(neurons: int, trials: int, seed: int, known: bool = True):
    """Return mean rates per condition, (neurons, 24), and baseline rates, (neurons, 1).

    A neuron whose gate is on in a condition fires faster by its own amount, about 15 spikes per
    second, and not equally in all of these conditions. If not ``known``, each neuron has a gate
    of its own, on in a random half of the conditions.
    """
    rng = np.random.default_rng(seed)
    on = TRUTH[rng.integers(len(TRUTH), size=neurons)]
    if not known:
        on = rng.permuted(np.tile(np.arange(on.shape[1]) % 2, (neurons, 1)), axis=1)
    drive = rng.gamma(2, 15 / 2, (neurons, 1)) * rng.gamma(4, 1 / 4, on.shape)
    seconds = WINDOW * trials
    evoked = rng.poisson((BASELINE + on * drive) * seconds) / seconds
    before = rng.poisson(BASELINE * seconds, on.shape) / seconds
    return evoked, before.mean(axis=1, keepdims=True)


def discover_in_recording(neurons: int, trials: int, seed: int, known: bool = True):
    """Return the gates discovered in one simulated recording.

    Active is a rate two standard errors of Poisson counts above the baseline.
    """
    evoked, before = simulate_recording(neurons, trials, seed, known)
    activity = evoked - before - 2 * np.sqrt(before / (WINDOW * trials))
    with warnings.catch_warnings(action="ignore", category=UserWarning):  # 25 neurons are few
        return discovery.find(activity, resamples=3).gates


def score_discovered_gates(neurons: int, trials: int, seed: int) -> dict:
    """Return the share of correct entries of the discovered gates."""
    found = discover_in_recording(neurons, trials, seed)
    return {"right": round(1 - disagreement(TRUTH, found), 4)}


TABLES = {
    "own_recording": Table(
        score_discovered_gates,
        sweeps.grid(neurons=[50, 100, 200], trials=[1, 2, 5, 10], seed=range(5)),
        repeated=(15,),
    )
}
