"""Rules, losses, activations and data sets in every combination, each predicted before training."""

from functools import cache, partial
from itertools import product

import jax
import jax.numpy as jnp
import numpy as np
import optax
from sklearn.datasets import load_diabetes, load_wine
from sklearn.preprocessing import scale as standardise

import mdsgdln as md
from mdsgdln_book.experiments.people_predicted import (
    mean_difference,
    train_and_predict,
    whole_losses,
)
from mdsgdln_book.experiments.published import SCALE
from mdsgdln_book.tables import Table

HIDDEN, STEPS, SEEDS = 300, 600, 2
ACTIVATIONS = {
    "ReLU": jax.nn.relu,
    "leaky ReLU": jax.nn.leaky_relu,
    "tanh": jnp.tanh,
    "GELU": jax.nn.gelu,
}
LOSSES = {
    "squared": md.squared_error,
    "cross-entropy": md.cross_entropy,
    "logistic": md.logistic,
}
# {data: (σ, rate of descent, losses that make sense)}
DATA = {
    "contexts": (SCALE, 0.3, ("squared", "logistic")),
    "wine": (0.01, 0.05, ("squared", "cross-entropy")),
    "diabetes": (0.01, 0.05, ("squared",)),
    "digits": (0.01, 0.1, ("squared", "cross-entropy")),
}
BATCHES = {"batches of 16": 16, "batches of 64": 64}
RULES = {
    "momentum": lambda rate: optax.sgd(rate / 10, momentum=0.9),
    "Nesterov": lambda rate: optax.sgd(rate / 10, momentum=0.9, nesterov=True),
    "weight decay": lambda rate: optax.chain(optax.add_decayed_weights(1e-3), optax.sgd(rate)),
    "cosine": lambda rate: optax.sgd(optax.cosine_decay_schedule(rate, STEPS)),
    "Adam": lambda rate: optax.adam(1e-3),
    "AdamW": lambda rate: optax.adamw(1e-3, weight_decay=0.01),
    **dict.fromkeys(BATCHES, optax.sgd),
}


@cache
def load_data_set(data: str) -> md.Task:
    """Return a data set with a row of ones appended; of the digits every fourth sample."""
    if data == "contexts":
        return md.tasks.contextual(3)
    if data == "digits":
        return md.tasks.with_ones(md.tasks.digits().take(slice(None, None, 4)))
    loaded = load_wine() if data == "wine" else load_diabetes()
    targets = np.eye(3)[loaded.target] if data == "wine" else standardise(loaded.target)
    return md.tasks.with_ones(md.Task.from_samples(standardise(loaded.data), targets))


def compare_with_prediction(data: str, loss: str, activation: str, rule: str) -> dict:
    """Train and predict networks; return the errors of predictions and between seeds."""
    task, (scale, rate, _) = load_data_set(data), DATA[data]
    network = md.Layered((len(task.inputs), HIDDEN, len(task.targets)), ACTIVATIONS[activation])
    options = {
        "optimiser": RULES[rule](rate),
        "loss": LOSSES[loss],
        "batch_size": BATCHES.get(rule),
    }

    keys = (jax.random.split(jax.random.key(seed)) for seed in range(SEEDS))
    runs = [
        train_and_predict(network, scale, task, STEPS, weights_key, key=key, **options)
        for weights_key, key in keys
    ]
    trained, predicted = (
        np.stack([whole_losses(run[name]) for run in runs]) for name in ("trained", "predicted")
    )
    return {
        "error": float(np.mean([*map(partial(md.deviation, learned=None), predicted, trained)])),
        "between_seeds": mean_difference(trained),
    }


SETTINGS = [
    {"data": data, "loss": loss, "activation": activation, "rule": rule}
    for data in DATA
    for loss, activation, rule in product(DATA[data][2], ACTIVATIONS, RULES)
    if not (data == "contexts" and rule == "batches of 64")  # of 24 samples
]
TABLES = {"people_grid": Table(compare_with_prediction, SETTINGS)}
