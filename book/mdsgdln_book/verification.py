"""Which tables were recomputed as a whole, and by which code: `results/verified.json`.

`make verify` writes an entry for each table once it has compared all of its rows. A release needs
one for every table, made by its own code and for its own rows; so rows can be verified in parts,
and what they do not hang on may change in between.
"""

import ast
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

from mdsgdln_book import dependencies, places, tables

NEARNESS = {"rtol", "atol", "loose", "seconds"}  # of a Table: what its rows do not hang on


@cache
def code(name: str) -> str:
    """Return a short name of what the rows of a table hang on, but for comments.

    It is the package, the experiments that make the table or read it with all that these import of
    other experiments, and the lock; but not how nearly a table must be reproduced.
    """
    every = dependencies.files(dependencies.Code("", *3 * [frozenset([name])]))
    parts = []
    for path in sorted(every):
        place = path.relative_to(places.ROOT)
        if {"mdsgdln", "experiments", "requirements.txt"} & set(place.parts):
            parts += [place.as_posix(), _content(path)]
    return _short("\0".join(parts).encode())


@cache
def _content(path: Path) -> str:
    content = dependencies.content(path)
    if "Table(" not in content:
        return content
    module = ast.parse(content)
    for node in ast.walk(module):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Table":
            node.keywords = [word for word in node.keywords if word.arg not in NEARNESS]
    return ast.unparse(module)


def nearness(name: str) -> str:
    """Return a short name of how nearly a table must be reproduced."""
    table = tables.find(name)
    return _short(repr((table.rtol, table.atol, sorted(table.loose.items()))).encode())


def _short(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:12]


def file() -> Path:
    """Return where the entries are."""
    return tables.RESULTS / "verified.json"


def entries() -> dict[str, dict]:
    """Return what was verified last of each table."""
    return json.loads(file().read_text(encoding="utf8")) if file().is_file() else {}


def write(name: str, made_by: Mapping, seconds: Sequence[float], lost: Sequence[str]) -> None:
    """Keep when and where all rows of a table were recomputed, and what was not reproduced."""
    entry = {
        "code": code(name),
        "table": _short(tables.file_of(name).read_bytes()),
        "tolerances": nearness(name),
        "commit": made_by["commit"],
        "date": made_by["date"],
        "processor": made_by["processor"],
        "rows": len(seconds),
        "seconds": round(sum(seconds)),
        "not reproduced": list(lost),
    }
    kept = dict(sorted((entries() | {name: entry}).items()))
    file().write_text(json.dumps(kept, indent=1) + "\n", encoding="utf8")


def problems() -> Iterator[str]:
    """Yield what is missing until all rows of all tables are verified."""
    found, missing = entries(), []
    for name in tables.every():
        entry = found.get(name, {})
        made_from = code(name), _short(tables.file_of(name).read_bytes()), nearness(name)
        if tuple(map(entry.get, ("code", "table", "tolerances"))) != made_from:
            missing.append(name)
        else:
            yield from (f"not reproduced: {line}" for line in entry["not reproduced"])
    if missing:
        number = f"{len(missing)} of {len(tables.every())} tables"
        yield f'{number} were not verified with this code: make verify TABLE="{" ".join(missing)}"'


def summary() -> dict:
    """Return of all tables together what was verified, when and where."""
    found = entries().values()
    return {
        "tables": len(found),
        "rows": sum(entry["rows"] for entry in found),
        "not reproduced": sum((entry["not reproduced"] for entry in found), []),
        "from": min(entry["date"] for entry in found),
        "to": max(entry["date"] for entry in found),
        "processors": sorted({entry["processor"] for entry in found}),
        "minutes": round(sum(entry["seconds"] for entry in found) / 60),
    }
