"""Which code made a number: a digest that changes with the code, and not with its words."""

import ast
import hashlib
import importlib.util
import inspect
import textwrap
from collections.abc import Callable, Iterable
from importlib import metadata
from pathlib import Path
from typing import Any

import jax
import numpy as np
from jaxtyping import PyTree

from mdsgdln import checks

PACKAGE = __name__.partition(".")[0]
DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
TYPING = ("typing", "collections.abc", "jaxtyping")
LIBRARIES = ("jax", "jaxlib", "numpy", "optax", "diffrax", "scikit-learn")


def code_digest(*functions: Callable) -> str:
    """Return a digest of functions and of every module of this package that they lead to.

    The code counts as it is parsed: comments, docstrings, type annotations and layout do not. A
    function of a module brings that whole module and those of its own package that it imports; one
    defined in a notebook its own source and this package as a whole; both the values that they are
    closed over.
    """
    parts, modules = set(), set()
    for function in functions:
        checks.function("functions", function)
        function = inspect.unwrap(function)
        parts |= _bound_values(function)
        path = _source_file(function)
        if path is None:
            parts.add(_meaning(_own_source(function)))
            modules |= set(Path(__file__).parent.rglob("*.py"))
        else:
            parts.add(_meaning(path.read_text(encoding="utf8")))
            modules |= _reachable(path, {PACKAGE, function.__module__.partition(".")[0]})
    parts |= {_meaning(path.read_text(encoding="utf8")) for path in modules}
    return hashlib.sha256("\n".join(sorted(parts)).encode()).hexdigest()[:16]


def _source_file(function: Callable) -> Path | None:
    """Return the file of the module that defines ``function``, None in a notebook."""
    spec = None
    if function.__module__ != "__main__":
        spec = importlib.util.find_spec(function.__module__)
    return None if spec is None or spec.origin is None else Path(spec.origin)


def _own_source(function: Callable) -> str:
    """Return the source of a function; of a lambda, the statement that it stands in."""
    source = textwrap.dedent(inspect.getsource(function))
    try:
        ast.parse(source)
    except SyntaxError:  # a lambda in the middle of an expression: its compiled code will do
        return repr((function.__code__.co_code, function.__code__.co_consts))
    return source


def _bound_values(function: Callable) -> set[str]:
    """Return what a function is closed over and, in a notebook, the global values it reads."""
    found = inspect.getclosurevars(function)
    values = dict(found.nonlocals)
    if _source_file(function) is None:
        values |= found.globals
    described = set()
    for name, value in values.items():
        if inspect.ismodule(value):
            continue
        if inspect.isfunction(value):
            described |= {_meaning(_own_source(value))} | _bound_values(value)
        else:
            described.add(f"{name} = {_describe(value)}")
    return described


def _describe(value: PyTree) -> str:
    """Return a text that changes with a value: its structure and its leaves."""
    leaves, structure = jax.tree.flatten(value)
    texts = [
        hashlib.sha256(np.asarray(leaf).tobytes()).hexdigest()
        if hasattr(leaf, "dtype")
        else repr(leaf)
        for leaf in leaves
    ]
    return f"{structure} {texts}"


def library_versions() -> dict[str, str]:
    """Return the versions of the libraries that decide the numbers."""
    return {name: metadata.version(name) for name in LIBRARIES}


def _reachable(start: Path, packages: set[str]) -> set[Path]:
    """Return the modules of the packages that ``start`` imports, directly or not."""
    reached, waiting = set(), [start]
    while waiting:
        tree = ast.parse(waiting.pop().read_text(encoding="utf8"))
        for name in _imported_names(tree, packages):
            path = _module_path(name)
            if path is not None and path not in reached:
                reached.add(path)
                waiting.append(path)
    return reached


def _imported_names(tree: ast.Module, packages: set[str]) -> Iterable[str]:
    """Yield every module name of the packages that the code may import."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        else:
            continue
        yield from (name for name in names if name.split(".")[0] in packages)


def _module_path(name: str) -> Path | None:
    """Return the file of a module of a package, None if the name is no module of one."""
    package, *parts = name.split(".")
    found = importlib.util.find_spec(package)
    if found is None or not found.submodule_search_locations:
        return None
    place = Path(found.submodule_search_locations[0]).joinpath(*parts)
    for path in (place.with_suffix(".py"), place / "__init__.py"):
        if path.is_file():
            return path
    return None


def _meaning(source: str) -> str:
    """Return the parsed code without docstrings, type annotations and positions."""
    return _dump(_Bare().visit(ast.parse(source)))


class _Bare(ast.NodeTransformer):
    """Takes from parsed code what no number depends on: docstrings and type annotations."""

    def __init__(self):
        self.fields = set()  # statements of a class: there an annotation makes a field

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """Visit a node of any kind."""
        if isinstance(node, ast.ClassDef):
            self.fields.update(node.body)
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node) is not None:
            node.body = node.body[1:]
        for name in {"annotation", "returns"} & set(node._fields):
            setattr(node, name, None)
        return super().generic_visit(node)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST | None:
        """Return an import, None if it is of names for annotations."""
        return None if node.module in TYPING else node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | None:
        """Return ``x: int = 1`` as ``x = 1``, a field of a class without its type."""
        bare: Any = self.generic_visit(node)
        if bare in self.fields:
            return bare
        return ast.Assign([bare.target], bare.value) if bare.value else None


def _dump(node: object) -> str:
    """Return a parsed tree as text, without empty fields: which there are varies with Python."""
    if isinstance(node, list):
        return f"[{', '.join(map(_dump, node))}]"
    if not isinstance(node, ast.AST):
        return repr(node)
    filled = [(n, value) for n, value in ast.iter_fields(node) if value not in (None, [])]
    return f"{type(node).__name__}({', '.join(f'{n}={_dump(v)}' for n, v in filled)})"
