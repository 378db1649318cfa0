"""The references again, with one thread and with two: ``make reproduce [CHAPTER=name]``.

The chapters are executed by nbval and what they print is compared, first by processes that are
bound to one core each, then by processes with two cores each.
"""

import os
import subprocess
import sys
from pathlib import Path

from mdsgdln_book.comparison import command
from mdsgdln_book.places import ROOT
from mdsgdln_book.references import REFERENCES


def passes(threads: int, references: list[Path]) -> bool:
    """Return whether references come out the same in processes of that many cores."""
    cores = sorted(os.sched_getaffinity(0))
    groups = [cores[i : i + threads] for i in range(0, len(cores) - threads + 1, threads)]
    groups = groups[: len(references)]
    if not groups:
        raise SystemExit(f"{threads} threads need as many cores; there are {len(cores)}")
    processes = []
    for number, group in enumerate(groups):
        part = references[number :: len(groups)]
        process = subprocess.Popen(command(part, timeout=600), cwd=ROOT)
        os.sched_setaffinity(process.pid, group)
        processes.append(process)
    return not any([process.wait() for process in processes])


if __name__ == "__main__":
    names = sys.argv[1:] or ["*"]
    found = [path for name in names for path in sorted(REFERENCES.glob(f"{name}.ipynb"))]
    for threads in (1, 2):
        print(f"{threads} thread{'s'[: threads > 1]}: {len(found)} chapters", flush=True)
        if not passes(threads, found):
            raise SystemExit(f"with {threads} threads a chapter printed something else")
