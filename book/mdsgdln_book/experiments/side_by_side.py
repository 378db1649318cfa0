"""A ReLU network and its exact ReLN (MHS Def. 3.1), trained side by side."""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp

from mdsgdln import networks, tasks


class SideBySide(NamedTuple):
    """Both networks of ``train_side_by_side``.

    Attributes:
        losses: of the ReLU network before each update, shape (num_steps,).
        gated_losses: of the gated network, shape (num_steps,).
        differences: largest |ŷ_ReLU − ŷ_gated| over samples and outputs, shape (num_steps,).
        weights: of the ReLU network after the last update.
        gated_weights: of the gated network.
    """

    losses: jax.Array
    gated_losses: jax.Array
    differences: jax.Array
    weights: list[jax.Array]
    gated_weights: list[jax.Array]


def train_side_by_side(
    network: networks.ReLUNetwork,
    weights: list[jax.Array],
    task: tasks.Task,
    learning_rate: float,
    num_steps: int,
    freeze_at: int | None = None,
) -> SideBySide:
    """Train a ReLU network and a gated network that takes its activity as gates (MHS Def. 3.1).

    Both start from ``weights`` and go down their own gradient. Gates are step(z), z the input of
    the ReLU network's neuron; no gradient passes through them. Both run on the processor: a GPU
    sums the products of the two in different orders, and they come 1e-15 apart.

    Args:
        network, weights, task, learning_rate, num_steps: as for ``train``; all samples at once.
        freeze_at: step from which on the gated network keeps its gates; never if not given.
    """
    freeze_at = num_steps if freeze_at is None else freeze_at
    with jax.default_device("cpu"):
        return _train(network, weights, task, learning_rate, num_steps, freeze_at)


@partial(jax.jit, static_argnames="num_steps")
def _train(network, weights, task, learning_rate, num_steps, freeze_at):
    linear = networks.LinearNetwork(network.sizes)

    def loss(weights, network, gates=None):
        outputs = network.apply(weights, task.inputs, gates)
        return jnp.sum((task.targets - outputs) ** 2) / (2 * task.num_samples), outputs

    value_and_gradient = jax.value_and_grad(loss, has_aux=True)

    def descend(weights, gradient):
        return jax.tree.map(lambda w, g: w - learning_rate * g, weights, gradient)

    def step(state, index):
        weights, gated_weights, gates = state
        now = network.gates(weights, task.inputs)
        gates = jax.tree.map(lambda g, kept: jnp.where(index <= freeze_at, g, kept), now, gates)
        (value, outputs), gradient = value_and_gradient(weights, network)
        (gated_value, gated_outputs), gated_gradient = value_and_gradient(
            gated_weights, linear, gates
        )
        state = descend(weights, gradient), descend(gated_weights, gated_gradient), gates
        return state, (value, gated_value, jnp.abs(outputs - gated_outputs).max())

    state = weights, weights, network.gates(weights, task.inputs)
    (weights, gated_weights, _), records = jax.lax.scan(step, state, jnp.arange(num_steps))
    return SideBySide(*records, weights, gated_weights)
