"""How much there is to read in each chapter: `python -m mdsgdln_book.pages.reading`.

Words of prose, with captions and exercises; lines of code that are not folded; figures, and how
many of them no sentence names; turns of phrase that a reader has to decode: private terms, and
verdicts of one or two words. A chapter that is read in one sitting has about 2500 words and 100
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
PRIVATE = re.compile(
    r"\b(luck|the draw|deviations?|free reduction|small systems?|tax|inheritance|"
    r"effective (balanced )?starts?|random starts?|other starts?)\b"
)
VERDICT = re.compile(r"(?<=[a-z)][.!?] )[A-Z]\w*( \w+)?[.!](?= )")


def measure(page: Path) -> tuple[int, int, int, int, int]:
    """Words, visible lines, figures, those of them that no sentence names, turns to decode.

    >>> import tempfile
    >>> page = Path(tempfile.mkdtemp()) / "page.md"
    >>> _ = page.write_text("See {numref}`fig-a` of $x$ alone.\\n")
    >>> measure(page)
    (4, 0, 0, 0, 0)
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
    words = FORMULA.sub(" ", f"{prose} {captions}")
    turns = [*PRIVATE.finditer(words), *VERDICT.finditer(" ".join(words.split()))]
    return len(WORD.findall(words)), len(lines), len(names), len(unnamed), len(turns)


def main() -> None:
    """Print a table of all chapters."""
    rows = {name: measure(page) for name, page in chapters().items()}
    rows["all"] = tuple(sum(column) for column in zip(*rows.values(), strict=True))
    print("chapter              words  lines  figures  not named  to decode")
    for name, (words, lines, figures, unnamed, turns) in rows.items():
        print(f"{name:20s} {words:5d} {lines:6d} {figures:8d} {unnamed:10d} {turns:10d}")


if __name__ == "__main__":
    main()
