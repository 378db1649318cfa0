"""What claims.yml holds: every claim, whose it is, and the bound that decides it.

A claim is `about` a paper, with the paper's words as its `quote`; about a paper's statement
`carried over` to another task or setting; or `ours`. A bound that the authors never stated is ours,
too: only where `missed` says so does a value outside it mean more.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml

from mdsgdln_book.places import BOOK

CLAIMS_FILE = BOOK / "claims.yml"
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the first is ten times faster
FIELDS = {"id", "source", "about", "kind", "statement", "measure", "bound", "chapter"}
OPTIONAL = {"quote", "paraphrase", "seen", "missed", "null", "rival", "exact"}
OPTIONAL |= {"superseded_by", "reason", "retired"}
CHOICES = {
    "about": ("paper", "carried over", "ours"),
    "kind": ("theorem check", "experiment"),
    "missed": ("statement", "setting", "bound"),
}


@dataclass(frozen=True)
class Bound:
    """What decides a claim: the measured value must lie in [low, high]."""

    low: float
    high: float
    text: str

    @classmethod
    def parse(cls, bound: Mapping) -> "Bound":
        """Read `{at_most: x}`, `{at_least: x}`, `{between: [x, y]}` or `{equals: x, within: e}`."""
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
        """Whether the value is inside, the ends included."""
        return self.low <= value <= self.high

    @property
    def only_upper(self) -> bool:
        """Whether the bound is a largest allowed value."""
        return self.low == -math.inf


@dataclass(frozen=True)
class Claim:
    """One entry of claims.yml."""

    id: str
    source: str
    about: str  # whose claim: one of CHOICES["about"]
    kind: str
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
    exact: bool = False  # the value is no error: within its bound the claim simply holds
    entry: str = ""  # what the value depends on: one measured for something else is stale

    @property
    def stands(self) -> bool:
        """Whether the claim is neither superseded nor retired."""
        return self.superseded_by is None and self.retired is None


def complaint(entry: Mapping) -> str | None:
    """What is wrong with the fields of an entry of claims.yml."""
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
    """Check one entry of claims.yml."""
    name = entry.get("id", entry)
    if wrong := complaint(entry):
        raise ValueError(f"claim {name}: {wrong}")
    try:
        bound = Bound.parse(entry["bound"])
    except ValueError as error:
        raise ValueError(f"claim {name}: {error}") from None
    return Claim(**{**entry, "bound": bound}, entry=repr(sorted(entry.items())))


def read_claims(path: Path = CLAIMS_FILE) -> dict[str, Claim]:
    """All claims of the file, by id, in its order."""
    return parse_claims(path.read_text(encoding="utf8"))


@cache
def parse_claims(text: str) -> dict[str, Claim]:
    """All claims of the file's text."""
    claims: dict[str, Claim] = {}
    for entry in yaml.load(text, LOADER) or []:
        claim = parse_claim(entry)
        if claim.id in claims:
            raise ValueError(f"claim {claim.id}: the id is used twice")
        claims[claim.id] = claim
    for claim in claims.values():
        if claim.superseded_by is not None and claim.superseded_by not in claims:
            raise ValueError(f"claim {claim.id}: superseded by unknown claim {claim.superseded_by}")
    return claims
