"""How far the theory from the task alone carries: other strengths, signs, inputs, and biases."""

from itertools import combinations

import jax
import numpy as np

from mdsgdln import reln, tasks, theory
from mdsgdln_book.experiments.first_drop import drops_in, ends_in
from mdsgdln_book.experiments.predicted_curves import trained
from mdsgdln_book.tables import Table

WIDTH, SCALE = 400, 1e-4
CHANGES = [("none", 0.0), ("unequal", 2.0), ("unequal", 4.0), ("negative", 0.5), ("negative", 1.0)]
CHANGES += [("correlated", 0.3), ("correlated", 0.6), ("bias", 1.0), ("bias", 3.0)]


def changed(base: str, change: str, size: float) -> tasks.Task:
    """Return four items in three contexts, or eight random samples, with one thing changed.

    Changes:
        unequal: targets of the first third of the samples are ``size`` times those of the last.
        negative: this part of the mean of each target is taken away.
        correlated: cosine of any two items; correlation of any two of the random inputs.
        bias: a row of this number.
    """
    if base == "contexts":
        task, kinds = tasks.contextual(3, 4), np.eye(3).repeat(4, axis=1)
        items, rest = np.tile(np.eye(4), 3), kinds
    else:
        rng = np.random.default_rng(2)
        items, rest = rng.normal(size=(4, 8)), np.zeros((0, 8))
        task = tasks.Task(items, rng.integers(2, size=(2, 8)))
        kinds = np.eye(3)[:, np.arange(8) * 3 // 8]
    targets = np.asarray(task.targets, float)
    match change:
        case "unequal":
            targets = targets * (np.array([1, (1 + 1 / size) / 2, 1 / size]) @ kinds)
        case "negative":
            targets = targets - size * targets.mean(axis=1, keepdims=True)
        case "correlated":
            values, vectors = np.linalg.eigh((1 - size) * np.eye(4) + size)
            items = vectors * np.sqrt(values) @ vectors.T @ items
        case "bias":
            rest = np.vstack([rest, np.full(items.shape[1], size)])
    return tasks.Task(np.vstack([items, rest]), targets)


def limits(base: str, change: str, size: float) -> dict:
    """Return how well the identity, the first drop and the curve hold for a changed task.

    Results:
        gap: largest part of the drive of a face's top vector that is missing where ascents end.
        adrift: ascents that are next to no face with condition (C).
        predicted: time of the first drop.
        measured: those of three networks.
        error: relative, of the predicted curve and the mean of five networks.
        scatter: median of that between two of them.
        null: error of a designed network of as many neurons as are left.
    """
    task = changed(base, change, size)
    ends, drops = ends_in(task), drops_in(task, WIDTH, [SCALE])
    times, losses = trained(task, WIDTH, SCALE, drops["rate"])
    mean = losses.mean(axis=0)
    about = task, WIDTH, SCALE, times
    found = theory.predict_relu(*about, key=jax.random.key(0))
    few = max(found.neurons, 4)
    null = theory.predict_relu(*about, key=jax.random.key(0), num_neurons=few, cosine=1)
    return {
        "gap": ends["gap"],
        "adrift": ends["adrift"],
        "predicted": drops["predicted"][0],
        "measured": drops["measured"][0],
        "error": reln.deviation(found.losses, mean, learned=None),
        "scatter": np.median(
            [reln.deviation(a, b, learned=None) for a, b in combinations(losses, 2)]
        ),
        "null": reln.deviation(null.losses, mean, learned=None),
    }


TABLES = {
    "task_limits": Table(
        limits,
        [
            setting | {"base": base}
            for base in ("contexts", "random")
            for setting in ({"change": change, "size": size} for change, size in CHANGES)
        ],
        row=13,
    ),
}
