"""XOR with a margin: loss curves of ReLU networks, for the figure of the first page."""

from functools import partial

import jax

from mdsgdln import networks, tasks, training
from mdsgdln_book import sweeps
from mdsgdln_book.tables import Table

RATE, NUM_STEPS, EVERY = 0.01, 4001, 40  # curves end at time 40; a point is kept every 0.4


@partial(jax.jit, static_argnames="hidden")
def relu_losses_on_xor(margin: float, scale: float, hidden: int) -> dict:
    """Train one network; return the loss at every fortieth step."""
    network = networks.ReLUNetwork((3, hidden, 1))
    weights = network.init(jax.random.key(0), scale)
    losses = training.train(network, weights, tasks.xor(margin), RATE, NUM_STEPS).losses
    return {"losses": losses[::EVERY]}


TABLES = {
    "imitation": Table(
        relu_losses_on_xor,
        sweeps.grid(
            margin=[tenths / 10 for tenths in range(0, 21, 2)],
            scale=[1e-5, 1e-4, 1e-3, 1e-2],
            hidden=[32, 128, 512],
        ),
        repeated=(21,),
    )
}
