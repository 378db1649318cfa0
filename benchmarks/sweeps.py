"""What many runs cost: ``python benchmarks/sweeps.py`` prints it and fills book/results/cost.json.

Every time is the best of five interleaved rounds, compilation apart. The network is the contextual
ReLU network of MHS §4 (700 hidden neurons, three contexts, trees), single precision, unless said.
"""

import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import jax

from mdsgdln import networks, sweeps, tasks, training, versions

RESULTS = Path(__file__).parent.parent / "book" / "results" / "cost.json"
SCALE, RATE = 0.005 / 700, 0.024
ROUNDS = 5


def make_experiment(hidden=700, contexts=3, steps=200):
    """Return one run of the contextual ReLU network as a function of its seed."""
    task = tasks.contextual(contexts)
    network = networks.ReLUNetwork((len(task.inputs), hidden, len(task.targets)))

    def experiment(seed):
        weights = network.init(jax.random.key(seed), SCALE)
        return {"loss": training.train(network, weights, task, RATE, steps).losses[-1]}

    return experiment


def make_xor(steps=4000):
    """Return one run of the exclusive-or network (128 hidden neurons) as a function of its seed."""
    task, network = tasks.xor(0), networks.ReLUNetwork((3, 128, 1))

    def experiment(seed):
        weights = network.init(jax.random.key(seed), 2e-4)
        return {"loss": training.train(network, weights, task, 0.01, steps).losses[-1]}

    return experiment


def interleaved(**ways):
    """Return the best seconds of each way, called in turn, after a first call that compiles."""
    best = {name: float("inf") for name in ways}
    for round_number in range(ROUNDS + 1):
        for name, way in ways.items():
            start = time.perf_counter()
            way()
            if round_number:
                best[name] = min(best[name], time.perf_counter() - start)
    return best


def swept(experiment, runs, method="turn", chunk_size=64):
    """Return a function that sweeps over seeds."""
    settings = sweeps.grid(seed=range(runs))
    return lambda: sweeps.sweep(
        experiment, settings, method=method, chunk_size=chunk_size, progress=False
    )


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


def many_seeds(runs=512):
    """Memory and time per seed of 512 seeds; in a process of its own, since memory is a peak."""
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


def growth():
    """Seconds per run, in turn and 64 at once, as each size grows alone."""
    table = []
    sizes = {
        "hidden": [(n, make_experiment(hidden=n)) for n in (100, 300, 700, 2000)],
        "contexts": [(n, make_experiment(contexts=n)) for n in (2, 3, 5, 8)],
        "steps": [(n, make_experiment(steps=n)) for n in (100, 200, 400, 800)],
    }
    for what, cases in sizes.items():
        for size, experiment in cases:
            best = interleaved(turn=swept(experiment, 16), batch=swept(experiment, 16, "batch", 16))
            table.append({"what": what, "size": size, **{n: t / 16 for n, t in best.items()}})
    for runs in (1, 16, 64):
        best = interleaved(turn=swept(make_experiment(), runs))
        table.append({"what": "runs", "size": runs, "turn": best["turn"] / runs, "batch": None})
    for runs in (16, 64, 256):
        xor = make_xor()
        best = interleaved(turn=swept(xor, runs), batch=swept(xor, runs, "batch", runs))
        table.append(
            {"what": "exclusive or, runs", "size": runs, **{n: t / runs for n, t in best.items()}}
        )
    return table


def device():
    """Return what the numbers were measured on."""
    kind = jax.devices()[0].device_kind
    return {
        "device": f"{os.cpu_count()} CPU cores, {platform.machine()}" if kind == "cpu" else kind,
        "libraries": versions.library_versions(),
        "code": versions.code_digest(sweeps.sweep),
    }


PARTS = {f.__name__: f for f in (against_calls, many_seeds, growth)}

if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(PARTS[sys.argv[1]]()))
        raise SystemExit
    result = device()
    for name in PARTS:
        output = subprocess.run([sys.executable, __file__, name], check=True, capture_output=True)
        result[name] = json.loads(output.stdout)
        print(name, json.dumps(result[name], indent=1))
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(result, indent=1) + "\n")
