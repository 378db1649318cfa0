"""The built site: its check finds what it should, pages are mended, chapters become notebooks."""

import doctest
import re

import jupytext
import nbformat
import pytest
from bs4 import BeautifulSoup

from mdsgdln_book import notebooks, references
from mdsgdln_book.extensions import docstrings, launch, marks
from mdsgdln_book.pages import leads, pdf, reading, repair, site
from mdsgdln_book.places import BOOK

CLEAN = """<html><head><link rel="stylesheet" href="own.css">
<link rel="canonical" href="https://example.org/page.html"></head><body>
<article id="top"><a href="#top">up</a> <a href="https://example.org">out</a>
<a href="other.html#place">other</a> <img src="a.png" alt="a line going up">
<pre>```{figure} shown as an example</pre> <span class="math">$a$</span></article></body></html>"""
OTHER = '<html><body><article><h1 id="place">Other</h1></article></body></html>'


@pytest.fixture
def root(tmp_path):
    (tmp_path / "page.html").write_text(CLEAN)
    (tmp_path / "other.html").write_text(OTHER)
    (tmp_path / "own.css").write_text("body { background: url(a.png) }")
    return tmp_path


def spoil(root, addition):
    """The problems of the site after an addition to its page's article."""
    (root / "page.html").write_text(CLEAN.replace("</article>", addition + "</article>"))
    return site.site_problems(root)


def test_clean_site(root):
    assert site.site_problems(root) == []
    assert spoil(root, '<a href="nowhere.html">x</a>')


@pytest.mark.parametrize(
    ("addition", "complaint"),
    [
        ('<script src="https://cdn.example.org/x.js"></script>', "<script> loads"),
        ('<img src="//example.org/x.png" alt="x">', "<img> loads"),
        ('<iframe src="http://example.org"></iframe>', "<iframe> loads"),
        ('<link rel="preload" href="https://example.org/font.woff2">', "<link> loads"),
        ("<style>@import 'https://example.org/x.css';</style>", "style loads"),
        ('<p style="background: url(https://example.org/x.png)"></p>', "style loads"),
        ('<img src="a.png">', "without alt text"),
        ('<img src="_images/a.png" alt="../_images/a.png">', "without alt text"),
        ('<figure id="fig-x"><img src="b.png"></figure>', "without alt text of figure fig-x"),
        ("<p>```{figure} a.png</p>", "raw directive"),
        ("<p>:::{note}</p>", "raw directive"),
        ("<p>where $a > 0$ holds</p>", "raw TeX"),
        ("<pre>Traceback (most recent call last):</pre>", "traceback"),
        ('<a href="nowhere.html">x</a>', "broken link nowhere.html"),
        ('<a href="other.html#nowhere">x</a>', "missing place other.html#nowhere"),
        ('<a href="#nowhere">x</a>', "missing place #nowhere"),
    ],
)
def test_complaints(root, addition, complaint):
    (problem,) = spoil(root, addition)
    assert complaint in problem


def test_style_sheets_are_read(root):
    (root / "own.css").write_text("@font-face { src: url('https://example.org/f.woff') }")
    (problem,) = site.site_problems(root)
    assert problem == "own.css: style loads https://example.org/f.woff"


def test_an_empty_site_is_a_problem(tmp_path):
    assert site.site_problems(tmp_path)


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
def test_cells_are_compared_and_described(tmp_path, cell, problem):
    header = "---\nkernelspec: {name: python3, display_name: Python 3}\n---\n"
    cells = f"```{{code-cell}}\n1\n```\n\n```{{code-cell}}\n{cell}\n```\n"
    (tmp_path / "chapter.md").write_text(header + cells)
    found = [f"chapter: cell 1 {problem}"] if problem else []
    assert site.source_problems(tmp_path) == found


def test_the_chapters_cells_are_compared_and_described():
    found = site.source_problems()
    assert not found, "\n".join(found)


def test_exit_code(root, capsys):
    spoil(root, "<p>:::{note}</p>")
    assert site.main(root) == 1
    assert "raw directive" in capsys.readouterr().out


def test_scripts_are_not_text():
    page = BeautifulSoup("<body><article><code>```{note}</code></article></body>", "html.parser")
    assert site.text_problems(page) == []


PAGE = """<!DOCTYPE html>
<html><head></head><body><div class="bd-sidebar-primary bd-sidebar">Title</div>
<script src="_static/vendor/fontawesome/6/js/all.min.js"></script>
<script>document.write(`<button class="btn search-button-field" aria-label="Search">`)</script>
<section id="proof-content">one</section><section id="proof-content">two</section>
<details><summary aria-label="Toggle hidden content"><p>Show code</p></summary></details>
<div class="citation-list" role="list"><div class="citation" role="doc-biblioentry">x</div></div>
<table class="indextable"></table><a href="../notebooks/x.ipynb" target="_blank">x</a>
<div class="cell_output"><figure id="fig-x"><img alt="a" src="a.svg"/>
<figcaption><p>Words.</p></figcaption></figure></div>
<div class="cell_output"><img alt="b" src="b.svg"/></div>
<div class="cell_output"><table><thead><tr><th></th><th>rates</th><th>one</th><th>two</th></tr>
<tr><th>items</th><th>sets</th><th></th><th></th></tr></thead></table></div></body></html>"""


