"""Gates of one ReLU network, read at an instant of descent and in three values of its flow.

Both start from the same weights. Patterns are (neurons, contexts, items), 1 on, −1 off, 0 sliding:
a sample that slides fits either, so a pattern is the simplest that its other samples allow.
"""

import jax
import jax.numpy as jnp
import numpy as np

from mdsgdln import discovery, gates, networks, training
from mdsgdln_book import dynamics, sweeps
from mdsgdln_book.experiments.context_candidates import contextual_setting
from mdsgdln_book.experiments.published import SCALE
from mdsgdln_book.tables import Table

KINDS = ("silent", "always on", "context alone", "item alone", "both")
EVERY, WINDOW = 400, 100  # steps of descent: between two readings; in which a gate chatters
FLOW_STEP = 2  # steps of descent in one of the flow


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


def share_by_kind_and_distance(states: np.ndarray, mass: np.ndarray) -> dict:
    """Return weight shares by kind, and by distance 0, 1, 2, 3, 4, more."""
    share = mass / mass.sum()
    return {
        "kinds": np.bincount(classify_patterns(states), share, len(KINDS)),
        "off": np.bincount(np.minimum(distance_to_two_context_gates(states), 5), share, 6),
    }


def three_values_from_steps(on: np.ndarray) -> np.ndarray:
    """Return gates in three values from readings at each step; those that flip twice slide."""
    changes = (on[1:] != on[:-1]).sum(axis=0)
    return np.where(changes >= 2, 0, 2 * on[0].astype(int) - 1)


def record_three_values(case: str, hidden: int, scale: float, num_steps: int, seed: int) -> dict:
    """Record the three-valued gates of a network every 400 steps.

    Results, a list over times each, ``two`` at an instant of descent, ``three`` of the flow, and
    ``random`` at the instant with as many samples of each neuron ignored as slide, drawn at random:
        kinds, off: see ``share_by_kind_and_distance``.
        window: share of pairs, by weight, that a window of descent reads as the flow does.
    """
    task, rate, _ = contextual_setting(case)
    network = networks.ReLUNetwork((len(task.inputs), hidden, len(task.targets)))
    start = network.init(jax.random.key(seed), scale)
    inputs = jnp.asarray(task.inputs)

    def gates_now(weights):
        return weights[0] @ inputs > 0

    run = training.train(
        network, start, task, rate, num_steps + 1, observe=lambda w: w, every=EVERY
    )
    flow = dynamics.relu_flow(
        network,
        start,
        task,
        rate * np.arange(0, num_steps + 1, EVERY),
        step=FLOW_STEP * rate,
        observe=lambda w: discovery.importance(*w),
    )
    masses = {"two": [], "three": np.asarray(flow.observed)}
    states: dict = {"two": [], "three": flow.states, "random": []}
    windows, rng = [], np.random.default_rng(seed)
    for first, second, sliding in zip(*run.observed, flow.states == 0, strict=True):
        instant = np.where(np.asarray(first @ inputs) > 0, 1, -1)
        order = rng.random(instant.shape).argsort(axis=1).argsort(axis=1)
        states["two"].append(instant)
        states["random"].append(np.where(order < sliding.sum(axis=1)[:, None], 0, instant))
        masses["two"].append(np.asarray(discovery.importance(first, second)))
        window = training.train(network, [first, second], task, rate, WINDOW, observe=gates_now)
        windows.append(three_values_from_steps(np.asarray(window.observed)))
    masses["random"] = masses["two"]
    found = {}
    for name, every in states.items():
        shaped = [some.reshape(hidden, 3, 8) for some in every]
        pairs = zip(shaped, masses[name], strict=True)
        parts = [share_by_kind_and_distance(*pair) for pair in pairs]
        found |= {f"{key}_{name}": np.stack([part[key] for part in parts]) for key in parts[0]}

    def by_weight(pairs, mass):
        return float(np.average(pairs.mean(axis=1), weights=mass))

    agree = zip(windows, flow.states, flow.observed, strict=True)
    found["window"] = np.array([by_weight(some == s, mass) for some, s, mass in agree])
    return found


PUBLISHED = {"hidden": [700], "scale": [SCALE], "num_steps": [8000]}
TABLES = {
    "three_values": Table(
        record_three_values,
        [
            *sweeps.grid(case=["trees", "tree, ring, cross"], **PUBLISHED, seed=range(3)),
            # A small network for a short time, which the tests repeat; with other seeds rounding
            # decides whether a sample slides.
            *sweeps.grid(case=["trees"], hidden=[50], scale=[1e-2], num_steps=[1600], seed=[2]),
        ],
        repeated=(6,),
    ),
}
