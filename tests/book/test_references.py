"""Chapters and their references agree, and a number that has changed is seen."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat

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
    assert references.drift() == []


def test_changed_code_and_a_changed_number_are_seen(tmp_path, monkeypatch):
    monkeypatch.setattr(execution, "KEPT", tmp_path / "kept")
    page, folder = tmp_path / "book/demo.md", tmp_path / "references"
    page.parent.mkdir()
    page.write_text(CHAPTER)
    references.regenerate(page, folder)
    assert references.drift(page.parent, folder) == []
    page.write_text(CHAPTER.replace("0.1, 5", "0.1, 6"))
    assert references.drift(page.parent, folder) == ["demo: code or tags differ"]

    notebook = nbformat.read(folder / "demo.ipynb", as_version=4)
    output = notebook.cells[1].outputs[0]
    output.text = NUMBER.sub("9.8765", output.text, count=1)
    nbformat.write(notebook, folder / "spoiled.ipynb")
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
