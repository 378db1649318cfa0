"""Many runs: an experiment over seeds and hyper-parameters, resumable, on one process or many.

An experiment is a function from a setting to named results, written for one run::

    table = sweep(experiment, grid(seed=range(100), scale=[1e-3, 1e-4]), "results.jsonl")

Files are JSON lines: ``{"header": ...}`` says what makes the rows after it, and a run is
``{"setting": ..., "results": ..., "failed": ..., "seconds": ...}``.
"""

import itertools
import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing, nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pandas as pd
from jax.sharding import AxisType, NamedSharding, PartitionSpec
from jaxtyping import Array
from tqdm import tqdm

from mdsgdln import _checks as checks
from mdsgdln._results import FilePath, appended, parsed, provenance, read
from mdsgdln._runs import Experiment, Setting, line, lines, made_elsewhere

__all__ = ["grid", "load", "over_seeds", "provenance", "read", "sweep"]


def grid(**values: Iterable) -> list[dict]:
    """Return every combination of the given values, the last name changing fastest."""
    if not values:
        raise ValueError("values: expected at least one name with its values, got none")
    for name, value in values.items():
        checks.several(name, value)
    lists = {name: list(value) for name, value in values.items()}
    for name, entries in lists.items():
        if not entries:
            raise ValueError(f"{name}: expected at least one value, got none")
    return [
        dict(zip(lists, entries, strict=True)) for entries in itertools.product(*lists.values())
    ]