def test_pages_are_mended(tmp_path):
    sizes = {"a.svg": ("150", "75"), "b.svg": ("150", "75")}
    page = BeautifulSoup(repair.repaired_page(PAGE, sizes), "html.parser")
    assert [node["id"] for node in page.find_all("section")] == [
        "proof-content",
        "proof-content-2",
    ]
    assert not page.select("summary[aria-label], .citation[role], .citation-list[role]")
    assert page.select("div[role=complementary][aria-label]")
    assert page.select("table[role=presentation]")
    assert page.select("a[download][href$='.ipynb']")
    assert page.find("img")["width"] == "150" and page.find("img")["height"] == "75"
    (script,) = page.find_all("script")
    assert "aria-label" not in script.string
    assert [cell.text for cell in page.find_all("th")] == ["items", "sets", "one", "two"]
    assert page.caption.text == "rates"


def test_mending_again_changes_nothing(tmp_path):
    (tmp_path / "_images").mkdir()
    figure, page = tmp_path / "_images" / "a.svg", tmp_path / "page.html"
    for path in (figure, figure.with_name("b.svg")):
        path.write_text('<?xml version="1.0"?>\n<svg width="72pt" height="36pt"><g/></svg>')
    page.write_text(PAGE)
    repair.repair(tmp_path)
    assert '<svg width="150" height="75">' in figure.read_text()
    once = figure.read_text(), page.read_text()
    repair.repair(tmp_path)
    assert (figure.read_text(), page.read_text()) == once


MYST = """(place)=
# Title

See {eq}`flow`, {term}`modes <mode>`, {cite:p}`saxe2014,saxe2019`, [](other.md) and [](ledger.md).
It takes {measured}`a-time`.{claim}`a-time` Another takes {null}`a-time`.

```{math}
:label: flow
a &= b \\\\
c &= d
```

$$ e = f $$ (second)

````{solution} ex-one
:class: dropdown
Run
```python
x = 1
```
and see.
````
"""


def test_directives_become_markdown():
    lines = notebooks.plain(MYST, frozenset({"other"})).split("\n")
    assert lines[0] == "# Title"
    assert lines[2] == ("See (flow), modes, saxe2014,saxe2019, [other](other.ipynb) and ledger.")
    assert lines[3] == "It takes (value on the page). Another takes (value on the page)."
    assert lines[5:12] == [
        "$$",
        r"\begin{aligned}",
        r"a &= b \\",
        "c &= d",
        r"\end{aligned}",
        r"\tag{flow}",
        "$$",
    ]
    assert lines[13] == r"$$ e = f \tag{second}$$"
    assert lines[15:17] == ["<details>", "<summary>Solution</summary>"]
    assert lines[19:22] == ["```python", "x = 1", "```"] and "</details>" in lines


@pytest.mark.parametrize("name", sorted(references.chapters()))
def test_notebooks_have_the_chapters_code(name):
    path = references.chapters()[name]
    notebook = notebooks.to_notebook(path, "https://example.org/a/b", "0123abc")
    first, *cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert '"mdsgdln @ git+https://example.org/a/b@0123abc"' in first.source
    assert '"mdsgdln-book @ git+https://example.org/a/b@0123abc#subdirectory=book"' in first.source
    source = references.code_cells(jupytext.read(path))
    assert [cell.source for cell in cells] == [cell.source for cell in source]
    prose = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    assert not re.search(r"^ *(`{3,}|:{3,})\{|\{[a-z:]+\}`|^\([\w-]+\)=$", prose, re.MULTILINE)
    nbformat.validate(notebook)


def test_buttons_lead_to_the_branch_of_notebooks(monkeypatch):
    monkeypatch.delenv("BOOK_REPOSITORY", raising=False)
    assert launch.repository() == ""
    monkeypatch.setenv("BOOK_REPOSITORY", "https://github.com/a/b/")
    binder, colab = launch.remote_buttons(launch.repository(), "xor")
    assert binder["url"] == "https://mybinder.org/v2/gh/a/b/notebooks?labpath=xor.ipynb"
    assert colab["url"].endswith("/github/a/b/blob/notebooks/xor.ipynb")


def test_binder_gets_both_distributions(monkeypatch, tmp_path):
    monkeypatch.setenv("BOOK_REPOSITORY", "https://github.com/a/b")
    monkeypatch.setattr(launch, "commit", lambda: "0123abc")
    monkeypatch.setattr(launch, "known_chapters", dict)
    launch.write_notebooks(tmp_path)
    lines = (tmp_path / "requirements.txt").read_text().splitlines()
    assert lines == [
        "mdsgdln @ git+https://github.com/a/b@0123abc",
        "mdsgdln-book @ git+https://github.com/a/b@0123abc#subdirectory=book",
        "jupyterlab",
    ]


def test_a_notebook_without_a_repository_installs_the_wheels_beside_it(tmp_path):
    launch.write_wheels(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(notebooks.WHEELS)
    first = notebooks.to_notebook(BOOK / "xor.md").cells[0].source
    assert all(f" ./{wheel}" in first for wheel in notebooks.WHEELS)
    assert "save them in this notebook's folder" in first
    page = (BOOK / "api.md").read_text(encoding="utf8")
    assert all(f'href="../notebooks/{wheel}"' in page for wheel in notebooks.WHEELS)


@pytest.mark.parametrize("module", [docstrings, leads, marks, notebooks, pdf, reading, repair])
def test_examples_of_docstrings_hold(module):
    found = doctest.testmod(module)
    assert found.attempted and not found.failed
