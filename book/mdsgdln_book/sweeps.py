"""Many runs of an experiment, one row each, kept in a file as they come.

An experiment is a function from a setting to named results, written for one run::

    table = sweep(experiment, grid(seed=range(100), scale=[1e-3, 1e-4]), "results.jsonl")

A line of the file is ``{"setting": ..., "results": ..., "failed": ..., "seconds": ...}``. A sweep
does not notice that code has changed: name another file then.
"""

import itertools
import json
import operator
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import jax
import joblib
import numpy as np
import pandas as pd
from tqdm import tqdm

from mdsgdln.training import DivergenceError

Setting = Mapping[str, Any]
Experiment = Callable[..., Mapping[str, Any]]
LISTED = operator.methodcaller("tolist")  # of numbers and arrays, which JSON does not know


def grid(**values: Iterable) -> list[dict]:
    """Return every combination of the given values, the last name changing fastest."""
    return [dict(zip(values, entry, strict=True)) for entry in itertools.product(*values.values())]


def sweep(
    experiment: Experiment,
    settings: Sequence[Setting],
    path: str | Path | None = None,
    *,
    n_jobs: int = 1,
    progress: bool = True,
) -> pd.DataFrame:
    """Run an experiment for every setting and return a table, one row a run, in the given order.

    Args:
        experiment: takes a setting's values by name and returns {name: number or array}. A run
            that raises ``DivergenceError`` or an ``ArithmeticError`` has failed; any other
            exception stops the sweep.
        settings: the runs, as from ``grid``.
        path: file to which rows are appended as they finish; runs that it holds are not repeated.
        n_jobs: processes of one thread each, -1 for one per core; 1 runs here.
        progress: show a progress bar.

    Returns:
        the settings, the results sorted by name, and ``failed``, which says why a run has no
        result and else is empty. Arrays are lists; what is not finite is NaN.

    Raises:
        ValueError: the file has a line that is not a row.
    """
    place = None if path is None else Path(path)
    found = {} if place is None or not place.exists() else by_setting(read(place))
    pending = [setting for setting in settings if setting_key(setting) not in found]
    if place is not None and pending:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(whole_lines(place) if place.exists() else b"")  # without one cut off
    calls = (joblib.delayed(run_once)(experiment, setting) for setting in pending)
    with open(place, "a") if place is not None and pending else nullcontext() as file:
        for row in tqdm(processes(n_jobs)(calls), total=len(pending), disable=not progress):
            if file is not None:
                print(json.dumps(row, default=LISTED), file=file, flush=True)
            found |= by_setting([with_nan(row)])
    return as_table([found[setting_key(setting)] for setting in settings])


def processes(n_jobs: int):
    """Return joblib's workers: this process, or others of one thread, with this one's precision."""
    if joblib.effective_n_jobs(n_jobs) == 1:
        return joblib.Parallel(1, return_as="generator")
    starting = {"initializer": set_precision, "initargs": (bool(jax.config.jax_enable_x64),)}
    with joblib.parallel_config("loky", inner_max_num_threads=1, **starting):
        return joblib.Parallel(n_jobs, return_as="generator_unordered")


def set_precision(double: bool) -> None:
    """Compute in double precision, or in single."""
    jax.config.update("jax_enable_x64", double)


def run_once(experiment: Experiment, setting: Setting) -> dict:
    """Return the row of a run, as JSON has it: lists for arrays, None for what is not finite."""
    start, failed, results = time.perf_counter(), "", {}
    try:
        results = {name: np.asarray(value) for name, value in experiment(**setting).items()}
    except (DivergenceError, ArithmeticError) as error:
        failed = str(error) or type(error).__name__
    if bad := sorted(name for name, value in results.items() if not np.isfinite(value).all()):
        failed = f"not finite: {', '.join(bad)}"
    null = np.array(None)
    plain = {name: np.where(np.isfinite(v), v, null).tolist() for name, v in results.items()}
    seconds = round(time.perf_counter() - start, 3)
    return {"setting": dict(setting), "results": plain, "failed": failed, "seconds": seconds}


def read(path: Path) -> list[dict]:
    """Return the rows of a file; a last line that a crash cut off is left out.

    Raises:
        ValueError: a line is not a row.
    """
    rows = []
    for number, line in enumerate(whole_lines(path).splitlines(), start=1):
        try:
            rows.append(with_nan(json.loads(line)))
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"path: line {number} of {path} is no row: {line!r:.80}") from error
    return rows


def setting_key(setting: Setting) -> str:
    """Return a text that tells settings apart, whatever the order of their names."""
    return json.dumps(setting, sort_keys=True, default=LISTED)


def by_setting(rows: Iterable[dict]) -> dict[str, dict]:
    """Return rows by the keys of their settings; of two the last."""
    return {setting_key(row["setting"]): row for row in rows}


def whole_lines(path: Path) -> bytes:
    """Return a file's content up to its last line feed."""
    content = path.read_bytes()
    return content[: content.rfind(b"\n") + 1]


def with_nan(row: dict) -> dict:
    """Return a row with NaN in place of None among its results."""
    results = {name: filled(value) for name, value in row["results"].items()}
    return row | {"results": results}


def filled(value: Any) -> Any:
    """Return a number or nested lists with NaN in place of None."""
    if isinstance(value, list):
        return [filled(entry) for entry in value]
    return np.nan if value is None else value


def as_table(rows: Sequence[dict]) -> pd.DataFrame:
    """Return one row a run: settings, results sorted by name, ``failed``."""
    settings = dict.fromkeys(name for row in rows for name in row["setting"])
    results = sorted({name for row in rows for name in row["results"]})
    records = [{**row["setting"], **row["results"], "failed": row["failed"]} for row in rows]
    return pd.DataFrame(records, columns=[*settings, *results, "failed"])
