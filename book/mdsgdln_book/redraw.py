"""Redraw one figure of the papers: `make figure NAME=mhs-4`.

It is written to `_build/figures`, with the numbers of double precision.
"""

import sys
from pathlib import Path

import jax

FOLDER = Path("_build/figures")


def write(name: str, folder: Path = FOLDER) -> Path:
    """Draw a figure on white ground; return where it is.

    Raises:
        ValueError: there is none of that name.
    """
    from mdsgdln import plots
    from mdsgdln_book import paper_figures

    plots.style()
    figure = paper_figures.draw(name)
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / f"{name}.png", facecolor="white")
    return folder / f"{name}.png"


if __name__ == "__main__":
    jax.config.update("jax_enable_x64", True)  # before any task is made
    try:
        print(write(sys.argv[1] if len(sys.argv) == 2 else ""))
    except ValueError as error:
        sys.exit(str(error))
