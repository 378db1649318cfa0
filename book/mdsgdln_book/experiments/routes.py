"""Errors on every route while the routing network learns: the task of NRR Fig. 4, for every Q."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from mdsgdln import sweeps, tasks, training
from mdsgdln_book.experiments.sharing import stacked, start
from mdsgdln_book.tables import Table

DOMAINS, HIDDEN, SCALE = 7, 64, 0.2  # as published
NUM_STEPS = 1500
# A stage begins when the error on trained routes, over the power of the targets, passes a level.
LEVELS = (0.8, 0.5, 0.25, 0.1, 0.01, 1e-4)


def route_errors(outputs):
    """Return the mean squared error of each route over the targets' power, (inputs, outputs)."""
    wanted = np.tile(tasks.hierarchy().targets, (DOMAINS, DOMAINS))
    squared = ((wanted - outputs) ** 2).reshape(DOMAINS, 7, DOMAINS, 4)
    return squared.mean(axis=(1, 3)).T / np.mean(wanted**2)


@partial(jax.jit, static_argnames="trained")
def experiment(trained: int, seed: int) -> dict:
    """Train once; return the errors of all routes before training and at each stage, and when."""
    task = tasks.routing(DOMAINS, trained)
    network = stacked(task, DOMAINS, trained, HIDDEN)
    weights = start(jax.random.key(seed), network, DOMAINS, SCALE)
    rate = 0.05 / trained * 2 * DOMAINS / 7  # the published λ = .05/K, for our loss

    def errors(weights):
        return route_errors(network.apply(weights, task.inputs, gates={}))

    observed = training.train(network, weights, task, rate, NUM_STEPS, observe=errors).observed
    chosen = tasks.trained_routes(DOMAINS, trained)
    error = jnp.sum(observed * chosen, axis=(1, 2)) / chosen.sum()
    looks = jnp.argmax(error[None, :] < jnp.array((np.inf, *LEVELS))[:, None], axis=1)
    return {"times": rate * looks, "errors": observed[looks]}


TABLES = {
    "routes": Table(
        experiment, sweeps.grid(trained=range(1, DOMAINS + 1), seed=range(3)), seconds=4
    )
}
