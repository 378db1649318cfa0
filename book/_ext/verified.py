"""What was checked here with all that it depends on as it is now: `make test` leaves it out.

    python -m _ext.verified tests RUN     the tests to run: all where the environment says ALL
    python -m _ext.verified references    the references that nbval has to compare, likewise
    python -m _ext.verified record RUN    after these have found nothing

A hash states: passed, or executed and compared equal, with this code by this Python. It is taken
before the tests run, so that what is edited meanwhile is checked the next time; RUN, the number of
make's process, tells runs at the same time apart. It stays on this machine, in `_build/`, as
another one rounds in another way: a fresh clone checks everything.
"""

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from _ext.execution import chapters, key, short_hash
from mdsgdln_book.places import BOOK, ROOT

TESTS = ROOT / "tests"
RECORD = ROOT / "_build/verified.json"
BEGUN = ROOT / "_build"  # the hashes of runs that have not ended
REFERENCES = TESTS / "references"
ALL = bool(os.environ.get("ALL"))
# What the tests of a folder depend on, prose apart.
SHARED = "requirements.txt pyproject.toml mdsgdln tests/conftest.py tests/bad_input.py".split()
NEEDED = {"tests/package": [*SHARED, "tests/package", "tests/jobs"]}
NEEDED["tests/book"] = [
    *(*SHARED, "tests/book", "tests/pages", "tests/turned", "Makefile", ".ci", ".github"),
    *("benchmarks", "requirements.in", "book/pyproject.toml", "book/mdsgdln_book", "book/_ext"),
    *("book/_static", "book/api.md"),
]
# Tests that read chapters, claims or references, and take no time: they always run.
READING = [
    *(f"{name}.py" for name in "chapters claims hyperparameters neuron notation".split()),
    *(f"{name}.py" for name in "pictures prose release".split()),
    "distributions.py::test_imports_run_one_way",
    "references.py::test_references_are_up_to_date",
    "figures.py::test_the_page_draws_each_no_other_and_lists_all",
]


def files(place: Path) -> Iterator[Path]:
    """The files of a folder, or this file."""
    found = place.rglob("*") if place.is_dir() else [place]
    return (path for path in sorted(found) if path.is_file() and path.suffix != ".pyc")


def stamp(name: str) -> str:
    """Return the hash of a folder of tests, or of a reference, with all that it depends on."""
    if name in NEEDED:
        found = [path for place in NEEDED[name] for path in files(ROOT / place)]
        parts = [
            part for path in found for part in (str(path.relative_to(ROOT)), path.read_bytes())
        ]
    else:
        read = REFERENCES / f"{name}.ipynb", REFERENCES / "conftest.py", TESTS / "conftest.py"
        parts = [key(name), *(path.read_bytes() for path in read if path.exists())]
    return short_hash(sys.version, *parts)


def recorded() -> dict[str, str]:
    """Return the hashes of the last time that nothing was wrong."""
    return json.loads(RECORD.read_text("utf8")) if RECORD.exists() else {}


def is_verified(name: str) -> bool:
    """Return whether this was checked as it is."""
    return not ALL and recorded().get(name) == stamp(name)


def stale_references() -> list[str]:
    """The references to compare."""
    names = list(chapters(BOOK))
    found = [name for name in names if not is_verified(name)]
    if len(found) < len(names):
        said = f"{len(names) - len(found)} of {len(names)} chapters compared equal as they are"
        print(f"{said}. make test ALL=1 compares all.", file=sys.stderr)
    return [f"tests/references/{name}.ipynb" for name in found]


def begun(run: str) -> Path:
    """The file of the hashes that everything had when a run of the tests began."""
    return BEGUN / f"being_verified-{run}.json"


def stale_tests(run: str) -> list[str]:
    """The folders and files of tests to run; notes the hashes of everything as it is now."""
    stamps = {name: stamp(name) for name in [*NEEDED, *chapters(BOOK)]}
    BEGUN.mkdir(exist_ok=True)
    begun(run).write_text(json.dumps(stamps, indent=1), encoding="utf8")
    left_out = [name for name in NEEDED if is_verified(name)]
    if left_out:
        print(f"Passed as it is: {', '.join(left_out)}. make test ALL=1 runs all.", file=sys.stderr)
    found = [name for name in NEEDED if name not in left_out]
    if "tests/book" in left_out:
        found += [f"tests/book/test_{name}" for name in READING]
    return found


def record(run: str) -> None:
    """Keep the hashes that everything had when the tests began."""
    begun(run).replace(RECORD)


if __name__ == "__main__":
    command = {"tests": stale_tests, "references": stale_references, "record": record}
    print(*command[sys.argv[1]](*sys.argv[2:]) or [])
