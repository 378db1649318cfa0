"""Sphinx extension: under each figure of the papers its picture as PNG and its numbers as CSV.

A gallery above shows them small.

The page calls `mdsgdln_book.plotted`, so what it kept of each figure has both.
"""

import base64
import io
from pathlib import Path

from bs4 import BeautifulSoup
from PIL import Image

from _ext import execution
from mdsgdln_book import plotted
from mdsgdln_book.places import BOOK

PAGE = "paper_figures"
PREFIX = "fig-paper-"  # of the names of figures
SMALL = (320, 240)  # pixels at most of a picture in the gallery


def contents(data: dict, metadata: dict) -> dict[str, bytes]:
    """The files of a figure that is shown with its numbers, by their endings; a graph has none."""
    numbers = metadata[plotted.METADATA]
    picture = {"png": base64.b64decode(data["image/png"])}
    return picture | ({"csv": numbers.encode()} if numbers else {})


def files(notebook) -> dict[str, dict[str, bytes]]:
    """The files of each figure that is shown with its numbers, by its name."""
    found = {}
    for cell in execution.code_cells(notebook):
        name = cell.metadata.get("mystnb", {}).get("figure", {}).get("name", "")
        for output in cell.outputs:
            if plotted.METADATA in output.get("metadata", {}):
                found[name] = contents(output.data, output.metadata)
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


def smaller(picture: bytes) -> tuple[bytes, tuple[int, int]]:
    """A picture for the gallery, and its size."""
    file = io.BytesIO()
    with Image.open(io.BytesIO(picture)) as image:
        image.thumbnail(SMALL)
        image.quantize(64).save(file, "png", optimize=True)
        return file.getvalue(), image.size


def show(page: BeautifulSoup, name: str, size: tuple[int, int]) -> None:
    """Put the small picture of a figure into its entry of the gallery, once."""
    entry = page.select_one(f".gallery li a[href='#{name}']")
    if entry is None or entry.find("img"):
        return
    where = f"../_downloads/{name.removeprefix(PREFIX)}-small.png"
    shown = {"src": where, "alt": f"{entry.get_text()}, redrawn; small", "loading": "lazy"}
    width, height = map(str, size)
    entry.insert(0, page.new_tag("img", attrs={**shown, "width": width, "height": height}))


def add(app, exception) -> None:
    """Write the files and link them; where another chapter is built alone, nothing is executed."""
    place = Path(app.outdir) / "book" / f"{PAGE}.html"
    built = exception is None and app.builder.name == "html" and place.exists()
    if not built or not execution.place(PAGE).exists():
        return
    folder = Path(app.outdir) / "_downloads"
    folder.mkdir(exist_ok=True)
    page = BeautifulSoup(place.read_text("utf8"), "html.parser")
    for name, found in files(execution.executed(BOOK / f"{PAGE}.md")).items():
        for ending, content in found.items():
            (folder / f"{name.removeprefix(PREFIX)}.{ending}").write_bytes(content)
        small, size = smaller(found["png"])
        (folder / f"{name.removeprefix(PREFIX)}-small.png").write_bytes(small)
        link(page, name, list(found))
        show(page, name, size)
    place.write_text(str(page), encoding="utf8")


def setup(app) -> dict:
    """Register the extension."""
    app.connect("build-finished", add, priority=800)  # before pages are repaired
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
