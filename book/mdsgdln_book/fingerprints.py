"""Names of what something kept depends on: code, data, libraries, variables, processor, device.

Kept are the outputs of chapters and the rows of tables, each under such a name. What is named
otherwise is computed again.
"""

import ast
import hashlib
import os
import platform
import sys
import sysconfig
from collections.abc import Iterable
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from mdsgdln_book.places import PACKAGE, ROOT

DOCUMENTED = ast.Module, ast.ClassDef, ast.FunctionDef  # what has a docstring
# Variables that change numbers, figures or the kernel, by how they begin; these do not.
VARIABLES = ("CUDA_", "JAX_", "JUPYTER_PATH", "LD_PRELOAD", "MATPLOTLIBRC", "MKL_", "MPL", "NPROC")
VARIABLES += ("NPY_", "NVIDIA_", "OMP_", "OPENBLAS_", "PJRT_", "PYTHON", "VECLIB_", "XLA_")
NEUTRAL = ("CUDA_VISIBLE", "JAX_COMPILATION_CACHE", "JAX_PERSISTENT_CACHE", "XLA_PYTHON_CLIENT")
NEUTRAL += ("PYTHONDONTWRITEBYTECODE", "PYTHONHASHSEED", "PYTHONUNBUFFERED", "PYTHONWARNINGS")
LIBRARIES = ("jax", "ml_dtypes", "numpy", "optax", "pandas", "scikit_learn", "scipy")  # jax_cuda...
LIBRARIES += ("ipykernel", "ipython", "matplotlib", "seaborn")
PROCESSOR, GPUS = Path("/proc/cpuinfo"), Path("/proc/driver/nvidia/gpus")


def content(path: Path) -> bytes | str:
    """What counts of a file; of Python all but comments, layout and docstrings."""
    if path.suffix != ".py":
        return path.read_bytes()
    tree = ast.parse(path.read_bytes())  # by one thread at a time: Python 3.11 can fail otherwise
    for node in ast.walk(tree):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            del node.body[0]
    return ast.dump(tree)


def short_hash(*parts: bytes | str) -> str:
    """A short name of what these say."""
    coded = [part.encode() if isinstance(part, str) else part for part in parts]
    return hashlib.sha256(b"\0".join(coded)).hexdigest()[:16]


def surroundings() -> str:
    """A short name of what numbers depend on besides code and data, as this process has it."""
    variables = (f"{name}={text}" for name, text in os.environ.items() if counts(name))
    installed = Path(sysconfig.get_path("purelib")).glob("*.dist-info")
    libraries = (path.name for path in installed if path.name.lower().startswith(LIBRARIES))
    lines = PROCESSOR.read_text("utf8").splitlines() if PROCESSOR.exists() else []
    features = {line for line in lines if line.lower().startswith(("flags", "features"))}
    gpus = (path.read_text("utf8") for path in GPUS.glob("*/information"))
    machine = [sys.version, platform.machine(), platform.processor(), *features, *gpus]
    return short_hash(*sorted(variables), *sorted(libraries), *sorted(machine))


def counts(variable: str) -> bool:
    """Whether a variable of the environment can change what is kept."""
    return variable.startswith(VARIABLES) and not variable.startswith(NEUTRAL)


@cache
def _of_files(paths: tuple[Path, ...]) -> str:
    """A short name of what files are called and hold; each set of them is read once."""
    parts: list[bytes | str] = []
    for path in paths:
        name = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path.name
        parts += [str(name), content(path)]
    return short_hash(*parts)


def fingerprint(paths: Iterable[Path]) -> str:
    """A short name of what files are called and hold, and of the surroundings."""
    return short_hash(_of_files(tuple(sorted(paths))), surroundings())


def code_files() -> list[Path]:
    """The modules of both packages."""
    (package,) = find_spec("mdsgdln").submodule_search_locations  # not imported, as that takes time
    return [*Path(package).rglob("*.py"), *PACKAGE.rglob("*.py")]
