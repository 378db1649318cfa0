"""A ReLU network and its candidate ReLN, trained on batches and on all samples."""

from functools import partial

import jax
import jax.numpy as jnp

from mdsgdln import networks, reln, tasks, training

HIDDEN, PATHWAY_HIDDEN, SCALE = 700, 100, 0.005 / 700  # MHS App. H
RATE, NUM_STEPS = 0.024, 8001
KEPT = 80  # steps between two losses that are kept
TASK = tasks.contextual(3)
RELU = networks.ReLUNetwork((len(TASK.inputs), HIDDEN, len(TASK.targets)))
GATED = reln.context_candidate(TASK, 3, 2, PATHWAY_HIDDEN)


def experiment(batch: int, draws: str, seed: int) -> dict:
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
    deviation = jax.jit(reln.deviation)
    return {
        "deviation": deviation(losses, full),
        "earlier": jnp.sum(full - losses) / jnp.sum(full),
        "left": losses[-1] / losses[0],
        "candidate": deviation(gated, losses),
        "candidate_full": deviation(gated_full, full),
        "gated_deviation": deviation(gated, gated_full),
        "gated_earlier": jnp.sum(gated_full - gated) / jnp.sum(gated_full),
        "full": full[:: KEPT * finer],
        "losses": losses[:: KEPT * finer],
    }


def _independent(network, weights, rate, num_steps, batch, key):
    """Return the full-batch losses of descent on batches drawn anew at each update."""
    order = jnp.argsort(jax.random.uniform(key, (num_steps, TASK.num_samples)), axis=1)

    def step(weights, columns):
        drawn = jax.tree.map(lambda rows: rows[..., columns], (network, TASK))
        slope = jax.grad(lambda w: training.loss(drawn[0], w, drawn[1]))(weights)
        descended = jax.tree.map(lambda w, g: w - rate * g, weights, slope)
        return descended, training.loss(network, weights, TASK)

    return jax.lax.scan(step, weights, order[:, :batch])[1]
