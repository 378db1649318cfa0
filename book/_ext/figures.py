"""One figure, drawn again with its numbers: `make figure NAME=mhs-4`, or `NAME=fig-xor-cells`.

A figure of the papers has a short name and is drawn alone. Any other figure has the name that its
chapter gives it, and that chapter is executed. `_build/figures` then has the figure and, as CSV,
the numbers that it plots: `mdsgdln_book/plotted.py` says which.
"""

import re
import sys
from pathlib import Path

import jax

from _ext import downloads, execution
from mdsgdln_book import plotted
from mdsgdln_book.places import BOOK

FOLDER = Path("_build/figures")
FIGURE = re.compile(r"^\s+figure:\n\s+caption:.*?\n\s+name: (\S+)$", re.MULTILINE | re.DOTALL)


def draw(name: str) -> dict[str, bytes]:
    """Draw a figure; return its files by their endings.

    Raises:
        ValueError: there is none of that name.
    """
    from mdsgdln_book import paper_figures, plots  # here, when JAX's precision is set

    if name in paper_figures.FIGURES:
        plots.style()
        return downloads.contents(*plotted.bundle(paper_figures.draw(name)))
    pages = {page: FIGURE.findall(page.read_text(encoding="utf8")) for page in BOOK.glob("*.md")}
    chapters = {figure: page for page, figures in pages.items() for figure in figures}
    if name not in chapters:
        known = [*paper_figures.FIGURES, *sorted(chapters)]
        raise ValueError(f"name: expected one of {known}, got {name!r:.80}")
    print(f"executing {chapters[name].stem} ...", flush=True)
    options = {"extra_arguments": ["--ext=mdsgdln_book.plotted"]}
    found = downloads.files(execution.execute(chapters[name], **options))
    if name not in found:
        raise ValueError(f"name: {name} is a figure with controls; its page shows it")
    return found[name]


def write(name: str) -> None:
    """Draw a figure, write its files, and print where they are."""
    name = name.removeprefix(downloads.PREFIX)
    FOLDER.mkdir(parents=True, exist_ok=True)
    for ending, content in draw(name).items():
        path = FOLDER / f"{name}.{ending}"
        path.write_bytes(content)
        print(path)


if __name__ == "__main__":
    jax.config.update("jax_enable_x64", True)  # before any task is made
    try:
        write(sys.argv[1] if len(sys.argv) == 2 else "")
    except ValueError as error:
        sys.exit(str(error))
