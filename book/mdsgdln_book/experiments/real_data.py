"""Digits: a ReLU network, and gated networks with some of its gates that try to imitate it."""

import warnings
from functools import cache
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from mdsgdln import discovery, networks, reln, sweeps, tasks, training
from mdsgdln_book.experiments.pictures import Data, available, equal, load
from mdsgdln_book.tables import Table

HIDDEN, SCALE = 100, 1e-4
RATE, STEPS, SEEN = 1.0, 1500, 50  # weights are kept every SEEN steps
RATES = {"mnist": 0.25}  # where a step of RATE is too large: MNIST's faint pixels let weights grow
LEAST_STEPS, MOST_MOMENTUM = 30, 0.97
EARLY = 0.1  # of the loss at the start


def _keep(weights):
    return weights


def momentum(step):
    """Return the momentum at a step: none at first, so that early learning is gradient descent.

    A step is worth 1/(1 − momentum) steps without, which is the number of the step over
    ``LEAST_STEPS``, until it is 1/(1 − MOST_MOMENTUM).
    """
    return jnp.clip(1 - LEAST_STEPS / jnp.maximum(step, 1), 0, MOST_MOMENTUM)


def optimiser(rate: float):
    """Return gradient descent with momentum."""
    return optax.inject_hyperparams(optax.sgd)(learning_rate=rate, momentum=momentum)


def times() -> np.ndarray:
    """Return learning rate times steps without momentum that the steps so far are worth."""
    return RATE * np.append(0, np.cumsum(1 / (1 - np.asarray(momentum(np.arange(STEPS - 1))))))


def descend(network, weights, task: tasks.Task, rate: float = RATE) -> training.Run:
    """Descend the gradient with momentum; every ``SEEN`` steps the weights are kept."""
    return training.train(
        network, weights, task, None, STEPS, optimiser=optimiser(rate), observe=_keep, every=SEEN
    )


class Trained(NamedTuple):
    """A ReLU network after training.

    Attributes:
        network: the network.
        weights: initial, then every SEEN steps, last; each (times, …).
        losses: before each step.
        test_losses: at the times of the weights.
        outputs: for training and test samples, at the end.
        patterns: 1 where a neuron is on at the end, (neurons, P), training and test.
        mass: ‖w_in‖ ‖w_out‖ of each neuron, (neurons,).
    """

    network: networks.ReLUNetwork
    weights: list[np.ndarray]
    losses: np.ndarray
    test_losses: np.ndarray
    outputs: tuple[np.ndarray, np.ndarray]
    patterns: tuple[np.ndarray, np.ndarray]
    mass: np.ndarray


def relu_network(data: Data) -> networks.ReLUNetwork:
    """Return the untrained ReLU network."""
    return networks.ReLUNetwork((len(data.train.inputs), HIDDEN, len(data.train.targets)))


def start(name: str, seed: int) -> list[jax.Array]:
    """Return its initial weights."""
    return relu_network(load(name)).init(jax.random.key(seed), SCALE)


@cache
def trained(name: str, seed: int) -> Trained:
    """Train the ReLU network."""
    data = load(name)
    network = relu_network(data)
    run = descend(network, start(name, seed), data.train, RATES.get(name, RATE))
    weights = [
        np.append(seen, last[None], 0) for seen, last in zip(run.observed, run.weights, strict=True)
    ]
    parts = (data.train, data.test)
    outputs = tuple(np.asarray(network.apply(run.weights, part.inputs)) for part in parts)
    patterns = tuple(np.asarray(network.gates(run.weights, part.inputs)[0]) for part in parts)
    mass = np.asarray(discovery.importance(*run.weights))
    test_losses = losses_at(network, weights, data.test)
    return Trained(network, weights, np.asarray(run.losses), test_losses, outputs, patterns, mass)


@jax.jit
def losses_at(network, weights, task: tasks.Task):
    """Return the loss at each of several times."""
    return jax.lax.map(lambda now: training.loss(network, now, task), weights)


class Gates(NamedTuple):
    """Gates of pathways for training and test samples, (K, P) each, and neurons of a pathway."""

    train: np.ndarray
    test: np.ndarray
    sizes: np.ndarray


def gates_of(relu: Trained, gates, soft: bool = False) -> Gates:
    """Give every neuron of the ReLU network to the nearest of these gates, and read off the rest.

    For a test sample a gate is on if most of its neurons are, weighted by their mass: test samples
    do not enter where the neurons go. A soft gate is the share of its neurons that are on.
    """
    train, test = relu.patterns
    if not len(gates):  # centroids below one half everywhere
        gates = np.zeros((1, train.shape[1]))
    nearest = (train[:, None] != gates[None]).mean(axis=2).argmin(axis=1)
    member = nearest[None, :] == np.arange(len(gates))[:, None]
    used = member.any(axis=1)
    weight = member[used] * relu.mass
    weight /= np.maximum(weight.sum(axis=1, keepdims=True), 1e-300)
    sizes = member[used].sum(axis=1)
    if soft:
        return Gates(weight @ train, weight @ test, sizes)
    return Gates(gates[used], weight @ test > 0.5, sizes)


def clustered(relu: Trained, number: int, soft: bool = False) -> Gates:
    """Return gates from k-means on the neurons' patterns, or each neuron's own."""
    train, test = relu.patterns
    if number == len(train):
        return Gates(train, test, np.ones(number, int))
    number = min(number, len(np.unique(train[train.any(axis=1)], axis=0)))
    return gates_of(relu, discovery.cluster(train, number, relu.mass), soft)


