"""From the task alone: where ascents of the drive end, and when the loss of small networks falls.

Tasks go by a word and a number: the margin of exclusive or, the number of contexts, or a seed.
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from mdsgdln import networks, sweeps, tasks, theory, training
from mdsgdln.theory.neuron_settling import settle
from mdsgdln_book.tables import Table

SCALES = (1e-6, 1e-5, 1e-4, 1e-3)
SEEDS = 3
STEP = 0.01  # learning rate · rate of the first basin
NUM_ASCENTS, DEAD = 300, 1e-3  # of the largest drive: less is that of a neuron that has died

KNOWN = [f"xor {margin}" for margin in (0, 0.5, 1, 1.5, 2)]
KNOWN += [f"trees {contexts}" for contexts in (2, 3, 4, 5)]
KNOWN += ["mixed 3", "decision 0", "pictures 0"]
KNOWN += [f"gaussian {seed}" for seed in range(5)] + [f"groups {seed}" for seed in range(5)]
FRESH = [f"signs {seed}" for seed in range(10)] + [f"groups {seed}" for seed in range(10, 14)]
FRESH += ["line 0", "line 1", "semantic 4", "semantic 8", "xor 0.25", "xor 3"]
MANY = [f"signs {seed}" for seed in range(100, 130)]


def task_of(name: str) -> tasks.Task:
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
            return tasks.Task(two_groups(6, 2), rng.choice([-1.0, 1.0], size=(1, 12)))
        case "groups":
            chosen = rng.permutation(9)[: rng.integers(6, 10)]
            signs = rng.choice([-1.0, 1.0], size=(rng.integers(2, 4), len(chosen)))
            return tasks.Task(two_groups(3, 3)[:, chosen], signs)
        case "gaussian":
            return signs_of_gaussians(rng, 4, rng.integers(6, 11), rng.integers(2, 4))
        case "signs":
            return signs_of_gaussians(
                rng, rng.integers(2, 6), rng.integers(5, 17), rng.integers(1, 4)
            )
        case "line":  # a function of one number, with a bias
            points = np.linspace(-1, 1, 12)
            return tasks.Task([points, np.ones(12)], np.sin(points[None] * 4 + rng.uniform(0, 6)))
    raise ValueError(f"name: expected a task of this module, got {name!r}")


def two_groups(first: int, second: int) -> np.ndarray:
    """Return all pairs of two one-hot groups, a column for each."""
    return np.vstack([np.repeat(np.eye(first), second, axis=1), np.tile(np.eye(second), first)])


def signs_of_gaussians(rng, num_inputs: int, num_samples: int, num_outputs: int) -> tasks.Task:
    """Return a task of random inputs and targets ±1."""
    inputs = rng.normal(size=(num_inputs, num_samples))
    return tasks.Task(inputs, rng.choice([-1.0, 1.0], size=(num_outputs, num_samples)))


# Where ascents end -----------------------------------------------------------------------------


@partial(jax.jit, static_argnames="num_ascents")
def ascend(key, inputs, targets, num_ascents: int):
    """Climb the drive by plain gradient steps from random w, which shrink at the end."""
    bound = jnp.linalg.norm(targets, 2) * jnp.linalg.norm(inputs, 2)

    least = 1e-12 * jnp.linalg.norm(inputs, axis=0)  # rounding turns no sample on

    def drive(w):
        active = jnp.where(w @ inputs > least, w @ inputs, 0)
        return jnp.linalg.norm(targets @ active + 1e-30) / bound

    def step(w, size):
        w = w + size * jnp.nan_to_num(jax.vmap(jax.grad(drive))(w))
        return w / jnp.linalg.norm(w, axis=1, keepdims=True), None

    w = jax.random.normal(key, (num_ascents, len(inputs)))
    sizes = jnp.concatenate([jnp.full(6000, 0.3), 0.3 * jnp.logspace(0, -5, 1000)])
    w, _ = jax.lax.scan(step, w / jnp.linalg.norm(w, axis=1, keepdims=True), sizes)
    return w, jax.vmap(drive)(w)


def ends(task: str) -> dict:
    """Return where ascents of the drive end, beside the enumerated maxima.

    Results:
        live: how many did not die.
        adrift: of these, how many are next to no face with condition (C).
        parked: how many end where the drive would rise with a sample that stays off.
        climb: largest slope that is left, over the drive, at the others.
        cosine: smallest one, of the others' last w with the top vector of their face.
        gap: largest part of the drive of that vector that is missing at their last w.
        maxima: how many they find; a flat one counts once.
        enumerated: whether all faces were enumerated.
        short: of the largest enumerated drive, by how much the largest found one is smaller.
        unlisted: maxima found whose drive, gate and boundary no enumerated one has.
    """
    return ends_in(task_of(task))


def ends_in(data: tasks.Task) -> dict:
    """Return where ascents end in any task, as ``ends`` says."""
    inputs, targets = np.asarray(data.inputs), np.asarray(data.targets)
    w, drives = map(np.asarray, ascend(jax.random.key(0), inputs, targets, NUM_ASCENTS))
    live = drives > DEAD * drives.max()
    tops, group, flatness = settle(inputs, targets, w[live])
    found = [tops[group == number][0] for number in range(len(flatness))]
    rates, slopes = theory.drive(data, found), theory.climb(data, found)
    stuck = slopes > 1e-6 * rates
    others = ~np.isin(group, np.flatnonzero(stuck))  # those adrift, too
    last, top = w[live][others], tops[others]
    gaps = 1 - theory.drive(data, last) / theory.drive(data, top)
    enumerated = data.num_samples <= 16 and np.linalg.matrix_rank(inputs) <= 5
    short, unlisted = 0.0, 0
    if enumerated:
        listed = theory.candidates(data)
        short = 1 - rates.max() / listed[0].rate
        holds = [c for c in listed if c.climb < 1e-6 * c.rate]
        unlisted = sum(
            not any(is_it(data, w, rate, flat, candidate) for candidate in holds)
            for w, rate, flat in zip(
                np.array(found)[~stuck], rates[~stuck], np.array(flatness)[~stuck], strict=True
            )
        )
    return {
        "live": live.sum(),
        "adrift": np.sum(group < 0),
        "parked": np.sum(np.isin(group, np.flatnonzero(stuck))),
        "climb": np.max(slopes[~stuck] / rates[~stuck]),
        "cosine": np.min(np.sum(last * top, axis=1)),
        "gap": np.max(gaps),
        "maxima": np.sum(~stuck),
        "enumerated": enumerated,
        "short": short,
        "unlisted": unlisted,
    }


def is_it(task, w, rate, flatness: int, candidate: theory.Candidate) -> bool:
    """Return whether a maximum is this candidate: a flat one may reach over several faces."""
    if not np.isclose(rate, candidate.rate):
        return False
    activity = w @ np.asarray(task.inputs)
    least = 1e-6 * np.linalg.norm(task.inputs, axis=0)
    gate, boundary = activity > least, np.abs(activity) <= least
    same = (gate == candidate.gate).all() and (boundary == candidate.boundary).all()
    return flatness > 1 or bool(same)


# When the loss falls ---------------------------------------------------------------------------


def width_of(name: str) -> int:
    """Return how many hidden neurons the network for a task has."""
    return {"xor": 128, "trees": 700, "mixed": 700}.get(name.split()[0], 400)


def drops(task: str) -> dict:
    """Return when the loss first falls, predicted from the task and measured.

    By 5 % of its initial value, or by half of what the first basin explains where that is less.

    Results:
        amount: by how much, over the initial loss, (scales,).
        predicted: time, (scales,).
        measured: times of networks from three seeds, (scales, seeds).
        rate, variance, mass: of the first basin.
    """
    return drops_in(task_of(task), width_of(task), SCALES)


def drops_in(data: tasks.Task, width: int, scales) -> dict:
    """Return when the loss first falls in any task, as ``drops`` says."""
    found = theory.basins(data, key=jax.random.key(0))
    initial = float(jnp.sum(data.targets**2)) / (2 * data.num_samples)
    amounts, predicted, measured = [], [], []
    for scale in scales:
        first = min(found, key=partial(half_time, width=width, scale=scale))
        amount = min(0.05 * initial, first.rate**2 / (4 * first.variance))
        time = theory.first_drop(found, width, scale, amount)
        seeds = [trained(data, width, scale, s, amount, first.rate, time) for s in range(SEEDS)]
        amounts.append(amount / initial)
        predicted.append(time)
        measured.append(seeds)
    return {
        "amount": amounts,
        "predicted": predicted,
        "measured": measured,
        "rate": first.rate,
        "variance": first.variance,
        "mass": first.mass,
    }


def half_time(basin: theory.Basin, width: int, scale: float) -> float:
    """Return T½ of a basin by itself."""
    start = width * scale**2 * basin.mass
    return np.log(basin.rate / (basin.variance * start)) / (2 * basin.rate)


def trained(task, width, scale, seed, amount, rate, about) -> float:
    """Return the time at which the loss of a ReLU network has fallen by an amount.

    A step of descent multiplies by 1 + ηs what a time of ln(1 + ηs)/s would: that is its time.
    """
    network = networks.ReLUNetwork((len(task.inputs), width, len(task.targets)))
    weights = network.init(jax.random.key(seed), scale)
    tick = np.log1p(STEP) / rate
    num_steps = int(1.5 * about / tick) + 50
    losses = np.asarray(training.train(network, weights, task, STEP / rate, num_steps).losses)
    steps = passed(losses, losses[0] - amount)
    if not steps:
        raise ValueError(f"about: expected a fall by {amount} before {1.5 * about}, got none")
    return tick * steps


def passed(losses: np.ndarray, level: float) -> float:
    """Return after how many steps a loss passes a level, between two of them; 0 if it does not."""
    after = int(np.argmax(losses <= level))
    if not after:
        return 0.0
    before = losses[after - 1]
    return float(after - 1 + (before - level) / (before - losses[after]))


TABLES = {
    "gate_winners": Table(ends, sweeps.grid(task=[*KNOWN, *MANY, "semantic 4"]), row=2),
    "first_drops": Table(drops, sweeps.grid(task=[*KNOWN, *FRESH]), row=40),
}
