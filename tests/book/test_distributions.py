"""Two distributions: what they import, hold and do, of one version."""

import os
import re
import subprocess
import sys

import yaml

import mdsgdln
from mdsgdln_book.places import BOOK, ROOT

LARGEST = {"mdsgdln": 150_000, "mdsgdln_book": 3_000_000}  # bytes

# Run where both are installed, without _ext; the package imports nothing of the book, and the book
# nothing that only the making of pages needs.
USE = """
import pkgutil, sys
from importlib import import_module

def import_all(package):
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        import_module(module.name)

import mdsgdln
import_all(mdsgdln)
assert "mdsgdln_book" not in sys.modules
import mdsgdln_book
import_all(mdsgdln_book)
from mdsgdln_book import interactive, places
from mdsgdln_book.claims import Claims

assert places.BOOK == places.PACKAGE / "data" and list(places.RESULTS.glob("*.jsonl"))
Claims("xor")
interactive.place("timeline")
assert not {"bs4", "jupytext", "myst_nb", "nbclient", "nbformat", "sphinx"} & set(sys.modules)
print(mdsgdln.__file__, mdsgdln_book.__file__, sep="\\n")
"""


def test_installed_copies_work_without_the_clone(tmp_path):
    """Wheels of both packages are built, where a warning is an error, and installed in a folder."""
    wheels, installed = tmp_path / "wheels", tmp_path / "site"
    build = [sys.executable, "-W", "error", "-m", "hatchling", "build", "-t", "wheel", "-d", wheels]
    for project in (ROOT, BOOK):
        subprocess.run(build, cwd=project, check=True)
    for wheel in wheels.glob("*.whl"):
        assert wheel.stat().st_size <= LARGEST[wheel.name.partition("-")[0]]
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([*pip, "--target", installed, *wheels.glob("*.whl")], check=True)
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
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf8")
    version, date = re.search(r"^## ([\d.]+), (\d{4}-\d\d-\d\d)$", changes, re.M).groups()
    assert (version, date) == (citation["version"], citation["date-released"])
    assert version == mdsgdln.__version__
    pages = " ".join((BOOK / name).read_text("utf8") for name in ("api.md", "your_network.md"))
    assert {*re.findall(r"mdsgdln(?:_book)?-([\d.]+)-py3", pages)} == {version}
