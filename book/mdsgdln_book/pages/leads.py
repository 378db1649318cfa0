"""What leads on: names in code to their documentation, old addresses to where their part is now."""

import json
import re
from pathlib import Path

import yaml

from mdsgdln_book.places import BOOK

MODULE_MEMBER = re.compile(  # in a link already if "> is before it
    r'(?<!">)<span class="n">(\w+)</span><span class="o">\.</span><span class="n">(\w+)</span>'
)
ARTICLE = re.compile(r"<article.*</article>", re.DOTALL)
IDENTIFIER = re.compile(r'<[a-z][^>]*?\bid="([^"]+)"')
NUMBERED = re.compile(r"(id|cell-id-|proof-content|solution-content)[-\d]*$|.*-\d+$")
INTERFACE = "book/api.html"
# A page that is gone; the part that an address names is looked for on the page that has its text.
LEADING_ON = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>This page has moved</title>
<link rel="icon" href="data:,">
<script>location.replace("{page}.html" + (location.hash || "#{place}"))</script></head>
<body><main><h1>This page has moved</h1>
<p><a href="{page}.html#{place}">Its text is here.</a></p></main></body></html>
"""


def public_names(root: Path) -> set[str]:
    """What the interface's page of a built site documents: {"mdsgdln.tasks.xor", …}."""
    page = root / INTERFACE
    found = IDENTIFIER.findall(page.read_text(encoding="utf8")) if page.is_file() else []
    return {name for name in found if name.startswith("mdsgdln.")}


def link_names(html: str, names: set[str], interface: str = "api.html") -> str:
    """Let `tasks.xor` in code lead to its documentation.

    >>> code = '<span class="n">tasks</span><span class="o">.</span><span class="n">xor</span>'
    >>> "#mdsgdln.tasks.xor" in link_names(code, {"mdsgdln.tasks.xor"})
    True
    """

    def linked(match: re.Match) -> str:
        name = f"mdsgdln.{match[1]}.{match[2]}"
        if name not in names:
            return match[0]
        return f'<a class="code-name" href="{interface}#{name}">{match[0]}</a>'

    return MODULE_MEMBER.sub(linked, html)


def places(root: Path) -> dict[str, str]:
    """Where every part of the site is: {anchor: page}, for anchors that only one page has."""
    found: dict[str, set[str]] = {}
    for path in sorted((root / "book").glob("*.html")):
        article = ARTICLE.search(path.read_text(encoding="utf8"))
        for anchor in IDENTIFIER.findall(article[0]) if article else []:
            if not NUMBERED.match(anchor):
                found.setdefault(anchor, set()).add(path.stem)
    return {anchor: next(iter(pages)) for anchor, pages in found.items() if len(pages) == 1}


def renamed() -> dict[str, str]:
    """Headings and pages of earlier editions: {"page#anchor" or "page": "page#anchor"}."""
    return yaml.safe_load((BOOK / "moved.yml").read_text(encoding="utf8"))


def write_moved(root: Path) -> None:
    """Write pages that only lead on, and what book.js asks when a page lacks a part."""
    for old, new in renamed().items():
        page, place = new.split("#")
        if "#" not in old and (root / f"book/{page}.html").is_file():
            text = LEADING_ON.format(page=page, place=place)
            (root / f"book/{old}.html").write_text(text, encoding="utf8")
    table = {"places": places(root), "renamed": renamed()}
    (root / "_static").mkdir(exist_ok=True)
    text = json.dumps(table, separators=(",", ":"), sort_keys=True)
    (root / "_static" / "moved.js").write_text(f"window.moved = {text};\n", encoding="utf8")