def shuffled(gates: Gates, data: Data, seed: int) -> Gates:
    """Return gates that are on for as many samples, drawn at random."""
    rng = np.random.default_rng(seed)
    return Gates(rng.permuted(gates.train, axis=1), rng.permuted(gates.test, axis=1), gates.sizes)


def half_spaces(gates: Gates, data: Data, seed: int) -> Gates:
    """Return gates that are on in half-spaces in random directions, for as many samples."""
    directions = np.random.default_rng(seed).normal(size=(len(gates.train), len(data.train.inputs)))
    train, test = (directions @ np.asarray(part.inputs) for part in (data.train, data.test))
    number = gates.train.sum(axis=1).astype(int)
    thresholds = [
        np.append(np.sort(row), np.inf)[-1 - n] for row, n in zip(train, number, strict=True)
    ]
    on = np.array(thresholds)[:, None]
    return Gates(train >= on, test >= on, gates.sizes)


def imitate(gates: Gates, data: Data, seed: int, rate: float = RATE):
    """Train the gated network; return losses, test losses and outputs for both parts.

    Its pathways stand one after the other in one layer, a row of gates for each neuron.
    """
    sizes = {"input": len(data.train.inputs), "hidden": HIDDEN, "output": len(data.train.targets)}
    both = [np.repeat(part.astype(float), gates.sizes, axis=0) for part in gates[:2]]
    edges = [("input", "hidden"), ("hidden", "output")]
    on_train, on_test = (networks.GatedNetwork(sizes, edges, {"hidden": part}) for part in both)
    start = on_train.init(jax.random.key(1000 + seed), SCALE)
    run = descend(on_train, start, data.train, rate)
    weights = jax.tree.map(
        lambda seen, last: np.append(seen, last[None], 0), run.observed, run.weights
    )
    outputs = (
        on_train.apply(run.weights, data.train.inputs),
        on_test.apply(run.weights, data.test.inputs),
    )
    return np.asarray(run.losses), losses_at(on_test, weights, data.test), outputs


def gates_by_name(network: str, relu: Trained, data: Data, seed: int) -> Gates:
    """Return the gates of a candidate by its name in the table."""
    kind, _, number = network.partition(", ")
    if kind == "linear":
        ones = [np.ones((1, part.num_samples)) for part in (data.train, data.test)]
        return Gates(*ones, np.array([HIDDEN]))
    if kind == "discovered":
        with warnings.catch_warnings(action="ignore", category=UserWarning):  # many samples
            return gates_of(relu, discovery.discover(relu.patterns[0], relu.mass))
    gates = clustered(relu, int(number), kind == "soft")
    control = {"shuffled": shuffled, "half-spaces": half_spaces}.get(kind)
    return gates if control is None else control(gates, data, seed)


difference = jax.jit(reln.deviation)  # of curves that need not fall below 1 % of their start


def experiment(task: str, network: str, seed: int) -> dict:
    """Return how near a network comes to the ReLU network of the same seed."""
    data, relu = load(task), trained(task, seed)
    if network == "ReLU, other start":
        other, number, seen = trained(task, seed + 100), HIDDEN, 1.0
        losses, test_losses, outputs = other.losses, other.test_losses, other.outputs
    else:
        gates = gates_by_name(network, relu, data, seed)
        losses, test_losses, outputs = imitate(gates, data, seed, RATES.get(task, RATE))
        number, seen = len(gates.train), gates.test.any(axis=0).mean()
    targets = data.train.targets, data.test.targets
    early = int(np.argmax(relu.losses < EARLY * relu.losses[0]))
    results = {
        "pathways": number,
        "seen": seen,  # share of test samples for which a pathway is on
        "deviation": reln.deviation(losses, relu.losses),
        "early_deviation": difference(losses[:early], relu.losses[:early]),
        "test_deviation": difference(test_losses, relu.test_losses),
        "reference": relu.losses[-1] / relu.losses[0],
        "last": losses[-1] / losses[0],
    }
    for part, name in enumerate(("train", "test")):
        results[f"{name}_agreement"] = equal(data, outputs[part], relu.outputs[part], part)
        results[f"{name}_accuracy"] = equal(data, outputs[part], targets[part], part)
    return {name: np.round(value, 5) for name, value in results.items()}


PLAIN = [
    *("ReLU, other start", "linear", "discovered"),
    *(f"clustered, {k}" for k in (2, 4, 8, 16, 32, 64, 100)),
    *(f"soft, {k}" for k in (2, 4, 8, 16, 32, 64)),
    *(f"{kind}, {k}" for kind in ("shuffled", "half-spaces") for k in (2, 8, 32, 100)),
]
CONTEXTUAL = [
    *("ReLU, other start", "linear", "clustered, 8", "shuffled, 8", "half-spaces, 8"),
    *("clustered, 100", "clustered, 32", "soft, 8", "half-spaces, 100", "shuffled, 100"),
    *("clustered, 2", "clustered, 16", "clustered, 64", "clustered, 4", "soft, 32"),
]
MNIST = [
    *("ReLU, other start", "linear"),
    *(f"clustered, {k}" for k in (2, 8, 32, 100)),
    *(f"half-spaces, {k}" for k in (2, 8, 32, 100)),
]
TABLES = {
    "real_data": Table(
        experiment, sweeps.grid(task=["plain"], network=PLAIN, seed=range(5)), row=103
    ),
    "real_data_contexts": Table(
        experiment, sweeps.grid(task=["contextual"], network=CONTEXTUAL, seed=range(5)), row=48
    ),
    "real_data_mnist": Table(
        experiment, sweeps.grid(task=["mnist"], network=MNIST, seed=range(3)), available=available
    ),
}
