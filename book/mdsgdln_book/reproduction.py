"""Tables are filled and recomputed: drawn rows by the tests of each commit, all of them here.

    python -m mdsgdln_book.reproduction fill [--all] [table ...]
    python -m mdsgdln_book.reproduction verify [--draw DRAW] [table ...]

Both go on where they stopped. What was done so far lies in `_build/`.
"""

import argparse
import hashlib
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from functools import cache, partial
from multiprocessing import get_context
from pathlib import Path
from shutil import copyfile

import jax
import numpy as np
from threadpoolctl import threadpool_limits

from mdsgdln import sweeps
from mdsgdln._results import git
from mdsgdln._runs import begin, configuration
from mdsgdln_book import tables, verification
from mdsgdln_book.places import ROOT
from mdsgdln_book.tables import Table

CORES, BUDGET = 2, 120  # seconds on that many cores that all drawn rows together may take
TURNS, CHEAP = 8, 4  # commits until a table's turn comes again; seconds of tables that take none


# What is drawn -----------------------------------------------------------------------------------


def draw() -> str:
    """Return what decides which rows are drawn: a turn and a commit, or the variable DRAW.

    The turn counts the commits of the branch; a clone without its history takes the commit's hash.
    """
    if os.environ.get("DRAW"):
        return os.environ["DRAW"]
    commit = git(ROOT, "rev-parse", "HEAD")
    if commit is None:
        return "0-none"
    commit, number = commit[:12], int(commit[:12], 16)
    if git(ROOT, "rev-parse", "--is-shallow-repository") == "false":
        number = int(git(ROOT, "rev-list", "--count", "--first-parent", "HEAD"))
    return f"{number % TURNS}-{commit}"


def drawn(draw: str) -> dict[str, dict]:
    """Return {table: the setting drawn}: all cheap tables, and dear ones whose turn it is."""
    turn, _, _ = draw.partition("-")
    if turn not in map(str, range(TURNS)):
        raise ValueError(f"draw: expected a turn below {TURNS} and a commit, 3-1a2b, got {draw!r}")
    chosen = {}
    for name in sorted(turns()[int(turn)]):
        number = int(hashlib.sha256(f"{draw} {name}".encode()).hexdigest(), 16)
        settings = tables.find(name).settings
        chosen[name] = settings[number % len(settings)]
    return chosen


def turns() -> list[list[str]]:
    """Return the tables of every turn: those that are cheap, and of the others a balanced part."""
    found = tables.every().items()
    seconds = {name: table.seconds for name, table in found if table.available()}
    cheap = [name for name in seconds if seconds[name] <= CHEAP]
    found = [cheap.copy() for _ in range(TURNS)]
    for name in sorted(seconds.keys() - cheap, key=lambda name: (-seconds[name], name)):
        min(found, key=lambda turn: sum(map(seconds.get, turn))).append(name)
    return found


# What moved --------------------------------------------------------------------------------------


def moves(table: Table, old: Mapping, new: Mapping) -> dict[str, tuple[float, str]]:
    """Return how far each result of a row moved over its tolerance, and this in words.

    Infinitely far is what one of them lacks, or has in another shape, or not finite.
    """
    found = {}
    for name in sorted(old["results"].keys() | new["results"].keys()):
        before, now = (row["results"].get(name) for row in (old, new))
        if np.shape(before) != np.shape(now) or before is None or now is None:
            shapes = [f"shape {np.shape(v)}" if v is not None else "none" for v in (before, now)]
            found[name] = np.inf, f"{name} had {shapes[0]}, now has {shapes[1]}"
            continue
        before, now = np.asarray(before) * 1, np.asarray(now) * 1  # yes and no are 1 and 0
        largest = np.abs(now).max(initial=0, where=np.isfinite(now))
        tolerance = table.atol + table.loose.get(name, table.rtol) * largest
        same = (before == now) | (np.isnan(before) & np.isnan(now))
        moved = np.where(same, 0, np.nan_to_num(np.abs(now - before), nan=np.inf))
        at = np.unravel_index(np.argmax(moved), moved.shape)
        place = f"{name}{list(map(int, at))}" if at else name
        words = f"{place} was {before[at]}, now is {now[at]}; tolerance {tolerance:.1e}"
        found[name] = float(moved[at] / tolerance), words
    return found


def failures(name: str, old: Mapping, new: Mapping) -> list[str]:
    """Return what of a row was not reproduced: row, result, both values and the tolerance."""
    moved = moves(tables.find(name), old, new).values()
    return [f"{name} {old['setting']}: {words}" for far, words in moved if far > 1]


def recompute(name: str, setting: Mapping, here: bool = False) -> tuple[dict, dict]:
    """Return the row of a setting as it is stored, and as it comes out now.

    Tables are made by processes of one thread, and two threads round differently: so this is done
    in such a process, too, unless ``here``.
    """
    stored = tables.rows(name)[tables.find(name).settings.index(setting)]
    if here:
        return stored, _row(name, setting)
    process = _process(tuple(configuration().items()))
    return stored, process.submit(_row, name, setting).result()


