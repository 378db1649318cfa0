"""Tables of results that take longer than a chapter may, kept in `results/`, one file a table.

Each module of `experiments/` says at its end which tables it makes. A table is a cache: it is right
if the book computed without it says the same, which `make reproduce` finds out.
"""

import importlib
import json
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pandas as pd

from mdsgdln_book import experiments, sweeps
from mdsgdln_book.places import RESULTS
from mdsgdln_book.sweeps import setting_key


@dataclass(frozen=True)
class Table:
    """Which runs a table holds.

    Attributes:
        experiment: takes a setting's values by name and returns {name: number or array}.
        settings: the runs, as from ``sweeps.grid``.
        repeated: numbers of the runs that the tests repeat, one for each kind of run: cheap ones
            that survive other processors.
        available: whether the data that the runs read are on this machine; where they are not, the
            table is neither filled nor recomputed.
    """

    experiment: Callable[..., Mapping]
    settings: list[dict]
    repeated: tuple[int, ...] = (0,)
    available: Callable[[], bool] = lambda: True

    def rows(self, path: Path) -> list[dict | None]:
        """Return the rows of this table in a file: the row of each setting, None if it lacks it."""
        rows = sweeps.read(path) if path.exists() else []
        found = sweeps.by_setting(rows)
        return [found.get(setting_key(setting)) for setting in self.settings]


@cache
def all_tables() -> dict[str, Table]:
    """Return all tables by name. Their modules are imported here, when JAX's precision is set."""
    found: dict[str, Table] = {}
    for module in pkgutil.iter_modules(experiments.__path__, f"{experiments.__name__}."):
        found |= getattr(importlib.import_module(module.name), "TABLES", {})
    return dict(sorted(found.items()))


def path_of(name: str) -> Path:
    """Return the file of a table."""
    return RESULTS / f"{name}.jsonl"


def rows(name: str) -> list[dict]:
    """Return the rows of a table as ``sweeps.read`` does, one for each of its settings.

    Raises:
        KeyError: there is no such table.
        ValueError: runs are missing in it.
    """
    table = all_tables()[name]
    found = table.rows(path_of(name))
    if missing := found.count(None):
        raise ValueError(
            f"name: {path_of(name)} lacks {missing} of {len(table.settings)} runs; run make tables"
        )
    return found


def load(name: str) -> pd.DataFrame:
    """Return a table, one row a run: the setting, the results by name, and ``failed``.

    Raises:
        ValueError: as ``rows``.
    """
    runs = zip(all_tables()[name].settings, rows(name), strict=True)
    return sweeps.as_table([row | {"setting": setting} for setting, row in runs])


def cost(part: str) -> dict[str, dict]:
    """Return the last results of `make bench`: {device: {"commit", "libraries", "results"}}."""
    measured = json.loads((RESULTS / "cost.json").read_text(encoding="utf8"))
    return {device: parts[part] for device, parts in measured.items() if part in parts}
