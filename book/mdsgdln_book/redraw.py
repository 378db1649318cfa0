"""Redraw one figure: `make figure NAME=mhs-4`, or `make figure NAME=fig-xor-cells`.

A figure of the papers has a short name and is drawn alone. Any other figure has the name that its
chapter gives it, and that chapter is executed. `_build/figures` then has the figure and, as CSV,
the numbers that it plots, in double precision.
"""

import sys
from pathlib import Path

import jax

from mdsgdln_book import figure_numbers

FOLDER = Path("_build/figures")
SVG = "image/svg+xml"


def write(name: str, folder: Path = FOLDER) -> list[Path]:
    """Draw a figure; return where it is, and its numbers if it has any.

    Raises:
        ValueError: there is none of that name.
    """
    from mdsgdln_book import paper_figures, papers
    from mdsgdln_book.places import BOOK

    chapters = papers.figures_and_labels(BOOK)[0]
    name = name.removeprefix("fig-paper-")
    if name in paper_figures.FIGURES:
        return write_alone(name, folder)
    if name in chapters:
        return write_of_chapter(name, BOOK / f"{chapters[name]}.md", folder)
    others = sorted(each for each in chapters if not each.startswith("fig-paper-"))
    raise ValueError(f"name: expected one of {[*paper_figures.FIGURES, *others]}, got {name!r:.80}")


def write_alone(name: str, folder: Path) -> list[Path]:
    """Draw a figure of the papers on white ground."""
    from mdsgdln import plots
    from mdsgdln_book import paper_figures

    plots.style()
    figure = paper_figures.draw(name)
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / f"{name}.png", facecolor="white")
    return [folder / f"{name}.png", *write_numbers(name, figure_numbers.as_csv(figure), folder)]


def write_of_chapter(name: str, chapter: Path, folder: Path) -> list[Path]:
    """Execute the chapter of a figure, and write what it shows."""
    from mdsgdln_book import references

    print(f"executing {chapter.stem} ...", flush=True)
    notebook = references.execute(chapter, extra_arguments=[f"--ext={figure_numbers.__name__}"])
    for cell in notebook.cells:
        found = cell.metadata.get("mystnb", {}).get("figure", {}).get("name", "")
        for output in cell.get("outputs", []):
            if found == name and SVG in output.get("data", {}):
                folder.mkdir(parents=True, exist_ok=True)
                (folder / f"{name}.svg").write_text(output.data[SVG], encoding="utf8")
                numbers = output.metadata.get(figure_numbers.METADATA, "")
                return [folder / f"{name}.svg", *write_numbers(name, numbers, folder)]
    raise ValueError(f"name: {name} is a figure with controls; its page shows it")


def write_numbers(name: str, text: str, folder: Path) -> list[Path]:
    """Write the numbers of a figure, if it has any."""
    path = folder / f"{name}.csv"
    if not text:
        return []
    path.write_text(text, encoding="utf8")
    return [path]


if __name__ == "__main__":
    jax.config.update("jax_enable_x64", True)  # before any task is made
    try:
        print(*write(sys.argv[1] if len(sys.argv) == 2 else ""), sep="\n")
    except ValueError as error:
        sys.exit(str(error))
