"""Gates of a trained ReLU network: read at an instant, and in three values from a window of steps.

Patterns are (neurons, contexts, items), 1 on, −1 off, 0 sliding: a sample that slides fits either,
so a pattern is the simplest that its other samples allow.
"""

import jax
import numpy as np

from mdsgdln import discovery, gates, training
from mdsgdln_book import sweeps
from mdsgdln_book.experiments.context_candidates import contextual_setting
from mdsgdln_book.experiments.published import SCALE
from mdsgdln_book.tables import Table

KINDS = ("silent", "always on", "context alone", "item alone", "both")
NUM_STEPS, WINDOW = 8000, 100  # of training; after it, in which a gate chatters


def classify_patterns(states: np.ndarray) -> np.ndarray:
    """Return the first of KINDS that fits each pattern (neurons, contexts, items)."""
    on, off = states > 0, states < 0
    fits = [
        ~on.any(axis=(1, 2)),
        ~off.any(axis=(1, 2)),
        ~(on.any(axis=2) & off.any(axis=2)).any(axis=1),
        ~(on.any(axis=1) & off.any(axis=1)).any(axis=1),
        np.ones(len(states), bool),
    ]
    return np.argmax(fits, axis=0)


def distance_to_two_context_gates(states: np.ndarray) -> np.ndarray:
    """Return the number of samples by which patterns differ from the nearest two-context gate."""
    ideal = gates.context_gates(3, 8, [(0, 1), (0, 2), (1, 2)])
    wrong = np.where(ideal == 1, -1, 1) == states.reshape(-1, 1, 24)
    return wrong.sum(axis=2).min(axis=1)


def three_values_from_steps(on: np.ndarray) -> np.ndarray:
    """Return gates in three values from readings at each step; those that flip twice slide."""
    changes = (on[1:] != on[:-1]).sum(axis=0)
    return np.where(changes >= 2, 0, 2 * on[0].astype(int) - 1)


def record_three_values(case: str, seed: int) -> dict:
    """Record the gates of a trained network, as shares of its weight.

    Results are of the reading ``two`` at the instant after training, ``three`` from the window
    after it, and ``random`` at the instant with as many samples of each neuron ignored as slide,
    drawn at random:
        kinds_…: of neurons by KINDS.
        off_…: by distance to the nearest gate of two contexts: 0, 1, 2, 3, 4, more.
    """
    task, rate, network = contextual_setting(case)
    start = network.init(jax.random.key(seed), SCALE)
    weights = training.train(network, start, task, rate, NUM_STEPS).weights
    window = training.train(
        network, weights, task, rate, WINDOW, observe=lambda weights: weights[0] @ task.inputs > 0
    )
    on = np.asarray(window.observed)
    instant, three = np.where(on[0], 1, -1), three_values_from_steps(on)
    order = np.random.default_rng(seed).random(instant.shape).argsort(axis=1).argsort(axis=1)
    random = np.where(order < (three == 0).sum(axis=1)[:, None], 0, instant)
    mass = np.asarray(discovery.importance(*weights))
    share, found = mass / mass.sum(), {}
    for name, states in {"two": instant, "three": three, "random": random}.items():
        kinds = classify_patterns(states.reshape(-1, 3, 8))
        distances = np.minimum(distance_to_two_context_gates(states), 5)
        found[f"kinds_{name}"] = np.bincount(kinds, share, len(KINDS))
        found[f"off_{name}"] = np.bincount(distances, share, 6)
    return found


TABLES = {
    "three_values": Table(
        record_three_values,
        sweeps.grid(case=["trees", "tree, ring, cross"], seed=range(3)),
        repeated=(0,),
    ),
}
