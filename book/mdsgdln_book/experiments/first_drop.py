"""From the task alone: when the loss of small networks first falls.

Tasks go by a word and a number: the margin of XOR, the number of contexts, or a seed.
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from mdsgdln import networks, tasks
from mdsgdln_book import dynamics, sweeps
from mdsgdln_book.experiments.reduced import reduced_losses
from mdsgdln_book.tables import Table

SCALES = (1e-6, 1e-5, 1e-4, 1e-3)
SEEDS = 3
STEP = 0.01  # learning rate · rate of the first basin

KNOWN = [f"xor {margin}" for margin in (0, 0.5, 1, 1.5, 2)]
KNOWN += [f"trees {contexts}" for contexts in (2, 3, 4, 5)]
KNOWN += ["mixed 3", "decision 0", "pictures 0"]
KNOWN += [f"gaussian {seed}" for seed in range(5)] + [f"groups {seed}" for seed in range(5)]
FRESH = [f"signs {seed}" for seed in range(10)] + [f"groups {seed}" for seed in range(10, 14)]
FRESH += ["line 0", "line 1", "semantic 4", "semantic 8", "xor 0.25", "xor 3"]


def task_by_name(name: str) -> tasks.Task:
    """Return a task by its name."""
    word, number = name.split()
    rng = np.random.default_rng([int(float(number)), len(word)])
    match word:
        case "xor":
            return tasks.xor(float(number))
        case "trees":
            return tasks.contextual(int(number), 8)
        case "mixed":
            return tasks.contextual(3, 8, ["tree", "ring", "cross"])
        case "semantic":
            return tasks.semantic("tree", int(number))
        case "decision":  # report one of two features, as a cue says
            features = np.array([[-1, -1, 1, 1], [-1, 1, -1, 1]])
            cue = np.repeat(np.eye(2), 4, axis=1)
            return tasks.Task(np.vstack([np.tile(features, 2), cue]), features.reshape(1, -1))
        case "pictures":  # six items, two questions, a class for each
            return tasks.Task(pairs_of_one_hot_groups(6, 2), rng.choice([-1.0, 1.0], size=(1, 12)))
        case "groups":
            chosen = rng.permutation(9)[: rng.integers(6, 10)]
            signs = rng.choice([-1.0, 1.0], size=(rng.integers(2, 4), len(chosen)))
            return tasks.Task(pairs_of_one_hot_groups(3, 3)[:, chosen], signs)
        case "gaussian":
            return random_sign_task(rng, 4, rng.integers(6, 11), rng.integers(2, 4))
        case "signs":
            return random_sign_task(
                rng, rng.integers(2, 6), rng.integers(5, 17), rng.integers(1, 4)
            )
        case "line":  # a function of one number, with a bias
            points = np.linspace(-1, 1, 12)
            return tasks.Task([points, np.ones(12)], np.sin(points[None] * 4 + rng.uniform(0, 6)))
    raise ValueError(f"name: expected a task of this module, got {name!r}")


def pairs_of_one_hot_groups(first: int, second: int) -> np.ndarray:
    """Return every pair of two one-hot groups, one pair a column."""
    return np.vstack([np.repeat(np.eye(first), second, axis=1), np.tile(np.eye(second), first)])


def random_sign_task(rng, num_inputs: int, num_samples: int, num_outputs: int) -> tasks.Task:
    """Return a task of random inputs and targets ±1."""
    inputs = rng.normal(size=(num_inputs, num_samples))
    return tasks.Task(inputs, rng.choice([-1.0, 1.0], size=(num_outputs, num_samples)))


def hidden_width(name: str) -> int:
    """Return the number of hidden neurons used for a task."""
    return {"xor": 128, "trees": 700, "mixed": 700}.get(name.split()[0], 400)


def first_basin_rate(task: tasks.Task) -> float:
    """Return the rate of the first basin, a singular value that few neurons find."""
    return dynamics.basins(task, key=jax.random.key(0), num_neurons=256)[0].rate


def compare_first_drop(task: str) -> dict:
    """Return the predicted and the measured times of the first drop of the loss.

    By 5 % of its initial value, or by half of what the first basin explains where that is less.

    Results:
        amount: by how much, over the initial loss, (scales,).
        predicted: time, (scales,).
        measured: times of networks from three seeds, (scales, seeds).
    """
    data, width = task_by_name(task), hidden_width(task)
    found = dynamics.basins(data, key=jax.random.key(0))
    initial = float(jnp.sum(data.targets**2)) / (2 * data.num_samples)
    amounts, predicted, measured = [], [], []
    for scale in SCALES:
        first = min(found, key=partial(basin_half_time, width=width, scale=scale))
        amount = min(0.05 * initial, first.rate**2 / (4 * first.variance))
        time = dynamics.first_drop(found, width, scale, amount)
        seeds = [
            measure_first_drop(data, width, scale, s, amount, first.rate, time)
            for s in range(SEEDS)
        ]
        amounts.append(amount / initial)
        predicted.append(time)
        measured.append(seeds)
    return {"amount": amounts, "predicted": predicted, "measured": measured}


def basin_half_time(basin: dynamics.Basin, width: int, scale: float) -> float:
    """Return the time T½ at which an isolated basin reaches half its strength."""
    start = width * scale**2 * basin.mass
    return np.log(basin.rate / (basin.variance * start)) / (2 * basin.rate)


def measure_first_drop(task, width, scale, seed, amount, rate, about) -> float:
    """Train a ReLU network; return the time at which its loss has fallen by a given amount.

    A step of descent multiplies by 1 + ηs what a time of ln(1 + ηs)/s would: that is its time.
    """
    network = networks.ReLUNetwork((len(task.inputs), width, len(task.targets)))
    weights = network.init(jax.random.key(seed), scale)
    tick = np.log1p(STEP) / rate
    num_steps = int(1.5 * about / tick) + 50
    losses = np.asarray(reduced_losses(network, weights, task, STEP / rate, num_steps))
    return tick * crossing_step(losses, losses[0] - amount)


def crossing_step(losses: np.ndarray, level: float) -> float:
    """Return the interpolated step at which a loss falls to a level, 0 if it never does."""
    after = int(np.argmax(losses <= level))
    if not after:
        return 0.0
    before = losses[after - 1]
    return float(after - 1 + (before - level) / (before - losses[after]))


TABLES = {
    "first_drops": Table(compare_first_drop, sweeps.grid(task=[*KNOWN, *FRESH]), repeated=(40,))
}
