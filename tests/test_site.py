"""The check of the built site finds what it should, and nothing in a clean page."""

import pytest
from bs4 import BeautifulSoup

from mdsgdln_book import site

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


def test_cells_may_not_fail(tmp_path):
    header = "---\nkernelspec: {name: python3, display_name: Python 3}\n---\n"
    cell = "```{code-cell}\n:tags: [raises-exception]\n1 / 0\n```\n"
    (tmp_path / "chapter.md").write_text(header + cell)
    assert site.source_problems(tmp_path) == ["chapter: cell 0 is tagged raises-exception"]


def test_exit_code(root, capsys):
    assert site.main([]) == 2
    spoil(root, "<p>:::{note}</p>")
    assert site.main([str(root)]) == 1
    assert "raw directive" in capsys.readouterr().out


def test_scripts_are_not_text():
    page = BeautifulSoup("<body><article><code>```{note}</code></article></body>", "html.parser")
    assert site.text_problems(page) == []
