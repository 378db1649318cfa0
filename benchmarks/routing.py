"""Ten repeats of the routing run of NRR Fig. 4 with all singular values at every step.

M = 7, K = 4, 64 neurons, 500 steps; and how far the singular values are from NumPy's LAPACK.
"""

import jax
import jax.numpy as jnp
import numpy as np
from timing import interleaved

from mdsgdln import networks, tasks, training

NUM_STEPS, SCALE, RATE, REPEATS = 500, 0.2, 0.02 * 2, 10  # λ · 2M/7


def singular_values(weights):
    """Return the singular values of every matrix."""
    return {edge: jnp.linalg.svd(w, compute_uv=False) for edge, w in weights.items()}


def everything(weights):
    """Return the singular values and the matrices themselves."""
    return singular_values(weights), weights


def farthest(network, task, weights) -> float:
    """Return the largest difference to NumPy's values, at every step of one run."""
    run = training.train(network, weights, task, RATE, NUM_STEPS, observe=everything)
    found, matrices = run.observed
    return max(
        float(np.abs(found[edge] - np.linalg.svd(matrices[edge], compute_uv=False)).max())
        for edge in found
    )


def measure():
    """Return seconds of ten repeats, with the singular values and without them."""
    task = tasks.routing(7, 4)
    network = networks.routing_network(task, 4, 64)
    starts = [network.init_orthogonal(SCALE, key=jax.random.key(seed)) for seed in range(REPEATS)]

    def repeats(observe):
        return [
            training.train(network, start, task, RATE, NUM_STEPS, observe=observe)
            for start in starts
        ]

    best = interleaved(plain=lambda: repeats(None), observed=lambda: repeats(singular_values))
    return best | {"from_lapack": farthest(network, task, starts[0])}
