"""Sphinx extension: under each figure of the papers its picture as PNG and its numbers as CSV.

The page loads `mdsgdln_book.plotted`, so what it kept of each figure has both.
"""

import base64
from pathlib import Path

from bs4 import BeautifulSoup

from _ext import execution
from mdsgdln_book import plotted
from mdsgdln_book.places import BOOK

PAGE = "paper_figures"
PREFIX = "fig-paper-"  # of the names of figures


def files(notebook) -> dict[str, dict[str, bytes]]:
    """The files of each figure by their endings, by the figure's name."""
    found = {}
    for cell in execution.code_cells(notebook):
        name = cell.metadata.get("mystnb", {}).get("figure", {}).get("name", "")
        for output in cell.outputs:
            if numbers := output.get("metadata", {}).get(plotted.METADATA):
                picture = base64.b64decode(output.data["image/png"])
                found[name] = {"png": picture, "csv": numbers.encode()}
    return found


def link(page: BeautifulSoup, name: str, endings: list[str]) -> None:
    """Put the links below the caption of a figure, once."""
    caption = page.select_one(f"#{name} figcaption")
    if caption is None or caption.select_one(".figure-files"):
        return
    line = page.new_tag("p", attrs={"class": "figure-files"})
    for ending in endings:
        where = f"../_downloads/{name.removeprefix(PREFIX)}.{ending}"
        line.append(page.new_tag("a", attrs={"href": where, "download": ""}, string=ending.upper()))
        line.append(" ")
    line.append(page.new_tag("code", string=f"make figure NAME={name.removeprefix(PREFIX)}"))
    caption.append(line)


def add(app, exception) -> None:
    """Write the files and link them."""
    place = Path(app.outdir) / "book" / f"{PAGE}.html"
    if exception is not None or not place.exists() or app.builder.name != "html":
        return
    folder = Path(app.outdir) / "_downloads"
    folder.mkdir(exist_ok=True)
    page = BeautifulSoup(place.read_text("utf8"), "html.parser")
    for name, found in files(execution.executed(BOOK / f"{PAGE}.md")).items():
        for ending, content in found.items():
            (folder / f"{name.removeprefix(PREFIX)}.{ending}").write_bytes(content)
        link(page, name, list(found))
    place.write_text(str(page), encoding="utf8")


def setup(app) -> dict:
    """Register the extension."""
    app.connect("build-finished", add, priority=800)  # before pages are repaired
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
