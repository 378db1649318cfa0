"""What a sweep adds to its runs: the contextual ReLU network of MHS §4, 200 steps."""

import resource
import tempfile
import time
from pathlib import Path

import jax
from growth import RATE, SCALE, make_experiment, swept
from timing import ROUNDS, interleaved

from mdsgdln import networks, sweeps, tasks, training


def measure():
    """Return both comparisons; memory is a peak, so its turn comes first."""
    return {"many_seeds": many_seeds(), "against_calls": against_calls()}


def many_seeds(runs=512):
    """Memory and time per seed of 512 seeds."""
    experiment = make_experiment()
    single, sweep = swept(experiment, 1), swept(experiment, runs)
    single()
    singles, per_seed = [], []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        for _ in range(20):
            experiment(0)["loss"].block_until_ready()
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
        sweeps.sweep(experiment, settings, path, method="turn", progress=False)

    best = interleaved(calls=calls, sweep=sweep)
    path.unlink()
    return best | {"ratio": best["sweep"] / best["calls"]}
