"""The README's picture, from the built start page: `python -m mdsgdln_book.pages.picture`."""

import re
import sys
from pathlib import Path

from mdsgdln_book.pages.site import parse
from mdsgdln_book.places import BOOK

PICTURE = BOOK / "_static" / "idea.svg"


def main(site: Path) -> None:
    """Copy the figure of the idea, with a white ground for pages of any colour."""
    page = site / "book" / "start.html"
    (image,) = parse(page).select("#fig-idea img")
    svg = (page.parent / image["src"]).read_text(encoding="utf8")
    ground = '<rect width="100%" height="100%" fill="white"/>'
    svg = re.sub(r"<svg\b[^>]*>", lambda head: head[0] + ground, svg, count=1)
    PICTURE.write_text(svg, encoding="utf8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
