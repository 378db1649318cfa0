"""Loss curves on handwritten digits as people train, predicted before training."""

import warnings

import jax
import numpy as np
import optax

import mdsgdln as md
from mdsgdln_book import sweeps
from mdsgdln_book.tables import Table

SCALE, STEPS = 0.02, 500  # σ
EVERY = 10  # steps between two losses that are kept
DIGITS = {"optimiser": optax.adamw(1e-3, weight_decay=0.01), "loss": md.cross_entropy}


def curves_on_digits(seed: int) -> dict:
    """Train and predict a ReLU network by AdamW on batches; return losses of all samples.

    Every tenth, and for seed 0 those of a linear network, which has half of the neurons, as many
    as are on for a sample at first.
    """
    task = md.tasks.digits()
    network, linear = md.ReLUNetwork((64, 300, 10)), md.LinearNetwork((64, 150, 10))
    weights_key, key = jax.random.split(jax.random.key(seed))
    how = DIGITS | {"batch_size": 64, "key": key, "held_out": task}
    weights = network.init(weights_key, SCALE)
    runs = {"trained": md.train(network, weights, task, None, STEPS, **how)}
    with warnings.catch_warnings(action="ignore"):  # beyond the tested range
        runs["predicted"] = md.predict(network, SCALE, task, None, STEPS, **how)
    if seed == 0:
        weights = linear.init(weights_key, SCALE)
        runs["always_on"] = md.train(linear, weights, task, None, STEPS, **how)
    return {name: np.asarray(run.held_out)[::EVERY] for name, run in runs.items()}


def mean_curve_errors(rows, name: str = "predicted") -> float:
    """Return the mean relative errors of the named curves over the rows that have them."""
    pairs = [
        (row[name], row["trained"]) for _, row in rows.iterrows() if isinstance(row[name], list)
    ]
    return float(np.mean([md.deviation(*pair, learned=None) for pair in pairs]))


def mean_difference(trained: np.ndarray) -> float:
    """Return the mean relative difference between two curves of several, shape (seeds, steps)."""
    apart = np.abs(trained[:, None] - trained).sum(axis=2) / trained.sum(axis=1)
    return float(apart.sum() / (len(trained) * (len(trained) - 1)))


TABLES = {
    "people_digits": Table(curves_on_digits, sweeps.grid(seed=range(5)), repeated=(1,)),
}
