"""From the race to lazy learning: the routing network at many initial scales (NRR Fig. 6)."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from mdsgdln import tasks
from mdsgdln_book import sweeps
from mdsgdln_book.experiments import sharing
from mdsgdln_book.tables import Table

DOMAINS, TRAINED, HIDDEN = 7, 4, 64
PUBLISHED, MOST = 700, 300  # steps of NRR Fig. 6; looks at the errors at most


def stable_rate(weights, scale):
    """Return the published λ = .006 / σ₀^{1/3} on our loss, or half of the largest stable rate.

    That one is 2 P over the largest eigenvalue of the tangent kernel, for which we take a bound.
    """
    first, middle, last = (weights[edge] for edge in sharing.EDGES)
    norm = partial(jnp.linalg.norm, ord=2)
    bound = norm(last @ middle) ** 2 + norm(middle @ first) ** 2 + (norm(last) * norm(first)) ** 2
    return jnp.minimum(0.006 / scale ** (1 / 3) * 2 * DOMAINS / 7, 4 * DOMAINS / bound)


def tangent_kernel(weights):
    """Return the tangent kernel on all samples and outputs, one-hot inputs, shape (1372, 1372)."""
    first, middle, last = (weights[edge] for edge in sharing.EDGES)
    front, back = middle @ first, last @ middle
    return (
        jnp.kron(jnp.eye(first.shape[1]), back @ back.T)
        + jnp.kron(first.T @ first, last @ last.T)
        + jnp.kron(front.T @ front, jnp.eye(len(last)))
    )


def frozen_kernel_outputs(weights, outputs, wanted, taught):
    """Return the final outputs of kernel regression with the kernel of ``weights``.

    f + Θ[:, taught] Θ[taught, taught]⁻¹ (y − f)[taught], outputs (49, 28), ``taught`` likewise.
    """
    chosen = np.flatnonzero(taught.T)
    gram = tangent_kernel(weights)[:, chosen]
    move = gram @ jnp.linalg.solve(gram[chosen], (wanted - outputs).T.reshape(-1)[chosen])
    return outputs + move.reshape(wanted.T.shape).T


def domain_correlation(weights):
    """Return the mean correlation of an item's first-layer activity across domains."""
    hidden = weights[sharing.EDGES[0]].T.reshape(DOMAINS, 4, HIDDEN)
    centred = hidden - hidden.mean(axis=2, keepdims=True)
    unit = centred / jnp.linalg.norm(centred, axis=2, keepdims=True)
    same = jnp.einsum("anh,bnh->ab", unit, unit) / 4
    return (same.sum() - jnp.trace(same)) / (DOMAINS * (DOMAINS - 1))


@partial(jax.jit, static_argnames="kind")
def train_from_scale(kind: str, scale: float, seed: int) -> dict:
    """Return errors, kernel change and correlation of domains, at step 700 and when learned."""
    task = tasks.routing(DOMAINS, TRAINED)
    network = sharing.routing_network(task, DOMAINS, TRAINED, HIDDEN)
    before = sharing.orthogonal_weights(jax.random.key(seed), network, DOMAINS, scale)
    wanted = np.tile(tasks.hierarchy().targets, (DOMAINS, DOMAINS))
    taught = np.kron(tasks.trained_routes(DOMAINS, TRAINED).T, np.ones((7, 4))) > 0
    initial = network.apply(before, task.inputs, gates={})
    origin = initial if kind == "centred" else 0 * initial
    lesson = tasks.Task(task.inputs, taught * (wanted + origin))
    rate = stable_rate(before, scale)

    def answers(weights):
        return network.apply(weights, task.inputs, gates={}) - origin

    def measure(weights):
        return sharing.route_errors(answers(weights), DOMAINS, TRAINED)

    after, now, early, steps = sharing.train_routes(
        network, before, lesson, rate, measure, PUBLISHED, MOST
    )
    predicted = frozen_kernel_outputs(before, answers(before), wanted, taught)
    untaught = ~taught / np.sum(~taught) / np.mean(wanted**2)
    old, new = tangent_kernel(before), tangent_kernel(after)
    return {
        "trained": now[0],
        "untrained": now[1],
        "trained_700": early[0],
        "untrained_700": early[1],
        "steps": steps,
        "kernel_change": jnp.linalg.norm(new - old) / jnp.linalg.norm(old),
        "likeness": domain_correlation(after),
        "frozen_untrained": jnp.sum(untaught * (wanted - predicted) ** 2),
        "frozen_difference": jnp.sum(untaught * (answers(after) - predicted) ** 2),
    }


TABLES = {
    "race_or_lazy": Table(
        train_from_scale,
        sweeps.grid(
            kind=["as published", "centred"],
            scale=[0.05, 0.1, 0.2, 0.35, 0.5, 0.66, 0.8, 1.0, 1.25, 1.5, 2.0, 2.5, 3.5, 5.0, 7.0],
            seed=range(10),
        ),
    )
}
