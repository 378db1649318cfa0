"""The book's numbers, from its sources: `shown()["gates-theorem-count"]` is "Theorem 12.2".

Sphinx numbers equations, figures, theorems and exercises chapter by chapter, each kind by itself.
Pages of no numbered part share one count. The notebooks (``notebooks.py``) have the same numbers.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import yaml

from mdsgdln_book.places import BOOK, ROOT

TOC = ROOT / "_toc.yml"
EQUATION, FIGURE = "equation", "figure"
WORDS = {EQUATION: "", FIGURE: "Fig."}
DIRECTIVE = re.compile(
    r"^ *[`:]{3,}\{(?P<kind>math|prf:\w+|exercise|interactive)\}.*\n"
    r"(?P<options>(?: *:[\w-]+:.*\n)*)",
    re.MULTILINE,
)
OPTION = re.compile(r"^ *:(?:label|name): *(\S+) *$", re.MULTILINE)
CELL = re.compile(r"^ *`{3,}\{code-cell\}.*\n---\n(?P<header>(?:.*\n)*?)---\n", re.MULTILINE)
LABELLED = re.compile(r"\$\$ *\((?P<label>[\w-]+)\) *$", re.MULTILINE)
TITLE = re.compile(r"^# (.+)$", re.MULTILINE)
SECTION = re.compile(r"^\((?P<label>[\w-]+)\)=\n+#+ (?P<title>.+)$", re.MULTILINE)


def pages(toc: Path = TOC) -> dict[str, str]:
    """Every page in the order of the book, with its chapter's number; "" where it has none."""
    contents = yaml.safe_load(toc.read_text(encoding="utf8"))
    found, number = {Path(contents["root"]).name: ""}, 0
    for part in contents["parts"]:
        for chapter in part["chapters"]:
            number += bool(part.get("numbered"))
            found[Path(chapter["file"]).name] = f"{number}" if part.get("numbered") else ""
    return found


def labels(text: str) -> Iterator[tuple[str, str]]:
    """Kind and label of all that is numbered in a page, in its order."""
    found = [(m.start(), EQUATION, m["label"]) for m in LABELLED.finditer(text)]
    for match in DIRECTIVE.finditer(text):
        kind = {"math": EQUATION, "interactive": FIGURE}.get(match["kind"], match["kind"])
        label = OPTION.search(match["options"])
        if label and kind != "prf:proof":
            found.append((match.start(), kind, label[1]))
    for match in CELL.finditer(text):
        figure = (yaml.safe_load(match["header"]) or {}).get("mystnb", {}).get("figure", {})
        if "name" in figure:
            found.append((match.start(), FIGURE, figure["name"]))
    for _, kind, label in sorted(found):
        yield kind, label


@cache
def shown(book: Path = BOOK, toc: Path = TOC) -> Mapping[str, str]:
    """What a reference to a label shows: a name and its number, or the title of a section.

    Titles of pages, with their numbers, are under "page:name".
    """
    found, unnumbered = {}, Counter()
    known = pages(toc)
    others = [page.stem for page in sorted(book.glob("*.md")) if page.stem not in known]
    for name in [*known, *others]:
        path, chapter = book / f"{name}.md", known.get(name, "")
        if not path.is_file():
            continue
        text = path.read_text(encoding="utf8")
        counts = Counter() if chapter else unnumbered
        if title := TITLE.search(text):
            found[f"page:{name}"] = ". ".join(filter(None, [chapter, title[1]]))
        found |= {match["label"]: match["title"] for match in SECTION.finditer(text)}
        for kind, label in labels(text):
            counts[kind] += 1
            number = ".".join(filter(None, [chapter, f"{counts[kind]}"]))
            word = WORDS.get(kind, kind.removeprefix("prf:").capitalize())
            found[label] = f"{word} {number}".strip()
    return found
