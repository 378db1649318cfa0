"""Predicted loss curves next to the curves of trained ReLU networks, for 42 tasks."""

from functools import partial
from itertools import combinations

import jax
import numpy as np

from mdsgdln import deviation, networks, tasks, theory, training
from mdsgdln_book import sweeps
from mdsgdln_book.experiments import first_drop
from mdsgdln_book.experiments.reduced import orthonormal_span
from mdsgdln_book.tables import Table

SCALES = (1e-6, 1e-4, 1e-2)
SEEDS = 5
STEP = 0.05  # learning rate · rate of the first basin
LONGEST = 200  # time · that rate
LEARNED = 0.01  # of the initial loss
ROUND = 500  # steps


def compare_curves(task: str) -> dict:
    """Return the relative errors of predicted loss curves.

    Networks are trained until twice the time at which 1 % of their mean loss is left, at most until
    200 over the first rate.

    Results:
        error: relative, of the prediction and the mean of five networks, (scales,).
        scatter: median of that between two of them, ten pairs, (scales,).
    """
    data, width = first_drop.task_by_name(task), first_drop.hidden_width(task)
    rate = first_drop.first_basin_rate(data)
    found: dict = {"error": [], "scatter": []}
    for scale in SCALES:
        losses = train_networks(data, width, scale, rate)
        mean = losses.mean(axis=0)
        predicted = theory.predict(
            relu_network(data, width), scale, data, STEP / rate, len(mean), key=jax.random.key(0)
        )
        pairs = [np.abs(a - b).sum() / mean.sum() for a, b in combinations(losses, 2)]
        found["error"].append(deviation(predicted.losses, mean, learned=None))
        found["scatter"].append(np.median(pairs))
    return found


def relu_network(task, width: int) -> networks.ReLUNetwork:
    """Return the ReLU network for a task."""
    return networks.ReLUNetwork((len(task.inputs), width, len(task.targets)))


def train_networks(task, width: int, scale: float, rate: float):
    """Train several networks until learned; return their losses.

    A step of descent multiplies by 1 + ηs what a time of ln(1 + ηs)/s would: that is its time.
    """
    weights, small = initialise_networks(task, width, scale, SEEDS)
    tick = np.log1p(STEP) / rate
    most, found = int(LONGEST / rate / tick), np.zeros((SEEDS, 0))
    while found.shape[1] < most:
        losses, weights = train_round(weights, small, STEP / rate)
        found = np.concatenate([found, np.asarray(losses)], axis=1)
        mean = found.mean(axis=0)
        learned = int(np.argmax(mean < LEARNED * mean[0]))
        if learned:
            most = min(most, 2 * learned)
    return found[:, :most]


def initialise_networks(task, width: int, scale: float, seeds: int):
    """Return initial weights and the task, written in bases of the spans of the data.

    Inputs and outputs in which the task has nothing are left out: no weight there moves, or matters
    beyond σ².
    """
    left, left_out = map(orthonormal_span, (task.inputs, task.targets))
    network = relu_network(task, width)
    keys = jax.random.split(jax.random.key(1), seeds)
    first, second = jax.vmap(lambda key: network.init(key, scale))(keys)
    small = tasks.Task(left.T @ task.inputs, left_out.T @ task.targets)
    return [first @ left, left_out.T @ second], small  # drawn before: no basis changes the networks


@jax.jit
def train_round(weights, task, learning_rate):
    """Train all networks for one round; return losses, (networks, steps), and weights."""
    network = relu_network(task, weights[0].shape[1])
    train = partial(training.train, network, task=task, num_steps=ROUND)
    return jax.vmap(lambda one: train(one, learning_rate=learning_rate)[:2])(weights)


TABLES = {
    "predicted_curves": Table(
        compare_curves, sweeps.grid(task=[*first_drop.KNOWN, *first_drop.FRESH]), repeated=(4,)
    ),
}
