"""Many runs: an experiment over seeds and hyper-parameters, resumable, on one device or several.

An experiment is a function from a setting to named results, written for one run::

    def experiment(seed, scale):
        weights = network.init(jax.random.key(seed), scale)
        return {"loss": training.train(network, weights, task, 0.024, 8001).losses[-1]}

    table = sweep(experiment, grid(seed=range(100), scale=[1e-3, 1e-4]), "results.jsonl")

It is compiled once. On a CPU the runs go in turn, on an accelerator many at once; with several
devices (``jax.devices()``, on several hosts after ``jax.distributed.initialize``) JAX shards the
runs over them.
"""

import itertools
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from functools import lru_cache
from os import PathLike
from typing import Any, Literal

import jax
import numpy as np
import pandas as pd
from jax.experimental import multihost_utils
from jax.sharding import NamedSharding, PartitionSpec
from jaxtyping import Array
from tqdm import tqdm

from mdsgdln import checks, versions
from mdsgdln.records import RecordFile

Setting = Mapping[str, Any]
Experiment = Callable[..., Mapping[str, Any]]
Method = Literal["turn", "batch"]

# By measurement (benchmarks/sweeps.py). On two CPU cores 16 runs at once are up to a third faster
# than in turn, 64 at once up to twice as slow: in turn is never far off, with the least memory.
FASTEST: dict[str, Method] = {"cpu": "turn", "gpu": "batch", "tpu": "batch"}


def grid(**values: Iterable) -> list[dict]:
    """Return every combination of the given values, the last name changing fastest."""
    if not values:
        raise ValueError("values: expected at least one name with its values, got none")
    for name, value in values.items():
        checks.several(name, value)
    names, lists = list(values), [list(value) for value in values.values()]
    for name, entries in zip(names, lists, strict=True):
        if not entries:
            raise ValueError(f"{name}: expected at least one value, got none")
    return [dict(zip(names, entries, strict=True)) for entries in itertools.product(*lists)]


def sweep(
    experiment: Experiment,
    settings: Sequence[Setting],
    path: str | PathLike | None = None,
    *,
    static: Sequence[str] = (),
    method: Method | None = None,
    chunk_size: int = 64,
    progress: bool = True,
) -> pd.DataFrame:
    """Run an experiment for every setting and return a table, one row a run, in the given order.

    Args:
        experiment: takes a setting's values by name and returns {name: number or array}; built of
            JAX functions, since it is compiled. Its numbers are traced.
        settings: the runs, as from ``grid``, all with the same names.
        path: file to which results are appended as they finish. An interrupted sweep goes on
            where it stopped; results of other code, libraries or method are refused.
        static: settings that fix shapes or choose between branches; text and truth values always
            do. The experiment is compiled once for each combination of them.
        method: ``"turn"``, one run after the other, or ``"batch"``, ``chunk_size`` at once; the
            faster one on this platform if not given.
        chunk_size: runs at once with ``"batch"``; bounds the memory.
        progress: show a progress bar.

    Returns:
        the settings, the results, and ``failed``: why a run has no finite result, else empty.

    Raises:
        ValueError: unequal names, a setting given twice, a traced setting that should be static, or
            a file made by something else.
    """
    checks.function("experiment", experiment)
    checks.instance("path", path, str | PathLike | None)
    checks.several("static", static)
    settings = _check_settings(settings)
    method = FASTEST[jax.default_backend()] if method is None else method
    if method not in ("turn", "batch"):
        raise ValueError(f"method: expected 'turn' or 'batch', got {method!r}")
    unknown = set(static) - set(settings[0])
    if unknown:
        raise ValueError(f"static: expected names of settings, got {sorted(unknown)}")
    checks.positive_integer("chunk_size", chunk_size)
    keys = [setting_key(setting) for setting in settings]
    size = 1 if method == "turn" else _divisible(chunk_size)
    writes = path is not None and jax.process_index() == 0
    digest = versions.code_digest(experiment)
    header = _header(experiment, method, size, digest)
    file: Any = RecordFile(path, header) if writes else nullcontext(())  # type: ignore[arg-type]  # not None
    with file as records:
        done = {setting_key(record["setting"]): record for record in records}
        done = _same_on_all_hosts({key: done[key] for key in keys if key in done})
        pending = [setting for setting in settings if setting_key(setting) not in done]
        with tqdm(total=len(keys), initial=len(done), disable=not progress) as bar:
            for record in _records(experiment, pending, static, method, size, digest):
                if writes:
                    records.append(record)
                done[setting_key(record["setting"])] = record
                bar.update()
    return table(settings, [done[key] for key in keys])


def _check_settings(settings: Sequence[Setting]) -> list[dict]:
    """Return the settings as plain values, all with the same names and none twice."""
    checks.several("settings", settings)
    for setting in settings:
        checks.instance("settings", setting, Mapping)
    if not len(settings):
        raise ValueError("settings: expected at least one, got none")
    plain = [
        {
            name: value.item() if isinstance(value, np.generic) else value
            for name, value in s.items()
        }
        for s in settings
    ]
    for setting in plain:
        if set(setting) != set(plain[0]):
            raise ValueError(
                f"settings: expected the names {sorted(plain[0])} in all, got {sorted(setting)}"
            )
        for name, value in setting.items():
            if not isinstance(value, bool | int | float | str):
                raise ValueError(
                    f"settings: expected a number or text for {name}, got {value!r:.80}"
                )
    keys = [setting_key(setting) for setting in plain]
    if len(set(keys)) < len(keys):
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"settings: expected each once, got {twice} several times")
    return plain


