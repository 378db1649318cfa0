"""Check of the built site: `python -m mdsgdln_book.pages.site _build/html`.

Reading a page must need no other host, and show no traceback, no raw directive, no figure without a
text alternative and no broken internal link.
"""

import re
import sys
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

import jupytext
from bs4 import BeautifulSoup

from mdsgdln_book.places import BOOK
from mdsgdln_book.references import chapters, code_cells

# What a browser fetches by itself. Links (<a>) are followed by people.
FETCHED = ("src", "srcset", "poster", "data", "xlink:href")
FETCHED_BY = {name: (*FETCHED, "href") for name in ("link", "use", "image")}
NOT_FETCHED = {"canonical", "next", "prev", "search", "author", "index", "license", "alternate"}
STYLE_URL = re.compile(r"""(?:@import\s+(?:url\()?|url\()\s*['"]?([^'")\s;]+)""")
OTHER_HOST = re.compile(r"^\s*(?:[a-z]+:)?//", re.IGNORECASE)
RAW_DIRECTIVE = re.compile(r"(?:```+|:::+)\s*\{")


@cache
def parse(path: Path) -> BeautifulSoup:
    """The page as a tree."""
    return BeautifulSoup(path.read_text(encoding="utf8"), "html.parser")


def style_problems(css: str) -> list[str]:
    """What a style sheet would load from another host."""
    targets = STYLE_URL.findall(css)
    return [f"style loads {target}" for target in targets if OTHER_HOST.match(target)]


def request_problems(page: BeautifulSoup) -> list[str]:
    """What the page would load from another host."""
    found = []
    for node in page.find_all(True):
        if node.name == "link" and NOT_FETCHED & set(node.get("rel", [])):
            continue
        for attribute in FETCHED_BY.get(node.name, FETCHED):
            for target in node.get(attribute, "").split(","):
                if OTHER_HOST.match(target):
                    found.append(f"<{node.name}> loads {target.strip()}")
    for node in page.find_all("style"):
        found += style_problems(node.get_text())
    for node in page.find_all(style=True):
        found += style_problems(node["style"])
    return found


def text_problems(page: BeautifulSoup) -> list[str]:
    """What an article may not show: tracebacks, raw directives, figures without words."""
    article = page.find("article") or page.body or page
    found = []
    if "Traceback (most recent call last)" in article.get_text():
        found.append("shows a traceback")
    for text in article.find_all(string=RAW_DIRECTIVE):
        if not text.find_parent(["pre", "code"]):
            found.append(f"shows a raw directive: {text.strip()[:60]!r}")
    for text in article.find_all(string=re.compile(r"\$")):
        if not text.find_parent(["pre", "code", "script", "style"]) and not text.find_parent(
            class_="math"
        ):
            found.append(f"shows raw TeX: {text.strip()[:60]!r}")
    for image in article.find_all("img"):
        alt = (image.get("alt") or "").strip()
        if not alt or alt.rsplit("/")[-1] == (image.get("src") or "").rsplit("/")[-1]:
            found.append(f"image without alt text: {image.get('src', '')[:60]}")
    return found


@cache
def anchors(path: Path) -> frozenset[str]:
    """Every place of the page that a link can point at."""
    page = parse(path)
    names = {node["id"] for node in page.find_all(id=True)}
    return frozenset(names | {node["name"] for node in page.find_all("a", attrs={"name": True})})


def link_problems(page: BeautifulSoup, path: Path, root: Path) -> list[str]:
    """Links inside the site that lead nowhere."""
    found = []
    for link in page.find_all("a", href=True):
        url = urlsplit(link["href"])
        if url.scheme or url.netloc:
            continue
        target = (path.parent / unquote(url.path)).resolve() if url.path else path.resolve()
        target = target / "index.html" if target.is_dir() else target
        if not target.is_file() or not target.is_relative_to(root.resolve()):
            found.append(f"broken link {link['href']}")
        elif url.fragment and target.suffix == ".html":
            if unquote(url.fragment) not in anchors(target):
                found.append(f"link to a missing place {link['href']}")
    return found


def site_problems(root: Path) -> list[str]:
    """Everything wrong with the built site."""
    parse.cache_clear()
    anchors.cache_clear()
    pages = sorted(root.rglob("*.html"))
    pages = [page for page in pages if "_static" not in page.relative_to(root).parts]
    if not pages:
        return [f"no pages in {root}"]
    found = []
    for path in pages:
        page = parse(path)
        problems = request_problems(page) + text_problems(page) + link_problems(page, path, root)
        found += [f"{path.relative_to(root)}: {problem}" for problem in problems]
    for path in sorted(root.rglob("*.css")):
        problems = style_problems(path.read_text(encoding="utf8"))
        found += [f"{path.relative_to(root)}: {problem}" for problem in problems]
    return found


def source_problems(book: Path = BOOK) -> list[str]:
    """Cells that are allowed to fail: there must be none."""
    return [
        f"{name}: cell {number} is tagged raises-exception"
        for name, path in chapters(book).items()
        for number, cell in enumerate(code_cells(jupytext.read(path)))
        if "raises-exception" in cell.metadata.get("tags", [])
    ]


def main(root: Path) -> int:
    """Print what is wrong; 1 if anything is."""
    found = site_problems(root) + source_problems()
    print("\n".join(found) or "The site needs no other host, and every link inside it resolves.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
