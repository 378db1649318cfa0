"""Many runs: an experiment over seeds and hyper-parameters, resumable, on one process or many.

An experiment is a function from a setting to named results, written for one run::

    table = sweep(experiment, grid(seed=range(100), scale=[1e-3, 1e-4]), "results.jsonl")

Files are JSON lines: ``{"header": ...}`` says what makes the rows after it, and a run is
``{"setting": ..., "results": ..., "failed": ..., "seconds": ...}``. A sweep goes on with a file
only where all its headers say what makes rows now.
"""

import inspect
import itertools
import json
import math
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import jax
import joblib
import numpy as np
import pandas as pd
from tqdm import tqdm

from mdsgdln import __version__
from mdsgdln_book.fingerprints import code_files, content, fingerprint, short_hash
from mdsgdln_book.runs import Experiment, Setting, check_settings, run_outcomes, setting_key

__all__ = ["grid", "load", "read", "sweep"]
__dir__ = __all__.copy  # what completion shows

FilePath = str | os.PathLike
ROW = ("setting", "results", "failed", "seconds")


def grid(**values: Iterable) -> list[dict]:
    """Return every combination of the given values, the last name changing fastest."""
    if not values:
        raise ValueError("values: expected at least one name with its values, got none")
    lists = {}
    for name, value in values.items():
        if isinstance(value, str):  # a list of its letters else
            raise ValueError(f"{name}: expected a list of values, got {value!r:.80}")
        lists[name] = list(value)
        if not lists[name]:
            raise ValueError(f"{name}: expected at least one value, got none")
    return [dict(zip(lists, entry, strict=True)) for entry in itertools.product(*lists.values())]


def sweep(
    experiment: Experiment,
    settings: Sequence[Setting],
    path: FilePath | None = None,
    *,
    n_jobs: int = 1,
    progress: bool = True,
) -> pd.DataFrame:
    """Run an experiment for every setting and return a table, one row a run, in the given order.

    With ``n_jobs`` above one, runs go to new processes of one thread each, with the caller's
    configuration of JAX. In a Slurm array, task i of n takes ``settings[i::n]`` and a file of its
    own.

    Args:
        experiment: takes a setting's values by name and returns {name: number or array}; any
            callable. A run that raises ``DivergenceError`` or an ``ArithmeticError`` has failed;
            any other exception stops the sweep.
        settings: the runs, as from ``grid``, all with the same names.
        path: file to which results are appended as they finish. Settings that it holds are not run
            again; the order of names means nothing, 1 and 1.0 are two. What the rows depend on has
            to be the same: both packages, the file that defines the experiment (in a notebook, its
            source alone), libraries, precision, variables, processor and device.
        n_jobs: processes, -1 for one per core; 1 runs here.
        progress: show a progress bar.

    Returns:
        the settings, the results sorted by name, and ``failed``, which says why a run has no finite
        result and else is empty. Arrays are lists; infinity is NaN.

    Raises:
        ValueError: unequal names, a setting given twice, results that are not numbers, or a file
            that something else writes or that other code has written.
    """
    settings = check_settings(settings)
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, int) or n_jobs == 0:
        raise ValueError(f"n_jobs: expected a number of processes, or -1, got {n_jobs!r:.80}")
    header = None if path is None else _header(experiment)
    rows = {} if path is None else _by_setting(_resumed(Path(path), header))
    pending = [setting for setting in settings if setting_key(setting) not in rows]
    file = nullcontext() if path is None or not pending else _appended(Path(path), header)
    bar = tqdm(total=len(settings), initial=len(settings) - len(pending), disable=not progress)
    with file as append, bar, closing(run_outcomes(experiment, pending, n_jobs)) as finished:
        for outcome in finished:
            if isinstance(outcome, Exception):
                raise outcome
            if append is not None:
                append(outcome)
            rows |= _by_setting([_parsed(outcome)])
            bar.update()
    return _frame([rows[setting_key(setting)] | {"setting": setting} for setting in settings])


def load(*paths: FilePath) -> pd.DataFrame:
    """Return the table of one file or several; of a setting given twice, the last row."""
    if not paths:
        raise ValueError("paths: expected at least one file, got none")
    return _frame(list(_by_setting(row for path in paths for row in read(path)).values()))


