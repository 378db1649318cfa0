"""One run of an experiment, and where runs are done: here, in processes, on a cluster."""

import enum
import json
import os
import time
import traceback
import warnings
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import ExitStack, nullcontext
from functools import lru_cache
from typing import Any

import cloudpickle
import jax
import joblib
import numpy as np
from joblib.parallel import LokyBackend, get_active_backend

from mdsgdln.training import DivergenceError

Setting = Mapping[str, Any]
Experiment = Callable[..., Mapping[str, Any]]


def lines(
    experiment: Experiment, settings: Sequence[Setting], n_jobs: int
) -> Generator[str, None, None]:
    """Yield the line of each run, in the order in which they finish."""
    number, here = _place(n_jobs)
    if here and joblib.effective_n_jobs(number) == 1:
        yield from (line(experiment, setting) for setting in settings)
        return
    values = configuration()
    processes: Any = nullcontext()
    if here:
        # Never those of an earlier sweep, which may have loaded what has changed since.
        starting = {"initializer": begin, "initargs": (values, time.time_ns())}
        processes = joblib.parallel_config("loky", inner_max_num_threads=1, **starting)
    with processes:
        parallel = joblib.Parallel(number, return_as="generator_unordered")
    pickled = cloudpickle.dumps(experiment)
    calls = (joblib.delayed(_line_there)(pickled, setting, values) for setting in settings)
    outcomes = parallel(calls)
    try:
        for outcome in outcomes:
            if isinstance(outcome, Exception):
                raise outcome
            yield outcome
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # that runs are given up
            outcomes.close()


def made_elsewhere(n_jobs: int) -> dict[str, Any]:
    """Return what of ``provenance`` is different where the runs are done."""
    number, here = _place(n_jobs)
    if not here:
        return {"processor": None, "threads": None}  # of a cluster, whose workers may differ
    return {} if joblib.effective_n_jobs(number) == 1 else {"threads": 1}


def _place(n_jobs: int) -> tuple[int | None, bool]:
    """Return the number of processes, and whether it is this machine that runs them."""
    backend, configured = get_active_backend()
    here = isinstance(backend, LokyBackend)  # joblib's own processes, also its default
    return configured if n_jobs == 1 else n_jobs, here


def configuration() -> dict[str, Any]:
    """Return JAX's configuration, what of it another process can be given."""
    values = {name: getattr(v, "platform", v) for name, v in jax.config.values.items()}
    kinds = bool | int | float | str | enum.Enum | None
    return {name: value for name, value in values.items() if isinstance(value, kinds)}


def begin(values: Mapping[str, Any], sweep: int = 0) -> None:
    """Set up a process of one sweep, before JAX starts in it: one thread, the caller's values."""
    os.environ["PJRT_NPROC"] = os.environ["NPROC"] = "1"  # threads of XLA
    for name, value in values.items():
        if jax.config.values[name] != value:
            jax.config.update(name, value)


def _line_there(pickled: bytes, setting: Setting, values: Mapping[str, Any]) -> str | Exception:
    """Return the line of a run in a worker, or what it raised.

    The caller's values hold for this run alone, and before the experiment is unpickled, since
    modules that it needs may make arrays.
    """
    with ExitStack() as stack:
        for name, value in values.items():
            context = getattr(jax, name.removeprefix("jax_"), None)
            if context is not None and jax.config.values.get(name, value) != value:
                stack.enter_context(context(value))
        try:
            return line(_unpickled(pickled), setting)
        except Exception as error:
            error.add_note(traceback.format_exc())
            return error


@lru_cache(maxsize=8)
def _unpickled(pickled: bytes) -> Experiment:
    """Return the experiment, the same one for all runs, so that it is compiled once."""
    return cloudpickle.loads(pickled)


def line(experiment: Experiment, setting: Setting) -> str:
    """Run an experiment once and return what is kept of it, as JSON."""
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
    for name in bad:
        results[name] = np.where(finite[name], results[name], np.array(None))
    plain = {name: value.tolist() for name, value in results.items()}
    row = {"setting": setting, "results": plain, "failed": failed, "seconds": seconds}
    return json.dumps(row, allow_nan=False)


def _arrays(results: Any) -> dict[str, np.ndarray]:
    """Return results as NumPy arrays."""
    if not isinstance(results, Mapping):
        raise ValueError(f"experiment: expected it to return {{name: result}}, got {results!r:.80}")
    arrays = {name: np.asarray(value) for name, value in results.items()}
    for name, array in arrays.items():
        if array.dtype.kind in "OSUcmM":
            raise ValueError(f"experiment: expected numbers as {name}, got {results[name]!r:.80}")
    return arrays
