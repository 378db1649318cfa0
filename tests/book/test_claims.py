"""Claims, their recorder and the ledger built from what was recorded."""

import os
import re
from functools import cache
from pathlib import Path

import pytest
import yaml

from _ext import ledger
from _ext.recorded import pick_values
from mdsgdln_book import claims as recorder
from mdsgdln_book.claims import HOLDS, MISSED, Bound, Claims, parse_claim, read_claims
from mdsgdln_book.places import BOOK, ROOT, git

ENTRY = {
    "id": "demo-time",
    "source": "MHS §3",
    "about": "paper",
    "quote": "specifically, the faster one",
    "statement": "Faster at |Δ| > $0$.",
    "measure": "a number",
    "bound": {"at_most": 0.06},
    "chapter": "demo",
}


def write(path, entry):
    path.write_text(yaml.safe_dump([entry], allow_unicode=True), encoding="utf8")
    return path


@pytest.fixture
def shown(monkeypatch):
    """What the recorder displays: a list of (data, metadata)."""
    outputs = []
    monkeypatch.setattr(
        recorder,
        "display",
        lambda data, raw, metadata=None: outputs.append((data, metadata or {})),
    )
    return outputs


@pytest.mark.parametrize(
    ("bound", "inside", "outside"),
    [
        ({"at_most": 0.06}, [0.06, -5], [0.0601]),
        ({"at_least": 3}, [3, 9], [2.999]),
        ({"between": [1, 2]}, [1, 1.5, 2], [0.99, 2.01]),
        ({"equals": 0.8165, "within": 0.001}, [0.8165, 0.8156], [0.8154, 0.8176]),
    ],
)
def test_bound(bound, inside, outside):
    parsed = Bound.parse(bound)
    assert all(parsed.holds(value) for value in inside)
    assert not any(parsed.holds(value) for value in outside)


def left_claims():
    """The claims of ours that *Tried and left* of the errata tells in place of the ledger."""
    text = (BOOK / "errata.md").read_text(encoding="utf8")
    return {name for line in re.findall(r"^% claims: (.+)$", text, re.M) for name in line.split()}


@cache
def earlier_claims():
    """Entries of claims.yml, as (id, bound), where this branch left main, and as last committed.

    That is in its last thirty versions, more than are pushed at once.
    """
    bases = {git("merge-base", "HEAD", branch) for branch in ("origin/main", "main")} - {None}
    bases |= {*(git("log", "--format=%H", "-30", "HEAD^", "--", "book/claims.yml") or "").split()}
    texts = [git("show", f"{base}:book/claims.yml") for base in bases]
    if not any(texts):
        pytest.skip("no earlier claims.yml: git is missing, or the clone has no history")
    entries = [entry for text in texts if text for entry in yaml.load(text, recorder.LOADER)]
    return [(entry["id"], entry["bound"]) for entry in entries]


def test_no_claim_is_gone_and_no_bound_was_edited():
    """The way to change one is to supersede it: a new entry, and the old one says why.

    One of ours that no page needs any more is left: the errata say what came of it.
    """
    claims, left = read_claims(), left_claims()
    assert not left & set(claims), "left, but still in claims.yml"
    for name, bound in earlier_claims():
        if name in left:
            continue
        assert name in claims, f"claim {name} is gone; it may be superseded, retired or left"
        first, now = Bound.parse(bound).text, claims[name].bound.text
        assert now == first, f"claim {name}: its bound was {first}, now is {now}"


def normal(text):
    return re.sub(r"\s+", " ", text)


def is_quoted(quote, text):
    """Whether the words stand in the text; an ellipsis leaves out a sentence at most."""
    pieces = (re.escape(piece) for piece in normal(quote).split(" … "))
    return re.search(".{0,200}?".join(pieces), text) is not None


@pytest.fixture(scope="module")
def sources():
    """The papers as text, by name, where they lie beside the checkout or where PAPERS points."""
    places = [parent / "shared" / "seeds" for parent in ROOT.parents]
    places = [Path(os.environ["PAPERS"])] if "PAPERS" in os.environ else places
    folder = next((place for place in places if place.is_dir()), None)
    if folder is None:
        pytest.skip("the papers' texts are not beside the checkout; PAPERS can name their folder")
    texts = {path.name: normal(path.read_text(encoding="utf8")) for path in folder.glob("*.txt")}
    is_nrr = {
        name: "The Neural Race Reduction: Dynamics" in text[:200] for name, text in texts.items()
    }
    return {
        "NRR": " ".join(text for name, text in texts.items() if is_nrr[name]),
        "MHS": " ".join(text for name, text in texts.items() if not is_nrr[name]),
    }


