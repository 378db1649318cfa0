"""Sphinx extension: a lecture, as slides by reveal.js, with the figures that the chapters draw.

`book/slides/lecture.md` is Markdown as reveal.js reads it: `---` begins a slide, `--` one below it,
`Note:` what the speaker sees. A picture's address is a chapter and one of its figures.
"""

import html
import json
import re
from functools import cache
from pathlib import Path

from bs4 import BeautifulSoup

from mdsgdln_book.places import BOOK

FIGURE = re.compile(r"!\[(.*)\]\((\w+)#([\w-]+)\)")


def with_pictures(slides: str, pages: Path) -> str:
    """The slides, with the pictures of the built pages in place of the figures' names.

    Raises:
        ValueError: a page has no such figure.
    """

    @cache
    def read(name: str) -> BeautifulSoup:
        return BeautifulSoup((pages / f"{name}.html").read_text("utf8"), "html.parser")

    def picture(found: re.Match) -> str:
        words, page, figure = found.groups()
        image = read(page).select_one(f"#{figure} img")
        if image is None:
            raise ValueError(f"slides: {page} has no figure {figure}")
        return f'<img src="{image["src"]}" alt="{html.escape(words)}">'

    return FIGURE.sub(picture, slides)


def write(app, exception) -> None:
    """Write the slides, with the figures of the pages."""
    pages = Path(app.outdir) / "book"
    if exception is not None or app.builder.name != "html" or app.config.nb_execution_mode == "off":
        return
    template = (BOOK / "_templates/slides.html").read_text("utf8")
    place = Path(app.outdir) / "_static/slides.html"
    slides = with_pictures((BOOK / "slides/lecture.md").read_text("utf8"), pages)
    mathjax = json.dumps({"mathjax": app.config.mathjax_path, **app.config.mathjax3_config})
    text = template.replace("SLIDES", slides).replace("MATHJAX", mathjax)
    place.write_text(text, encoding="utf8")


def setup(app) -> dict:
    """Register the extension."""
    app.connect("build-finished", write, priority=960)  # when pages are as they stay
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