def sweep(
    experiment: Experiment,
    settings: Sequence[Setting],
    path: FilePath | None = None,
    *,
    n_jobs: int = 1,
    shard: tuple[int, int] | None = None,
    progress: bool = True,
    note: Any = None,
) -> pd.DataFrame:
    """Run an experiment for every setting and return a table, one row a run, in the given order.

    With ``n_jobs`` above one, runs go to new processes of one thread each; inside of
    ``joblib.parallel_config("dask")`` to the workers of the Dask cluster. JAX's configuration goes
    along. In a Slurm array every task has a ``shard`` and a file of its own; ``load`` joins them.

    Args:
        experiment: takes a setting's values by name and returns {name: number or array}; any
            callable. A run that raises ``DivergenceError`` or an ``ArithmeticError`` has failed;
            any other exception stops the sweep.
        settings: the runs, as from ``grid``, all with the same names.
        path: file to which results are appended as they finish. Settings that it holds are not run
            again, whatever code made them; the order of names means nothing, 1 and 1.0 are two.
        n_jobs: processes, -1 for one per core; 1 runs here.
        shard: ``(i, n)`` runs every n-th setting only, from number i on.
        progress: show a progress bar.
        note: kept in the file's header, next to ``provenance``; anything that JSON can hold.

    Returns:
        the settings, the results sorted by name, and ``failed``, which says why a run has no finite
        result and else is empty. Arrays are lists; infinity is NaN.

    Raises:
        ValueError: unequal names, a setting given twice, results that are not numbers, or a file
            that something else writes or has written.
    """
    checks.function("experiment", experiment)
    settings = _check_settings(settings)
    checks.instance("path", path, FilePath | None)
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, int) or n_jobs == 0:
        raise ValueError(f"n_jobs: expected a number of processes, or -1, got {n_jobs!r:.80}")
    first, step = _check_shard(shard)
    settings = settings[first::step]
    try:
        json.dumps(note, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ValueError(f"note: expected what JSON can hold, got {note!r:.80}") from error
    rows = _by_setting(read(path) if path is not None and Path(path).exists() else [])
    pending = [setting for setting in settings if _key(setting) not in rows]
    file: Any = nullcontext()
    if path is not None and pending:
        header = provenance(experiment) | made_elsewhere(n_jobs)
        header |= {} if note is None else {"note": note}
        file = appended(Path(path), header)
    bar = tqdm(total=len(settings), initial=len(settings) - len(pending), disable=not progress)
    with file as append, bar, closing(lines(experiment, pending, n_jobs)) as finished:
        for text in finished:
            if append is not None:
                append(text)
            rows |= _by_setting([parsed(text)])
            bar.update()
    return _frame([rows[_key(setting)] | {"setting": setting} for setting in settings])


def load(*paths: FilePath) -> pd.DataFrame:
    """Return the table of one file or several; of a setting given twice, the last row."""
    if not paths:
        raise ValueError("paths: expected at least one file, got none")
    for path in paths:
        checks.instance("paths", path, FilePath)
    return _frame(list(_by_setting(row for path in paths for row in read(path)).values()))


def over_seeds(experiment: Experiment, seeds: Iterable[int], at_once: int = 64) -> pd.DataFrame:
    """Run an experiment of a seed for many seeds at once, spread over all devices.

    It is compiled and vectorised over ``seed``, so it is built of JAX functions; it returns
    {name: Array}.

    Args:
        experiment: takes ``seed``.
        seeds: the runs.
        at_once: runs in a program, rounded up to a multiple of the devices; bounds the memory.

    Returns:
        as ``sweep`` does for ``grid(seed=seeds)``.
    """
    checks.function("experiment", experiment)
    checks.several("seeds", seeds)
    settings = _check_settings([{"seed": seed} for seed in seeds], "seeds")
    devices = jax.devices()
    size = -(-checks.positive_integer("at_once", at_once) // len(devices)) * len(devices)
    # Not explicit: broadcasts in an experiment need not say over which devices they go.
    mesh = jax.make_mesh((len(devices),), ("seeds",), axis_types=(AxisType.Auto,))
    sharding = NamedSharding(mesh, PartitionSpec("seeds"))
    rows = []
    for first in range(0, len(settings), size):
        chunk = settings[first : first + size]
        # One shape, so that it is compiled once.
        numbers = np.resize([setting["seed"] for setting in chunk], size)
        results = jax.device_get(_vectorised(experiment, jax.device_put(numbers, sharding)))
        for index, setting in enumerate(chunk):
            pick = {name: value[index] for name, value in results.items()}
            rows.append(parsed(line(lambda seed, pick=pick: pick, setting)))
    return _frame(rows)


@partial(jax.jit, static_argnums=0)
def _vectorised(experiment: Experiment, seeds: Array) -> Mapping[str, Array]:
    return jax.vmap(lambda seed: experiment(seed=seed))(seeds)


def _check_settings(settings: Sequence[Setting], argument: str = "settings") -> list[dict]:
    """Return the settings as plain values, all with the same names and none twice."""
    checks.several(argument, settings)
    plain: list[dict] = []
    for setting in settings:
        checks.instance(argument, setting, Mapping)
        values = {n: v.item() if isinstance(v, np.generic) else v for n, v in setting.items()}
        plain.append(values)
        if set(values) != set(plain[0]):
            raise ValueError(
                f"{argument}: expected the names {sorted(plain[0])} in all, got {sorted(values)}"
            )
        for name, value in values.items():
            number = isinstance(value, bool | int | float) and np.isfinite(value)
            if not number and not isinstance(value, str):
                raise ValueError(
                    f"{argument}: expected a finite number or text for {name}, got {value!r:.80}"
                )
    if not plain:
        raise ValueError(f"{argument}: expected at least one, got none")
    seen = set()
    for key in map(_key, plain):
        if key in seen:
            raise ValueError(f"{argument}: expected each once, got {key} several times")
        seen.add(key)
    return plain


def _check_shard(shard: tuple[int, int] | None) -> tuple[int, int]:
    """Return ``(i, n)``, or ``(0, 1)`` for all settings."""
    if shard is None:
        return 0, 1
    whole = isinstance(shard, Sequence) and all(type(number) is int for number in shard)
    if not whole or len(shard) != 2 or not 0 <= shard[0] < shard[1]:
        raise ValueError(f"shard: expected (i, n) with 0 <= i < n, got {shard!r:.80}")
    return shard[0], shard[1]


def _key(setting: Setting) -> str:
    """Return a text that tells settings apart, whatever the order of their names."""
    return json.dumps(setting, sort_keys=True)


def _by_setting(rows: Iterable[dict]) -> dict[str, dict]:
    return {_key(row["setting"]): row for row in rows}


def _frame(rows: Sequence[dict]) -> pd.DataFrame:
    """Return one row a run: settings, results sorted by name, ``failed``."""
    settings = dict.fromkeys(name for row in rows for name in row["setting"])
    results = sorted({name for row in rows for name in row["results"]})
    records = [{**row["setting"], **row["results"], "failed": row["failed"]} for row in rows]
    return pd.DataFrame(records, columns=[*settings, *results, "failed"])


def __dir__() -> list[str]:
    return __all__
