"""Is every number of the package looked at? Each is made wrong by 1 %, and a test should notice.

``make mutations`` multiplies what each public function and method returns by 1.01, one at a time
(fields of a named tuple, inputs and targets of a task one at a time), runs the unit tests, those
of the same subject first, and prints which wrong numbers no test has noticed.
"""

import inspect
import os
import pkgutil
import sys
import time
from functools import wraps
from importlib import import_module
from pathlib import Path
from types import FunctionType

FACTOR = 1.01
VARIABLE = "MDSGDLN_MUTATION"  # module:function:field, for tests/conftest.py
FOLDER = Path(__file__).parent / "package"
ELSEWHERE = {"bad_input"}
SUBJECTS = {  # tests that are likely to notice, by module
    "tasks.images": ["images"],
    "tasks.domains": ["routing"],
    "tasks": ["tasks"],
    "graphs": ["networks"],
    "networks.layered": ["networks", "training"],
    "networks.routed": ["routing"],
    "networks.gated": ["networks", "routing"],
    "networks": ["networks"],
    "training": ["training"],
    "statistics": ["statistics", "properties"],
    "theory.trajectories": ["theory_modes"],
    "theory.starts": ["theory_modes", "routing"],
    "theory.paths": ["theory_paths"],
    "theory.race": ["contexts", "routing"],
    "theory.shared_edges": ["routing"],
    "theory.reduction": ["reduced_network"],
    "theory.graph_flow": ["reduced_network"],
    "theory.conditions": ["applicability"],
    "theory.reduced_network": ["reduced_network", "contexts"],
    "theory": ["contexts", "theory_modes"],
    "reln": ["reln", "contexts"],
    "gates": ["gates", "contexts"],
    "discovery": ["discovery"],
    "sweeps": ["sweeps"],
}


def modules():
    import mdsgdln

    found = pkgutil.walk_packages(mdsgdln.__path__, "mdsgdln.")
    return [import_module(module.name) for module in found if "._" not in module.name]


def public():
    """Yield (module, name, function): public functions, and methods of public classes."""
    for module in modules():
        for name, value in vars(module).items():
            if name.startswith("_") or getattr(value, "__module__", "") != module.__name__:
                continue
            if isinstance(value, FunctionType) or hasattr(value, "lower"):  # lower: compiled
                yield module.__name__, name, value
            elif isinstance(value, type) and not getattr(value, "_is_protocol", False):
                owners = [kind for kind in value.__mro__ if kind.__module__ == module.__name__]
                for method in dict.fromkeys(method for kind in owners for method in vars(kind)):
                    if not method.startswith("_"):
                        function = inspect.getattr_static(value, method)
                        yield module.__name__, f"{name}.{method}", function


def fields(function):
    """Return the parts of a function's value, by its annotation; none if it has no numbers."""
    returned = getattr(inspect.unwrap(function), "__annotations__", {}).get("return")
    if hasattr(returned, "_fields"):
        return returned._fields
    text = returned if isinstance(returned, str) else getattr(returned, "__name__", str(returned))
    if text == "Task":
        return "inputs", "targets"
    if returned is int:
        return ("all",)
    if "Bool" in str(returned):
        return ()
    numbers = ("Array", "float", "Float", "Int", "Scalar", "Numbers", "PyTree", "GatedNetwork")
    numbers += ("Reduced", "Modes", "ndarray", "DataFrame")
    return ("all",) if any(word in text + str(returned) for word in numbers) else ()


def targets():
    for module, name, value in public():
        function = getattr(value, "func", None) or getattr(value, "__func__", value)
        if callable(function):
            yield from (f"{module}:{name}:{field}" for field in fields(function))


def wrong(value, field):
    """Return a value whose numbers, or those of one field, are 1 % too large."""
    import jax
    import pandas as pd

    if value is None:
        return None
    if hasattr(value, "_replace") and field != "all":
        return value._replace(**{field: wrong(getattr(value, field), "all")})
    if isinstance(value, pd.DataFrame):
        return value.assign(**{n: value[n] * FACTOR for n in value.select_dtypes("float")})
    if type(value).__name__ == "Task":
        parts = {"inputs": value.inputs, "targets": value.targets}
        parts[field] = parts[field] * FACTOR
        return type(value)(**parts, node_rows=value.node_rows, labels=value.labels)

    def times(leaf):
        kind = getattr(getattr(leaf, "dtype", None), "kind", None)
        number = kind in ("f", "i") if kind else type(leaf) in (int, float)
        return leaf * FACTOR if number else leaf

    return jax.tree.map(times, value)


def mutate(target):
    """Make one function return wrong numbers, wherever the package has imported it."""
    module_name, name, field = target.split(":")
    owner = import_module(module_name)
    *path, attribute = name.split(".")
    for step in path:
        owner = getattr(owner, step)
    original = inspect.getattr_static(owner, attribute)

    def replaced(function):
        @wraps(function)
        def mutated(*args, **kwargs):
            return wrong(function(*args, **kwargs), field)

        return mutated

    if isinstance(original, classmethod | staticmethod):
        mutated = type(original)(replaced(original.__func__))
    elif hasattr(original, "func"):  # a cached property
        mutated = type(original)(replaced(original.func))
        mutated.__set_name__(owner, attribute)
    else:
        mutated = replaced(original)
    setattr(owner, attribute, mutated)
    for module in modules() + [sys.modules["mdsgdln"]]:
        for known, value in list(vars(module).items()):
            if value is original:
                setattr(module, known, mutated)
            elif isinstance(value, dict) and not known.startswith("__"):
                value.update({key: mutated for key, each in value.items() if each is original})


def ordered_tests(target):
    """Return the test files of the function's subject, and all others."""
    module = target.split(":")[0].removeprefix("mdsgdln.")
    names = next((SUBJECTS[key] for key in SUBJECTS if module.startswith(key)), [])
    first = [str(FOLDER / f"test_{name}.py") for name in names]
    rest = [str(FOLDER / f"test_{name}.py") for name in ELSEWHERE]
    return first, sorted(set(map(str, FOLDER.glob("test_*.py"))) - set(first + rest))


def run(target, files):
    """Return the exit status of the tests, in a process of its own, forked before JAX starts."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    import pytest

    if target:
        os.environ[VARIABLE] = target
    os.environ["TYPECHECK"] = "off"  # the package is imported already
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
        imported = ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
        os._exit(pytest.main(["-x", "-q", "-p", "no:cacheprovider", *imported, *files]))


def main(chosen):
    quick = "quick" in chosen  # the tests of the same subject alone
    chosen = [word for word in chosen if word != "quick"]
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    found = [target for target in targets() if not chosen or any(c in target for c in chosen)]
    unnoticed, passing = [], set()
    for target in found:
        status, start = 0, time.monotonic()
        for files in filter(None, ordered_tests(target)[: 1 if quick else 2]):
            if tuple(files) not in passing:
                assert run("", files) == 0, f"fail as they are: {files}"
                passing.add(tuple(files))
            status = run(target, files)
            if status:
                break
        verdict = {0: "NOT NOTICED", 1: "noticed"}.get(status, f"status {status}")
        if status == 0:
            unnoticed.append(target)
        print(f"{verdict:12} {time.monotonic() - start:6.1f} s  {target}", flush=True)
    print(f"{len(found) - len(unnoticed)} of {len(found)} wrong numbers noticed; not noticed:")
    print("\n".join(unnoticed) or "none")


if __name__ == "__main__":
    main(sys.argv[1:])
