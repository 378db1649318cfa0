"""``python benchmarks [part ...]`` measures and fills book/mdsgdln_book/results/cost.json.

Every time is the best of five interleaved rounds with compilation apart, in a process of its own:
on a CPU with one thread and with two, in single and in double precision. Rows of other devices
stay in the file.
"""

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

RESULTS = Path(__file__).parent.parent / "book/mdsgdln_book/results/cost.json"
PARTS = ("training", "prediction", "growth")
PRECISIONS = {"growth": ["float32"]}
ALL_THREADS = ("growth",)  # not one and two, as it is long


def measure(part: str, threads: int, precision: str) -> None:
    """Print what one part gives; before JAX starts, threads and precision are set."""
    if threads:
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
    os.environ["JAX_ENABLE_X64"] = str(int(precision == "float64"))
    result = importlib.import_module(part).measure()
    timing = importlib.import_module("timing")
    print(json.dumps([timing.device(), timing.made_by(), result]))


def conditions(part: str) -> list[tuple[int, str]]:
    """Return threads (0: all) and precision of each process."""
    import jax

    cpu = jax.default_backend() == "cpu"
    threads = (1, 2) if cpu and part not in ALL_THREADS else (0,)
    precisions = PRECISIONS.get(part, ["float32", "float64"])
    return [(number, precision) for precision in precisions for number in threads]


def condition_name(threads: int, precision: str) -> str:
    """Return for instance ``2 threads, float32``."""
    return f"{threads} thread{'s'[: threads > 1]}, {precision}" if threads else precision


def main(parts: list[str]) -> None:
    """Measure parts, one process after the other."""
    os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"  # this process may hold a GPU, too
    for part in parts:
        results = {}
        for threads, precision in conditions(part):
            command = [sys.executable, __file__, "--measure", part, str(threads), precision]
            output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
            device, made_by, result = json.loads(output.stdout.splitlines()[-1])
            name = condition_name(threads, precision)
            results[name] = result
            print(f"{part}, {name}\n{json.dumps(result, indent=1)}", flush=True)
        cost = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
        cost.setdefault(device, {})[part] = made_by | {"results": results}
        RESULTS.write_text(json.dumps(cost, indent=1) + "\n")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        measure(sys.argv[2], int(sys.argv[3]), sys.argv[4])
    else:
        main(sys.argv[1:] or list(PARTS))
