"""Settings of an experiment, one run of it, and where runs are done: here or in processes."""

import json
import math
import os
import time
import traceback
from collections.abc import Callable, Generator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import cloudpickle
import jax
import joblib
import numpy as np

from mdsgdln.training import DivergenceError

Setting = Mapping[str, Any]
Experiment = Callable[..., Mapping[str, Any]]


def check_settings(settings: Sequence[Setting]) -> list[dict]:
    """Return the settings as plain values, all with the same names and none twice."""
    plain: dict[str, dict] = {}
    for setting in settings:
        values = {n: v.item() if isinstance(v, np.generic) else v for n, v in setting.items()}
        for name, value in values.items():
            finite = isinstance(value, float) and math.isfinite(value)
            if not finite and not isinstance(value, int | str):
                raise ValueError(
                    f"settings: expected a finite number or text for {name}, got {value!r:.80}"
                )
        names = sorted(next(iter(plain.values()), values))
        if sorted(values) != names:
            raise ValueError(f"settings: expected the names {names} in all, got {sorted(values)}")
        if setting_key(values) in plain:
            raise ValueError(f"settings: expected each once, got {values} several times")
        plain[setting_key(values)] = values
    if not plain:
        raise ValueError("settings: expected at least one, got none")
    return list(plain.values())


def setting_key(setting: Setting) -> str:
    """Return a text that tells settings apart, whatever the order of their names."""
    return json.dumps(setting, sort_keys=True)


def run_outcomes(experiment: Experiment, settings: Sequence[Setting], n_jobs: int) -> Generator:
    """Return each run's line or exception, in the order in which they finish."""
    if joblib.effective_n_jobs(n_jobs) == 1:
        return (run_once(experiment, setting) for setting in settings)
    # A device is one of this process; another has its own of that platform.
    values = {name: getattr(v, "platform", v) for name, v in jax.config.values.items()}
    # Never processes of an earlier sweep, which may have loaded what has changed since.
    starting = {"initializer": _begin, "initargs": (values, time.time_ns())}
    with joblib.parallel_config("loky", inner_max_num_threads=1, **starting):
        parallel = joblib.Parallel(n_jobs, return_as="generator_unordered")
    pickled = cloudpickle.dumps(experiment)
    return parallel(joblib.delayed(_run_there)(pickled, setting) for setting in settings)


def _begin(values: Mapping[str, Any], sweep: int) -> None:
    """Set up a process of one sweep, before JAX starts in it: one thread, the caller's values."""
    os.environ["PJRT_NPROC"] = os.environ["NPROC"] = "1"  # threads of XLA
    for name, value in values.items():
        if jax.config.values[name] != value:
            jax.config.update(name, value)


def _run_there(pickled: bytes, setting: Setting) -> str | Exception:
    """Return the line of a run in a process, or what it raised."""
    try:
        return run_once(_unpickled(pickled), setting)
    except Exception as error:
        error.add_note(traceback.format_exc())
        return error


# The experiment is the same object for all runs of a process, so that it is compiled once.
_unpickled = lru_cache(maxsize=8)(cloudpickle.loads)


def run_once(experiment: Experiment, setting: Setting) -> str:
    """Run an experiment once and return its row as JSON."""
    start, failed = time.perf_counter(), ""
    try:
        results = _arrays(experiment(**setting))
    except (DivergenceError, ArithmeticError) as error:
        results, failed = {}, str(error) or type(error).__name__
    seconds = round(time.perf_counter() - start, 3)
    if taken := set(results) & {*setting, "failed"}:
        raise ValueError(f"experiment: expected other names of results than {sorted(taken)}")
    finite = {name: np.isfinite(value) for name, value in results.items()}
    if bad := sorted(name for name, entries in finite.items() if not entries.all()):
        failed = f"not finite: {', '.join(bad)}"
    null = np.array(None)
    plain = {name: np.where(finite[name], results[name], null).tolist() for name in results}
    row = {"setting": setting, "results": plain, "failed": failed, "seconds": seconds}
    return json.dumps(row, allow_nan=False)


def _arrays(results: Any) -> dict[str, np.ndarray]:
    if not isinstance(results, Mapping):
        raise ValueError(f"experiment: expected it to return {{name: result}}, got {results!r:.80}")
    arrays = {name: np.asarray(value) for name, value in results.items()}
    for name, array in arrays.items():
        if array.dtype.kind in "OSUcmM":
            raise ValueError(f"experiment: expected numbers as {name}, got {results[name]!r:.80}")
    return arrays
