"""Errors on trained and untrained routes for every Q, during training, for the figure to play with.

The task of NRR Figs. 4 and 6. All runs together take seconds, so the chapter makes them itself.
"""

import jax
import jax.numpy as jnp
import numpy as np

from mdsgdln import tasks, training
from mdsgdln_book import sweeps
from mdsgdln_book.experiments.sharing import errors_by_route, orthogonal_weights, routing_network

DOMAINS, HIDDEN, SCALE = 7, 64, 0.2  # as published
NUM_STEPS, POINTS = 1500, 41  # points of the mean errors' curves, until the last stage
# A stage begins when the error on trained routes, over the power of the targets, passes a level.
LEVELS = (0.8, 0.5, 0.25, 0.1, 0.01, 1e-4)


def train_routing_network(network, task, chosen, rate, seed) -> dict:
    """Train once; return the errors of all routes and the time at each stage.

    Also the mean errors on ``chosen``, the trained routes, and on untrained ones over time.
    """

    def observe(weights):
        return errors_by_route(network.apply(weights, task.inputs, gates={}), DOMAINS)

    weights = orthogonal_weights(jax.random.key(seed), network, DOMAINS, SCALE)
    observed = training.train(network, weights, task, rate, NUM_STEPS, observe=observe).observed
    means = jnp.stack(
        [
            jnp.sum(observed * mask, axis=(1, 2)) / jnp.maximum(mask.sum(), 1)
            for mask in (chosen, ~chosen)
        ]
    )
    levels = jnp.array((np.inf, *LEVELS))
    looks = jnp.argmax(means[0][None, :] < levels[:, None], axis=1)
    course = jnp.round(jnp.linspace(0, 1, POINTS) * looks[-1]).astype(int)
    return {
        "times": rate * looks,
        "errors": observed[looks],
        "course_times": rate * course,
        "course": means[:, course].T,
    }


def train_all_routes() -> dict[tuple[int, int], dict]:
    """Train the networks of every Q and three seeds in one program; return all results."""
    settings = [tuple(s.values()) for s in sweeps.grid(q=range(1, DOMAINS + 1), seed=range(3))]
    runs = []
    for q, seed in settings:
        task = tasks.routing(DOMAINS, q)
        rate = 0.05 / q * 2 * DOMAINS / 7  # the published λ = .05/K, for our loss
        network = routing_network(task, DOMAINS, q, HIDDEN)
        runs.append((network, task, tasks.trained_routes(DOMAINS, q), rate, seed))
    together = jax.tree.map(lambda *each: np.stack(each), *runs)
    found = jax.jit(lambda all: jax.lax.map(lambda run: train_routing_network(*run), all))(together)
    return {
        setting: {name: np.asarray(values[index]) for name, values in found.items()}
        for index, setting in enumerate(settings)
    }
