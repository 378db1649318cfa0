"""MNIST routed between a hundred domains: errors on trained and untrained pairs (NRR Fig. 7c, d).

As in ``digit_routes`` every domain is given in coordinates in which all domains are equal, which
permuted pixels and permuted labels leave exactly as they are. The pictures are no part of the
repository: ``MNIST`` names the folder in which they are.
"""

from functools import cache, partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from mdsgdln import tasks
from mdsgdln_book import sweeps
from mdsgdln_book.experiments.digit_routes import (
    centre_and_summarise,
    initial_weights,
    loss_and_gradient,
)
from mdsgdln_book.experiments.pictures import has_mnist, load_mnist
from mdsgdln_book.tables import Table

NUM_DOMAINS, NUM_TRAIN = 100, 60_000
MOMENTUM, NUM_STEPS = 0.9, 200  # as published; steps on all pictures at once
VARIANCE = 1e-3  # of 53 in all: components below it tell hardly any pictures apart


class ProjectedPictures(NamedTuple):
    """Training moments, and test pictures, in the components in which training pictures differ."""

    variances: jax.Array  # λ, (components,)
    input_output: jax.Array  # Σ^yx V, (10, components)
    inputs: jax.Array  # of the test pictures, (components, 10 000)
    classes: np.ndarray  # of the test pictures
    target_mean: jax.Array  # what an answer is compared with lacks it, (10, 1)


@cache
def project_pictures() -> ProjectedPictures:
    """Return MNIST, split into its own training and test set."""
    whole = load_mnist()
    train, test = (whole.take(part) for part in np.split(np.arange(70_000), [NUM_TRAIN]))
    found = centre_and_summarise(train, test)
    used = found.variances > VARIANCE
    inputs = found.components[:, used].T @ found.test.inputs
    arrays = found.variances[used], found.input_output[:, used], inputs
    classes = np.argmax(found.test.targets, axis=0)
    arrays = [jnp.asarray(each, jnp.float32) for each in (*arrays, found.target_mean)]
    return ProjectedPictures(*arrays[:3], classes, arrays[3])


def learning_rate(num_trained: int, scale: float) -> float:
    """Return a step size at which training is stable: the loss is steeper at large weights."""
    return 15 / num_trained * min(1.0, 0.4 / scale**3)


@partial(jax.jit, donate_argnums=0)
def descend(weights, variances, input_output, mask, rate):
    """Train by gradient descent with momentum; return the weights."""

    def step(state, _):
        weights, velocity = state
        _, gradient = loss_and_gradient(weights, variances, input_output, mask)
        velocity = jax.tree.map(lambda v, g: MOMENTUM * v - rate * g, velocity, gradient)
        return (jax.tree.map(jnp.add, weights, velocity), velocity), None

    start = weights, jax.tree.map(jnp.zeros_like, weights)
    return jax.lax.scan(step, start, length=NUM_STEPS)[0][0]


@jax.jit
def error_rates(weights, data: ProjectedPictures) -> jax.Array:
    """Return the share of test pictures that each pair gets wrong, (input, output domain)."""

    def of_input(into):
        return wrong_share(weights["out"] @ (weights["hidden"] @ (into @ data.inputs)), data)

    return jax.lax.map(of_input, weights["in"])


def wrong_share(answers, data: ProjectedPictures) -> jax.Array:
    """Return the share of test pictures that outputs of shape (…, 10, P) classify wrongly."""
    found = jnp.argmax(answers + data.target_mean, axis=-2)
    return jnp.mean((found != data.classes).astype(jnp.float32), axis=-1)


def error_rates_on_mnist(num_trained: int, scale: float, seed: int) -> dict:
    """Train one network; return test error rates of trained and untrained pairs.

    ``linear_error`` is that of linear regression.
    """
    trained = np.asarray(tasks.trained_routes(NUM_DOMAINS, num_trained))
    data = project_pictures()
    num_pixels = len(data.variances)
    weights = initial_weights(jax.random.key(seed), NUM_DOMAINS, num_pixels, scale, jnp.float32)
    rate = jnp.float32(learning_rate(num_trained, scale))
    mask = jnp.asarray(trained, jnp.float32)
    weights = descend(weights, data.variances, data.input_output, mask, rate)
    errors = np.asarray(error_rates(weights, data))
    return {
        "trained_error": errors[trained].mean(dtype=float),
        "untrained_error": errors[~trained].mean(dtype=float),
        "linear_error": wrong_share(data.input_output / data.variances @ data.inputs, data),
    }


TABLES = {
    "mnist_routes": Table(
        error_rates_on_mnist,
        sweeps.grid(num_trained=[10, 20, 30, 40, 50, 70, 90], scale=[0.2], seed=range(5))
        + sweeps.grid(num_trained=[50], scale=[0.05, 0.5, 1.0, 2.0], seed=range(5)),
        available=has_mnist,
    )
}
