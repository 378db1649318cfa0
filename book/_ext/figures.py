"""One figure, drawn again with its numbers: `make figure NAME=mhs-4`, or `NAME=fig-xor-cells`.

A figure of the papers has a short name and is drawn alone. Any other figure has the name that its
chapter gives it, and that chapter is executed. `_build/figures` then has the figure and, as CSV,
the numbers that it plots: `mdsgdln_book/plotted.py` says which.
"""

import re
import sys
from pathlib import Path

import jax

from _ext import execution
from mdsgdln_book import plotted
from mdsgdln_book.places import BOOK

FOLDER = Path("_build/figures")
FIGURE = re.compile(r"^\s+figure:\n\s+caption:.*?\n\s+name: (\S+)$", re.MULTILINE | re.DOTALL)
SVG = "image/svg+xml"


def write(name: str, folder: Path = FOLDER) -> list[Path]:
    """Draw a figure; return where it is, and its numbers if it has any.

    Raises:
        ValueError: there is none of that name.
    """
    from mdsgdln_book import paper_figures, plots  # here, when JAX's precision is set

    name = name.removeprefix("fig-paper-")
    pages = {page: FIGURE.findall(page.read_text(encoding="utf8")) for page in BOOK.glob("*.md")}
    chapters = {figure: page for page, figures in pages.items() for figure in figures}
    folder.mkdir(parents=True, exist_ok=True)
    if name in paper_figures.FIGURES:
        plots.style()
        figure = paper_figures.draw(name)
        path, numbers = folder / f"{name}.png", plotted.as_csv(figure)
        figure.savefig(path, facecolor="white")
    elif name in chapters:
        picture, numbers = of_chapter(name, chapters[name])
        path = folder / f"{name}.svg"
        path.write_text(picture, encoding="utf8")
    else:
        others = sorted(each for each in chapters if not each.startswith("fig-paper-"))
        known = [*paper_figures.FIGURES, *others]
        raise ValueError(f"name: expected one of {known}, got {name!r:.80}")
    if numbers:
        path.with_suffix(".csv").write_text(numbers, encoding="utf8")
    return [path, path.with_suffix(".csv")] if numbers else [path]


def of_chapter(name: str, chapter: Path) -> tuple[str, str]:
    """Execute the chapter of a figure; return the picture and its numbers."""
    print(f"executing {chapter.stem} ...", flush=True)
    notebook = execution.execute(chapter, extra_arguments=["--ext=mdsgdln_book.plotted"])
    for cell in notebook.cells:
        found = cell.metadata.get("mystnb", {}).get("figure", {}).get("name", "")
        for output in cell.get("outputs", []):
            if found == name and SVG in output.get("data", {}):
                return output.data[SVG], output.metadata.get(plotted.METADATA, "")
    raise ValueError(f"name: {name} is a figure with controls; its page shows it")


if __name__ == "__main__":
    jax.config.update("jax_enable_x64", True)  # before any task is made
    try:
        print(*write(sys.argv[1] if len(sys.argv) == 2 else ""), sep="\n")
    except ValueError as error:
        sys.exit(str(error))
