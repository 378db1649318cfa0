"""What a sweep adds to its runs: the contextual ReLU network of MHS §4, 200 steps."""

import os
import resource
import tempfile
import time
from pathlib import Path

import jax
from growth import RATE, SCALE, make_experiment, swept
from timing import ROUNDS, interleaved

from mdsgdln import networks, sweeps, tasks, training


def measure():
    """Return the comparisons; memory is a peak, so its turn comes first."""
    found = {"many_seeds": many_seeds(), "against_calls": against_calls()}
    if len(os.sched_getaffinity(0)) > 1:
        found["processes"] = processes()
    return found


def many_seeds(runs=512):
    """Memory and time per seed of 512 seeds."""
    experiment = make_experiment()
    single, sweep = jax.jit(experiment), swept(experiment, runs)
    single(0)
    singles, per_seed = [], []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        for _ in range(20):
            single(0)["loss"].block_until_ready()
        middle = time.perf_counter()
        sweep()
        singles.append((middle - start) / 20)
        per_seed.append((time.perf_counter() - middle) / runs)
    return {
        "peak_gib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
        "single": min(singles),
        "per_seed": min(per_seed),
        "ratio": min(per_seed) / min(singles),
    }


def against_calls(runs=64):
    """64 runs through a sweep that writes its file, against 64 calls of ``train``."""
    task = tasks.contextual(3)
    network = networks.ReLUNetwork((len(task.inputs), 700, len(task.targets)))
    experiment, settings = make_experiment(), sweeps.grid(seed=range(runs))
    path = Path(tempfile.mkdtemp()) / "benchmark.jsonl"

    def calls():
        for seed in range(runs):
            weights = network.init(jax.random.key(seed), SCALE)
            float(training.train(network, weights, task, RATE, 200).losses[-1])

    def sweep():
        path.unlink(missing_ok=True)
        sweeps.sweep(experiment, settings, path, progress=False)

    best = interleaved(calls=calls, sweep=sweep)
    path.unlink()
    return best | {"ratio": best["sweep"] / best["calls"]}


def processes(runs=64, rounds=2, steps=20_000):
    """Runs of two seconds or more, two at a time in processes against one after the other.

    They take turns, half of the runs each, so that what else the machine does meets both. What it
    takes to start the processes, and to compile in them, counts.
    """
    experiment, settings = make_experiment(steps=steps), sweeps.grid(seed=range(runs))
    seconds = {1: 0.0, 2: 0.0}
    tables = {1: [], 2: []}
    for first in range(rounds):
        for n_jobs in seconds:
            start = time.perf_counter()
            tables[n_jobs].append(
                sweeps.sweep(experiment, settings[first::rounds], n_jobs=n_jobs, progress=False)
            )
            seconds[n_jobs] += time.perf_counter() - start
    assert all(one.equals(two) for one, two in zip(*tables.values(), strict=True))
    return {
        "run": seconds[1] / runs,
        "in turn": seconds[1],
        "two processes": seconds[2],
        "ratio": seconds[1] / seconds[2],
        "load": os.getloadavg()[1],
    }
