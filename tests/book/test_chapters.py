"""Chapters: their cells are compared and described, references are theirs, notebooks as well."""

import doctest
import re

import jupytext
import nbformat
import pytest

from _ext import ledger, notebooks, pages
from _ext.references import chapters, code_cells
from mdsgdln_book import claims, exercise
from mdsgdln_book.places import BOOK

# Cells that these mark may fail, or print anything: nbval's tags, and its comments.
EXEMPT = re.compile(r"raises-exception|nbval-", re.IGNORECASE)
EXEMPT_COMMENT = re.compile(r"^\s*#[\s#]*((?:NBVAL|PYTEST_VALIDATE)_\w+)", re.MULTILINE)


def problems(cell):
    """What is wrong with a cell of a chapter, whatever it prints."""
    yield from (f"is tagged {tag}" for tag in cell.metadata.get("tags", []) if EXEMPT.match(tag))
    yield from (f"says {comment}" for comment in EXEMPT_COMMENT.findall(cell.source))
    shown = cell.metadata.get("mystnb", {})
    described = (shown.get("image") or {}).get("alt") or "interactive.place(" in cell.source
    if "figure" in shown and not described:
        yield f"has no alt text for its figure {shown['figure'].get('name', '')}".strip()


def test_the_chapters_cells_are_compared_and_described():
    found = [
        f"{name}: cell {number} {problem}"
        for name, path in chapters().items()
        for number, cell in enumerate(code_cells(jupytext.read(path)))
        for problem in problems(cell)
    ]
    assert not found, "\n".join(found)


# Notebooks to download ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(chapters()))
def test_notebooks_have_the_chapters_code_and_no_myst(name):
    path = chapters()[name]
    notebook = notebooks.to_notebook(path)
    cells = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    assert cells[1:] == [cell.source for cell in code_cells(jupytext.read(path))]
    prose = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    assert not re.search(r"^ *(`{3,}|:{3,})\{|\{[a-z:]+\}`|^\([\w-]+\)=$", prose, re.MULTILINE)
    nbformat.validate(notebook)


def test_notebooks_install_from_the_repository_or_from_the_wheels_next_to_them(monkeypatch):
    monkeypatch.setattr(notebooks, "REPOSITORY", "")
    first = notebooks.to_notebook(BOOK / "xor.md").cells[0].source
    page = (BOOK / "api.md").read_text(encoding="utf8")
    for wheel in notebooks.WHEELS:
        assert f'"./{wheel}"' in first and f'href="../notebooks/{wheel}"' in page
    monkeypatch.setattr(notebooks, "REPOSITORY", "https://github.com/a/b")
    monkeypatch.setattr(notebooks, "git", lambda *arguments: "0123abc")
    package, book = notebooks.requirements()
    assert package == "mdsgdln @ git+https://github.com/a/b@0123abc"
    assert book == "mdsgdln-book @ git+https://github.com/a/b@0123abc#subdirectory=book"
    assert f'"{book}"' in notebooks.to_notebook(BOOK / "xor.md").cells[0].source


# Pages -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("module", [claims, exercise, ledger, notebooks, pages])
def test_examples_of_docstrings_hold(module):
    found = doctest.testmod(module)
    assert found.attempted and not found.failed
