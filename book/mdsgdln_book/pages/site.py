"""Check of the built site: `python -m mdsgdln_book.pages.site _build/html`.

Reading a page must need no other host, and show no traceback, no raw directive, no figure without a
text alternative and no broken internal link.
"""

import hashlib
import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple
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
# Cells that these mark may fail, or print anything: nbval's tags, and its comments.
EXEMPT = re.compile(r"raises-exception|nbval-", re.IGNORECASE)
EXEMPT_COMMENT = re.compile(r"^\s*#[\s#]*((?:NBVAL|PYTEST_VALIDATE)_\w+)", re.MULTILINE)
RAW_DIRECTIVE = re.compile(r"(?:```+|:::+)\s*\{")


class Page(NamedTuple):
    """What counts of a page: its own problems, its links inside the site, its places."""

    problems: list[str]
    links: list[str]
    places: list[str]


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
            figure = image.find_parent("figure", id=True)
            name = f" of figure {figure['id']}" if figure else ""
            found.append(f"image without alt text{name}: {image.get('src', '')[:60]}")
    return found


def read_page(html: str) -> Page:
    """What counts of a page."""
    page = BeautifulSoup(html, "html.parser")
    links = [link["href"] for link in page.find_all("a", href=True)]
    places = [node["id"] for node in page.find_all(id=True)]
    places += [node["name"] for node in page.find_all("a", attrs={"name": True})]
    inside = [link for link in links if not (urlsplit(link).scheme or urlsplit(link).netloc)]
    return Page(request_problems(page) + text_problems(page), inside, places)


def read_pages(root: Path) -> dict[Path, Page]:
    """All pages; one that is as it was at the last check is not parsed again."""
    store, code = root / ".checked", Path(__file__).read_text(encoding="utf8")
    known = json.loads(store.read_text(encoding="utf8")) if store.exists() else {}
    pages, kept = {}, {}
    for path in sorted(root.rglob("*.html")):
        if "_static" not in path.relative_to(root).parts:
            html = path.read_text(encoding="utf8")
            key = hashlib.sha256((code + html).encode()).hexdigest()
            kept[key] = known.get(key) or read_page(html)
            pages[path.resolve()] = Page(*kept[key])
    store.write_text(json.dumps(kept), encoding="utf8")
    return pages


def link_problems(path: Path, pages: Mapping[Path, Page], root: Path) -> list[str]:
    """Links of a page that lead nowhere in the site."""
    found = []
    for link in pages[path].links:
        url = urlsplit(link)
        target = (path.parent / unquote(url.path)).resolve() if url.path else path
        target = target / "index.html" if target.is_dir() else target
        if not target.is_file() or not target.is_relative_to(root):
            found.append(f"broken link {link}")
        elif url.fragment and target.suffix == ".html":
            if target not in pages or url.fragment not in pages[target].places:
                found.append(f"link to a missing place {link}")
    return found


def site_problems(root: Path) -> list[str]:
    """Everything wrong with the built site."""
    root = root.resolve()
    pages = read_pages(root)
    if not pages:
        return [f"no pages in {root}"]
    found = []
    for path, page in pages.items():
        problems = page.problems + link_problems(path, pages, root)
        found += [f"{path.relative_to(root)}: {problem}" for problem in problems]
    for path in sorted(root.rglob("*.css")):
        problems = style_problems(path.read_text(encoding="utf8"))
        found += [f"{path.relative_to(root)}: {problem}" for problem in problems]
    return found


def source_problems(book: Path = BOOK) -> list[str]:
    """Cells that may fail or are not compared, and figures without words: there must be none."""
    return [
        f"{name}: cell {number} {problem}"
        for name, path in chapters(book).items()
        for number, cell in enumerate(code_cells(jupytext.read(path)))
        for problem in cell_problems(cell)
    ]


def cell_problems(cell) -> list[str]:
    """What is wrong with a cell of a chapter, whatever it prints."""
    found = [f"is tagged {tag}" for tag in cell.metadata.get("tags", []) if EXEMPT.match(tag)]
    found += [f"says {comment}" for comment in EXEMPT_COMMENT.findall(cell.source)]
    shown = cell.metadata.get("mystnb", {})
    described = (shown.get("image") or {}).get("alt") or "interactive.place(" in cell.source
    if "figure" in shown and not described:
        found.append(f"has no alt text for its figure {shown['figure'].get('name', '')}".strip())
    return found


def main(root: Path) -> int:
    """Print what is wrong; 1 if anything is."""
    found = site_problems(root) + source_problems()
    print("\n".join(found) or "The site needs no other host, and every link inside it resolves.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
