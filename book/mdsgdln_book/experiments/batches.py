"""A ReLU network in contexts and its candidate ReLN, trained on batches and on all samples."""

from functools import partial

import jax
import jax.numpy as jnp

from mdsgdln import networks, reln, sweeps, tasks, training
from mdsgdln_book.tables import Table

HIDDEN, PATHWAY_HIDDEN, SCALE = 700, 100, 0.005 / 700  # MHS App. H
RATE, NUM_STEPS = 0.024, 8001
KEPT = 80  # steps between two losses that are kept
TASK = tasks.contextual(3)
RELU = networks.ReLUNetwork((len(TASK.inputs), HIDDEN, len(TASK.targets)))
GATED = networks.contextual_pathways(TASK, 3, 2, PATHWAY_HIDDEN)


@partial(jax.jit, static_argnames=("batch", "draws"))
def on_batches(batch: int, draws: str, seed: int) -> dict:
    """Train on batches and on all samples from the same weights; return deviations and curves.

    ``draws``: "epochs" use every sample once; "independent" ones do not; "half the step" has half
    the learning rate and twice the steps, for the ReLU network alone.
    """
    finer = 2 if "half the step" in draws else 1
    rate, num_steps = RATE / finer, (NUM_STEPS - 1) * finer + 1
    relu_key, gated_key, key = jax.random.split(jax.random.key(seed), 3)

    def pair(network, weights_key):
        """Return the losses of training on all samples and on batches."""
        weights = network.init(weights_key, SCALE)
        train = partial(training.train, network, weights, TASK, rate, num_steps)
        if "independent" in draws:
            return train().losses, _independent(network, weights, rate, num_steps, batch, key)
        return train().losses, train(batch_size=batch, key=key).losses

    full, losses = pair(RELU, relu_key)
    gated_full, gated = (full, losses) if finer > 1 else pair(GATED, gated_key)
    return {
        "deviation": reln.deviation(losses, full),
        "earlier": jnp.sum(full - losses) / jnp.sum(full),
        "left": losses[-1] / losses[0],
        "candidate": reln.deviation(gated, losses),
        "candidate_full": reln.deviation(gated_full, full),
        "gated_deviation": reln.deviation(gated, gated_full),
        "gated_earlier": jnp.sum(gated_full - gated) / jnp.sum(gated_full),
        "full": full[:: KEPT * finer],
        "losses": losses[:: KEPT * finer],
    }


def _independent(network, weights, rate, num_steps, batch, key):
    """Return the full-batch losses of descent on batches drawn anew at each update."""
    order = jnp.argsort(jax.random.uniform(key, (num_steps, TASK.num_samples)), axis=1)

    def step(weights, columns):
        run = training.train(network.take(columns), weights, TASK.take(columns), rate, 1)
        return run.weights, training.loss(network, weights, TASK)

    return jax.lax.scan(step, weights, order[:, :batch])[1]


@partial(jax.jit, static_argnames=("batch", "factor"))
def with_larger_steps(batch: int, factor: int, seed: int) -> dict:
    """Train for the same time with steps ``factor`` as large; return the share of loss left."""
    weights_key, _, key = jax.random.split(jax.random.key(seed), 3)
    weights = RELU.init(weights_key, SCALE)
    losses = training.train(
        RELU, weights, TASK, RATE * factor, NUM_STEPS // factor, batch_size=batch, key=key
    ).losses
    left = losses[-1] / losses[0]
    return {"left": jnp.minimum(jnp.where(jnp.isfinite(left), left, jnp.inf), 10.0)}


TABLES = {
    "assumptions_sgd": Table(
        on_batches, sweeps.grid(batch=[1, 4, 8], draws=["epochs", "independent"], seed=range(5))
    ),
    "assumptions_halved": Table(
        on_batches,
        sweeps.grid(
            batch=[1], draws=["epochs, half the step", "independent, half the step"], seed=range(5)
        ),
    ),
    "assumptions_step": Table(
        with_larger_steps, sweeps.grid(batch=[1, 8, 24], factor=[4, 16, 64], seed=range(3))
    ),
}
