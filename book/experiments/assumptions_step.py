"""How large a step batches of a size stand: a ReLU network in contexts at multiples of it."""

import jax
import jax.numpy as jnp

from mdsgdln import training
from mdsgdln_book.experiments.assumptions_sgd import NUM_STEPS, RATE, RELU, SCALE, TASK


def experiment(batch: int, factor: int, seed: int) -> dict:
    """Train for the same time with steps ``factor`` as large; return the share of loss left."""
    weights_key, _, key = jax.random.split(jax.random.key(seed), 3)
    weights = RELU.init(weights_key, SCALE)
    losses = training.train(
        RELU, weights, TASK, RATE * factor, NUM_STEPS // factor, batch_size=batch, key=key
    ).losses
    left = losses[-1] / losses[0]
    return {"left": jnp.minimum(jnp.where(jnp.isfinite(left), left, jnp.inf), 10.0)}