def read(path: FilePath) -> list[dict]:
    """Return the runs of a file: setting, results, failed, seconds, and the header above them.

    What is not finite is NaN. A last line without an end, cut off by a crash, is left out.
    """
    if not Path(path).is_file():
        raise ValueError(f"path: expected a file of results, there is none at {path}")
    rows, header = [], None
    for number, line in enumerate(_whole(Path(path)).splitlines(), start=1):
        try:
            entry = _parsed(line)
            if "header" in entry:
                header = entry["header"]
            else:
                rows.append({name: entry[name] for name in ROW} | {"header": header})
        except (ValueError, TypeError, KeyError) as error:
            raise ValueError(
                f"path: expected a line of JSON with {list(ROW)}, line {number} of {path} is "
                f"{line!r:.80}"
            ) from error
    return rows


def _by_setting(rows: Iterable[dict]) -> dict[str, dict]:
    return {setting_key(row["setting"]): row for row in rows}


def _frame(rows: Sequence[dict]) -> pd.DataFrame:
    """Return one row a run: settings, results sorted by name, ``failed``."""
    settings = dict.fromkeys(name for row in rows for name in row["setting"])
    results = sorted({name for row in rows for name in row["results"]})
    records = [{**row["setting"], **row["results"], "failed": row["failed"]} for row in rows]
    return pd.DataFrame(records, columns=[*settings, *results, "failed"])


def _parsed(line: str | bytes) -> dict:
    """Return the entry of a line, NaN in place of null among the results."""
    entry = json.loads(line)
    if "results" in entry:
        entry["results"] = {name: _with_nan(value) for name, value in entry["results"].items()}
    return entry


def _with_nan(value: Any) -> Any:
    if isinstance(value, list):
        return [_with_nan(entry) for entry in value]
    return math.nan if value is None else value


def _whole(path: Path) -> bytes:
    """Return a file's content up to its last line feed."""
    content = path.read_bytes()
    return content[: content.rfind(b"\n") + 1]


def _header(experiment: Experiment) -> dict:
    """Return what makes the rows of a sweep."""
    return {
        "libraries": {"mdsgdln": __version__, "jax": jax.__version__, "numpy": np.__version__},
        "platform": jax.default_backend(),
        "x64": bool(jax.config.values["jax_enable_x64"]),
        "code": short_hash(*_source(experiment), fingerprint(code_files())),
    }


def _source(experiment: Experiment) -> Iterator[bytes | str]:
    """Yield what an experiment is given already, its source, and the file that defines it."""
    while isinstance(experiment, partial):
        yield joblib.hash((experiment.args, experiment.keywords))
        experiment = experiment.func
    experiment = inspect.unwrap(experiment)
    defined = experiment if inspect.isroutine(experiment) else type(experiment)
    try:
        yield inspect.getsource(defined)
        file = Path(inspect.getsourcefile(defined) or "")
        yield content(file) if file.is_file() else ""
    except (OSError, TypeError):  # nobody keeps it, as in a prompt
        yield repr(defined)


def _resumed(path: Path, header: dict) -> list[dict]:
    """Return the rows of a file, if there is one, where this header stands above all of them."""
    rows = read(path) if path.exists() else []
    for row in rows:
        above = row["header"] or {}
        if other := [name for name in header if above.get(name) != header[name]]:
            raise ValueError(
                f"path: expected rows computed as now, got {path} with other {', '.join(other)}; "
                "remove it, or name another file"
            )
    return rows


@contextmanager
def _appended(path: Path, header: dict) -> Iterator[Callable[[str], None]]:
    """Yield a function that appends a line to a file, below a header that says what makes the rows.

    Once it returns, the line outlives the process.
    """
    header = header | {"date": datetime.now(UTC).isoformat(timespec="seconds")}
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "ab") as file:

        def append(line: str) -> None:
            file.write(line.encode() + b"\n")
            file.flush()

        try:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ValueError(f"path: {path} is being written by another process") from None
        except (ImportError, OSError):  # Windows, some network file systems
            pass
        file.truncate(len(_whole(path)))
        append(json.dumps({"header": header}))
        yield append
