"""Chapters and their references agree, and a number that has changed is seen."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from _ext import execution, references

TESTS = Path(__file__).resolve().parents[1]
NUMBER = re.compile(r"\d\.\d*[1-9]")

# A chapter as small as they come, through the whole machinery.
CHAPTER = """---
jupytext: {text_representation: {extension: .md, format_name: myst}}
kernelspec: {name: python3, display_name: Python 3}
---
# Demo

```{code-cell}
from math import hypot
```

A line of prose.

```{code-cell}
:tags: [hide-input]
print(f"{hypot(0.1, 5):.4f}")
```
"""


def test_references_are_up_to_date():
    """If this fails: `make references CHAPTER=<chapter>`, and look at what changed."""
    found = references.drift()
    assert not found, "\n".join(found)


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """A folder `book` with the demo chapter and a folder `references` with its reference."""
    root = tmp_path_factory.mktemp("demo")
    (root / "book").mkdir()
    (root / "book" / "demo.md").write_text(CHAPTER)
    (root / "book" / "page.md").write_text("# A page without code\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(execution, "KEPT", root / "kept")
        references.regenerate(root / "book/demo.md", root / "references")
    return root


@pytest.fixture
def copy(demo, tmp_path, monkeypatch):
    """A copy of the demo that a test may spoil."""
    monkeypatch.setattr(execution, "KEPT", tmp_path / "kept")
    shutil.copytree(demo, tmp_path, dirs_exist_ok=True)
    return tmp_path


def drift(root):
    return references.drift(root / "book", root / "references")


def edit(path, change):
    """Apply a change to a notebook file."""
    notebook = nbformat.read(path, as_version=4)
    change(notebook)
    nbformat.write(notebook, path)
    return path


@pytest.mark.parametrize(
    ("old", "new", "seen"),
    [("0.1, 5", "0.1, 6", True), ("hide-input", "hide-cell", True), ("line of", "bit of", False)],
)
def test_drift_sees_changed_code_and_tags(copy, old, new, seen):
    (copy / "book" / "demo.md").write_text(CHAPTER.replace(old, new))
    assert drift(copy) == ["demo: code or tags differ"] * seen


def forget(notebook):
    notebook.cells[1].execution_count = None
    notebook.cells[1].outputs = []


def test_drift_sees_what_was_never_executed_missing_and_orphaned(copy):
    reference = edit(copy / "references" / "demo.ipynb", forget)
    assert drift(copy) == ["demo: a cell was never executed, so nothing is compared"]
    reference.rename(copy / "references" / "gone.ipynb")
    assert drift(copy) == ["demo: chapter without a reference", "gone: reference without a chapter"]


def spoil(notebook):
    output = notebook.cells[1].outputs[0]
    output.text = NUMBER.sub("9.8765", output.text, count=1)


def test_nbval_sees_a_changed_number(copy):
    folder = copy / "references"
    shutil.copy(folder / "demo.ipynb", folder / "spoiled.ipynb")
    edit(folder / "spoiled.ipynb", spoil)
    shutil.copy(TESTS / "conftest.py", folder)
    nbval = ["--nbval", "--nbval-current-env", "-rf", "--tb=no", f"--rootdir={folder}"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *nbval, "-p", "no:cacheprovider", folder],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(TESTS)},
        capture_output=True,
        text=True,
    )
    found = re.findall(r"^FAILED (\S+::Cell \d+)", done.stdout, re.MULTILINE)
    assert found == ["spoiled.ipynb::Cell 1"], done.stdout + done.stderr
