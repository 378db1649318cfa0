"""An experiment of the tests of sweeps, in a module that makes arrays as it is imported."""

import jax
import jax.numpy as jnp

from mdsgdln import networks, tasks, training

TASK = tasks.semantic(num_items=4)
NETWORK = networks.LinearNetwork((4, 5, 7))


def experiment(seed, scale=0.1, rate=0.05):
    """Train a small linear network; some losses and the map that is learned."""
    weights = NETWORK.init(jax.random.key(seed), scale)
    run = training.train(NETWORK, weights, TASK, rate, 40)
    first, second = run.weights
    return {"losses": run.losses[::10], "strength": jnp.linalg.norm(second @ first)}
