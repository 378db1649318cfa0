"""Chapters: none of their cells is left out of what is compared; notebooks have their code."""

import doctest
import re

import jupytext
import nbformat
import pytest

from _ext import ledger, notebooks, pages
from _ext.references import chapters, code_cells
from mdsgdln_book import claims, exercise
from mdsgdln_book.places import BOOK

# Cells that these tags of nbval, or comments, mark may fail, or print anything.
EXEMPT = re.compile(r"raises-exception|nbval-|NBVAL_|PYTEST_VALIDATE_", re.IGNORECASE)


def test_the_chapters_cells_are_compared_and_their_figures_described():
    for name, path in chapters().items():
        for cell in code_cells(jupytext.read(path)):
            assert not EXEMPT.search(f"{cell.metadata.get('tags')} {cell.source}"), name
            shown = cell.metadata.get("mystnb", {})
            if "figure" in shown and "interactive.place(" not in cell.source:
                assert shown["image"]["alt"], name


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


@pytest.mark.parametrize("module", [claims, exercise, ledger, notebooks, pages])
def test_examples_of_docstrings_hold(module):
    found = doctest.testmod(module)
    assert found.attempted and not found.failed
