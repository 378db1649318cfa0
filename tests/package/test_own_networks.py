"""Networks of one's own: what has ``init`` and ``apply`` is trained, what does not fit is named."""

from collections.abc import Callable
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from bad_input import refused
from numpy.testing import assert_allclose as close

from mdsgdln import tasks, training
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


GATES = jnp.array([0.5, 1.0, 0.0, 2.0])


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


@pytest.mark.parametrize(
    ("network", "batch_size"),
    [(Tanh(4, 5, 7), None), (Gain(GATES, jnp.tanh), 3)],
    ids=["tanh", "gain, in batches"],
)
def test_a_network_of_ones_own_is_descended(network, batch_size):
    def outputs(weights, columns):
        if isinstance(network, Gain):
            return GATES[columns][None, :] * jnp.tanh(weights @ TASK.inputs[:, columns])
        return weights["second"] @ jnp.tanh(weights["first"] @ TASK.inputs[:, columns])

    def loss_of(weights, columns):
        error = TASK.targets[:, columns] - outputs(weights, columns)
        return jnp.sum(error**2) / (2 * len(columns))

    weights = start = network.init(KEY, 0.5)
    losses, everything = [], np.arange(4)
    loss, gradient_of = jax.jit(loss_of), jax.jit(jax.grad(loss_of))
    drawn = [everything] * 9 if batch_size is None else training._batches(KEY, 4, batch_size, 9)
    for batch in drawn:
        losses.append(loss(weights, everything))
        gradient = gradient_of(weights, np.asarray(batch))
        weights = jax.tree.map(lambda w, g: w - 0.1 * g, weights, gradient)
    run = train(network, start, TASK, 0.1, 9, batch_size=batch_size, key=KEY)
    close(run.losses, losses, rtol=1e-12)
    jax.tree.map(lambda a, b: close(a, b, atol=1e-13), run.weights, weights)


def test_a_network_of_ones_own_that_does_not_fit_is_named():
    network = Tanh(4, 5, 2)
    weights = network.init(KEY, 0.5)
    for call in (training.loss, lambda *given: train(*given, 0.1, 3)):
        with refused(r"network: expected outputs of shape \(7, 4\)"):
            call(network, weights, TASK)
        with refused("network"):
            call(Tanh, weights, TASK)  # the class, not one of its networks
