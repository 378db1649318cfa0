"""Seconds of every chapter, by cause; ``python benchmarks/chapters.py name ...`` for some of them.

Each chapter runs in a process and on a core of its own, with a figure rendered for each cell that
ends in one; the status page, which shows the result, is left out. Causes: the first cell (imports),
compilation (tracing included), drawing (functions of ``mdsgdln.plots`` and rendering), and the
rest, which is what the chapter computes.
"""

import functools
import io
import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue

CAUSES = "imports", "compilation", "drawing", "computing"


def measure(names=()):
    """Return {chapter: {cause: seconds}}."""
    from _ext.references import chapters

    cores = SimpleQueue()
    for core in os.sched_getaffinity(0):
        cores.put(core)

    def seconds(name):
        core = cores.get()
        command = [sys.executable, __file__, "--chapter", name, str(core)]
        output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        cores.put(core)
        return json.loads(output.stdout.splitlines()[-1])

    names = names or [name for name in chapters() if name != "status"]
    with ThreadPoolExecutor(cores.qsize()) as pool:
        return dict(zip(names, pool.map(seconds, names), strict=True))


def chapter(name):
    """Execute a chapter here and return the seconds of each cause."""
    import jupytext
    from IPython.core.interactiveshell import InteractiveShell

    from _ext.references import chapters, code_cells
    from mdsgdln_book.places import BOOK

    os.environ["MPLBACKEND"] = "agg"
    os.chdir(BOOK)
    shell = InteractiveShell.instance()
    first, *cells = code_cells(jupytext.read(chapters()[name]))
    start = time.perf_counter()
    run(shell, first)
    imported = time.perf_counter()
    compilations, drawn = [], Stopwatch()
    listen(compilations)
    watch_plots(drawn)
    for cell in cells:
        value = run(shell, cell).result
        if hasattr(value, "savefig"):
            drawn.call(value.savefig, io.BytesIO(), bbox_inches="tight")
    total = time.perf_counter() - imported
    compiled = covered(compilations)
    seconds = imported - start, compiled, drawn.seconds, total - compiled - drawn.seconds
    return dict(zip(CAUSES, seconds, strict=True))


def run(shell, cell):
    """Execute a cell and return what IPython says of it."""
    result = shell.run_cell(cell.source, silent=False)
    result.raise_error()
    return result


class Stopwatch:
    """Seconds spent in some functions; one that another calls is not counted twice."""

    def __init__(self):
        self.seconds, self.running = 0.0, False

    def call(self, function, *arguments, **options):
        """Call a function and add the time that it takes."""
        if self.running:
            return function(*arguments, **options)
        start, self.running = time.perf_counter(), True
        try:
            return function(*arguments, **options)
        finally:
            self.seconds, self.running = self.seconds + time.perf_counter() - start, False


def watch_plots(drawn):
    """Let a stopwatch run in every drawing function of the package."""
    from mdsgdln import plots

    for name, function in list(vars(plots).items()):
        if getattr(function, "__module__", "").startswith(plots.__name__):
            watched = functools.wraps(function)(functools.partial(drawn.call, function))
            setattr(plots, name, watched)


def listen(compilations):
    """Collect when JAX traced, lowered or compiled: they overlap where one contains another."""
    import jax

    def heard(name, seconds, **_):
        if name.startswith("/jax/core/compile/"):
            compilations.append((time.perf_counter() - seconds, time.perf_counter()))

    jax.monitoring.register_event_duration_secs_listener(heard)


def covered(intervals):
    """Return the length of a union of intervals."""
    total, last = 0.0, float("-inf")
    for start, end in sorted(intervals):
        total += max(0.0, end - max(start, last))
        last = max(last, end)
    return total


if __name__ == "__main__":
    if sys.argv[1:2] == ["--chapter"]:
        os.sched_setaffinity(0, {int(sys.argv[3])})
        print(json.dumps(chapter(sys.argv[2])))
    else:
        for name, seconds in measure(sys.argv[1:]).items():
            parts = "  ".join(f"{cause} {value:5.1f}" for cause, value in seconds.items())
            print(f"{name:20s} {sum(seconds.values()):5.1f}  {parts}")
