"""XOR from a thousand random starts: how long the ReLU network takes, margin by margin."""

import jax
import jax.numpy as jnp

from mdsgdln import networks, tasks, training
from mdsgdln_book import sweeps
from mdsgdln_book.tables import Table

RATE, NUM_STEPS, SCALE = 0.02, 1500, 2e-4
NETWORK = networks.ReLUNetwork((3, 128, 1))


def half_loss_time(losses, times):
    """Return the time at which a loss falls to half its initial value; infinite if it does not."""
    time = jnp.interp(-losses[0] / 2, -losses, times)
    return jnp.where(losses[-1] < losses[0] / 2, time, jnp.inf)


@jax.jit
def time_to_half_loss(margin: float, seed: int) -> dict:
    """Train one network; return the time at which its loss halves."""
    weights = NETWORK.init(jax.random.key(seed), SCALE)
    losses = training.train(NETWORK, weights, tasks.xor(margin), RATE, NUM_STEPS).losses
    return {"half_loss_time": half_loss_time(losses, RATE * jnp.arange(NUM_STEPS))}


TABLES = {
    "xor_seeds": Table(
        time_to_half_loss,
        sweeps.grid(margin=[0.0, 0.25, 0.5, 0.7, 0.9, 1.0, 1.25, 1.5, 2.0, 2.5], seed=range(1000)),
    )
}
