"""Linear networks on whitened inputs from large weights, in one layer or in both."""

import jax.numpy as jnp
import numpy as np

from mdsgdln import theory
from mdsgdln_book.experiments import assumptions
from mdsgdln_book.experiments.assumptions import HIDDEN, STRENGTHS, deviation

RATE, NUM_STEPS = 0.005, 10_000


def experiment(layers: str, size: float, seed: int) -> dict:
    """Train from Hσ² = ``size`` in the first layer, or in both; return deviations."""
    return assumptions.apart(_measure, layers, size, seed)


def _measure(layers, size, seed):
    task = assumptions.task_of(np.eye(len(STRENGTHS)))
    sigma = np.sqrt(size / HIDDEN)
    scale = [sigma, sigma if layers == "both" else 0.0]
    weights, _, times, losses, _ = assumptions.run(task, seed, RATE, NUM_STEPS, scale=scale)
    start = theory.expected_start(HIDDEN, scale)
    imbalance = jnp.sum(weights[0] ** 2, axis=0) - jnp.sum(weights[1] ** 2, axis=1)
    strengths = unbalanced_mode(times, STRENGTHS, 1.0, jnp.abs(imbalance))
    loss = jnp.sum(STRENGTHS**2) / 2 - jnp.sum(
        STRENGTHS[:, None] * strengths - strengths**2 / 2, axis=0
    )
    network = assumptions.network_of(task)
    free = theory.predict_losses(network, task, weights, times, step=RATE)
    return {
        "closed": deviation(assumptions.closed_form(task, times, start), losses),
        "unbalanced": deviation(loss, losses),
        "free": deviation(free, losses),
        "left": losses[-1] / losses[0],
    }


def unbalanced_mode(times, s, d, imbalance):
    """Return a(t) of aligned modes with conserved imbalance c = p² − q² > 0 that start at q = 0.

    z = q/p obeys ż = s − d c z − s z², and a = p q = c z / (1 − z²). Shape (modes, T).
    """
    s, c = s[:, None], imbalance[:, None]
    rate = jnp.sqrt(4 * s**2 + (d * c) ** 2)
    upper, lower = (rate - d * c) / (2 * s), -(rate + d * c) / (2 * s)  # roots of ż
    decayed = upper / lower * jnp.exp(-rate * times[None, :])  # (z − z₊)/(z − z₋)
    ratio = (upper - lower * decayed) / (1 - decayed)
    return c * ratio / (1 - ratio**2)
