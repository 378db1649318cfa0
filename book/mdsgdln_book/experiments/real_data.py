"""Digits: a ReLU network, its neurons, and gated networks with gates of theirs that imitate it."""

from functools import cache
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from mdsgdln import deviation, discovery, networks, tasks, training
from mdsgdln_book import sweeps
from mdsgdln_book.experiments.neurons_mechanisms import share_by_context_count
from mdsgdln_book.experiments.pictures import QuestionData, agreement, load_data
from mdsgdln_book.experiments.reduced import keep_weights
from mdsgdln_book.tables import Table

HIDDEN, SCALE = 100, 1e-4
RATE, STEPS, SEEN = 1.0, 1500, 50  # weights are kept every SEEN steps
LEAST_STEPS, MOST_MOMENTUM = 30, 0.97
RARE, MUCH = 0.05, 0.25  # shares of pictures


def momentum(step):
    """Return the momentum at a step, which is zero early in training.

    A step is worth 1/(1 − momentum) steps without, which is the number of the step over
    ``LEAST_STEPS``, until it is 1/(1 − MOST_MOMENTUM).
    """
    return jnp.clip(1 - LEAST_STEPS / jnp.maximum(step, 1), 0, MOST_MOMENTUM)


def elapsed_times() -> np.ndarray:
    """Return the times of plain gradient descent that correspond to steps with momentum."""
    return RATE * np.append(0, np.cumsum(1 / (1 - np.asarray(momentum(np.arange(STEPS - 1))))))


def train_with_momentum(network, weights, task: tasks.Task) -> training.Run:
    """Train by gradient descent with momentum, recording weights every ``SEEN`` steps."""
    optimiser = optax.inject_hyperparams(optax.sgd)(learning_rate=RATE, momentum=momentum)
    return training.train(
        network, weights, task, None, STEPS, optimiser=optimiser, observe=keep_weights, every=SEEN
    )


class TrainedNetwork(NamedTuple):
    """A ReLU network after training.

    Attributes:
        network: the network.
        weights: initial, then every SEEN steps, last; each (times, …).
        losses: before each step.
        outputs: for test samples, at the end.
        patterns: 1 where a neuron is active at the end, (neurons, P), training and test.
        mass: ‖w_in‖ ‖w_out‖ of each neuron, (neurons,).
    """

    network: networks.ReLUNetwork
    weights: list[np.ndarray]
    losses: np.ndarray
    outputs: np.ndarray
    patterns: tuple[np.ndarray, np.ndarray]
    mass: np.ndarray


@cache
def train_relu_network(name: str, seed: int) -> TrainedNetwork:
    """Train the ReLU network of a task and seed."""
    data = load_data(name)
    network = networks.ReLUNetwork((len(data.train.inputs), HIDDEN, len(data.train.targets)))
    start = network.init(jax.random.key(seed), SCALE)
    run = train_with_momentum(network, start, data.train)
    weights = [
        np.append(seen, last[None], 0) for seen, last in zip(run.observed, run.weights, strict=True)
    ]
    patterns = tuple(
        np.asarray(network.gates(run.weights, part.inputs)[0]) for part in (data.train, data.test)
    )
    outputs = np.asarray(network.apply(run.weights, data.test.inputs))
    mass = np.asarray(discovery.importance(*run.weights))
    return TrainedNetwork(network, weights, np.asarray(run.losses), outputs, patterns, mass)


class Gates(NamedTuple):
    """Gates of pathways for training and test samples, (K, P) each, and neurons of a pathway."""

    train: np.ndarray
    test: np.ndarray
    sizes: np.ndarray


def clustered_gates(relu: TrainedNetwork, number: int) -> Gates:
    """Return gates from k-means on the neurons' activity patterns.

    Every neuron goes to the nearest gate. For a test sample, a gate is on if most of its neurons
    are, weighted by their mass: test samples do not enter where the neurons go.
    """
    train, test = relu.patterns
    if number == len(train):
        return Gates(train, test, np.ones(number, int))
    gates = discovery.k_means_gates(train, number, relu.mass)
    if not len(gates):  # centroids below one half everywhere
        gates = np.zeros((1, train.shape[1]))
    nearest = (train[:, None] != gates[None]).mean(axis=2).argmin(axis=1)
    member = nearest[None, :] == np.arange(len(gates))[:, None]
    used = member.any(axis=1)
    weight = member[used] * relu.mass
    on = weight @ test > weight.sum(axis=1, keepdims=True) / 2
    return Gates(gates[used], on, member[used].sum(axis=1))


