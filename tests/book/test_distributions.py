"""Three floors, two distributions: what they import, hold and do, of one version."""

import json
import os
import re
import subprocess
import sys

import jupytext
import pytest
import yaml

import mdsgdln
from _ext.references import chapters, code_cells
from mdsgdln_book.places import BOOK, ROOT

LARGEST = {"mdsgdln": 150_000, "mdsgdln_book": 3_000_000}  # bytes
FLOORS = {"mdsgdln": ROOT / "mdsgdln", "mdsgdln_book": BOOK / "mdsgdln_book", "_ext": BOOK / "_ext"}

# Run where both are installed, with none of what only the making of pages needs.
USE = """
import pkgutil, sys
from importlib import import_module
import mdsgdln, mdsgdln_book
from mdsgdln_book import experiments, places, tables
from mdsgdln_book.claims import Claims
from mdsgdln_book import interactive

assert places.BOOK == places.PACKAGE / "data" and list(places.RESULTS.glob("*.jsonl"))
Claims("xor")
interactive.place("timeline")
for module in pkgutil.iter_modules(experiments.__path__, "mdsgdln_book.experiments."):
    import_module(module.name)
assert not {"bs4", "jupytext", "myst_nb", "nbclient", "nbformat", "sphinx"} & set(sys.modules)
print(mdsgdln.__file__, mdsgdln_book.__file__, sep="\\n")
"""


def imported(code):
    """The first names of what some code imports."""
    return set(re.findall(r"^\s*(?:from|import) (\w+)", code, re.M))


def test_imports_run_one_way():
    """Chapters and _ext -> mdsgdln_book -> mdsgdln; nothing that is imported imports back."""
    known = list(FLOORS)
    for name, folder in FLOORS.items():
        found = set().union(*(imported(path.read_text("utf8")) for path in folder.rglob("*.py")))
        assert not found & set(known[known.index(name) + 1 :]), name
    cells = (cell for path in chapters().values() for cell in code_cells(jupytext.read(path)))
    assert not any("_ext" in imported(cell.source) for cell in cells)


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A folder in which the wheels of both packages are installed; a warning is an error."""
    wheels, target = tmp_path_factory.mktemp("wheels"), tmp_path_factory.mktemp("site")
    build = [sys.executable, "-W", "error", "-m", "hatchling", "build", "-t", "wheel", "-d", wheels]
    for project in (ROOT, BOOK):
        subprocess.run(build, cwd=project, check=True)
    for wheel in wheels.glob("*.whl"):
        assert wheel.stat().st_size <= LARGEST[wheel.name.partition("-")[0]]
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([*pip, "--target", target, *wheels.glob("*.whl")], check=True)
    return target


def test_installed_copies_work_without_the_clone(installed, tmp_path):
    used = subprocess.run(
        [sys.executable, "-c", USE],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
    )
    assert used.returncode == 0, used.stderr
    assert all(line.startswith(str(installed)) for line in used.stdout.splitlines())
    assert (installed / "mdsgdln/py.typed").exists()


def test_one_version_and_one_date_everywhere():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf8"))
    archived = json.loads((ROOT / ".zenodo.json").read_text(encoding="utf8"))
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf8")
    version, date = re.search(r"^## ([\d.]+), (\d{4}-\d\d-\d\d)$", changes, re.M).groups()
    assert (version, date) == (citation["version"], citation["date-released"])
    assert version == mdsgdln.__version__
    assert "version" not in archived and archived["title"] == citation["title"]  # as of the tag
    pages = " ".join((BOOK / name).read_text("utf8") for name in ("api.md", "your_network.md"))
    assert {*re.findall(r"mdsgdln(?:_book)?-([\d.]+)-py3", pages)} == {version}
