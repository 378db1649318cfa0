"""Gates of the neurons that represent a ReLU network, and of trained networks."""

from itertools import permutations

import jax
import numpy as np

from mdsgdln import tasks, theory, training
from mdsgdln_book import linear_maps, sweeps
from mdsgdln_book.dynamics.relu_neurons import gate_patterns
from mdsgdln_book.experiments import first_drop, predicted_curves
from mdsgdln_book.tables import Table

SCALE, SEEDS = 1e-4, 3
MOST = 0.95  # of the squared weights: what the gates that count hold
LARGE = [f"trees {contexts}" for contexts in (2, 3, 4, 5)] + ["mixed 3"]
LINEAR = ["trees 3 linear", "mixed 3 linear"]  # the linear parts, which need no silence: controls
MANY = [*LARGE, "signs 2", "signs 5", "signs 8", "signs 9"]  # 13 samples or more
FEW = [name for name in [*first_drop.KNOWN, *first_drop.FRESH] if name not in MANY]


def train_and_read_gates(task, width: int) -> tuple:
    """Train networks; return final and initial gates and squared weights, and the steps.

    (networks, H, P) and (networks, H). They are trained until 1 % of their mean loss is left.
    """
    start, small = predicted_curves.initialise_networks(task, width, SCALE, SEEDS)
    weights = start
    rate = first_drop.first_basin_rate(task)
    tick, initial, steps = np.log1p(predicted_curves.STEP) / rate, None, 0
    while steps + predicted_curves.ROUND <= predicted_curves.LONGEST / rate / tick:
        steps += predicted_curves.ROUND
        losses, weights = predicted_curves.train_round(weights, small, predicted_curves.STEP / rate)
        mean = np.asarray(losses).mean(axis=0)
        initial = mean[0] if initial is None else initial
        if mean[-1] < predicted_curves.LEARNED * initial:
            break
    after, before = (active_samples_and_weights(some, small.inputs) for some in (weights, start))
    return after, before, steps


def active_samples_and_weights(weights, inputs) -> tuple:
    """Return each neuron's active samples and squared weight."""
    first, second = map(np.asarray, weights)
    on = np.array([gate_patterns(w, inputs) == 1 for w in first])
    return on, np.sum(first**2, axis=2) + np.sum(second**2, axis=1)


def strongest_gates(on, weight):
    """Return the gates that together hold 95 % of the squared weights."""
    gates, group = np.unique(on, axis=0, return_inverse=True)
    held = np.bincount(group.ravel(), weight)
    order = np.argsort(-held)
    number = int(np.searchsorted(np.cumsum(held[order]), MOST * held.sum())) + 1
    return gates[order[:number]]


def share_near_gates(gates, on, weight) -> float:
    """Return the share of squared weights within one sample of any given gate."""
    distance = np.sum(on[:, None] != gates[None], axis=2).min(axis=1)
    return float(weight[distance <= 1].sum() / weight.sum())


def share_by_family(on, weight, num_contexts: int) -> list[np.ndarray]:
    """Return the share of squared weights of each family of gates by two rules, (2, 2^C).

    A family is a set of contexts in which a neuron is active for at least half of the items, or,
    by the second rule, for any item. Context c adds 2^c to its number.
    """
    items = on.reshape(len(on), num_contexts, -1).mean(axis=2)
    families = [contexts @ 2 ** np.arange(num_contexts) for contexts in (items >= 0.5, items > 0)]
    return [np.bincount(some, weight, 2**num_contexts) / weight.sum() for some in families]


def task_or_linear_part(name: str) -> tasks.Task:
    """Return a task by its name, or its linear part."""
    data = first_drop.task_by_name(name.removesuffix(" linear"))
    return linear_maps.linear_part(data) if name in LINEAR else data


def compare_gates(task: str) -> dict:
    """Return the weight share near predicted gates and near another network's gates.

    Single gates of large tasks hardly repeat: predicted are their families.

    Results:
        other: share of the squared weights of trained networks near gates of another one, (ordered
            pairs,).
        other_start: of the initial weights, small tasks.
        predicted, predicted_start: near predicted gates, (networks,), small tasks.
        families, families_start: shares of the families, (networks, 2 rules, 2^C), large tasks.
        families_predicted: (2, 2^C), large tasks.
    """
    data, width = task_or_linear_part(task), first_drop.hidden_width(task)
    (on, weight), (first_on, first_weight), steps = train_and_read_gates(data, width)
    *small, few = theory.stand_in(
        predicted_curves.relu_network(data, width), SCALE, data, key=jax.random.key(0)
    )
    end = training.train(
        *small, few, predicted_curves.STEP / first_drop.first_basin_rate(data), steps
    ).weights
    (gates,), (held,) = active_samples_and_weights(
        [layer[None] for layer in map(np.asarray, end)], few.inputs
    )
    pairs = [(strongest_gates(on[i], weight[i]), j) for i, j in permutations(range(SEEDS), 2)]
    results = {"other": [share_near_gates(some, on[j], weight[j]) for some, j in pairs]}
    before, after = (
        list(zip(*ends, strict=True)) for ends in ((first_on, first_weight), (on, weight))
    )
    if task in LARGE + LINEAR:
        contexts = int(task.split()[1])
        return results | {
            "families": [share_by_family(*one, contexts) for one in after],
            "families_start": [share_by_family(*one, contexts) for one in before],
            "families_predicted": share_by_family(gates, held, contexts),
        }
    strong = strongest_gates(gates, held)
    return results | {
        "other_start": [share_near_gates(some, *before[j]) for some, j in pairs],
        "predicted": [share_near_gates(strong, *one) for one in after],
        "predicted_start": [share_near_gates(strong, *one) for one in before],
    }


TABLES = {
    "predicted_gates": Table(
        compare_gates, sweeps.grid(task=[*FEW, *LARGE, *LINEAR]), repeated=(32,)
    )
}
