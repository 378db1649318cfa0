"""Networks, data, losses and rules drawn at random, each predicted with an estimate of the error.

The prediction has its own random key and its own order of batches, and the seeds between which
trained networks differ have theirs.
"""

import warnings
from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import optax

import mdsgdln as md
from mdsgdln.prediction.neurons import represent_layer, shrink_task
from mdsgdln_book.experiments.people_predicted import mean_difference
from mdsgdln_book.tables import Table

STEPS, SEEDS, NEURONS = 400, 3, 256
WIDTHS = 300, 3000
CLASSES = "squared", "cross-entropy"
DATA = {  # {data: (rate of descent, losses, sizes σ)}
    "contexts": (0.3, ("squared", "logistic"), (1e-5, 1e-4, 1e-3)),
    "three structures": (0.3, ("squared",), (1e-5, 1e-4, 1e-3)),
    "wine": (0.05, CLASSES, (1e-3, 1e-2, 3e-2)),
    "iris": (0.1, CLASSES, (1e-3, 1e-2, 3e-2)),
    "breast cancer": (0.02, (*CLASSES, "logistic"), (1e-3, 1e-2, 3e-2)),
    "diabetes": (0.03, ("squared",), (1e-3, 1e-2, 3e-2)),
    "digits": (0.1, CLASSES, (1e-3, 1e-2, 3e-2)),
    "teacher": (0.05, ("squared",), (1e-3, 1e-2, 3e-2)),
    "sine": (0.05, ("squared",), (1e-3, 1e-2, 3e-2)),
}
ACTIVATIONS = {
    "ReLU": jax.nn.relu,
    "leaky ReLU": jax.nn.leaky_relu,
    "tanh": jnp.tanh,
    "GELU": jax.nn.gelu,
    "SiLU": jax.nn.silu,
}
LOSSES = {
    "squared": md.squared_error,
    "cross-entropy": md.cross_entropy,
    "logistic": md.logistic,
}
BATCHES = "batches", "Adam, batches"
RULES = {
    "descent": optax.sgd,
    "momentum": lambda rate: optax.sgd(rate / 10, momentum=0.9),
    "Nesterov": lambda rate: optax.sgd(rate / 10, momentum=0.9, nesterov=True),
    "weight decay": lambda rate: optax.chain(optax.add_decayed_weights(1e-3), optax.sgd(rate)),
    "clipped": lambda rate: optax.chain(optax.clip_by_global_norm(0.3), optax.sgd(rate)),
    "cosine": lambda rate: optax.sgd(optax.cosine_decay_schedule(rate, STEPS)),
    "Adam": lambda rate: optax.adam(1e-3),
    "AdamW": lambda rate: optax.adamw(3e-3, weight_decay=0.01),
    "RAdam": lambda rate: optax.radam(3e-3),
    "RMSprop": lambda rate: optax.rmsprop(1e-3),
    "Lion": lambda rate: optax.lion(3e-4),
    "batches": lambda rate: optax.sgd(rate / 2),
    "Adam, batches": lambda rate: optax.adam(1e-3),
}


@cache
def load_data(data: str) -> md.Task:
    """Return a task; of the digits every sixth sample."""
    from sklearn import datasets, preprocessing  # here, as their import takes a while

    rng = np.random.default_rng(0)
    if data == "contexts":
        return md.tasks.contextual(3)
    if data == "three structures":
        return md.tasks.contextual(3, 8, ["tree", "ring", "cross"])
    if data == "digits":
        return md.tasks.digits().take(slice(None, None, 6))
    if data == "teacher":
        inputs = rng.standard_normal((60, 10))
        return md.Task.from_samples(inputs, np.tanh(inputs @ rng.standard_normal((10, 3))))
    if data == "sine":
        x = np.linspace(-2, 2, 60)
        return md.Task.from_samples(x[:, None], np.sin(3 * x))
    loaded = getattr(datasets, f"load_{data.replace(' ', '_')}")()
    inputs, targets = preprocessing.scale(loaded.data), loaded.target
    one_hot = data != "diabetes"
    targets = np.eye(targets.max() + 1)[targets] if one_hot else preprocessing.scale(targets)
    return md.Task.from_samples(inputs, targets)


def drawn_setting(number: int) -> dict:
    """Return the setting that a seed draws."""
    rng = np.random.default_rng(number)
    data = str(rng.choice(list(DATA)))
    _, losses, scales = DATA[data]
    return {
        "number": number,
        "data": data,
        "loss": str(rng.choice(losses)),
        "activation": str(rng.choice(list(ACTIVATIONS))),
        "rule": str(rng.choice(list(RULES))),
        "width": int(np.exp(rng.uniform(*np.log(WIDTHS)))),
        "scale": float(rng.choice(scales)),
        "biases": bool(rng.integers(2)),
    }


def predict_and_train(
    number: int,
    data: str,
    loss: str,
    activation: str,
    rule: str,
    width: int,
    scale: float,
    biases: bool,
) -> dict:
    """Predict the run of a setting, train three networks, and compare."""
    task = load_data(data)
    sizes = len(task.inputs), width, len(task.targets)
    network = md.Layered(sizes, ACTIVATIONS[activation], biases)
    optimiser = RULES[rule](DATA[data][0])
    options = {"optimiser": optimiser, "loss": LOSSES[loss]}
    if rule in BATCHES:
        options["batch_size"] = 8 if task.num_samples < 30 else 16
    key, plain_key, *run_keys = jax.random.split(jax.random.key(number), 2 + SEEDS)

    def losses_of(network, weights, task, key):
        return np.asarray(md.train(network, weights, task, None, STEPS, **options, key=key).losses)

    trained = np.stack(
        [losses_of(network, network.init(each, scale), task, each) for each in run_keys]
    )
    with warnings.catch_warnings(action="ignore"):  # that the estimate is large
        predicted = md.predict(network, scale, task, None, STEPS, **options, key=key)
    scales = network.scales(scale)
    few = min(NEURONS, width)
    clips = rule == "clipped"  # by the norm of all copies
    data = shrink_task(task, reduce_outputs=False) if clips else task
    how = {"rotates": clips, "designed": False}
    plain = *represent_layer(network, scales, data, few, plain_key, **how), data

    def error_of(losses):
        return float(np.mean([md.deviation(losses, run, learned=None) for run in trained]))

    return {
        "error": error_of(np.asarray(predicted.losses)),
        "estimate": float(predicted.error),
        "between_seeds": mean_difference(trained),
        "seed_difference": float(predicted.seed_difference),
        "plain": error_of(losses_of(*plain, plain_key)),
    }


TABLES = {
    "predicted_at_random": Table(
        predict_and_train, [*map(drawn_setting, range(100))], repeated=(1,)
    )
}
