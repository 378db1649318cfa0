"""`jupyter-book build .` alone makes the whole site, its pages mended; `make book` one page."""

import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from bs4 import BeautifulSoup

from mdsgdln_book import build
from mdsgdln_book.pages import repair, site
from mdsgdln_book.places import BOOK, ROOT

START = """# Start

```{prf:theorem}
One.
```

```{prf:theorem}
Two, see [](xor.md).
```
"""
CHAPTER = """---
jupytext: {text_representation: {extension: .md, format_name: myst}}
kernelspec: {name: python3, display_name: Python 3}
---
# A chapter

```{code-cell}
---
mystnb:
  image:
    alt: nothing to see
---
import sys
from IPython.display import SVG

print("careful", file=sys.stderr)
SVG('<svg xmlns="http://www.w3.org/2000/svg" width="72pt" height="36pt"></svg>')
```
"""
TOC = {"format": "jb-book", "root": "book/start", "chapters": [{"file": "book/xor"}]}


pytestmark = pytest.mark.xdist_group("bare build")  # by one worker, once


def write_book(folder, chapter=CHAPTER):
    """Write two pages, start and xor, under the configuration of the book."""
    text = (ROOT / "_config.yml").read_text(encoding="utf8")
    config = yaml.safe_load(text.replace("book/_static", str(BOOK / "_static")))
    config["sphinx"]["config"]["bibtex_bibfiles"] = [str(BOOK / "references.bib")]
    (folder / "book").mkdir()
    (folder / "_config.yml").write_text(yaml.safe_dump(config))
    (folder / "_toc.yml").write_text(yaml.safe_dump(TOC))
    (folder / "book/start.md").write_text(START)
    (folder / "book/xor.md").write_text(chapter)


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """The site that a bare build makes of two pages under the configuration of the book."""
    folder = tmp_path_factory.mktemp("bare")
    write_book(folder)
    command = [Path(sys.executable).with_name("jupyter-book"), "build", "."]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "xor.md:9: WARNING: stderr was found" in done.stderr  # with -W, an error
    return folder / "_build/html"


def files(root):
    """Pages and figures by their path."""
    paths = [*root.rglob("*.html"), *(root / "_images").glob("*.svg")]
    return {path: path.read_text(encoding="utf8") for path in paths}


def test_a_bare_build_mends_its_pages(root):
    before = files(root)
    pages = {path.stem: BeautifulSoup(text, "html.parser") for path, text in before.items()}
    assert pages["index"].find("link", rel="icon")
    assert pages["start"].find(id="proof-content-2")
    assert pages["xor"].select("div[role=complementary]")
    (figure,) = pages["xor"].select(".cell_output img")
    assert (figure["width"], figure["height"]) == ("150", "75")
    assert site.site_problems(root) == []
    (root / ".repaired").unlink()
    repair.repair(root)
    assert files(root) == before


ALONE = """
import pathlib, sys
from mdsgdln_book import build
build.ROOT = pathlib.Path.cwd()
build.BOOK, build.SITE = build.ROOT / "book", build.ROOT / "_build/html"
sys.exit(build.main("xor"))
"""


def test_one_page_is_built_where_it_lies(root):
    page = root / "book/xor.html"
    page.unlink()
    command = [sys.executable, "-c", ALONE]
    done = subprocess.run(command, cwd=root.parents[1], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "Open _build/html/book/xor.html, or run 'make serve'.\n"
    assert page.exists()


def test_a_page_has_to_be_known():
    with pytest.raises(SystemExit, match="expected one of .*semantic.*; got semantics"):
        build.main("semantics")
