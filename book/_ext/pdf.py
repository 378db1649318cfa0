"""The book as one PDF: `make pdf`, or `python -m _ext.pdf _build/html book.pdf`.

All pages of the built site, in the order of its contents, are put into one page, whose links lead
to places in it. The system's Chromium or Chrome prints that page with an outline. Code that only
draws is left out, as on every printed page (book/_static/print.css); solutions are open.
"""

import re
import shutil
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

import yaml
from bs4 import BeautifulSoup

from mdsgdln_book.places import ROOT

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
OFFLINE = ["--host-resolver-rules=MAP * ~NOTFOUND", "--no-sandbox"]
# What pages load that has nothing to do on paper, and is slow or in the way on a page of this size.
UNUSED = re.compile(r"_static/all-\w+\.js|ledger\.js")
REFERRING = ("for", "aria-labelledby", "aria-describedby", "aria-controls")
HEADINGS = ["h1", "h2", "h3", "h4", "h5"]
PAGE = """<!DOCTYPE html>
<html lang="en" data-theme="light" data-mode="light">
<head><meta charset="utf-8"/><title>{title}</title></head>
<body><main class="bd-main"><div class="bd-content"><div class="bd-article-container">
<article class="bd-article whole-book"></article></div></div></main></body></html>"""
STYLE = """
.whole-book .part, .whole-book .chapter { break-before: page; }
.whole-book .part + .chapter { break-before: avoid; }
.whole-book .front { text-align: center; }
.whole-book .front .title { font-size: 3em; font-weight: 500; margin: 25vh 0 2rem; }
.whole-book .contents { break-before: page; }
.whole-book .contents ul { list-style: none; margin: 0 0 0.6rem; }
.whole-book h1 { font-size: 2.2em; }
.whole-book h2 { font-size: 2em; margin-top: 0; }
.whole-book h3 { font-size: 1.5em; }
.whole-book h4 { font-size: 1.2em; }
"""
YEAR = re.compile(r"\d{4}")
NOTE = (
    "Figures with controls stand as they do when a page is opened. Code that only draws is left "
    "out; the chapters as notebooks have it."
)
FOOTER = """<div style="width: 100%; font-size: 8px; text-align: center; color: #444">
<span class="pageNumber"></span></div>"""
READY = """async () => {
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
  }).map((node) => `${node.closest("[data-page]")?.dataset.page}: ${node.outerHTML.slice(0, 90)}`);
}"""
PAPER = {"width": 673, "height": 985}  # of A4 without its margins, in pixels
MARGIN = {"top": "15mm", "bottom": "17mm", "left": "16mm", "right": "16mm"}


def order(toc: Path = ROOT / "_toc.yml") -> list[tuple[str, list[str]]]:
    """The parts of the book, each with the names of its pages; the first has no title."""
    contents = yaml.safe_load(toc.read_text(encoding="utf8"))
    parts = [(part["caption"], part["chapters"]) for part in contents["parts"]]
    named = [(caption, [chapter["file"] for chapter in chapters]) for caption, chapters in parts]
    return [("", [contents["root"]]), *named]


def place(page: str, fragment: str = "") -> str:
    """The name of a place in the whole book."""
    return f"{page.rpartition('/')[2]}--{fragment or 'top'}"


def leads_to(link: str, page: str, pages: set[str]) -> str:
    """A page's link as it is in the whole book; nothing where it leads to what is not in it.

    >>> leads_to("xor.html#chap-xor", "book/start", {"book/start", "book/xor"})
    '#xor--chap-xor'
    >>> leads_to("#top", "book/xor", {"book/xor"}), leads_to("../genindex.html", "book/xor", set())
    ('#xor--top', '')
    """
    url = urlsplit(link)
    if url.scheme or url.netloc:
        return link
    name = unquote(url.path).rpartition("/")[2].removesuffix(".html") or page
    known = {each.rpartition("/")[2] for each in pages}
    name = name.rpartition("/")[2]
    return f"#{place(name, url.fragment)}" if name in known else ""


