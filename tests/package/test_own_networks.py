"""Networks of one's own: what has ``init`` and ``apply`` is trained, what does not fit is named."""

from collections.abc import Callable
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from bad_input import BAD_INPUT

from mdsgdln import tasks, training
from mdsgdln.networks import LinearNetwork
from mdsgdln.tasks import Task
from mdsgdln.training import train

KEY = jax.random.key(0)
TASK = tasks.semantic(num_items=4)


class Tanh:
    """A network of a user: two layers, weights in a dictionary; no pytree, equal to none."""

    __hash__ = None

    def __init__(self, num_inputs, num_hidden, num_outputs):
        self.shapes = {"first": (num_hidden, num_inputs), "second": (num_outputs, num_hidden)}

    def __eq__(self, other):
        raise TypeError("not to be compared")

    def init(self, key, scale):
        keys = jax.random.split(key)
        return {
            name: scale * jax.random.normal(each, shape)
            for each, (name, shape) in zip(keys, self.shapes.items(), strict=True)
        }

    def apply(self, weights, inputs):
        return weights["second"] @ jnp.tanh(weights["first"] @ inputs)


@jax.tree_util.register_dataclass
@dataclass
class Gain:
    """A network of a user that is a pytree, stores a number for each sample and has a function."""

    gates: jax.Array
    activation: Callable

    def init(self, key, scale):
        return scale * jax.random.normal(key, (7, 4))

    def apply(self, weights, inputs):
        return self.gates[None, :] * self.activation(weights @ inputs)

    def take(self, columns):
        return Gain(self.gates[columns], self.activation)


def descend(loss_of, weights, num_steps, rate, batches=None):
    """Gradient descent on a loss of (weights, samples), written out."""
    losses = []
    for step in range(num_steps):
        losses.append(loss_of(weights, np.arange(4)))
        batch = np.arange(4) if batches is None else batches[step]
        gradient = jax.grad(loss_of)(weights, batch)
        weights = jax.tree.map(lambda w, g: w - rate * g, weights, gradient)
    return np.array(losses), weights


@pytest.mark.parametrize("batch_size", [None, 3])
def test_a_network_of_ones_own(batch_size):
    network = Tanh(4, 5, 7)
    weights = network.init(KEY, 0.5)

    def loss_of(weights, columns):
        outputs = weights["second"] @ jnp.tanh(weights["first"] @ TASK.inputs[:, columns])
        return jnp.sum((TASK.targets[:, columns] - outputs) ** 2) / (2 * len(columns))

    batches = None if batch_size is None else np.asarray(training._batches(KEY, 4, batch_size, 9))
    losses, expected = descend(loss_of, weights, 9, 0.1, batches)
    run = train(network, weights, TASK, 0.1, 9, batch_size=batch_size, key=KEY)
    np.testing.assert_allclose(run.losses, losses, rtol=1e-12)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, atol=1e-13), run.weights, expected)
    assert training.loss(network, weights, TASK) == pytest.approx(losses[0], rel=1e-12)


@pytest.mark.parametrize("batch_size", [None, 2])
def test_a_network_of_ones_own_with_gates(batch_size):
    gates = jnp.array([0.5, 1.0, 0.0, 2.0])
    network = Gain(gates, jnp.tanh)
    weights = network.init(KEY, 0.5)

    def loss_of(weights, columns):
        outputs = gates[columns][None, :] * jnp.tanh(weights @ TASK.inputs[:, columns])
        return jnp.sum((TASK.targets[:, columns] - outputs) ** 2) / (2 * len(columns))

    batches = None if batch_size is None else np.asarray(training._batches(KEY, 4, batch_size, 9))
    losses, expected = descend(loss_of, weights, 9, 0.1, batches)
    run = train(network, weights, TASK, 0.1, 9, batch_size=batch_size, key=KEY)
    np.testing.assert_allclose(run.losses, losses, rtol=1e-12)
    np.testing.assert_allclose(run.weights, expected, atol=1e-13)


def test_a_network_of_ones_own_that_does_not_fit_is_named():
    network = Tanh(4, 5, 2)
    weights = network.init(KEY, 0.5)
    for call in (training.loss, lambda *given: train(*given, 0.1, 3)):
        with pytest.raises(BAD_INPUT, match=r"network: expected outputs of shape \(7, 4\)"):
            call(network, weights, TASK)
        with pytest.raises(BAD_INPUT, match="network"):
            call(Tanh, weights, TASK)  # the class, not one of its networks


def test_equal_things_compile_once():
    """A task and a network made again, and a network of one's own that is the same object."""
    train(LinearNetwork((4, 3, 7)), LinearNetwork((4, 3, 7)).init(KEY, 0.1), TASK, 0.05, 13)
    own, number = Tanh(4, 5, 7), 1 + training._scan._cache_size()
    for scale in (0.1, 0.2):
        again = Task(2 * TASK.inputs, TASK.targets, TASK.node_rows, TASK.labels)
        train(LinearNetwork([4, 3, 7]), LinearNetwork((4, 3, 7)).init(KEY, scale), again, 0.05, 13)
        train(own, own.init(KEY, scale), again, 0.05, 13)
    assert training._scan._cache_size() == number
