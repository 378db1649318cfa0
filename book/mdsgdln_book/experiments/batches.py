"""A ReLU network in contexts, trained on batches and on all samples."""

from functools import partial

import jax

from mdsgdln import deviation, networks, tasks, training
from mdsgdln_book import sweeps
from mdsgdln_book.experiments.published import HIDDEN, NUM_STEPS, SCALE
from mdsgdln_book.tables import Table

RATE = 0.024
TASK = tasks.contextual(3)
RELU = networks.ReLUNetwork((len(TASK.inputs), HIDDEN, len(TASK.targets)))


@partial(jax.jit, static_argnames="batch")
def compare_batches(batch: int, seed: int) -> dict:
    """Train on batches and on all samples from the same weights; return the difference."""
    weights_key, _, key = jax.random.split(jax.random.key(seed), 3)
    train = partial(training.train, RELU, RELU.init(weights_key, SCALE), TASK, RATE, NUM_STEPS)
    run = train(batch_size=batch, key=key, observe="loss")
    return {"deviation": deviation(run.observed, train().losses)}


TABLES = {
    "assumptions_sgd": Table(
        compare_batches,
        sweeps.grid(batch=[1, 4, 8], seed=range(5)),
    ),
}
