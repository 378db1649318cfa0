"""Digits routed between ten domains: errors on trained and untrained pairs.

What a gated linear network learns depends on the second moments of each domain alone, and not on
orthogonal transformations of its inputs and targets (chapter on naturalistic data). So every domain
is given in the coordinates of its principal components and of its own labels, where all domains
are equal.
"""

from functools import cache, partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from mdsgdln import tasks
from mdsgdln_book import sweeps
from mdsgdln_book.tables import Table

NUM_DOMAINS, HIDDEN = 10, 64
RECORDS = (0, 30, 100, 300, 1000)  # steps


class Pictures(NamedTuple):
    """Pictures split in two, centred by the training set's means, and its second moments."""

    variances: np.ndarray  # λ, eigenvalues of Σ^x, (pixels,)
    components: np.ndarray  # V, its eigenvectors, (pixels, pixels)
    input_output: np.ndarray  # Σ^yx V, (classes, pixels)
    train: tasks.Task
    test: tasks.Task
    target_mean: np.ndarray  # what an answer is compared with lacks it, (classes, 1)


def centre_and_summarise(train: tasks.Task, test: tasks.Task) -> Pictures:
    """Centre training and test pictures by the training means; compute second moments."""
    mean_x, mean_y = (
        np.mean(rows, axis=1, keepdims=True) for rows in (train.inputs, train.targets)
    )
    train, test = (
        tasks.Task(part.inputs - mean_x, part.targets - mean_y) for part in (train, test)
    )
    variances, components = np.linalg.eigh(train.inputs @ train.inputs.T / train.num_samples)
    input_output = train.targets @ train.inputs.T / train.num_samples @ components
    return Pictures(variances, components, input_output, train, test, mean_y)


@cache
def digits() -> Pictures:
    """Return the small digits, 1200 of them for training."""
    with jax.ensure_compile_time_eval():  # an experiment calls it while it is compiled
        every = tasks.digits()
        order = np.random.default_rng(0).permutation(every.num_samples)
        return centre_and_summarise(every.take(order[:1200]), every.take(order[1200:]))


def error_rates(maps: jax.Array, pictures: Pictures) -> jax.Array:
    """Return the share of test pictures that each map (…, 10, pixels) gets wrong."""
    answers = maps @ (pictures.components.T @ pictures.test.inputs) + pictures.target_mean
    classes = np.argmax(pictures.test.targets + pictures.target_mean, axis=0)
    return jnp.mean((jnp.argmax(answers, axis=-2) != classes).astype(float), axis=-1)


def learning_rate(num_trained: int, scale: float) -> jax.Array:
    """Return a step size at which training is stable: the loss is steeper at large weights."""
    return 5 / num_trained * jnp.minimum(1.0, 2.5 / scale**4)


def initial_weights(
    key: jax.Array, num_domains: int, num_pixels: int, scale: float, dtype=float
) -> dict[str, jax.Array]:
    """Draw orthogonal weights: an input and an output matrix per domain, one hidden matrix."""
    draw = partial(jax.nn.initializers.orthogonal(scale), dtype=dtype)
    keys = jax.random.split(key, 2 * num_domains + 1)
    return {
        "in": jax.lax.map(lambda k: draw(k, (HIDDEN, num_pixels)), keys[:num_domains]),
        "hidden": draw(keys[-1], (HIDDEN, HIDDEN)),
        "out": jax.lax.map(lambda k: draw(k, (10, HIDDEN)), keys[num_domains:-1]),
    }


def route_maps(weights: dict[str, jax.Array]) -> jax.Array:
    """Return the linear map of each pair, (input domain, output domain, classes, pixels)."""
    return jnp.einsum("joh,ihp->ijop", weights["out"], weights["hidden"] @ weights["in"])


def loss_and_gradient(
    weights, variances, input_output, mask, together=None
) -> tuple[jax.Array, dict]:
    """Return the loss and its gradient with respect to all weights.

    The loss is the mean over input domains of the sum over trained outputs, less a constant:
    tr(A_j C_i A_jᵀ)/2 − tr(A_j D_iᵀ), C_i = W_i Σ^x W_iᵀ, D_i = Σ^yx W_iᵀ, W_i the first weights
    and A_j the map from them to outputs. Sums over j come first, each product with all pixels once.
    Input domains are taken one by one, which is faster for large matrices, or ``together`` at once.
    """
    into, hidden, out = weights["in"], weights["hidden"], weights["out"]
    mask = mask / len(mask)
    maps = out @ hidden

    def of_input(domain):
        into, squares, answered = domain
        seen = into * variances
        variance, answers = seen @ into.T, input_output @ into.T  # C_i, D_i
        value = jnp.sum(squares * variance) / 2 - jnp.sum(answered * answers)
        return value, squares @ seen - answered.T @ input_output, variance, answers

    sums = [jnp.tensordot(mask, each, 1) for each in (maps.mT @ maps, maps)]
    values, into_slope, variance, answers = jax.lax.map(
        of_input, (into, *sums), batch_size=together
    )
    variance, answers = (jnp.tensordot(mask.T, each, 1) for each in (variance, answers))
    maps_slope = maps @ variance - answers
    return jnp.sum(values), {
        "in": into_slope,
        "hidden": jnp.einsum("jch,jcg->hg", out, maps_slope),
        "out": maps_slope @ hidden.T,
    }


def train(weights, pictures: Pictures, trained: np.ndarray, rate: float, records=RECORDS):
    """Train by gradient descent; return losses and the maps of all pairs at steps ``records``."""
    data = jnp.asarray(pictures.variances), jnp.asarray(pictures.input_output)
    mask = jnp.asarray(trained, float)

    def step(weights, _):
        value, gradient = loss_and_gradient(weights, *data, mask, NUM_DOMAINS)
        return jax.tree.map(lambda w, g: w - rate * g, weights, gradient), value

    losses, maps = [], [route_maps(weights)]
    for length in np.diff(records).tolist():
        weights, values = jax.lax.scan(step, weights, length=length)
        losses.append(values)
        maps.append(route_maps(weights))
    return jnp.concatenate(losses), jnp.stack(maps)


@jax.jit
def train_and_test(trained, scale: float, seed: int):
    """Train one network; return its test error rates, (records, input, output)."""
    weights = initial_weights(jax.random.key(seed), NUM_DOMAINS, 64, scale)
    _, maps = train(weights, digits(), trained, learning_rate(trained[0].sum(), scale))
    return jax.lax.map(lambda some: error_rates(some, digits()), maps)


def error_rates_on_digits(num_trained: int, scale: float, seed: int) -> dict:
    """Train one network; return test error rates of trained and of untrained pairs over time."""
    trained = np.asarray(tasks.trained_routes(NUM_DOMAINS, num_trained))
    errors = np.asarray(train_and_test(trained, scale, seed))
    return {
        "trained_error": errors[:, trained].mean(axis=1),
        "untrained_error": errors[:, ~trained].mean(axis=1),
    }


TABLES = {
    "digit_routes": Table(
        error_rates_on_digits,
        sweeps.grid(num_trained=[1, 2, 3, 4, 5, 7, 9], scale=[0.2], seed=range(5))
        + sweeps.grid(num_trained=[5], scale=[0.1, 0.5, 1.0, 2.0, 4.0], seed=range(5)),
    )
}
