"""Three floors, two distributions: what they import, need, hold and do, of one version."""

import ast
import itertools
import json
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import packages_distributions

import jupytext
import pytest
import yaml

import mdsgdln
from _ext.references import chapters, code_cells
from mdsgdln_book.places import BOOK, ROOT

PROJECTS = {"mdsgdln": ROOT, "mdsgdln_book": ROOT / "book"}
UNDECLARED = {"matplotlib-inline"}  # imported where IPython runs, which brings it
LARGEST = {"mdsgdln": 150_000, "mdsgdln_book": 3_000_000}  # bytes

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


def project(name):
    return tomllib.loads((PROJECTS[name] / "pyproject.toml").read_text(encoding="utf8"))["project"]


def distributions(requirements):
    """Names of distributions, in lower case and with hyphens."""
    names = (re.match(r"[\w.-]+", requirement)[0] for requirement in requirements)
    return {re.sub(r"[-_.]+", "-", name).lower() for name in names}


def modules(sources):
    """The first names of all that some code imports."""
    found = set()
    for node in (node for source in sources for node in ast.walk(ast.parse(source))):
        if isinstance(node, ast.Import):
            found |= {each.name.partition(".")[0] for each in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found.add(node.module.partition(".")[0])
    return found


def imported(name):
    """The distributions that a package's modules import."""
    paths = (PROJECTS[name] / name).rglob("*.py")
    found = modules(path.read_text(encoding="utf8") for path in paths)
    known = packages_distributions()
    outside = found - set(sys.stdlib_module_names) - {name}
    return distributions(known.get(each, [each])[0] for each in outside) - UNDECLARED


FLOORS = {"mdsgdln": ROOT / "mdsgdln", "mdsgdln_book": ROOT / "book/mdsgdln_book"}
FLOORS |= {"_ext": ROOT / "book/_ext"}  # and the chapters, which import the first two


def test_imports_run_one_way():
    """Chapters and _ext -> mdsgdln_book -> mdsgdln; nothing that is imported imports back."""
    known = list(FLOORS)
    for name, folder in FLOORS.items():
        found = modules(path.read_text(encoding="utf8") for path in folder.rglob("*.py"))
        assert not found & set(known[known.index(name) + 1 :]), name
    cells = (code_cells(jupytext.read(path)) for path in chapters().values())
    assert "_ext" not in modules(cell.source for found in cells for cell in found)


@pytest.mark.parametrize("name", PROJECTS)
def test_what_is_needed_is_what_is_imported(name):
    extras = project(name).get("optional-dependencies", {}).values()
    outside = imported(name) - distributions(itertools.chain(*extras))
    assert distributions(project(name)["dependencies"]) == outside


@pytest.fixture(scope="module")
def wheels(tmp_path_factory):
    """Both wheels, built from the clone; a warning is an error."""
    folder = tmp_path_factory.mktemp("wheels")
    command = [sys.executable, "-W", "error", "-m", "hatchling", "build", "-t", "wheel"]
    for root in PROJECTS.values():
        subprocess.run([*command, "-d", str(folder)], cwd=root, check=True)
    return {name: next(folder.glob(f"{name}-*.whl")) for name in PROJECTS}


def contents(wheel):
    """Files of the package in a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        return {name for name in archive.namelist() if ".dist-info/" not in name}


def files(folder, *patterns):
    """The files of the clone that match."""
    found = (path for pattern in patterns for path in folder.glob(pattern) if path.is_file())
    return {path.relative_to(folder).as_posix() for path in found}


def test_wheels_hold_their_package_and_no_other(wheels):
    book = ROOT / "book"
    data = files(book, "claims.yml", "_static/interactive/*", "_static/interactive/laboratory/*")
    package = files(book, "mdsgdln_book/**/*.py", "mdsgdln_book/results/*.json*")
    assert len(data) > 5 and len(package) > 50
    assert contents(wheels["mdsgdln"]) == files(ROOT, "mdsgdln/**/*.py", "mdsgdln/py.typed")
    assert contents(wheels["mdsgdln_book"]) == package | {f"mdsgdln_book/data/{n}" for n in data}
    for name, wheel in wheels.items():
        assert wheel.stat().st_size <= LARGEST[name]


@pytest.fixture(scope="module")
def installed(wheels, tmp_path_factory):
    """A folder in which both packages are installed."""
    target = tmp_path_factory.mktemp("site")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([*pip, "--target", str(target), *map(str, wheels.values())], check=True)
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


def test_one_version_and_one_date_everywhere():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf8"))
    archived = json.loads((ROOT / ".zenodo.json").read_text(encoding="utf8"))
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf8"))
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf8")
    version, date = re.search(r"^## ([\d.]+), (\d{4}-\d\d-\d\d)$", changes, re.M).groups()
    assert version == mdsgdln.__version__ == citation["version"]
    assert date == citation["date-released"] and date.startswith(config["copyright"])
    assert "version" not in archived  # Zenodo takes the tag
    assert archived["title"] == citation["title"] == config["title"]
    assert archived["description"] == citation["abstract"]
    assert archived["keywords"] == citation["keywords"]
    pages = " ".join((BOOK / name).read_text("utf8") for name in ("api.md", "your_network.md"))
    assert {*re.findall(r"mdsgdln(?:_book)?-([\d.]+)-py3", pages)} == {version}
