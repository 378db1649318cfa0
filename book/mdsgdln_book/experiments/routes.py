"""Errors on trained and untrained routes for every Q, during training and from many initial scales.

The task of NRR Figs. 4 and 6, for the figures to play with.
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from mdsgdln import sweeps, tasks, training
from mdsgdln_book.experiments import race_or_lazy
from mdsgdln_book.experiments.sharing import errors, learn, stacked, start
from mdsgdln_book.tables import Table

DOMAINS, HIDDEN, SCALE = 7, 64, 0.2  # as published
NUM_STEPS, POINTS = 1500, 41  # points of the mean errors' curves, until the last stage
# A stage begins when the error on trained routes, over the power of the targets, passes a level.
LEVELS = (0.8, 0.5, 0.25, 0.1, 0.01, 1e-4)


def route_errors(outputs):
    """Return the mean squared error of each route over the targets' power, (inputs, outputs)."""
    wanted = np.tile(tasks.hierarchy().targets, (DOMAINS, DOMAINS))
    squared = ((wanted - outputs) ** 2).reshape(DOMAINS, 7, DOMAINS, 4)
    return squared.mean(axis=(1, 3)).T / np.mean(wanted**2)


@partial(jax.jit, static_argnames="num_trained")
def experiment(num_trained: int, seed: int) -> dict:
    """Train once; return the errors of all routes before training and at each stage, and when.

    Also the mean errors on trained and on untrained routes over time.
    """
    task = tasks.routing(DOMAINS, num_trained)
    network = stacked(task, DOMAINS, num_trained, HIDDEN)
    weights = start(jax.random.key(seed), network, DOMAINS, SCALE)
    rate = 0.05 / num_trained * 2 * DOMAINS / 7  # the published λ = .05/K, for our loss

    def observe(weights):
        return route_errors(network.apply(weights, task.inputs, gates={}))

    observed = training.train(network, weights, task, rate, NUM_STEPS, observe=observe).observed
    chosen = tasks.trained_routes(DOMAINS, num_trained)
    means = jnp.stack(
        [jnp.sum(observed * mask, axis=(1, 2)) / max(mask.sum(), 1) for mask in (chosen, ~chosen)]
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


@partial(jax.jit, static_argnames="num_trained")
def from_scale(num_trained: int, scale: float, seed: int) -> dict:
    """Train from an initial scale; return both errors and how far the kernel moved, relatively."""
    task = tasks.routing(DOMAINS, num_trained)
    network = stacked(task, DOMAINS, num_trained, HIDDEN)
    before = start(jax.random.key(seed), network, DOMAINS, scale)
    rate = race_or_lazy.rate_of(before, scale)

    def measure(weights):
        return errors(network.apply(weights, task.inputs, gates={}), DOMAINS, num_trained)

    ends = race_or_lazy.PUBLISHED, race_or_lazy.MOST
    after, now, _, steps = learn(network, before, task, rate, measure, *ends)
    kernels = race_or_lazy.kernel(before), race_or_lazy.kernel(after)
    change = jnp.linalg.norm(kernels[1] - kernels[0]) / jnp.linalg.norm(kernels[0])
    return {"trained": now[0], "untrained": now[1], "kernel_change": change, "steps": steps}


TABLES = {
    "routes": Table(
        experiment, sweeps.grid(num_trained=range(1, DOMAINS + 1), seed=range(3)), row=5
    ),
    "routes_scale": Table(  # what the table race_or_lazy holds for Q = 4
        from_scale,
        sweeps.grid(
            num_trained=[1, 2, 3, 5, 6],
            scale=[0.05, 0.1, 0.2, 0.35, 0.5, 0.66, 0.8, 1.0, 1.25, 1.5, 2.0, 2.5, 3.5, 5.0, 7.0],
            seed=range(10),
        ),
        row=630,
    ),
}
