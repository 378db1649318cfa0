"""What is kept of many runs: a file of plain JSON lines, and what made its rows."""

import inspect
import json
import math
import os
import platform
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any, BinaryIO

import jax
import joblib

from mdsgdln import _checks as checks

FilePath = str | os.PathLike
ROW = ("setting", "results", "failed", "seconds")
LIBRARIES = ("mdsgdln", "jax", "jaxlib", "numpy", "scipy", "optax", "scikit-learn")


def read(path: FilePath) -> list[dict]:
    """Return the runs of a file: setting, results, failed, seconds, and the header above them.

    What is not finite is NaN. A last line without an end, cut off by a crash, is left out.
    """
    checks.instance("path", path, FilePath)
    if not Path(path).is_file():
        raise ValueError(f"path: expected a file of results, there is none at {path}")
    rows, header = [], None
    for number, line in enumerate(_whole(Path(path)).splitlines(), start=1):
        try:
            entry = parsed(line)
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


def _whole(path: Path) -> bytes:
    """Return a file's content up to its last line feed."""
    content = path.read_bytes()
    return content[: content.rfind(b"\n") + 1]


def parsed(line: str | bytes) -> dict:
    """Return what a line holds, NaN in place of null among the results."""
    entry = json.loads(line)
    if "results" in entry:
        entry["results"] = {name: _with_nan(value) for name, value in entry["results"].items()}
    return entry


def _with_nan(value: Any) -> Any:
    if isinstance(value, list):
        return [_with_nan(entry) for entry in value]
    return math.nan if value is None else value


@contextmanager
def appended(path: Path, header: dict) -> Iterator[Callable[[str], None]]:
    """Yield a function that appends a line to a file, below a header of its own.

    Once it returns, the line outlives the process.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "ab") as file:

        def append(line: str) -> None:
            file.write(line.encode() + b"\n")
            file.flush()

        _lock(file, path)
        file.truncate(len(_whole(path)))
        append(json.dumps({"header": header}))
        yield append


def _lock(file: BinaryIO, path: Path) -> None:
    """Refuse to be the second writer of a file, where the platform can tell."""
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise ValueError(f"path: {path} is being written by another process") from None
    except (ImportError, OSError):  # Windows, some network file systems
        pass


def provenance(experiment: Callable | None = None) -> dict:
    """Return what makes numbers: code, libraries, and what they run on.

    The commit is that of the folder of the experiment's code, or else of the folder worked in;
    dirty means that Python or notebooks there differ from it. None where there is no Git.
    """
    if experiment is not None:
        checks.function("experiment", experiment)
    place = _folder(experiment)
    changed = git(place, "status", "--porcelain", "--", ":/*.py", ":/*.ipynb")
    libraries = {}
    for name in LIBRARIES:
        with suppress(metadata.PackageNotFoundError):
            libraries[name] = metadata.version(name)
    return {
        "commit": git(place, "rev-parse", "HEAD"),
        "dirty": None if changed is None else bool(changed),
        "libraries": libraries,
        "platform": jax.default_backend(),
        "processor": _processor(),
        "threads": int(os.environ.get("NPROC") or joblib.cpu_count()),
        "x64": bool(jax.config.values["jax_enable_x64"]),
        "python": platform.python_version(),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _folder(experiment: Callable | None) -> Path:
    """Return the folder of a function's code, or the one worked in."""
    while isinstance(experiment, partial):
        experiment = experiment.func
    try:
        file = inspect.getsourcefile(inspect.unwrap(experiment))  # type: ignore[arg-type]
    except TypeError:  # no function of Python
        file = None
    return Path(file).parent if file and Path(file).is_file() else Path.cwd()


def _processor() -> str:
    """Return the kind of processor, and its model where the platform says it."""
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf8").splitlines():
            if line.startswith("model name"):
                return f"{platform.machine()}, {line.partition(':')[2].strip()}"
    return platform.machine()


def git(folder: Path, *arguments: str) -> str | None:
    """Return what Git says, None where there is no Git or no repository."""
    command = ["git", "-C", str(folder), *arguments]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None
