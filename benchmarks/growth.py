"""Seconds of a run as each size grows alone.

The contextual ReLU network of MHS §4 (700 hidden neurons, three contexts of eight items, 200
steps), and the XOR network (128 hidden neurons, 4000 steps) for the number of runs.
"""

from functools import partial

import jax
import numpy as np
from timing import interleaved

from mdsgdln import networks, tasks, training
from mdsgdln_book import sweeps

SCALE, RATE = 0.005 / 700, 0.024
SIZES = {
    "hidden": (100, 300, 700, 2000),
    "contexts": (2, 3, 5, 8),
    "steps": (100, 200, 400, 800),
}


def make_experiment(hidden=700, contexts=3, steps=200):
    """Return one run as a function of its seed."""
    task = tasks.contextual(contexts)
    return partial(last_loss, task, hidden, SCALE, RATE, steps)


def last_loss(task, hidden, scale, rate, steps, seed):
    """Train a ReLU network; return its last loss."""
    network = networks.ReLUNetwork((len(task.inputs), hidden, len(task.targets)))
    weights = network.init(jax.random.key(seed), scale)
    return {"loss": training.train(network, weights, task, rate, steps).losses[-1]}


def swept(experiment, runs):
    """Return a function that sweeps over seeds, one after the other."""
    experiment, settings = jax.jit(experiment), sweeps.grid(seed=range(runs))
    return lambda: sweeps.sweep(experiment, settings, progress=False)


def at_once(experiment, runs):
    """Return a function that runs all seeds as one program."""
    together, seeds = jax.jit(jax.vmap(experiment)), np.arange(runs)
    return lambda: jax.device_get(together(seeds))


def row(what, size, experiment, runs, batch):
    """Return seconds a run, in turn and perhaps all at once."""
    ways = {"turn": swept(experiment, runs)}
    if batch:
        ways["batch"] = at_once(experiment, runs)
    best = {"batch": None} | {name: t / runs for name, t in interleaved(**ways).items()}
    return {"what": what, "size": size} | best


def measure():
    """Return a row for each size."""
    table = [
        row(what, size, make_experiment(**{what: size}), runs=16, batch=True)
        for what, sizes in SIZES.items()
        for size in sizes
    ]
    table += [row("runs", runs, make_experiment(), runs, batch=False) for runs in (1, 16, 64)]
    xor = partial(last_loss, tasks.xor(0), 128, 2e-4, 0.01, 4000)
    table += [row("XOR, runs", runs, xor, runs, batch=True) for runs in (16, 64, 256)]
    return table
