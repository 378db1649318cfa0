"""Tables are filled, and everything is recomputed: the book without its tables has to say the same.

    python .ci/reproduce.py fill [--tables NAME ...] [--anew]
    python .ci/reproduce.py all [--tables NAME ...] [--chapters NAME ...]

Both keep the rows that they have computed, for as long as the code stays.
"""

import argparse
import json
import math
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path

import jax
from joblib import Parallel, delayed
from tqdm import tqdm

from _ext.cores import cores
from _ext.execution import chapters
from _ext.references import REFERENCES
from mdsgdln_book import sweeps, tables
from mdsgdln_book.fingerprints import code_files, fingerprint, short_hash
from mdsgdln_book.places import ELSEWHERE, RESULTS, ROOT

CORES = cores()
NBVAL = ["--nbval", "--nbval-current-env", "--nbval-cell-timeout=600"]  # seconds
BUILD = ROOT / "_build/reproduce"
# Of a process that has a core to itself.
ONE_THREAD = dict.fromkeys(("NPROC", "PJRT_NPROC", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")


def code() -> str:
    """Return a short name of what computes tables, but for comments."""
    return fingerprint([*code_files(), ROOT / "requirements.txt"])


def run(name: str, /, **setting) -> Mapping:
    """Run a table's experiment: a compiled one would go to processes with all that it uses."""
    return tables.all_tables()[name].experiment(**setting)


def fill(name: str, n_jobs: int = CORES) -> None:
    """Compute all rows of a table, and print their time; what there was stays until they are."""
    table, path = tables.all_tables()[name], tables.path_of(name)
    if not table.available():
        print(f"{name}: not filled, what it reads is not on this machine")
        return
    work = BUILD / code() / "rows" / path.name
    sweeps.sweep(partial(run, name), table.settings, work, n_jobs=n_jobs, progress=n_jobs > 1)
    work.replace(path)
    print(f"{name}: {len(table.settings)} rows, {seconds(name):.0f} s", flush=True)


def seconds(name: str, folder: Path | None = None) -> float:
    """Return how long the rows of a table took; infinity where it lacks some."""
    path = tables.path_of(name)
    rows = tables.all_tables()[name].rows(folder / path.name if folder else path)
    return sum(row["seconds"] or 0 if row else math.inf for row in rows)


def fill_in_processes(names: Iterable[str], folder: Path = RESULTS, anew: bool = False) -> None:
    """Fill tables that lack rows, or all, the longest first, each by a process on a core.

    A process compiles once what rows share, and no core waits for another's last row.
    """
    names = [name for name in names if anew or math.isinf(seconds(name, folder))]
    names.sort(key=seconds, reverse=True)
    here = os.environ | ONE_THREAD | {ELSEWHERE: str(folder)}
    jobs = str(CORES if len(names) == 1 else 1)
    command = [sys.executable, __file__, "fill", "--jobs", jobs, "--tables"]
    filled = (delayed(subprocess.run)([*command, n], cwd=ROOT, env=here, check=True) for n in names)
    list(tqdm(in_threads(filled), total=len(names), unit="table"))


def in_threads(calls: Iterable) -> Iterable:
    """Return what calls return, as they end; as many run at once as there are cores."""
    return Parallel(CORES, "threading", return_as="generator_unordered")(calls)


def compare(folder: Path, chapter: str) -> tuple[str, str]:
    """Execute a chapter on the tables of a folder; return how it differs from its reference."""
    command = [sys.executable, "-m", "pytest", "-q", *NBVAL, str(REFERENCES / f"{chapter}.ipynb")]
    here = os.environ | {ELSEWHERE: str(folder)}
    done = subprocess.run(command, capture_output=True, env=here, cwd=ROOT, text=True)
    return chapter, (done.stdout + done.stderr) * bool(done.returncode)


def reproduce(names: Sequence[str] = (), pages: Sequence[str] = ()) -> dict:
    """Recompute tables, all or these, and execute chapters on them; return a summary."""
    names, pages = names or list(tables.all_tables()), pages or list(chapters())
    computed = [name for name in names if tables.all_tables()[name].available()]
    folder = BUILD / code() / short_hash(*computed)
    others = shutil.ignore_patterns(*(f"{name}.jsonl" for name in computed))
    shutil.copytree(RESULTS, folder, ignore=others, dirs_exist_ok=True)
    fill_in_processes(computed, folder)
    compared = in_threads(delayed(compare)(folder, page) for page in pages)
    differ = {}
    for page, text in (bar := tqdm(compared, total=len(pages), unit="chapter")):
        bar.write(f"{page}: {'differs' if text else 'the same'}", file=sys.stdout)
        differ |= {page: text} if text else {}
    print(*differ.values(), sep="\n")
    return {
        "tables": len(computed),
        "rows": sum(len(tables.all_tables()[name].settings) for name in computed),
        "minutes": round(sum(seconds(name, folder) for name in computed) / 60),
        "not recomputed": [name for name in names if name not in computed],
        "chapters": len(pages),
        "differ": list(differ),
    }


def main(arguments: Sequence[str]) -> int:
    """Do what the command line says; 1 if anything differs."""
    parser = argparse.ArgumentParser(prog="python .ci/reproduce.py")
    parser.add_argument("command", choices=["fill", "all"])
    for option, known in (("--tables", tables.all_tables()), ("--chapters", chapters())):
        parser.add_argument(option, nargs="*", default=[], metavar="NAME", choices=list(known))
    parser.add_argument("--anew", action="store_true", help="not only tables that lack rows")
    parser.add_argument("--jobs", type=int, help="fill the tables in this process")
    given = parser.parse_args(arguments)
    if given.command == "all":
        found = reproduce(given.tables, given.chapters)
        print(json.dumps(found, indent=1))
        return bool(found["differ"])
    if given.jobs:
        for name in given.tables:
            fill(name, given.jobs)
    else:
        fill_in_processes(given.tables or tables.all_tables(), anew=given.anew)
    return 0


if __name__ == "__main__":
    jax.config.update("jax_enable_x64", True)
    sys.exit(main(sys.argv[1:]))
