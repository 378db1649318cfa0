"""Tables of results that take longer than a chapter may.

`python -m mdsgdln_book.tables [name ...]` runs the experiments of `book/experiments/` and fills
`book/results/`, one file a table, with the code version, the settings and the libraries in it. A
chapter reads a table through `load`, which computes one of its entries anew and compares.
"""

import importlib
import json
import random
import sys
from pathlib import Path
from types import ModuleType

import jax
import numpy as np
import pandas as pd

from mdsgdln import records, sweeps, versions
from mdsgdln_book.experiments.grids import GRIDS, SENSITIVE, STATIC

BOOK = Path(__file__).resolve().parent
NAMES = sorted(GRIDS)
# Another machine rounds differently. A difference of numbers of order one, and what is zero but for
# rounding, has no relative error to speak of.
TOLERANCE = {"rtol": 1e-6, "atol": 1e-9}


def find(name: str) -> tuple[ModuleType, Path]:
    """Return the module and the results file of a table."""
    if name not in NAMES:
        raise ValueError(f"name: expected one of {NAMES}, got {name!r}")
    return importlib.import_module(
        f"mdsgdln_book.experiments.{name}"
    ), BOOK / f"results/{name}.jsonl"


def settings(name: str) -> list[dict]:
    """Return the settings of a table's runs."""
    return sweeps.grid(**GRIDS[name])


def is_fresh(name: str) -> bool:
    """Return whether a table holds all its settings, made by the code as it is now."""
    return set(fresh_rows(name)) >= set(map(sweeps.setting_key, settings(name)))


def fresh_rows(name: str) -> dict[str, dict]:
    """Return the records of a table by their setting, none if other code made them."""
    module, path = find(name)
    header, rows = records.read(path)
    if header is None or header["code"] != versions.code_digest(module.experiment):
        return {}
    return {sweeps.setting_key(row["setting"]): row for row in rows}


def fill(name: str) -> pd.DataFrame:
    """Compute what is missing in a table; one made by other code is begun again."""
    module, path = find(name)
    if not fresh_rows(name):
        path.unlink(missing_ok=True)
    return sweeps.sweep(module.experiment, settings(name), path, static=STATIC.get(name, ()))


def load(name: str, seed: int = 0) -> pd.DataFrame:
    """Return a table, after one entry, drawn by ``seed``, was computed anew and found equal.

    Raises:
        ValueError: the table is missing, older than its code, or its entry is not what comes out.
    """
    module, path = find(name)
    rows, runs = fresh_rows(name), settings(name)
    if not set(rows) >= set(map(sweeps.setting_key, runs)):
        raise ValueError(f"name: {path} is missing or older than its code; run make tables")
    drawn = random.Random(seed).choice(runs)
    stored = rows[sweeps.setting_key(drawn)]["results"]
    for result, value in module.experiment(**drawn).items():
        amplified = SENSITIVE.get(name, 0) * np.max(np.abs(stored[result]))
        limits = TOLERANCE | {"atol": max(TOLERANCE["atol"], amplified)}
        if not np.allclose(value, stored[result], **limits):
            raise ValueError(f"{path}: {result} of {drawn} was {stored[result]}, now is {value}")
    print(f"{len(runs)} runs; recomputed {drawn}: equal")
    return sweeps.table(runs, [rows[sweeps.setting_key(run)] for run in runs])


def cost(part: str) -> dict[str, dict]:
    """Return what `make bench` measured last: {device: {"code", "libraries", "results"}}.

    Raises:
        ValueError: that part was not measured yet.
    """
    path = BOOK / "results/cost.json"
    measured = json.loads(path.read_text(encoding="utf8")) if path.exists() else {}
    found = {device: parts[part] for device, parts in measured.items() if part in parts}
    if not found:
        raise ValueError(f"part: {part!r} is missing in {path}; run make bench")
    return found


if __name__ == "__main__":
    jax.config.update("jax_enable_x64", True)
    for table_name in sys.argv[1:] or NAMES:
        print(table_name)
        fill(table_name)
