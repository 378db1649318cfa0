"""How much there is to read in each chapter: `python -m mdsgdln_book.pages.reading`.

Words of prose, with captions and exercises; lines of code that are not folded; figures, and how
many of them no sentence names. A chapter that is read in one sitting has about 2500 words and 100
lines.
"""

import re
from pathlib import Path

import jupytext

from mdsgdln_book.notebooks import plain
from mdsgdln_book.references import chapters

HIDDEN = {"hide-input", "remove-input", "remove-cell"}
WORD = re.compile(r"[^\W\d_]{2,}")
FORMULA = re.compile(r"\$\$.*?\$\$|\$[^$]+\$|```.*?```", re.DOTALL)


def measure(page: Path) -> tuple[int, int, int, int]:
    """Words, visible lines of code, figures, and figures that no sentence names.

    >>> import tempfile
    >>> page = Path(tempfile.mkdtemp()) / "page.md"
    >>> _ = page.write_text("See {numref}`fig-a` of $x$ alone.\\n")
    >>> measure(page)
    (4, 0, 0, 0)
    """
    text = page.read_text(encoding="utf8")
    cells = jupytext.reads(text, "md:myst").cells
    code = [cell for cell in cells if cell.cell_type == "code"]
    prose = "\n".join(plain(cell.source) for cell in cells if cell.cell_type != "code")
    figures = [cell.metadata.get("mystnb", {}).get("figure", {}) for cell in code]
    captions = " ".join(figure.get("caption", "") for figure in figures)
    names = [figure["name"] for figure in figures if "name" in figure]
    visible = [cell for cell in code if not HIDDEN & set(cell.metadata.get("tags", []))]
    lines = [line for cell in visible for line in cell.source.splitlines() if line.strip()]
    unnamed = [name for name in names if f"`{name}`" not in text and f"<{name}>" not in text]
    words = WORD.findall(FORMULA.sub(" ", f"{prose} {captions}"))
    return len(words), len(lines), len(names), len(unnamed)


def main() -> None:
    """Print a table of all chapters."""
    print(f"{'chapter':20s} words  lines  figures  not named")
    rows = {name: measure(page) for name, page in chapters().items()}
    for name, (words, lines, figures, unnamed) in rows.items():
        print(f"{name:20s} {words:5d} {lines:6d} {figures:8d} {unnamed:10d}")
    total = [sum(column) for column in zip(*rows.values(), strict=True)]
    print(f"{'all':20s} {total[0]:5d} {total[1]:6d} {total[2]:8d} {total[3]:10d}")


if __name__ == "__main__":
    main()
