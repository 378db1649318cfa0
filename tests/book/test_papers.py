"""The lists of what both papers say and show are complete, and all they name is there."""

import re

import pytest
import yaml

from mdsgdln_book import papers
from mdsgdln_book.claim_file import parse_claim, read_claims


def entry(**fields):
    return {
        "id": "demo",
        "source": "MHS §3",
        "about": "carried over",
        "kind": "experiment",
        "statement": "A",
        "measure": "a number",
        "bound": {"at_most": 1},
        "chapter": "demo",
    } | fields


@pytest.fixture
def book(tmp_path):
    (tmp_path / "demo.md").write_text(
        "```{math}\n:label: demo-law\n```\n"
        "---\nmystnb:\n  figure:\n    caption: 'Two\n      lines'\n    name: fig-demo\n---\n"
    )
    return tmp_path


def test_the_lists_are_complete():
    assert papers.problems(papers.read_papers(), read_claims()) == []


@pytest.mark.parametrize(
    ("paper", "panels"),
    [
        ("MHS", "1 2a 2b 2c 2d 2e 3 4a 4b 4c 5 6a 6b 7 8 9"),
        ("NRR", "1 2 3a 3b 3c 4a 4b 4c 4d 4e 4f 4g 4h 5a 5b 5c 6a 6b 6c 6d 7a 7b 7c 7d"),
    ],
)
def test_every_panel_is_listed(paper, panels):
    places = [e["place"] for e in papers.read_papers()["figures"]]
    for panel in panels.split():
        assert any(re.match(rf"{paper} Fig\. {panel}\b", place) for place in places), panel


def test_every_numbered_equation_is_listed():
    """MHS numbers its equations 1 to 26; both papers' lists name a number or a span of numbers."""
    numbers = set()
    for listed in papers.read_papers()["statements"]:
        if found := re.match(r"MHS Eqs?\. ([\d–, ]+)", listed["place"]):
            for span in found[1].split(","):
                first, _, last = span.strip().partition("–")
                numbers |= set(range(int(first), int(last or first) + 1))
    assert numbers == set(range(1, 27))


def test_what_is_not_there_is_named(book):
    claims = {
        "demo": parse_claim(entry()),
        "other": parse_claim(entry(id="other")),
        "ours": parse_claim(entry(id="ours", about="ours")),
        "old": parse_claim(entry(id="old", superseded_by="demo", reason="weak")),
    }
    lists = {
        "statements": [
            {"place": "A", "claims": ["demo", "nowhere", "old"]},
            {"place": "B", "derived": ["eq:demo-law", "prf:none", "page:demo", "page:none"]},
        ],
        "figures": [{"place": "C", "figures": ["fig-demo", "fig-none"]}],
    }
    assert papers.problems(lists, claims, book) == [
        "A: unknown claim nowhere",
        "A: claim old is superseded or retired",
        "B: nothing to derive it: prf:none",
        "B: nothing to derive it: page:none",
        "C: no figure fig-none",
        "claim other (MHS §3) is missing in papers.yml",
    ]


@pytest.mark.parametrize(
    "lists",
    [
        {"statements": []},
        {"statements": [{"place": "A"}], "figures": []},
        {"statements": [{"claims": ["demo"]}], "figures": []},
        {"statements": [], "figures": [{"place": "A", "none": "no", "says": "x"}]},
    ],
)
def test_bad_lists(tmp_path, lists):
    path = tmp_path / "papers.yml"
    path.write_text(yaml.safe_dump(lists))
    with pytest.raises(ValueError, match="papers: "):
        papers.read_papers(path)


def test_a_table():
    rows = [{"place": "P", "says": "it", "derived": ["eq:law"], "claims": ["demo"], "none": "So."}]
    assert papers.paper_lines(rows, "statements", {"demo": "holds"})[2] == (
        "| P | it | {eq}`law` | {ref}`demo <claim-demo>`: holds; So. |"
    )
    figures = [{"place": "P", "shows": "it", "figures": ["fig-a", "fig-b"]}]
    assert papers.paper_lines(figures, "figures", {})[2] == (
        "| P | it | {numref}`fig-a`, {numref}`fig-b` | – |"
    )
