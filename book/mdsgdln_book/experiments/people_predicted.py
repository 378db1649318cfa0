"""Loss curves under many rules and losses, predicted before training and by other guesses."""

import warnings
from functools import cache

import jax
import numpy as np
import optax

import mdsgdln as md
from mdsgdln_book import sweeps
from mdsgdln_book.experiments.people_race import seeded_settings
from mdsgdln_book.experiments.published import HIDDEN
from mdsgdln_book.tables import Table

RATE = 0.006  # of descent, for each sample
EVERY = 10  # steps between two losses that are kept
RULES = {  # {rule: (loss, steps)}
    **dict.fromkeys(("descent", "momentum", "weight decay", "batches"), (md.squared_error, 1400)),
    **dict.fromkeys(("Adam", "AdamW"), (md.squared_error, 400)),
    **dict.fromkeys(("logistic", "logistic, Adam"), (md.logistic, 900)),
}
DIGITS = {"optimiser": optax.adamw(1e-3, weight_decay=0.01), "loss": md.cross_entropy}


@cache
def training_options(rule: str, num_samples: int) -> dict:
    """Return the keyword arguments of ``train`` and ``predict`` for a rule."""
    rate = RATE * num_samples
    others = {
        "momentum": optax.sgd((1 - 0.9) * rate, momentum=0.9),
        "weight decay": optax.chain(optax.add_decayed_weights(1e-3), optax.sgd(rate)),
        "Adam": optax.adam(1e-3),
        "AdamW": optax.adamw(1e-3, weight_decay=0.01),
        "logistic, Adam": optax.adam(1e-3),
    }
    batches = {"batch_size": 8} if rule == "batches" else {}
    return {"optimiser": others.get(rule, optax.sgd(rate)), "loss": RULES[rule][0]} | batches


def all_samples(task: md.Task, options: dict) -> dict:
    """Return the option that records the loss of all samples, where ``losses`` are of batches."""
    return {"held_out": task} if options.get("batch_size") else {}


def train_and_predict(
    network, scale, task, steps: int, weights_key, **options
) -> dict[str, md.Run]:
    """Train a network from initial weights of a key, and predict the run from σ."""
    options |= all_samples(task, options)
    weights = network.init(weights_key, scale)
    trained = md.train(network, weights, task, None, steps, **options)
    with warnings.catch_warnings(action="ignore"):  # beyond the tested range
        predicted = md.predict(network, scale, task, None, steps, **options)
    return {"trained": trained, "predicted": predicted}


def whole_losses(run: md.Run) -> np.ndarray:
    """Return the losses of all samples, with batches or without."""
    return np.asarray(run.losses if run.held_out is None else run.held_out)


def trained_and_predicted_curves(task, sizes, scale, steps: int, seed: int, **options) -> dict:
    """Return every tenth trained and predicted loss, and for seed 0 that of a linear network.

    An always-on network has half of the neurons, as many as are on for a sample at first.
    """
    network, linear = md.ReLUNetwork(sizes), md.LinearNetwork((sizes[0], sizes[1] // 2, sizes[2]))
    weights_key, key = jax.random.split(jax.random.key(seed))
    options |= {"key": key}
    found = train_and_predict(network, scale, task, steps, weights_key, **options)
    if seed == 0:
        weights = linear.init(weights_key, scale)
        options |= all_samples(task, options)
        found["always_on"] = md.train(linear, weights, task, None, steps, **options)
    return {name: whole_losses(run)[::EVERY] for name, run in found.items()}


def curves_in_contexts(contexts: int, rule: str, hidden: int, scale: float, seed: int) -> dict:
    """Train and predict a ReLU network on trees in contexts."""
    task = md.tasks.contextual(contexts)
    sizes = len(task.inputs), hidden, len(task.targets)
    return trained_and_predicted_curves(
        task, sizes, scale, RULES[rule][1], seed, **training_options(rule, task.num_samples)
    )


def curves_on_digits(seed: int) -> dict:
    """Train and predict a ReLU network on handwritten digits by AdamW, as usual."""
    task = md.tasks.digits()
    return trained_and_predicted_curves(
        task, (64, 300, 10), 0.02, 500, seed, batch_size=64, **DIGITS
    )


def mean_curve_errors(rows, name: str = "predicted") -> float:
    """Return the mean relative errors of the named curves over the rows that have them."""
    pairs = [
        (row[name], row["trained"]) for _, row in rows.iterrows() if isinstance(row[name], list)
    ]
    return float(np.mean([md.deviation(*pair, learned=None) for pair in pairs]))


def seed_differences(rows) -> float:
    """Return the mean relative difference between trained curves of different seeds."""
    return mean_difference(np.stack(rows["trained"].to_list()))


def mean_difference(trained: np.ndarray) -> float:
    """Return the mean relative difference between two curves of several, shape (seeds, steps)."""
    apart = np.abs(trained[:, None] - trained).sum(axis=2) / trained.sum(axis=1)
    return float(apart.sum() / (len(trained) * (len(trained) - 1)))


TABLES = {
    "people_predicted": Table(curves_in_contexts, seeded_settings([3, 4, 5], [*RULES], HIDDEN)),
    "people_digits": Table(curves_on_digits, sweeps.grid(seed=range(5)), repeated=(1,)),
}
