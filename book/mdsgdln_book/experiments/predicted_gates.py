"""Gates that compressed mean field predicts beside those of trained ReLU networks."""

from itertools import permutations

import jax
import numpy as np

from mdsgdln import networks, sweeps, theory
from mdsgdln.theory.neuron_merging import patterns
from mdsgdln_book.experiments.first_drop import FRESH, KNOWN, task_of, width_of
from mdsgdln_book.experiments.predicted_curves import (
    LEARNED,
    LONGEST,
    ROUND,
    STEP,
    advance,
    coordinates,
)
from mdsgdln_book.tables import Table

SCALE, SEEDS = 1e-4, 3
MOST = 0.95  # of the squared weights: what the gates that count hold
LARGE = [f"trees {contexts}" for contexts in (2, 3, 4, 5)] + ["mixed 3"]
MANY = [*LARGE, "signs 2", "signs 5", "signs 8", "signs 9"]  # 13 samples or more
FEW = [name for name in [*KNOWN, *FRESH] if name not in MANY]


def trained(task, width: int) -> tuple:
    """Return gates and squared weights of networks at the end and at the start, and the time.

    (networks, H, P) and (networks, H). They are trained until 1 % of their mean loss is left.
    """
    (left, inputs), (left_out, targets) = map(coordinates, (task.inputs, task.targets))
    network = networks.ReLUNetwork((len(left), width, len(left_out)))
    keys = jax.random.split(jax.random.key(1), SEEDS)
    first, second = jax.vmap(lambda key: network.init(key, SCALE))(keys)
    weights = start = first @ left, left_out.T @ second  # no basis changes what is drawn
    rate = theory.basins(task, key=jax.random.key(0))[0].rate
    tick, initial, steps = np.log1p(STEP) / rate, None, 0
    while steps + ROUND <= LONGEST / rate / tick:
        steps += ROUND
        weights, losses = advance(weights, inputs, targets, STEP / rate)
        mean = np.asarray(losses).mean(axis=1)
        initial = mean[0] if initial is None else initial
        if mean[-1] < LEARNED * initial:
            break
    return of_neurons(weights, inputs), of_neurons(start, inputs), steps * tick


def of_neurons(weights, inputs) -> tuple:
    """Return which samples are on, boundaries left out, and the squared weights, per neuron."""
    first, second = map(np.asarray, weights)
    on = np.array([patterns(w, inputs) == 1 for w in first])
    return on, np.sum(first**2, axis=2) + np.sum(second**2, axis=1)


def predicted(task, width: int, time: float) -> tuple:
    """Return predicted gates and their shares of the squared weights."""
    found = theory.predict_relu(task, width, SCALE, [0, time], key=jax.random.key(0))
    return found.gates == 1, found.shares


def strongest(on, weight):
    """Return the gates that together hold 95 % of the squared weights."""
    gates, group = np.unique(on, axis=0, return_inverse=True)
    held = np.bincount(group.ravel(), weight)
    order = np.argsort(-held)
    number = int(np.searchsorted(np.cumsum(held[order]), MOST * held.sum())) + 1
    return gates[order[:number]]


def near(gates, on, weight) -> float:
    """Return the share of squared weights within one sample of a gate."""
    distance = np.sum(on[:, None] != gates[None], axis=2).min(axis=1)
    return float(weight[distance <= 1].sum() / weight.sum())


def shares(task: str) -> dict:
    """Return how much of the weights lies near predicted gates, and near another network's.

    Results:
        predicted: share of the squared weights of trained networks, (networks,).
        predicted_start: of their initial weights.
        other: near gates of another trained network, (ordered pairs,).
        other_start: of the initial weights.
        gates: how many are predicted.
    """
    data, width = task_of(task), width_of(task)
    (on, weight), (first_on, first_weight), time = trained(data, width)
    gates = strongest(*predicted(data, width, time))
    pairs = [(strongest(on[i], weight[i]), j) for i, j in permutations(range(SEEDS), 2)]
    return {
        "predicted": [near(gates, on[i], weight[i]) for i in range(SEEDS)],
        "predicted_start": [near(gates, first_on[i], first_weight[i]) for i in range(SEEDS)],
        "other": [near(some, on[j], weight[j]) for some, j in pairs],
        "other_start": [near(some, first_on[j], first_weight[j]) for some, j in pairs],
        "gates": len(gates),
    }


def families(task: str) -> dict:
    """Return shares of the squared weights of families of gates, and of those that repeat.

    A family is a set of contexts in which a neuron is on for at least half of the items; context c
    adds 2^c to its number.

    Results:
        predicted: shares of the families, (2^C,).
        trained, start: of networks and of their initial weights, (networks, 2^C).
        other: share near gates of another trained network, (ordered pairs,).
    """
    data, width = task_of(task), width_of(task)
    num_contexts = int(task.split()[1])
    (on, weight), (first_on, first_weight), time = trained(data, width)

    def parts(on, weight):
        contexts = on.reshape(len(on), num_contexts, -1).mean(axis=2) >= 0.5
        family = contexts @ 2 ** np.arange(num_contexts)
        return np.bincount(family, weight, 2**num_contexts) / weight.sum()

    pairs = permutations(range(SEEDS), 2)
    return {
        "predicted": parts(*predicted(data, width, time)),
        "trained": [parts(on[i], weight[i]) for i in range(SEEDS)],
        "start": [parts(first_on[i], first_weight[i]) for i in range(SEEDS)],
        "other": [near(strongest(on[i], weight[i]), on[j], weight[j]) for i, j in pairs],
    }


TABLES = {
    "predicted_gates": Table(shares, sweeps.grid(task=FEW), row=32),
    "gate_families": Table(families, sweeps.grid(task=LARGE), row=4),
}
