"""Gated units that escape after the first, each alone on what the earlier ones leave."""

import jax
import numpy as np
import optax

from mdsgdln import tasks, training
from mdsgdln_book import sweeps
from mdsgdln_book.experiments.own_gate import (
    EVERY,
    RATE,
    SEEDS,
    Units,
    alone,
    crossings,
    setting,
    strengths,
    times_alone,
)
from mdsgdln_book.experiments.reduced import keep_weights
from mdsgdln_book.tables import Table

ROUNDS, REST = 4, 1500  # escapes; steps for the escaped units to come to rest


def escapes_in_turn(kind: str, scale: float, seed: int) -> dict:
    """Foretell who escapes when, one unit after the other, and train.

    Every unit learns alone on the raw targets until the first would escape. The escaped units learn
    together until they rest, in no time; the others go on alone, on what is left; and so on.
    ``foretold`` and ``measured`` times of the first, second, … escape, and ``named``, whether it is
    the same unit.
    """
    network, weights, task = setting(kind, "tree", 3, 8, scale, seed)
    _, level = times_alone(network, weights, task, scale)
    whole = {"observe": strengths, "every": EVERY}
    run = training.train(network, weights, task, RATE, int(3 / (scale * RATE)), **whole)
    measured = crossings(run.observed, level)
    order = np.argsort(measured)[:ROUNDS]
    rule = {"optimiser": optax.sgd(RATE), "loss": alone, "observe": keep_weights, "every": EVERY}
    now, left = [np.array(layer) for layer in weights], np.asarray(task.targets)
    chosen, foretold, time = [], [], 0.0
    for _ in range(ROUNDS):
        rest = tasks.Task(task.inputs, left)
        run = training.train(network, now, rest, None, int(1.6 / (scale * RATE)), **rule)
        grown = np.array(jax.vmap(strengths)(run.observed))
        grown[:, chosen] = 0  # has escaped
        steps = crossings(grown, level)
        chosen.append(int(steps.argmin()))
        time += RATE * steps.min()
        foretold.append(time)
        later = [np.array(layer[int(steps.min() // EVERY)]) for layer in run.observed]
        for old, new in zip(now, later, strict=True):
            axis = (slice(None), chosen[:-1]) if old is now[-1] else (chosen[:-1],)
            new[axis] = old[axis]
        few = Units((network.sizes[0], len(chosen), network.sizes[2]), kind)
        start = [later[0][chosen], later[1][chosen], later[2][:, chosen]]
        settled = training.train(few, start, task, RATE, REST).weights
        later[0][chosen], later[1][chosen], later[2][:, chosen] = map(np.asarray, settled)
        now, left = later, task.targets - few.apply(settled, task.inputs)
    return {
        "foretold": foretold,
        "measured": RATE * measured[order],
        "named": (order == np.array(chosen)).astype(float),
    }


TABLES = {
    "own_gate_sequence": Table(
        escapes_in_turn, sweeps.grid(kind=["ReGLU", "bilinear"], scale=[0.002], seed=SEEDS)
    ),
}
