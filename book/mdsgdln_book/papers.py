"""What both papers say and show, statement by statement, and what this book has for it.

`papers.yml` lists every numbered statement and every figure panel with its claims, its derivation
and its counterpart among the figures. The ledger shows the two lists as tables.
"""

import re
from collections.abc import Mapping
from pathlib import Path

import yaml

from mdsgdln_book.claim_file import Claim
from mdsgdln_book.claims import markdown_table
from mdsgdln_book.places import BOOK

PAPERS_FILE = BOOK / "papers.yml"
FIELDS = {
    "statements": {"place", "says", "derived", "claims", "none"},
    "figures": {"place", "shows", "figures", "claims", "none"},
}
LABEL = re.compile(r"^\s*:label: (\S+)$", re.MULTILINE)
FIGURE = re.compile(r"^\s+figure:\n\s+caption:.*?\n\s+name: (\S+)$", re.MULTILINE | re.DOTALL)


def read_papers(path: Path = PAPERS_FILE) -> dict[str, list[dict]]:
    """Both lists, each entry checked to say something."""
    papers = yaml.safe_load(path.read_text(encoding="utf8"))
    if set(papers) != set(FIELDS):
        raise ValueError(f"papers: expected {sorted(FIELDS)}, got {sorted(papers)}")
    for kind, entries in papers.items():
        for entry in entries:
            unknown = set(entry) - FIELDS[kind]
            said = entry.get("none") or entry.get("claims") or entry.get("figures")
            if unknown or "place" not in entry or not said:
                raise ValueError(
                    f"papers: {entry}: expected a place and claims, figures or none; "
                    f"unknown fields {sorted(unknown)}"
                )
    return papers


def from_papers(claim: Claim) -> bool:
    """Whether a claim is a paper's, be it carried over to another setting."""
    return claim.about != "ours"


def figures_and_labels(book: Path) -> tuple[dict[str, str], set[str]]:
    """Chapter of each figure, by name, and the labels of all equations and theorems."""
    figures, labels = {}, set()
    for page in sorted(book.glob("*.md")):
        text = page.read_text(encoding="utf8")
        figures |= dict.fromkeys(FIGURE.findall(text), page.stem)
        labels |= set(LABEL.findall(text))
    return figures, labels


def problems(
    papers: Mapping[str, list[dict]], claims: Mapping[str, Claim], book: Path = BOOK
) -> list[str]:
    """What the lists name and is not there, and claims of the papers that they do not name."""
    figures, labels = figures_and_labels(book)
    found, listed = [], set()
    for entry in [*papers["statements"], *papers["figures"]]:
        place = entry["place"]
        for id in entry.get("claims", []):
            listed.add(id)
            if id not in claims:
                found.append(f"{place}: unknown claim {id}")
            elif not claims[id].stands:
                found.append(f"{place}: claim {id} is superseded or retired")
        found += [f"{place}: no figure {f}" for f in entry.get("figures", []) if f not in figures]
        for item in entry.get("derived", []):
            kind, _, name = item.partition(":")
            there = (book / f"{name}.md").is_file() if kind == "page" else name in labels
            if kind not in ("eq", "prf", "page") or not there:
                found.append(f"{place}: nothing to derive it: {item}")
    for claim in claims.values():
        if from_papers(claim) and claim.stands and claim.id not in listed:
            found.append(f"claim {claim.id} ({claim.source}) is missing in papers.yml")
    return found


def drawn(place: str) -> str:
    """The name, in ``paper_figures.FIGURES``, of the figure that a place of the list belongs to."""
    if found := re.match(r"(MHS|NRR) Fig\. (\d+)", place):
        return f"{found[1].lower()}-{found[2]}"
    return "nrr-structures" if place.endswith("structures") else "nrr-modes"


def panel_lines(entries: list[dict]) -> list[str]:
    """The list of figures beside those drawn anew, as lines of Markdown; without verdicts."""
    rows = []
    for entry in entries:
        chapters = ", ".join(f"{{numref}}`{figure}`" for figure in entry.get("figures", []))
        here = f"{{numref}}`fig-paper-{drawn(entry['place'])}`" if chapters else ""
        claims = ", ".join(f"{{ref}}`{id} <claim-{id}>`" for id in entry.get("claims", []))
        said = "; ".join(filter(None, [claims, entry.get("none")]))
        rows.append([entry["place"], entry["shows"], here, chapters, said])
    head = ["panel", "what it shows", "on this page", "in its chapter", "claims"]
    return markdown_table(head, [[cell or "–" for cell in row] for row in rows]).splitlines()


def link(item: str) -> str:
    """A place of the book as Markdown: `eq:label`, `prf:label` or `page:name`."""
    kind, _, name = item.partition(":")
    roles = {"eq": "{eq}", "prf": "{prf:ref}", "page": "{doc}"}
    return f"{roles[kind]}`{name}`"


def decided(entry: Mapping, verdicts: Mapping[str, str]) -> str:
    """An entry's claims with their short verdicts, and what it lacks."""
    named = entry.get("claims", [])
    parts = [f"{{ref}}`{id} <claim-{id}>`: {verdicts.get(id, 'missing')}" for id in named]
    return "; ".join(parts + ([entry["none"]] if "none" in entry else []))


def paper_lines(entries: list[dict], kind: str, verdicts: Mapping[str, str]) -> list[str]:
    """One of the two tables, as lines of Markdown."""
    head = ["place", "what it says" if kind == "statements" else "what it shows"]
    head += ["derived here" if kind == "statements" else "figure here", "claims and verdicts"]
    rows = []
    for entry in entries:
        text = entry["says" if kind == "statements" else "shows"]
        places = [link(item) for item in entry.get("derived", [])]
        places += [f"{{numref}}`{figure}`" for figure in entry.get("figures", [])]
        row = [entry["place"], text, ", ".join(places), decided(entry, verdicts)]
        rows.append([cell or "–" for cell in row])
    return markdown_table(head, rows).splitlines()
