"""Training with less to compute: the loss is that of the whole network."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from mdsgdln import deviation, networks, tasks, training
from mdsgdln_book.experiments import digit_routes
from mdsgdln_book.experiments.reduced import reduce_network

TASK = tasks.contextual(2, 4)
SCALE, RATE, STEPS = 1e-4, 0.08, 800


@pytest.mark.parametrize(
    "network",
    [
        networks.ReLUNetwork((len(TASK.inputs), 30, len(TASK.targets))),
        networks.contextual_pathways(TASK, 2, 1, 40),
    ],
    ids=["ReLU", "gated"],
)
def test_what_is_reduced_has_the_loss_of_the_whole(network):
    weights = network.init(jax.random.key(0), SCALE)
    whole = training.train(network, weights, TASK, RATE, STEPS).losses
    smaller = reduce_network(network, weights, TASK)
    assert len(smaller[2].targets) < len(TASK.targets)
    losses = training.train(*smaller, RATE, STEPS).losses
    assert losses[-1] < 0.5 * losses[0]
    assert deviation(losses, whole, learned=None) < 1e-5


def test_the_slope_of_routes_is_that_of_automatic_differentiation():
    keys = jax.random.split(jax.random.key(0), 3)
    weights = digit_routes.initial_weights(keys[0], 3, 64, 0.7)
    variances, drive = jax.random.uniform(keys[1], (64,)), jax.random.normal(keys[2], (10, 64))
    mask = jnp.array([[1.0, 1, 0], [0, 1, 1], [0, 0, 1]])

    def loss(weights):
        maps = digit_routes.route_maps(weights)
        each = jnp.sum((variances * maps / 2 - drive) * maps, axis=(2, 3))
        return jnp.sum(mask * each) / 3

    with jax.numpy_rank_promotion("allow"):  # as for readers
        value, gradient = jax.value_and_grad(loss)(weights)
        found, slope = digit_routes.loss_and_gradient(weights, variances, drive, mask)
    np.testing.assert_allclose(found, value, rtol=1e-10)
    for name, expected in gradient.items():
        np.testing.assert_allclose(slope[name], expected, atol=1e-10 * jnp.abs(expected).max())
