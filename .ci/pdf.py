"""The book as one PDF: `make pdf`.

Sphinx puts all pages into one, in the order of the contents (its builder `singlehtml`), and the
system's Chromium or Chrome prints that page with an outline. As on every printed page, code that
only draws is left out and solutions are open (book/_static/print.css).
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

from mdsgdln_book.places import ROOT

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
OFFLINE = ["--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", "--no-sandbox"]
PRINTING = ["--headless", "--no-pdf-header-footer", "--generate-pdf-document-outline"]
PRINTING += ["--virtual-time-budget=600000"]  # milliseconds for formulas; what it waits for ends
# Links between pages, which lie in one; figures that a reader would fetch when they come near.
CHANGES = (
    (r'href="(?:book/start|api|ledger)\.html#', 'href="#'),
    (r'href="laboratory\.html#[^"]*', 'href="#laboratory'),
    (r' loading="lazy"', ""),
)


def browser_path() -> str:
    """The system's browser.

    Raises:
        ValueError: there is none.
    """
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        raise ValueError(f"browser: one of {', '.join(BROWSERS)} must be on the path")
    return path


def main(folder: Path, target: Path) -> int:
    """Print the page of all pages in a folder."""
    text = (folder / "book/start.html").read_text(encoding="utf8")
    for old, new in CHANGES:
        text = re.sub(old, new, text)
    (folder / "index.html").write_text(text, encoding="utf8")  # its addresses start there
    where = [f"--print-to-pdf={target.resolve()}", (folder / "index.html").resolve().as_uri()]
    command = [browser_path(), *OFFLINE, *PRINTING, *where]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)  # else of what a machine without a screen lacks
    print(f"{target}: {target.stat().st_size / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:])))