def setting_key(setting: Setting) -> str:
    """Return a text that tells settings apart, whatever the order of their names."""
    checks.instance("setting", setting, Mapping)
    return json.dumps(setting, sort_keys=True)


def _header(experiment: Experiment, method: Method, size: int, digest: str) -> dict:
    return {
        "experiment": getattr(experiment, "__qualname__", repr(experiment)),
        "code": digest,
        "libraries": versions.library_versions(),
        "platform": jax.default_backend(),
        "double_precision": bool(jax.config.jax_enable_x64),  # type: ignore[attr-defined]  # set at run time
        "method": method,
        "runs_at_once": size,
    }


def _divisible(chunk_size: int) -> int:
    """Return ``chunk_size`` rounded up to a multiple of the number of devices."""
    num_devices = jax.device_count()
    return -(-chunk_size // num_devices) * num_devices


def _records(
    experiment: Experiment,
    settings: Sequence[Setting],
    static: Sequence[str],
    method: Method,
    size: int,
    digest: str,
) -> Iterator[dict]:
    """Yield a record per setting, in the order in which they finish."""

    def fixed(setting):
        return {n: v for n, v in setting.items() if n in static or isinstance(v, bool | str)}

    groups: dict[str, list] = {}  # runs that share a compilation
    for setting in settings:
        groups.setdefault(setting_key(fixed(setting)), []).append(setting)
    for group in groups.values():
        frozen = fixed(group[0])
        compiled = _compiled(experiment, tuple(frozen.items()), method, digest)
        for first in range(0, len(group), size):
            chunk = group[first : first + size]
            traced = [{n: v for n, v in s.items() if n not in frozen} for s in chunk]
            arguments = traced[0] if method == "turn" else _stacked(traced, size)
            try:
                results = _fetch(compiled(arguments))
            except (TypeError, ValueError) as error:
                if not isinstance(error, jax.errors.JAXTypeError) and "Tracer" not in str(error):
                    raise
                raise ValueError(
                    f"static: expected the names of settings that fix shapes or choose branches, "
                    f"got {list(static)}; one of {sorted(traced[0])} is missing there"
                ) from error
            for index, setting in enumerate(chunk):
                pick = results if method == "turn" else {n: v[index] for n, v in results.items()}
                yield _record(experiment, setting, pick)


@lru_cache(maxsize=64)
def _compiled(experiment: Experiment, frozen: tuple, method: Method, digest: str) -> Callable:
    """Return the compiled experiment of one run's settings, or of an array of them.

    Kept for the next sweep of the same experiment, where the same means the same digest: in a
    notebook a function stays what it is while a value that it reads changes.
    """
    del digest

    def run(traced):
        return experiment(**dict(frozen), **traced)

    return jax.jit(run if method == "turn" else jax.vmap(run))


def _stacked(traced: Sequence[Setting], size: int) -> dict[str, Array]:
    """Return the settings as arrays over runs, filled up to ``size``, spread over all devices."""
    filled = list(traced) + [traced[-1]] * (size - len(traced))  # one shape: compiled once
    mesh = jax.make_mesh((jax.device_count(),), ("runs",))
    sharding = NamedSharding(mesh, PartitionSpec("runs"))
    stacked = {name: np.array([setting[name] for setting in filled]) for name in traced[0]}
    return jax.device_put(stacked, sharding)


def _fetch(results: Any) -> dict[str, np.ndarray]:
    """Return results as NumPy arrays, gathered from all hosts."""
    if not isinstance(results, Mapping):
        raise ValueError(f"experiment: expected it to return {{name: result}}, got {results!r:.80}")
    if jax.process_count() > 1:
        results = multihost_utils.process_allgather(dict(results), tiled=True)
    return {name: np.asarray(value) for name, value in results.items()}


def _same_on_all_hosts(done: dict) -> dict:
    """Return the records that the first host has read: only there is the file open."""
    if jax.process_count() == 1:
        return done
    text = np.frombuffer(json.dumps(done).encode(), np.uint8)
    size = multihost_utils.broadcast_one_to_all(np.int32(len(text)))
    padded = np.zeros(int(size), np.uint8)
    padded[: len(text)] = text[: int(size)]
    return json.loads(multihost_utils.broadcast_one_to_all(padded).tobytes().decode())


def _record(experiment: Experiment, setting: Setting, results: Mapping[str, np.ndarray]) -> dict:
    """Return what is kept of a run."""
    bad = [name for name, value in results.items() if not np.isfinite(value).all()]
    return {
        "setting": dict(setting),
        "results": {name: value.tolist() for name, value in results.items()},
        "failed": _reason(experiment, setting, bad) if bad else "",
    }


def _reason(experiment: Experiment, setting: Setting, bad: Sequence[str]) -> str:
    """Return why a run has no finite result: alone and uncompiled it may say so itself."""
    try:
        experiment(**setting)
    except ValueError as error:
        return str(error)
    return f"not finite: {', '.join(bad)}"


def table(settings: Sequence[Setting], records: Sequence[Mapping]) -> pd.DataFrame:
    """Return one row a run; names come in the same order whether run or read."""
    checks.several("settings", settings)
    checks.several("records", records, len(settings))
    for name, entries in (("settings", settings), ("records", records)):
        for entry in entries:
            checks.instance(name, entry, Mapping)
    return pd.DataFrame(
        [
            {**setting, **dict(sorted(record["results"].items())), "failed": record["failed"]}
            for setting, record in zip(settings, records, strict=True)
        ]
    )
