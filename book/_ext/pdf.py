"""The book as one PDF: `make pdf`, or `python -m _ext.pdf book.pdf`.

Sphinx puts all pages into one, in the order of the contents (its builder `singlehtml`), and the
system's Chromium or Chrome prints that page with an outline. As on every printed page, code that
only draws is left out and solutions are open (book/_static/print.css).
"""

import shutil
import sys
from pathlib import Path

from _ext.build import build
from mdsgdln_book.places import ROOT

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
OFFLINE = ["--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", "--no-sandbox"]
FOOTER = """<div style="width: 100%; font-size: 8px; text-align: center; color: #444">
<span class="pageNumber"></span></div>"""
READY = """async () => {
  const inside = document.querySelectorAll("a:is([href^='book/start.html#'], [href^='api.html#'])");
  inside.forEach((link) => { link.href = link.hash; });
  const tried = document.querySelectorAll("a[href^='laboratory.html#']");
  tried.forEach((link) => { link.href = "#laboratory"; });
  await window.MathJax?.startup?.promise;
  await document.fonts.ready;
  const images = [...document.images];
  images.forEach((image) => { image.loading = "eager"; });
  await Promise.all(images.map((image) => image.decode().catch(() => null)));
  return images.filter((image) => !image.naturalWidth).map((image) => image.src);
}"""
# What would be cut off at the right edge of the paper.
CLIPPED = """() => {
  const width = document.documentElement.clientWidth;
  const seen = "article :is(p, li, pre, td, img, svg, mjx-container, div.math, table)";
  return [...document.querySelectorAll(seen)].filter((node) => {
    const box = node.getBoundingClientRect();
    return box.width && !node.closest("mjx-assistive-mml") && box.right > width + 1;
  }).map((node) => node.outerHTML.slice(0, 90));
}"""
PAPER = {"width": 673, "height": 985}  # of A4 without its margins, in pixels
MARGIN = {"top": "15mm", "bottom": "17mm", "left": "16mm", "right": "16mm"}


def browser_path() -> str:
    """The system's browser.

    Raises:
        ValueError: there is none.
    """
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        raise ValueError(f"browser: one of {', '.join(BROWSERS)} must be on the path")
    return path


def print_pdf(source: Path, target: Path) -> list[str]:
    """Write the PDF; return what is cut off or missing in it."""
    from playwright.sync_api import sync_playwright  # of tests/pages/requirements.txt

    target.parent.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path(), args=OFFLINE)
        page = browser.new_page(viewport=PAPER)
        page.set_default_timeout(600_000)
        page.emulate_media(media="print")
        page.goto(source.as_uri())
        problems = [f"missing image {name}" for name in page.evaluate(READY)]
        problems += [f"cut off: {found}" for found in page.evaluate(CLIPPED)]
        page.pdf(
            path=target,
            format="A4",
            margin=MARGIN,
            outline=True,
            tagged=True,
            print_background=True,
            display_header_footer=True,
            header_template="<span></span>",
            footer_template=FOOTER,
        )
        browser.close()
    return problems


def main(target: Path) -> int:
    """Print the book; 1 if that is not possible without a complaint."""
    browser_path()
    if not build(builder="singlehtml"):
        return 1
    folder = ROOT / "_build/singlehtml"
    whole = (folder / "book/start.html").replace(folder / "index.html")  # as its addresses are
    problems = print_pdf(whole, target)
    print("\n".join([*problems, f"{target}: {target.stat().st_size / 1e6:.1f} MB"]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
