"""Tables are filled, and everything is recomputed: the book without its tables has to say the same.

    python -m _ext.reproduction fill [--tables NAME ...] [--anew]
    python -m _ext.reproduction all [--tables NAME ...] [--chapters NAME ...]

Both go on where they stopped, for as long as the code stays.
"""

import argparse
import json
import math
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import jax
from joblib import Parallel, delayed
from tqdm import tqdm

from _ext.cores import cores
from _ext.execution import chapters
from _ext.references import REFERENCES
from mdsgdln_book import sweeps, tables
from mdsgdln_book.fingerprints import code_files, fingerprint
from mdsgdln_book.places import BOOK, ELSEWHERE, PACKAGE, RESULTS, ROOT

CORES = cores()
NBVAL = ["--nbval", "--nbval-current-env", "--nbval-cell-timeout=600"]  # seconds
BUILD = ROOT / "_build/reproduce"
# Of a process that has a core to itself.
ONE_THREAD = dict.fromkeys(("NPROC", "PJRT_NPROC", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")


def run(name: str, /, **setting) -> Mapping:
    """Run a table's experiment: a compiled one would go to processes with all that it uses."""
    return tables.find_table(name).experiment(**setting)


def fill(name: str, n_jobs: int = CORES) -> None:
    """Compute all rows of a table, and print their time; what there was stays until they are."""
    table, path = tables.find_table(name), tables.path_of(name)
    if not table.available():
        print(f"{name}: not filled, what it reads is not on this machine")
        return
    work = BUILD / code() / "rows" / path.name
    sweeps.sweep(partial(run, name), table.settings, work, n_jobs=n_jobs, progress=n_jobs > 1)
    work.replace(path)
    seconds = sum(row["seconds"] or 0 for row in tables.rows(name))
    print(f"{name}: {len(table.settings)} rows, {seconds:.0f} s", flush=True)


def expected(name: str) -> float:
    """Return how many seconds a table took when it was last filled."""
    rows = tables.find_table(name).rows(tables.path_of(name))
    return sum(row["seconds"] or 0 if row else math.inf for row in rows)


def fill_in_processes(names: Sequence[str], folder: Path = RESULTS, anew: bool = False) -> None:
    """Fill tables that lack rows, or all, the longest first, each by a process on a core.

    A process compiles once what rows share, and no core waits for another's last row.
    """
    rows = {name: tables.find_table(name).rows(folder / f"{name}.jsonl") for name in names}
    names = sorted((name for name in names if anew or None in rows[name]), key=expected)[::-1]
    here = os.environ | ONE_THREAD | {ELSEWHERE: str(folder)}
    jobs = str(CORES if len(names) == 1 else 1)
    command = [sys.executable, "-m", "_ext.reproduction", "fill", "--jobs", jobs, "--tables"]
    filled = (delayed(subprocess.run)([*command, n], cwd=ROOT, env=here, check=True) for n in names)
    list(tqdm(in_threads(filled), total=len(names), unit="table"))


def in_threads(calls):
    """Yield what calls return as they end, as many at once as there are cores."""
    return Parallel(CORES, "threading", return_as="generator_unordered")(calls)


def code() -> str:
    """Return a short name of what computes tables, but for comments."""
    return fingerprint([*code_files(), ROOT / "requirements.txt"])


def prepare(folder: Path, names: Sequence[str]) -> list[str]:
    """Make a folder for tables; return those that are taken as they are: not named, or no data."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(RESULTS / "cost.json", folder)  # timings are measured by `make bench`
    taken = []
    for name, table in tables.all_tables().items():
        path, recomputed = folder / f"{name}.jsonl", name in names and table.available()
        if path.is_symlink() or not recomputed:
            path.unlink(missing_ok=True)
        if not recomputed:
            path.symlink_to(tables.path_of(name))
            taken.append(name)
    return taken


def compare(folder: Path, chapter: str) -> str:
    """Execute a chapter on the tables of a folder; return how it differs from its reference."""
    reference = REFERENCES / f"{chapter}.ipynb"
    files = [*PACKAGE.rglob("*.py"), *folder.glob("*.json*"), *BOOK.glob("*.yml"), reference]
    same = folder / "same" / f"{chapter}-{fingerprint(files)}"
    if not same.exists():
        command = [sys.executable, "-m", "pytest", "-q", *NBVAL, str(reference)]
        options = {"env": os.environ | {ELSEWHERE: str(folder)}, "cwd": ROOT, "text": True}
        done = subprocess.run(command, capture_output=True, **options)
        if done.returncode:
            return done.stdout + done.stderr
        same.parent.mkdir(exist_ok=True)
        same.touch()
    return ""


def reproduce(names: Sequence[str] = (), pages: Sequence[str] = ()) -> dict:
    """Recompute tables, all or these, and execute chapters on them; return a summary."""
    folder = BUILD / (code() + "-part" * bool(names))
    names, pages = names or list(tables.all_tables()), pages or list(chapters())
    taken, differ = prepare(folder, names), {}
    fill_in_processes(names, folder)
    compared = in_threads(delayed(lambda page: (page, compare(folder, page)))(p) for p in pages)
    for page, text in (bar := tqdm(compared, total=len(pages), unit="chapter")):
        bar.write(f"{page}: {'differs' if text else 'the same'}", file=sys.stdout)
        differ |= {page: text} if text else {}
    print(*differ.values(), sep="\n")
    files = {name: folder / f"{name}.jsonl" for name in names if name not in taken}
    rows = [row for name, path in files.items() for row in tables.find_table(name).rows(path)]
    return {
        "tables": len(files),
        "rows": len(rows),
        "minutes": round(sum(row["seconds"] for row in rows) / 60),
        "not recomputed": [name for name in names if name in taken],
        "chapters": len(pages),
        "differ": list(differ),
    }


def main(arguments: Sequence[str]) -> int:
    """Do what the command line says; 1 if anything differs."""
    parser = argparse.ArgumentParser(prog="python -m _ext.reproduction")
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
        fill_in_processes(given.tables or list(tables.all_tables()), anew=given.anew)
    return 0


if __name__ == "__main__":
    jax.config.update("jax_enable_x64", True)
    sys.exit(main(sys.argv[1:]))
