"""A ReLU network in contexts and its candidate ReLN, trained on batches and on all samples."""

from functools import partial

import jax
import jax.numpy as jnp

from mdsgdln import deviation, networks, squared_error, tasks, training
from mdsgdln_book import sweeps
from mdsgdln_book.experiments.published import HIDDEN, NUM_STEPS, PATHWAY_HIDDEN, SCALE
from mdsgdln_book.tables import Table

RATE = 0.024
KEPT = 80  # steps between two losses that are kept
TASK = tasks.contextual(3)
RELU = networks.ReLUNetwork((len(TASK.inputs), HIDDEN, len(TASK.targets)))
GATED = networks.contextual_pathways(TASK, 3, 2, PATHWAY_HIDDEN)


@partial(jax.jit, static_argnames=("batch", "draws"))
def compare_batches(batch: int, draws: str, seed: int) -> dict:
    """Train on minibatches and on all samples from the same weights, and compare the losses.

    ``draws``: "epochs" use every sample once; "independent" ones do not. ``earlier`` is the area by
    which batches are earlier over that below the loss on all samples, which ``full`` is, thinned.
    """
    relu_key, gated_key, key = jax.random.split(jax.random.key(seed), 3)

    def pair(network, weights_key):
        """Return the losses of training on all samples and on batches."""
        weights = network.init(weights_key, SCALE)
        train = partial(training.train, network, weights, TASK, RATE, NUM_STEPS)
        if draws == "independent":
            return train().losses, _independent(network, weights, batch, key)
        return train().losses, train(batch_size=batch, key=key).losses

    full, losses = pair(RELU, relu_key)
    gated_full, gated = pair(GATED, gated_key)
    return {
        "deviation": deviation(losses, full),
        "earlier": jnp.sum(full - losses) / jnp.sum(full),
        "gated_earlier": jnp.sum(gated_full - gated) / jnp.sum(gated_full),
        "full": full[::KEPT],
    }


def _independent(network, weights, batch, key):
    order = jnp.argsort(jax.random.uniform(key, (NUM_STEPS, TASK.num_samples)), axis=1)

    def step(weights, columns):
        run = training.train(network.take(columns), weights, TASK.take(columns), RATE, 1)
        return run.weights, squared_error(network, weights, TASK)

    return jax.lax.scan(step, weights, order[:, :batch])[1]


TABLES = {
    "assumptions_sgd": Table(
        compare_batches,
        sweeps.grid(batch=[1, 4, 8], draws=["epochs", "independent"], seed=range(5)),
    ),
}