def _row(name: str, setting: Mapping) -> dict:
    with threadpool_limits(1):  # of BLAS
        (row,) = sweeps.sweep(partial(_run, name), [setting], progress=False).to_dict("records")
    results = row.keys() - setting.keys() - {"failed"}
    return {"setting": setting, "results": {result: row[result] for result in results}}


@cache
def _process(values: tuple) -> Executor:
    """Return a process with one thread of XLA, and with JAX's configuration as it is here."""
    return ProcessPoolExecutor(1, get_context("spawn"), begin, [dict(values)])


# All rows ----------------------------------------------------------------------------------------


def verify(names: Sequence[str], n_jobs: int = CORES) -> list[str]:
    """Recompute all rows of some tables and return what was not reproduced.

    Rows that the same code has recomputed before are not run again. Committed code leaves an entry
    for each table.
    """
    made_by, found = sweeps.provenance(verify), []
    for name in names:
        table = tables.find(name)
        path = ROOT / "_build" / "verify" / f"{name}-{verification.code(name)}.jsonl"
        if not table.available():
            print(f"{name}: not compared, what it reads is not on this machine")
            continue
        _sweep(name, path, n_jobs)
        pairs = list(zip(tables.rows(name), table.rows(path), strict=True))
        print(f"{name}: {summary(table, pairs)}")
        lost = [line for pair in pairs for line in failures(name, *pair)]
        if made_by["dirty"] is False:
            verification.write(name, made_by, [now["seconds"] for _, now in pairs], lost)
        found += lost
    return found


def _sweep(name: str, path: Path, n_jobs: int) -> None:
    """Run what a file lacks of a table."""
    table = tables.find(name)
    note = {"table": name, "version": table.version}
    sweeps.sweep(partial(_run, name), table.settings, path, n_jobs=n_jobs, note=note)


def _run(name: str, /, **setting) -> Mapping:
    """Run a table's experiment: a compiled one would go to processes with all that it uses."""
    return tables.find(name).experiment(**setting)


def summary(table: Table, pairs: Sequence[tuple[Mapping, Mapping]]) -> str:
    """Return in words how many rows moved, and how far."""
    rows = [moves(table, *pair) for pair in pairs]
    farthest = [max((far for far, _ in row.values()), default=0) for row in rows]
    moved, beyond = sum(far > 0 for far in farthest), sum(far > 1 for far in farthest)
    text = f"{len(rows)} rows compared, {moved} moved, {beyond} beyond the tolerance"
    if moved:
        far, words = max(value for row in rows for value in row.values())
        text += f"; farthest, {far:.2g} tolerances: {words}"
    return text


def fill(name: str, n_jobs: int = CORES, anew: bool = False) -> None:
    """Compute what a table lacks, or all of it anew, and print what became of its former rows."""
    table, path = tables.find(name), tables.file_of(name)
    former = table.rows(path)
    if None not in former and not anew:
        return
    if not table.available():
        print(f"{name}: not filled, what it reads is not on this machine")
        return
    work = ROOT / "_build" / "tables" / f"{name}-{table.version}.jsonl"
    if not work.exists() and not anew and any(former):
        work.parent.mkdir(parents=True, exist_ok=True)
        copyfile(path, work)
    _sweep(name, work, n_jobs)
    pairs = [(old, now) for old, now in zip(former, table.rows(work), strict=True) if old]
    work.replace(path)
    print(f"{name}: {summary(table, pairs)}")


def main(arguments: Sequence[str]) -> Iterator[str]:
    """Do what the command line says; yield what was not reproduced."""
    parser = argparse.ArgumentParser(prog="python -m mdsgdln_book.reproduction")
    commands = parser.add_subparsers(dest="command", required=True)
    filling = commands.add_parser("fill", help="named tables anew, else what is missing in any")
    filling.add_argument("--all", action="store_true", help="all tables anew")
    verifying = commands.add_parser("verify", help="recompute all rows and compare")
    verifying.add_argument("--draw", help="recompute these rows only: what a test has printed")
    for command in (filling, verifying):
        command.add_argument("tables", nargs="*")
    given = parser.parse_args(arguments)
    names = given.tables or list(tables.every())
    if given.command == "fill":
        for name in names:
            fill(name, anew=given.all or bool(given.tables))
    elif given.draw:
        for name, setting in drawn(given.draw).items():
            print(name, setting)
            yield from failures(name, *recompute(name, setting))
    else:
        yield from verify(names)


if __name__ == "__main__":
    jax.config.update("jax_enable_x64", True)
    sys.exit("\n".join(main(sys.argv[1:])) or None)
