"""Chapters: their cells are compared and described, references are theirs, notebooks as well."""

import doctest
import re
from itertools import pairwise

import jupytext
import nbformat
import pytest
from bs4 import BeautifulSoup

from _ext import ledger, notebooks, pages
from _ext.references import chapters, code_cells
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


@pytest.mark.parametrize(
    ("cell", "problem"),
    [
        (":tags: [raises-exception]\n1 / 0", "is tagged raises-exception"),
        (":tags: [hide-input, nbval-skip]\n1 / 0", "is tagged nbval-skip"),
        ("1 + 1\n  # NBVAL_IGNORE_OUTPUT", "says NBVAL_IGNORE_OUTPUT"),
        (
            "---\nmystnb: {figure: {caption: Words, name: fig-x}, image: {alt: }}\n---\nplot()",
            "has no alt text for its figure fig-x",
        ),
        ("---\nmystnb: {figure: {caption: W}, image: {alt: A line}}\n---\nplot()", None),
        ("---\nmystnb: {figure: {caption: W}}\n---\ninteractive.place('x')", None),
        ("1 + 1  # compared by nbval", None),
    ],
)
def test_problems_of_cells_are_seen(cell, problem):
    header = "---\nkernelspec: {name: python3, display_name: Python 3}\n---\n"
    (found,) = code_cells(jupytext.reads(f"{header}```{{code-cell}}\n{cell}\n```\n", "md:myst"))
    assert list(problems(found)) == ([problem] if problem else [])


def test_the_chapters_cells_are_compared_and_described():
    found = [
        f"{name}: cell {number} {problem}"
        for name, path in chapters().items()
        for number, cell in enumerate(code_cells(jupytext.read(path)))
        for problem in problems(cell)
    ]
    assert not found, "\n".join(found)


PLACE = re.compile(r"^\s*:?(?:label|name): ([\w-]+)$|^\(([\w-]+)\)=$", re.MULTILINE)
POINTS_TO = re.compile(r"\{(?:eq|numref|prf:ref|ref)\}`(?:[^`<]*<)?([\w-]+)>?`")


def test_the_story_needs_no_later_chapter():
    """A page of the story names formulas, figures and theorems of earlier ones, or of reference."""
    text = {path.stem: path.read_text("utf8") for path in BOOK.glob("*.md")}
    card = text["start"].partition("The story in ten pages")[2].partition("\n\n")[0]
    story = ["start", *re.findall(r"\((\w+)\.md\)", card)]
    assert len(story) == 10
    for number, (page, following) in enumerate(pairwise(story[1:]), start=2):
        assert f"page {number} of 10; it goes on with" in text[page]
        assert f"]({following}.md).*" in text[page]
    place = {a or b: page for page in text for a, b in PLACE.findall(text[page])}
    toc = (BOOK.parent / "_toc.yml").read_text("utf8").partition("caption: Reference")[0]
    later = [
        f"{page}: {name} is in {place[name]}"
        for number, page in enumerate(story)
        for name in POINTS_TO.findall(text[page])
        if f"book/{place[name]}\n" in toc and place[name] not in story[: number + 1]
    ]
    assert not later, "\n".join(later)


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


def test_notebooks_install_from_the_repository_or_from_the_wheels_next_to_them(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(notebooks, "REPOSITORY", "")
    notebooks.write(tmp_path)
    assert {path.name for path in tmp_path.glob("*.whl")} == {*notebooks.WHEELS}
    assert {path.stem for path in tmp_path.glob("*.ipynb")} == {*chapters()}
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

PAGE = """<!DOCTYPE html>
<html><head></head><body><div class="bd-sidebar-primary bd-sidebar">Title</div>
<script src="_static/vendor/fontawesome/6/js/all.min.js"></script>
<script>document.write(`<button class="btn search-button-field" aria-label="Search">`)</script>
<section id="proof-content">one</section><section id="proof-content">two</section>
<details><summary aria-label="Toggle hidden content"><p>Show code</p></summary></details>
<div class="citation-list" role="list"><div class="citation" role="doc-biblioentry">x</div></div>
<a href="../notebooks/x.ipynb" target="_blank">x</a>
<div class="cell_output"><figure id="fig-x"><img alt="a" src="a.svg"/>
<figcaption><p>Words.</p></figcaption></figure></div>
<div class="cell_output"><table><thead><tr><th></th><th>rates</th><th>one</th><th>two</th></tr>
<tr><th>items</th><th>sets</th><th></th><th></th></tr></thead></table></div></body></html>"""


def test_pages_are_mended():
    page = BeautifulSoup(pages.repaired_page(PAGE, {"a.svg": ["150", "75"]}), "html.parser")
    ids = [node["id"] for node in page.find_all("section")]
    assert ids == ["proof-content", "proof-content-2"]
    assert not page.select("summary[aria-label], .citation[role], .citation-list[role]")
    assert page.select("div[role=complementary][aria-label]")
    assert page.select("a[download][href$='.ipynb']")
    assert page.find("img")["width"] == "150" and page.find("img")["height"] == "75"
    (script,) = page.find_all("script")
    assert "aria-label" not in script.string
    assert [cell.text for cell in page.find_all("th")] == ["items", "sets", "one", "two"]
    assert page.caption.text == "rates"


@pytest.mark.parametrize("module", [ledger, notebooks, pages])
def test_examples_of_docstrings_hold(module):
    found = doctest.testmod(module)
    assert found.attempted and not found.failed
