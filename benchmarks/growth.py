"""Seconds and bytes of a run as each size grows alone, and what it takes to compile it.

The contextual ReLU network of MHS §4 (700 hidden neurons, three contexts of eight items, 200
steps), and the XOR network (128 hidden neurons, 4000 steps) for the number of runs.
"""

import time

import jax
import numpy as np
from timing import interleaved

from mdsgdln import networks, tasks, training
from mdsgdln_book import sweeps

SCALE, RATE = 0.005 / 700, 0.024
SIZES = {
    "hidden": (100, 300, 700, 2000),
    "contexts": (2, 3, 5, 8),
    "items": (4, 8, 16, 32),
    "steps": (100, 200, 400, 800),
    "observed": (1, 70, 700, 7000),
}


def make_experiment(hidden=700, contexts=3, items=8, steps=200, observed=None):
    """Return one run as a function of its seed; numbers observed at every step if any."""
    task = tasks.contextual(contexts, items)
    network = networks.ReLUNetwork((len(task.inputs), hidden, len(task.targets)))

    def first_ones(weights):
        return weights[0].ravel()[:observed]

    def experiment(seed):
        weights = network.init(jax.random.key(seed), SCALE)
        observe = first_ones if observed else None
        run = training.train(network, weights, task, RATE, steps, observe=observe)
        return {"loss": run.losses[-1]} | ({"seen": run.observed} if observed else {})

    return experiment


def make_xor():
    """Return one run of the XOR network as a function of its seed."""
    task, network = tasks.xor(0), networks.ReLUNetwork((3, 128, 1))

    def experiment(seed):
        weights = network.init(jax.random.key(seed), 2e-4)
        return {"loss": training.train(network, weights, task, 0.01, 4000).losses[-1]}

    return experiment


def swept(experiment, runs):
    """Return a function that sweeps over seeds, one after the other."""
    experiment, settings = jax.jit(experiment), sweeps.grid(seed=range(runs))
    return lambda: sweeps.sweep(experiment, settings, progress=False)


def at_once(experiment, runs):
    """Return a function that runs all seeds as one program."""
    together, seeds = jax.jit(jax.vmap(experiment)), np.arange(runs)
    return lambda: jax.device_get(together(seeds))


def compiled(experiment):
    """Return the seconds that compilation takes, and the bytes that one run then needs."""
    start = time.perf_counter()
    program = jax.jit(experiment).lower(0).compile()
    seconds, memory = time.perf_counter() - start, program.memory_analysis()
    return {
        "compile": seconds,
        "bytes": memory.temp_size_in_bytes + memory.output_size_in_bytes,
    }


def row(what, size, experiment, runs, batch):
    """Return seconds a run, in turn and perhaps all at once, with what compilation gives."""
    ways = {"turn": swept(experiment, runs)}
    if batch:
        ways["batch"] = at_once(experiment, runs)
    best = {"batch": None} | {name: t / runs for name, t in interleaved(**ways).items()}
    return {"what": what, "size": size} | best | compiled(experiment)


def measure():
    """Return a row for each size."""
    table = [
        row(what, size, make_experiment(**{what: size}), runs=16, batch=True)
        for what, sizes in SIZES.items()
        for size in sizes
    ]
    table += [row("runs", runs, make_experiment(), runs, batch=False) for runs in (1, 16, 64)]
    table += [row("XOR, runs", runs, make_xor(), runs, batch=True) for runs in (16, 64, 256)]
    return table