def test_quotations_are_the_papers_words(sources):
    """Also between quotation marks of the errata, where a capital may open a sentence."""
    assert not is_quoted("always the fastest one", sources["MHS"])
    for claim in read_claims().values():
        if claim.quote:
            assert is_quoted(claim.quote, sources[claim.source[:3]]), f"{claim.id}: {claim.quote}"
    text = re.sub(r"`[^`]*`", "", (BOOK / "errata.md").read_text(encoding="utf8"))
    for quote in map(normal, re.findall("“([^”]*)”", text)):
        openings = quote, quote[0].lower() + quote[1:]
        assert any(is_quoted(q, s) for q in openings for s in sources.values()), quote


def test_the_ledger_lists_each_claim_about_the_papers():
    pages = ((BOOK / f"{name}.md").read_text("utf8") for name in ("ledger", "paper_figures"))
    listed = set(re.findall(r"\{decided\}`([^`]+)`", "".join(pages)))
    for claim in read_claims().values():
        assert claim.about == "ours" or not claim.stands or claim.id in listed, claim.id


# The recorder ------------------------------------------------------------------------------------


@pytest.mark.parametrize("missed", MISSED)
def test_a_miss_needs_a_reason_and_means_what_the_claim_says(tmp_path, shown, missed):
    demo = Claims("demo", write(tmp_path / "claims.yml", {**ENTRY, "missed": missed}))
    with pytest.raises(ValueError, match="because="):
        demo.record("demo-time", 0.07)
    assert not shown
    demo.record("demo-time", 0.07, because="the width is too small.")
    stored = shown[0][1]["claim"]
    assert stored["kind"] == MISSED[missed]
    assert stored["verdict"] == f"{MISSED[missed]}: the width is too small."


def test_null_and_rival_stand_beside_the_value(tmp_path, shown):
    named = {**ENTRY, "null": "a second seed", "rival": "one context"}
    demo = Claims("demo", write(tmp_path / "claims.yml", named))
    for beside in ({}, {"null": 0.005}, {"rival": 0.2}):
        with pytest.raises(ValueError, match="named in claims.yml and recorded, or neither"):
            demo.record("demo-time", 0.04, **beside)
    demo.record("demo-time", 0.043149, null=0.0051, rival=0.2)
    demo.record("demo-time", 0.04, null=0.0051, rival=0.05)
    (data, first), (_, second) = ((data, metadata["claim"]) for data, metadata in shown)
    assert data["application/papermill.record/text/plain"] == "0.0431, null 0.0051, rival 0.2"
    assert (first["value"], first["verdict"]) == (0.0431, "holds") and not first["rival_holds"]
    assert second["verdict"].endswith("; the rival is within the bound, too")


def test_where_the_book_is_not_made_readers_explore(tmp_path, shown, capsys, monkeypatch):
    file = write(tmp_path / "claims.yml", ENTRY)
    assert Claims("demo", file).strict  # as of tests and builds
    monkeypatch.delenv("BOOK_STRICT")
    Claims("demo", file).record("demo-time", 0.07)
    assert capsys.readouterr().out == "demo-time: 0.07 is outside its bound, at most 0.06\n"
    assert shown[0][1]["claim"]["verdict"] == "our own bound was missed: outside its bound"


# The ledger --------------------------------------------------------------------------------------


def stored(claim, value=0.04):
    """A recorded value as the ledger finds it."""
    return vars(recorder.judge(claim, value, 3, "of the width"))


def test_ledger_counts_and_complaints():
    one = parse_claim(ENTRY)
    ours = {k: v for k, v in ENTRY.items() if k != "quote"} | {"about": "ours"}
    two, three, four = (parse_claim({**ours, "id": name}) for name in ("two", "three", "four"))
    old = parse_claim({**ENTRY, "id": "old", "superseded_by": "two", "reason": "a slip"})
    void = parse_claim({**ours, "id": "void", "retired": "decides nothing"})
    recorded = {
        one.id: [("demo", stored(one))],
        two.id: [("demo", stored(two, 0.1))],
        four.id: [("other", stored(four))],
        "stranger": [("demo", {})],
    }
    claims = {c.id: c for c in (one, two, three, four, old, void)}
    values, problems = pick_values(claims, recorded)
    table, _ = ledger.count(claims, values)
    assert table.values.tolist() == [
        [HOLDS, 1, 0, 0, 1],
        [MISSED["bound"], 0, 0, 1, 1],
        ["superseded", 1, 0, 0, 1],
        ["retired", 0, 0, 1, 1],
        ["missing", 0, 0, 2, 2],
        ["all", 2, 0, 4, 6],
    ]
    assert problems == [
        "unknown claim stranger is recorded",
        "claim three has no measured value",
        "claim four is recorded outside its chapter 'demo'",
    ]
