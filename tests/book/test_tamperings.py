"""Every check is worth something: a copy of the book is tampered with, and a check says where.

What is tried elsewhere: a chapter that raises, hangs or dies in a build (test_build), a full disk
(test_tables).
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import nbformat
import pytest

from mdsgdln_book.places import ROOT

pytestmark = pytest.mark.nightly

PYTEST = ("-m", "pytest", "-q", "-p", "no:cacheprovider")
NBVAL = ("--nbval", "--nbval-current-env", "--nbval-cell-timeout=60")
COMPARED = (*PYTEST, *NBVAL, "tests/references/hyperparameters.ipynb")
TABLE, OF_TABLE = "samples_alone", "more_contexts"  # six rows; a chapter that prints them


class Tampering(NamedTuple):
    """What is changed in which file, which check has to be red, and what it has to say."""

    file: str
    change: Callable[[str], str]
    check: tuple[str, ...]
    says: str


def put(old, new):
    """Replace what a pattern finds first; it has to be there."""

    def change(text):
        changed, number = re.subn(old, new, text, count=1)
        assert number, f"nothing to tamper with: {old}"
        return changed

    return change


def cell(number, **fields):
    """Change a cell of a reference."""

    def change(text):
        notebook = nbformat.reads(text, as_version=4)
        notebook.cells[number].update(fields)
        return nbformat.writes(notebook)

    return change


REFERENCE = "tests/references/hyperparameters.ipynb"
CELLS = (*PYTEST, "tests/book/test_chapters.py", "-k", "chapters_cells")
CLAIMS = (*PYTEST, "tests/book/test_claims.py", "-k", "edited")
TAMPERINGS = {
    "a number of a reference": Tampering(
        REFERENCE,
        put(r"128 \(NRR\) \| 128", "128 (NRR) | 129"),
        COMPARED,
        r"hyperparameters\.ipynb::Cell 1 [\s\S]*Cell outputs differ[\s\S]*\b129\b",
    ),
    "what a cell of a reference printed": Tampering(
        REFERENCE,
        cell(7, outputs=[]),
        COMPARED,
        r"hyperparameters\.ipynb::Cell 7 [\s\S]*Unexpected output fields",
    ),
    "a chapter that raises": Tampering(
        REFERENCE,
        cell(1, source="raise RuntimeError('said aloud')"),
        COMPARED,
        r"hyperparameters\.ipynb::Cell 1 [\s\S]*RuntimeError[\s\S]*said aloud",
    ),
    "a chapter that hangs": Tampering(
        REFERENCE,
        cell(0, source="import time\n\ntime.sleep(600)"),
        COMPARED,
        r"hyperparameters\.ipynb::Cell 0 [\s\S]*Timeout of 60 seconds exceeded",
    ),
    "a chapter without its reference": Tampering(
        "book/xor.md",
        put(r"\bSTEPS\b", "STEPS_"),
        (*PYTEST, "tests/book/test_references.py", "-k", "up_to_date"),
        r"xor: cell \d+: the code differs",
    ),
    "a cell that is not compared": Tampering(
        "book/xor.md",
        put(r"(?m)^(import jax)$", r"# NBVAL_IGNORE_OUTPUT\n\1"),
        CELLS,
        r"xor: cell \d+ says NBVAL_IGNORE_OUTPUT",
    ),
    "a figure without alternative text": Tampering(
        "book/xor.md",
        put(r"(name: fig-xor-cells\n)  image:\n    alt: '[^']*'\n", r"\1"),
        CELLS,
        r"xor: cell \d+ has no alt text for its figure fig-xor-cells",
    ),
    "a number of a table": Tampering(
        f"book/mdsgdln_book/results/{TABLE}.jsonl",
        put(r'("cross", "seed": 2}, "results": {"losses": \[4\.)40', r"\g<1>50"),
        (*PYTEST, "tests/book/test_tables.py", "-k", f"fixed_row and {TABLE}"),
        r"losses: was \[4\.50",
    ),
    "an experiment": Tampering(
        "book/mdsgdln_book/experiments/context_candidates.py",
        put(r'(return {"losses": )(training\.train\(network, weights)', r"\1 0.9 * \2"),
        ("-m", "_ext.reproduction", "all", "--tables", TABLE, "--chapters", OF_TABLE),
        OF_TABLE + r": differs[\s\S]*Cell outputs differ",
    ),
    "a row of a table that is gone": Tampering(
        f"book/mdsgdln_book/results/{TABLE}.jsonl",
        put(r'\{"setting": \{"case": "tree, ring, cross".*\n', ""),
        (*PYTEST, "tests/book/test_tables.py", "-k", f"whole and {TABLE}"),
        TABLE + r"\.jsonl lacks 1 of 6 runs",
    ),
    "the bound of a claim": Tampering(
        "book/claims.yml",
        put(r"(id: deep-eq7-random\n(?:  .*\n)*?  bound: \{at_most: 0\.0)2", r"\g<1>3"),
        CLAIMS,
        "claim deep-eq7-random: its bound was at most 0.02, now is at most 0.03",
    ),
    "a claim that is gone": Tampering(
        "book/claims.yml",
        put(r"- id: deep-eq7-random\n(?:  .*\n)*", ""),
        CLAIMS,
        "claim deep-eq7-random is gone",
    ),
    "a constant of the package 1 % off": Tampering(
        "mdsgdln/theory/contexts.py",
        put(r"common = (np\.sqrt\(num_contexts)", r"common = 1.01 * \1"),
        (*PYTEST, "tests/package/test_contexts.py", "-k", "race_law"),
        r"FAILED tests/package/test_contexts\.py::test_race_law",
    ),
}


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """The book as it is here, with its history, to be tampered with."""
    folder = tmp_path_factory.mktemp("tampered") / "book"
    clone = ["git", "clone", "--quiet", "--shared", "--no-checkout", ROOT, folder]
    subprocess.run(clone, check=True, capture_output=True)
    for name in ("book", "mdsgdln", "tests"):
        ignored = shutil.ignore_patterns("__pycache__", "_build", "*.egg-info")
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    for name in ("_config.yml", "_toc.yml", "pyproject.toml", "requirements.txt"):
        shutil.copy(ROOT / name, folder)
    return folder


GREEN = set()


def run(copy, check):
    """Run a check in the copy; return its exit code and what it says."""
    paths = os.pathsep.join(map(str, [copy, copy / "book"]))
    environment = os.environ | {"PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, *check]
    settings = {"env": environment, "cwd": copy, "text": True}
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **settings)
    return done.returncode, done.stdout


def test_it_is_the_copy_that_is_checked(copy):
    code = "import mdsgdln, mdsgdln_book; print(mdsgdln.__file__, mdsgdln_book.__file__)"
    _, said = run(copy, ("-c", code))
    assert [Path(path).is_relative_to(copy) for path in said.split()] == [True, True]


@pytest.mark.parametrize("tampering", TAMPERINGS.values(), ids=TAMPERINGS)
def test_a_tampering_is_seen_and_its_place_is_named(copy, tampering):
    if tampering.check not in GREEN:
        code, said = run(copy, tampering.check)
        assert code == 0, said
        GREEN.add(tampering.check)
    path = copy / tampering.file
    before = path.read_text(encoding="utf8")
    path.write_text(tampering.change(before), encoding="utf8")
    try:
        code, said = run(copy, tampering.check)
    finally:
        path.write_text(before, encoding="utf8")
    assert code != 0 and re.search(tampering.says, said), said
