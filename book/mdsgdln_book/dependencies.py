"""What the outputs of a chapter depend on: `key(chapter)` changes when something of it changes.

A chapter depends on the code of its cells and of both packages, of the book's own as far as it is
imported; on the requirements, on its own claims, and on what it names: a text in its code, or in
that of a module that draws its figures, that is the name of a table stands for that table and for
the module that makes it. Prose, comments and docstrings do not count.
"""

import ast
import hashlib
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import jupytext

from mdsgdln_book import places
from mdsgdln_book.claim_file import read_claims
from mdsgdln_book.references import code_cells


class Code(NamedTuple):
    """What runs of some code, and what it names: modules, attributes, and texts."""

    runs: str
    imports: frozenset[str]
    attributes: frozenset[str]
    texts: frozenset[str]


@cache
def read_code(source: str) -> Code:
    """Read code without running it. What is no Python names every word that is in it."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        words = frozenset(re.findall(r"\w+", source))
        return Code(source, words, words, words)
    imports, attributes, texts = set(), set(), set()
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                modules = [getattr(node, "module", None) or "", *(alias.name for alias in names)]
                imports.update(part for module in modules for part in module.split("."))
            case ast.Attribute(attr=name):
                attributes.add(name)
            case ast.Constant(value=str(text)):
                texts.add(text)
        if isinstance(getattr(node, "body", None), list):
            node.body = [line for line in node.body if not does_nothing(line)] or [ast.Pass()]
    return Code(ast.unparse(tree), *map(frozenset, (imports, attributes, texts)))


def does_nothing(line: ast.stmt) -> bool:
    """Whether a line is a constant, as docstrings are."""
    return isinstance(line, ast.Expr) and isinstance(line.value, ast.Constant)


def read_module(path: Path) -> Code:
    """Read the code of a module."""
    return read_code(path.read_text(encoding="utf8"))


def executed(chapter: Path) -> list[tuple[str, list[str]]]:
    """The cells of a chapter as they are executed: code and tags."""
    cells = code_cells(jupytext.read(chapter))
    return [(cell.source, cell.metadata.get("tags", [])) for cell in cells]


def tables(code: Code) -> Iterator[Path]:
    """The results that some code names, and the modules that make them."""
    for table in places.RESULTS.glob("*.jsonl"):
        if table.stem in code.texts:
            yield table
            for module in (places.PACKAGE / "experiments").glob("*.py"):
                if table.stem in read_module(module).texts:
                    yield module


def named(code: Code) -> Iterator[Path]:
    """What the code of a chapter names: results, the modules that make them, other chapters."""
    yield from tables(code)
    if "cost" in code.attributes:
        yield places.RESULTS / "cost.json"
    if "BOOK" in code.attributes:
        yield from (page for page in places.BOOK.glob("*.md") if page.stem in code.texts)


def imported(path: Path) -> str:
    """The name by which a module is imported; a package is its first module."""
    return path.parent.name if path.stem == "__init__" else path.stem


def files(code: Code) -> set[Path]:
    """All files that a chapter's code depends on."""
    found = {places.ROOT / "requirements.txt", *(places.ROOT / "mdsgdln").rglob("*.py")}
    known = list(places.PACKAGE.rglob("*.py"))
    new = set(named(code)) | {path for path in known if imported(path) in code.imports}
    while new:
        found |= new
        modules = {path: read_module(path) for path in new if path.suffix == ".py"}
        imports = {name for module in modules.values() for name in module.imports}
        new = {path for path in known if imported(path) in imports}
        for path, module in modules.items():
            if path.parent.name == "paper_figures":
                new |= set(tables(module))
        new -= found
    return found


def content(path: Path) -> str:
    """What counts of a file."""
    if path.suffix == ".py":
        return read_module(path).runs
    return repr(executed(path)) if path.suffix == ".md" else path.read_text(encoding="utf8")


def key(chapter: Path) -> str:
    """A short hash of everything that a chapter's outputs depend on."""
    cells = executed(chapter)
    claims = read_claims(places.BOOK / "claims.yml").values()
    parts = [repr(cells), *(claim.entry for claim in claims if claim.chapter == chapter.stem)]
    for path in sorted(files(read_code("\n".join(source for source, _ in cells)))):
        parts += [path.relative_to(places.ROOT).as_posix(), content(path)]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]
