"""Claims of the papers and the values measured for them.

`claims.yml` lists every claim with the bound that decides it, written before measuring. A chapter
records what it measured::

    claims = Claims("xor")
    claims.record("xor-half-loss-time", 0.0431)

A claim is `about` a paper, with the paper's words as its `quote`; about a paper's statement
`carried over` to another task or setting; or `ours`. A bound that the authors never stated is ours,
too: only where `missed` says so does a value outside it mean more.

Where a network imitates another, a value decides little by itself. Such a claim names its `null`,
how close a second seed of the imitated network comes, and a `rival` that should fail; the chapter
records the values of both next to its own.

A value outside its bound is an error where the book is made or tested (the environment variable
BOOK_STRICT is set there). Elsewhere a reader explores: what is outside is printed, and the chapter
goes on.

A record shows nothing on the page. It travels with the executed notebook, from which the ledger
page is built.
"""

import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import yaml
from IPython.display import display

from mdsgdln_book.places import BOOK, STRICT

CLAIMS_FILE = BOOK / "claims.yml"
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the first is ten times faster
FIELDS = {"id", "source", "about", "statement", "measure", "bound", "chapter"}
OPTIONAL = {"quote", "paraphrase", "seen", "missed", "null", "rival"}
OPTIONAL |= {"superseded_by", "reason", "retired"}
CHOICES = {
    "about": ("paper", "carried over", "ours"),
    "missed": ("statement", "setting", "bound"),
}
RECORD_PREFIX = "application/papermill.record/"
# What a value says about its claim, one of these.
HOLDS = "holds"
MISSED = {
    "statement": "the paper's statement fails in its own setting",
    "setting": "our setting may differ from the published one",
    "bound": "our own bound was missed",
}
VERDICTS = (HOLDS, *MISSED.values())


@dataclass(frozen=True)
class Bound:
    """What decides a claim: the measured value must lie in [low, high]."""

    low: float
    high: float
    text: str

    @classmethod
    def parse(cls, bound: Mapping) -> "Bound":
        """Parse `{at_most: x}`, `{at_least: x}`, `{between: [x, y]}`, `{equals: x, within: e}`."""
        match dict(bound):
            case {"at_most": float() | int() as high, **rest} if not rest:
                return cls(-math.inf, high, f"at most {high:g}")
            case {"at_least": float() | int() as low, **rest} if not rest:
                return cls(low, math.inf, f"at least {low:g}")
            case {
                "between": [float() | int() as low, float() | int() as high],
                **rest,
            } if not rest and low <= high:
                return cls(low, high, f"between {low:g} and {high:g}")
            case {
                "equals": float() | int() as value,
                "within": float() | int() as error,
                **rest,
            } if not rest and error >= 0:
                return cls(value - error, value + error, f"{value:g} ± {error:g}")
        raise ValueError(
            "bound: expected one of {at_most: x}, {at_least: x}, {between: [x, y]}, "
            f"{{equals: x, within: e}}, with numbers (1e-5 is a text in YAML, 1.0e-5 a number); "
            f"got {bound!r}"
        )

    def holds(self, value: float) -> bool:
        """Return whether the value is inside, the ends included."""
        return self.low <= value <= self.high


@dataclass(frozen=True)
class Claim:
    """One entry of claims.yml."""

    id: str
    source: str
    about: str  # whose claim: one of CHOICES["about"]
    statement: str
    measure: str
    bound: Bound
    chapter: str
    quote: str | None = None  # the paper's words; the source says where
    paraphrase: bool = False  # of a paper whose words are not known here
    seen: bool = False  # the value was known when the bound was written
    missed: str = "bound"  # what a value outside the bound would mean: a key of MISSED
    null: str | None = None  # what the value of a perfect imitation is measured on
    rival: str | None = None  # what should be outside the bound
    superseded_by: str | None = None
    reason: str | None = None
    retired: str | None = None  # why, where nothing takes its place

    @property
    def stands(self) -> bool:
        """Return whether the claim is neither superseded nor retired."""
        return self.superseded_by is None and self.retired is None


def complaint(entry: Mapping) -> str | None:
    """Return the problem with the fields of an entry of claims.yml, if any."""
    missing, unknown = FIELDS - set(entry), set(entry) - FIELDS - OPTIONAL
    if missing or unknown:
        # YAML reads the bare word null as nothing: as a field it is written "null".
        names = sorted('"null" without quotes' if name is None else name for name in unknown)
        return f"missing fields {sorted(missing)}, unknown fields {names}"
    for field, choices in CHOICES.items():
        if entry.get(field, choices[-1]) not in choices:
            return f"{field}: expected one of {choices}, got {entry[field]!r}"
    if ("superseded_by" in entry) != ("reason" in entry):
        return "superseded_by and reason go together"
    if "retired" in entry and "superseded_by" in entry:
        return "retired or superseded_by, not both"
    words = ("quote" in entry) + ("paraphrase" in entry)
    if words != 1 and entry["about"] == "paper" or words and entry["about"] == "ours":
        return f"about {entry['about']}: a paper's claim has its quote or is a paraphrase"
    return None


def parse_claim(entry: Mapping) -> Claim:
    """Return the claim of one checked entry of claims.yml."""
    name = entry.get("id", entry)
    if wrong := complaint(entry):
        raise ValueError(f"claim {name}: {wrong}")
    try:
        bound = Bound.parse(entry["bound"])
    except ValueError as error:
        raise ValueError(f"claim {name}: {error}") from None
    return Claim(**{**entry, "bound": bound})


