"""What the chapter on other rules and losses derives, computed in another way."""

import jax
import numpy as np
import pytest

import mdsgdln as md


@pytest.mark.parametrize(
    ("loss", "clock"), [(md.logistic, 4), (md.cross_entropy, 3)], ids=["logistic", "softmax"]
)
def test_other_losses_begin_as_the_squared_error_on_other_targets(loss, clock):
    """A logistic loss as on targets 4y − 2, a softmax of q classes as on q y − 1, slower."""
    targets = np.eye(3)[:, [0, 1, 2, 2, 1]]
    inputs = np.random.default_rng(0).normal(size=(4, 5))
    network = md.LinearNetwork((4, 6, 3))
    weights = network.init(jax.random.key(0), 1e-4)
    gradient = jax.grad(loss, argnums=1)(network, weights, md.Task(inputs, targets))
    other = md.Task(inputs, 4 * targets - 2 if loss is md.logistic else 3 * targets - 1)
    squared = jax.grad(md.squared_error, argnums=1)(network, weights, other)
    for found, expected in zip(gradient, squared, strict=True):
        np.testing.assert_allclose(clock * found, expected, atol=1e-6 * np.abs(expected).max())