def article_of(site: Path, page: str, pages: set[str]):
    """The text of a page, its ids and links those of the whole book, its headings lower."""
    text = (site / f"{page}.html").read_text(encoding="utf8")
    soup = BeautifulSoup(text, "html.parser")
    article = soup.find("article")
    for node in article.find_all(id=True):
        node["id"] = place(page, node["id"])
    for attribute in REFERRING:
        for node in article.find_all(attrs={attribute: True}):
            node[attribute] = " ".join(place(page, each) for each in node[attribute].split())
    for link in article.find_all("a", href=True):
        target = leads_to(link["href"], page, pages)
        if target:
            link["href"] = target
        else:
            del link["href"]
    for node in article.select(".headerlink, details.hide, button"):
        if "interactive" not in " ".join(node.get("class", [])):
            node.decompose()
    for level, name in reversed(list(enumerate(HEADINGS, start=1))):
        for heading in article.find_all(name):
            heading.name = f"h{level + 1}"
    article.name = "section"
    article["class"], article["id"], article["data-page"] = "chapter", place(page), page
    return soup, article


def whole(site: Path) -> str:
    """All pages as one."""
    parts = order()
    pages = {page for _, names in parts for page in names}
    home = BeautifulSoup((site / f"{parts[0][1][0]}.html").read_text("utf8"), "html.parser")
    title = home.select_one(".bd-sidebar-primary .title").get_text(strip=True)
    book = BeautifulSoup(PAGE.format(title=title), "html.parser")
    body, head, loaded = book.find("article"), book.find("head"), set()

    def add(parent, name: str, text: str = "", **attributes):
        node = book.new_tag(name, attrs=attributes)
        node.string = text
        parent.append(node)
        return node

    front = add(body, "section", **{"class": "front"})
    add(front, "p", title, **{"class": "title"})
    add(front, "p", home.select_one(".component-author").get_text(strip=True))
    add(front, "p", YEAR.search(home.select_one("p.copyright").get_text())[0])
    add(front, "p", NOTE)
    contents = add(body, "section", **{"class": "contents"})
    add(contents, "h1", "Contents")
    scripts = []
    for caption, names in parts:
        if caption:
            add(add(body, "section", **{"class": "part"}), "h1", caption)
            add(contents, "p", caption)
        entries = add(contents, "ul")
        for name in names:
            soup, article = article_of(site, name, pages)
            heading = " ".join(article.find("h2").get_text().split())
            add(add(entries, "li"), "a", heading, href=f"#{place(name)}")
            for node in soup.select("link[rel=stylesheet], script"):
                key = (node.get("href") or node.get("src") or str(node)).partition("?")[0]
                if key in loaded or UNUSED.search(key):
                    continue
                if node.name == "link":
                    head.append(node.extract())
                elif node.find_parent("head") and (node.get("src") or "MathJax" in str(node)):
                    scripts.append(node.extract())
                else:
                    continue
                loaded.add(key)
            body.append(article)
    add(head, "style", STYLE)
    for script in scripts:
        head.append(script)
    return str(book)


def browser_path() -> str:
    """The system's browser.

    Raises:
        ValueError: there is none.
    """
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        raise ValueError(f"browser: one of {', '.join(BROWSERS)} must be on the path")
    return path


def print_pdf(site: Path, target: Path) -> list[str]:
    """Write the PDF; return what is cut off or missing in it."""
    from playwright.sync_api import sync_playwright  # of tests/pages/requirements.txt

    source = site.resolve() / "book" / "whole-book.html"
    source.write_text(whole(site), encoding="utf8")
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=browser_path(), args=OFFLINE)
            page = browser.new_page(viewport=PAPER)
            page.set_default_timeout(600_000)
            page.emulate_media(media="print")
            page.goto(source.as_uri())
            problems = [f"missing image {name}" for name in page.evaluate(READY)]
            problems += [f"cut off in {found}" for found in page.evaluate(CLIPPED)]
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
    finally:
        source.unlink()
    return problems


def main(site: Path, target: Path) -> int:
    """Print the book; 1 if anything is cut off."""
    target.parent.mkdir(parents=True, exist_ok=True)
    problems = print_pdf(site, target)
    print("\n".join([*problems, f"{target}: {target.stat().st_size / 1e6:.1f} MB"]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