@cache
def read_claims(path: Path = CLAIMS_FILE) -> dict[str, Claim]:
    """Return all claims of the file by id, in its order."""
    claims: dict[str, Claim] = {}
    for entry in yaml.load(path.read_text(encoding="utf8"), LOADER):
        claim = parse_claim(entry)
        if claim.id in claims:
            raise ValueError(f"claim {claim.id}: the id is used twice")
        claims[claim.id] = claim
    for claim in claims.values():
        if claim.superseded_by is not None and claim.superseded_by not in claims:
            raise ValueError(f"claim {claim.id}: superseded by unknown claim {claim.superseded_by}")
    return claims


def rounded_text(value: float, digits: int) -> str:
    """Return the value with that many significant digits; never `-0`.

    >>> rounded_text(0.04312, 3), rounded_text(1234567.0, 3), rounded_text(-0.0, 3)
    ('0.0431', '1.23e+06', '0')
    """
    text = f"{value:.{digits}g}"
    return "0" if float(text) == 0 else text


def order_above(value: float) -> float:
    """Return the least of 1e-12, 1e-8, 1e-4, … above a rounding error, the same on all machines.

    >>> order_above(0.0), order_above(3.3e-14), order_above(2e-11)
    (1e-12, 1e-12, 1e-08)
    """
    precision = np.finfo(float).eps  # differences below it are chance
    return 10.0 ** (4 * math.ceil(math.log10(max(value, precision)) / 4))


@dataclass(frozen=True)
class Measured:
    """A recorded value: what is shown, and what it says about the claim."""

    id: str
    value: float
    text: str  # with the values of the null and of the rival
    kind: str  # one of VERDICTS
    verdict: str
    rival_holds: bool


def finite_text(claim: Claim, value: float, digits: int) -> str:
    """Return the rounded value, or raise ``ValueError`` if it is not finite."""
    if not math.isfinite(value):
        raise ValueError(f"claim {claim.id}: expected a finite number, got {value}")
    return rounded_text(value, digits)


def judge(
    claim: Claim, value: float, digits: int, because: str | None, **beside: float | None
) -> Measured:
    """Judge a value by the claim's bound, with the `null` and the `rival` if they are named."""
    value = float(value)
    number = finite_text(claim, value, digits)
    holds = claim.bound.holds(value)
    if not holds and not because:
        raise ValueError(
            f"claim {claim.id}: measured {number}, but the bound is {claim.bound.text}; "
            "say why with because="
        )
    text = number
    for name, other in beside.items():
        if (other is None) != (getattr(claim, name) is None):
            raise ValueError(
                f"claim {claim.id}: {name}: named in claims.yml and recorded, or neither"
            )
        if other is not None:
            text += f", {name} {finite_text(claim, other, digits)}"
    rival = beside.get("rival")
    rival_holds = rival is not None and claim.bound.holds(float(rival))
    kind = HOLDS if holds else MISSED[claim.missed]
    verdict = HOLDS if holds else f"{kind}: {because}"
    verdict += "; the rival is within the bound, too" if rival_holds else ""
    return Measured(claim.id, float(number), text, kind, verdict, rival_holds)


def markdown_table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a pipe table; bars inside cells are escaped."""
    head = list(head)
    lines = [head, ["---"] * len(head), *rows]
    cells = ([str(cell).replace("|", r"\|").replace("\n", " ") for cell in line] for line in lines)
    return "\n".join(f"| {' | '.join(line)} |" for line in cells)


class Claims:
    """The claims of one chapter, to be recorded as they are measured."""

    def __init__(self, chapter: str, path: Path = CLAIMS_FILE):
        """Find the claims whose `chapter` is this one; a chapter without claims is an error."""
        self.strict = STRICT in os.environ  # the book is being made or tested
        self.chapter = chapter
        claims = read_claims(path)
        self._claims = {k: c for k, c in claims.items() if c.chapter == chapter}
        if not self._claims:
            known = sorted({claim.chapter for claim in claims.values()})
            raise ValueError(f"chapter: expected one of {known}, got {chapter!r}")

    def record(
        self,
        id: str,
        value: float,
        digits: int = 3,
        because: str | None = None,
        null: float | None = None,
        rival: float | None = None,
    ) -> None:
        """Record what was measured for a claim.

        **Arguments:** the claim's id, the value, the significant digits to show, and, if the value
        is outside its bound, the reason in one sentence. Where claims.yml names a null or a rival,
        the same measure of these.
        """
        if id not in self._claims:
            raise ValueError(
                f"id: expected a claim of chapter {self.chapter!r}, {sorted(self._claims)}; "
                f"got {id!r}"
            )
        bound = self._claims[id].bound
        if not self.strict and not bound.holds(value) and not because:
            because = "outside its bound"
            print(f"{id}: {rounded_text(value, digits)} is outside its bound, {bound.text}")
        measured = judge(self._claims[id], value, digits, because, null=null, rival=rival)
        # Compared with the reference: the text only, no metadata.
        display(
            {RECORD_PREFIX + "text/plain": measured.text},
            raw=True,
            metadata={
                "scrapbook": {"name": f"claim:{id}", "mime_prefix": RECORD_PREFIX},
                "claim": vars(measured),
            },
        )