def half_space_gates(gates: Gates, data: QuestionData, seed: int) -> Gates:
    """Return gates of random half-spaces with as many active samples as the given gates."""
    directions = np.random.default_rng(seed).normal(size=(len(gates.train), len(data.train.inputs)))
    train, test = (directions @ np.asarray(part.inputs) for part in (data.train, data.test))
    number = gates.train.sum(axis=1).astype(int)
    thresholds = [
        np.append(np.sort(row), np.inf)[-1 - n] for row, n in zip(train, number, strict=True)
    ]
    on = np.array(thresholds)[:, None]
    return Gates(train >= on, test >= on, gates.sizes)


def train_gated_network(gates: Gates, data: QuestionData, seed: int):
    """Train the gated network; return its losses and its test outputs.

    Its pathways stand one after the other in one layer, a row of gates for each neuron.
    """
    sizes = {"input": len(data.train.inputs), "hidden": HIDDEN, "output": len(data.train.targets)}
    edges = [("input", "hidden"), ("hidden", "output")]
    network, test = (
        networks.GatedNetwork(
            sizes, edges, {"hidden": np.repeat(part.astype(float), gates.sizes, axis=0)}
        )
        for part in gates[:2]
    )
    start = network.init(jax.random.key(1000 + seed), SCALE)
    run = train_with_momentum(network, start, data.train)
    return np.asarray(run.losses), test.apply(run.weights, data.test.inputs)


def gates_by_name(network: str, relu: TrainedNetwork, data: QuestionData, seed: int) -> Gates:
    """Return the gates of a candidate by its name in the table."""
    kind, _, number = network.partition(", ")
    if kind == "linear":
        ones = [np.ones((1, part.num_samples)) for part in (data.train, data.test)]
        return Gates(*ones, np.array([HIDDEN]))
    gates = clustered_gates(relu, int(number))
    return half_space_gates(gates, data, seed) if kind == "half-spaces" else gates


def compare_with_relu(task: str, network: str, seed: int) -> dict:
    """Return the relative error and the agreement of a network with its ReLU network."""
    data, relu = load_data(task), train_relu_network(task, seed)
    if network == "ReLU, other start":
        other = train_relu_network(task, seed + 100)
        losses, outputs = other.losses, other.outputs
    else:
        gates = gates_by_name(network, relu, data, seed)
        losses, outputs = train_gated_network(gates, data, seed)
    return {
        "deviation": round(deviation(losses, relu.losses), 5),
        "agreement": round(agreement(data, outputs, relu.outputs), 5),
    }


def context_selectivity(task: str, seed: int) -> dict:
    """Return the weight share by number of active contexts, and the share of mixed neurons.

    On: for more than half of the pictures ("contexts"), or for more than half as many as in the
    best context ("relative"; "relative_control", if within each context it is shuffled which neuron
    is active how often).
    """
    data, relu = load_data(task), train_relu_network(task, seed)
    on, contexts = relu.patterns[0], data.contexts[0]
    rate = np.stack([on[:, contexts == c].mean(axis=1) for c in np.unique(contexts)], axis=1)

    def relative(rate):
        return share_by_context_count(
            (rate > rate.max(axis=1, keepdims=True) / 2) & (rate > 0), relu.mass
        )

    controls = [np.random.default_rng(repeat).permuted(rate, axis=0) for repeat in range(20)]
    spread = rate.max(axis=1) - rate.min(axis=1)
    selective = ((rate > RARE) & (rate < 1 - RARE)).any(axis=1)
    results = {
        "contexts": share_by_context_count(rate > 0.5, relu.mass),
        "relative": relative(rate),
        "relative_control": np.mean([relative(control) for control in controls], axis=0),
        "mixed": relu.mass[selective & (spread > MUCH)].sum() / relu.mass.sum(),
    }
    return {name: np.round(value, 5) for name, value in results.items()}


CLUSTERED = [f"clustered, {k}" for k in (2, 4, 8, 16, 32, 64, 100)]
PLAIN = [
    *("ReLU, other start", "linear", *CLUSTERED),
    *(f"half-spaces, {k}" for k in (2, 8, 32, 100)),
]
CONTEXTUAL = ["ReLU, other start", "linear", *CLUSTERED, "half-spaces, 8", "half-spaces, 100"]
TABLES = {
    "real_data": Table(
        compare_with_relu,
        sweeps.grid(task=["plain"], network=PLAIN, seed=range(5))
        + sweeps.grid(task=["contextual"], network=CONTEXTUAL, seed=range(5)),
        repeated=(48,),
    ),
    "real_data_neurons": Table(
        context_selectivity, sweeps.grid(task=["contextual", "same"], seed=range(5))
    ),
}
