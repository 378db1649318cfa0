"""Claims of the papers and the values measured for them.

`claims.yml` lists every claim with the bound that decides it, written before measuring. A chapter
records what it measured::

    claims = Claims("xor")
    claims.record("xor-half-loss-time", 0.0431)
    claims.table()

A record shows nothing on the page. It travels with the executed notebook, from which the ledger
page is built. `python -m mdsgdln_book.claims <id>` runs the one chapter that decides a claim.
"""

import math
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml
from IPython.display import display

from mdsgdln_book.places import BOOK

CLAIMS_FILE = BOOK / "claims.yml"
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the first is ten times faster
RECORD_PREFIX = "application/papermill.record/"
FIELDS = {"id", "source", "statement", "measure", "bound", "chapter"}


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
    statement: str
    measure: str
    bound: Bound
    chapter: str
    superseded_by: str | None = None
    reason: str | None = None
    exact: bool = False  # the value is no error: within its bound the claim simply holds
    entry: str = ""  # as written: a value measured for another entry is stale


def parse_claim(entry: Mapping) -> Claim:
    """Check one entry of claims.yml."""
    name = entry.get("id", entry)
    missing = FIELDS - set(entry)
    unknown = set(entry) - FIELDS - {"superseded_by", "reason", "exact"}
    if missing or unknown:
        raise ValueError(
            f"claim {name}: missing fields {sorted(missing)}, unknown fields {sorted(unknown)}"
        )
    if ("superseded_by" in entry) != ("reason" in entry):
        raise ValueError(f"claim {name}: superseded_by and reason go together")
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


def rounded_text(value: float, digits: int) -> str:
    """The value with so many significant digits; never `-0`.

    >>> rounded_text(0.04312, 3), rounded_text(1234567.0, 3), rounded_text(-0.0, 3)
    ('0.0431', '1.23e+06', '0')
    """
    text = f"{value:.{digits}g}"
    return "0" if float(text) == 0 else text


@dataclass(frozen=True)
class Measured:
    """A recorded value: what is shown, and whether the claim holds."""

    id: str
    value: float
    text: str
    holds: bool
    verdict: str
    entry: str


def judge(claim: Claim, value: float, digits: int, because: str | None) -> Measured:
    """Hold a value against the claim's bound."""
    value = float(value)
    if not math.isfinite(value):
        raise ValueError(f"claim {claim.id}: expected a finite number, got {value}")
    text = rounded_text(value, digits)
    holds = claim.bound.holds(value)
    if not holds and not because:
        raise ValueError(
            f"claim {claim.id}: measured {text}, but the bound is {claim.bound.text}; "
            "say why with because="
        )
    if not holds:
        verdict = f"does not hold here: {because}"
    elif claim.bound.only_upper and not claim.exact:
        verdict = f"holds within {text}"
    else:
        verdict = "holds"
    return Measured(claim.id, float(text), text, holds, verdict, claim.entry)


def markdown_table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A pipe table; bars inside cells are escaped."""
    head = list(head)
    lines = [head, ["---"] * len(head), *rows]
    cells = ([str(cell).replace("|", r"\|").replace("\n", " ") for cell in line] for line in lines)
    return "\n".join(f"| {' | '.join(line)} |" for line in cells)


class Claims:
    """The claims of one chapter, to be recorded as they are measured."""

    def __init__(self, chapter: str, path: Path = CLAIMS_FILE):
        """Find the claims whose `chapter` is this one; a chapter without claims is an error."""
        self.chapter = chapter
        self._all = read_claims(path)
        self._claims = {k: c for k, c in self._all.items() if c.chapter == chapter}
        if not self._claims:
            known = sorted({claim.chapter for claim in self._all.values()})
            raise ValueError(f"chapter: expected one of {known}, got {chapter!r}")
        self._measured: dict[str, Measured] = {}

    def record(self, id: str, value: float, digits: int = 3, because: str | None = None) -> None:
        """Record what was measured for a claim.

        **Arguments:** the claim's id, the value, the significant digits to show, and, if the value
        is outside its bound, the reason in one sentence.
        """
        if id not in self._claims:
            raise ValueError(
                f"id: expected a claim of chapter {self.chapter!r}, {sorted(self._claims)}; "
                f"got {id!r}"
            )
        measured = judge(self._claims[id], value, digits, because)
        self._measured[id] = measured
        # Compared by nbval: the text only, no metadata.
        display(
            {RECORD_PREFIX + "text/plain": measured.text},
            raw=True,
            metadata={
                "scrapbook": {"name": f"claim:{id}", "mime_prefix": RECORD_PREFIX},
                "claim": vars(measured),
            },
        )

    def table(self) -> None:
        """Show the chapter's claims with what was measured; every claim must have a value."""
        current = {k: c for k, c in self._claims.items() if c.superseded_by is None}
        missing = [id for id in current if id not in self._measured]
        if missing:
            raise ValueError(f"claims of chapter {self.chapter!r} without a value: {missing}")
        head = ["claim", "source", "what is measured", "bound", "measured", "verdict"]
        rows = []
        for id, claim in current.items():
            measured = self._measured[id]
            rows.append(
                [claim.statement, claim.source, claim.measure, claim.bound.text]
                + [measured.text, measured.verdict]
            )
        text = markdown_table(head, rows)
        display({"text/markdown": text, "text/plain": text}, raw=True)


def decide(claim: Claim, book: Path = BOOK) -> Mapping:
    """Run the chapter that decides a claim; return what it recorded."""
    from mdsgdln_book.references import RECORD, code_cells, execute  # needs what only a build has

    for cell in code_cells(execute(book / f"{claim.chapter}.md")):
        for output in cell.outputs:
            recorded = output.get("metadata", {}).get("claim", {})
            if RECORD in output.get("data", {}) and recorded.get("id") == claim.id:
                return recorded
    raise ValueError(f"claim {claim.id}: chapter {claim.chapter!r} records no value")


def main(arguments: list[str]) -> None:
    """Run the one chapter that decides a claim, and print claim, bound, value and verdict."""
    claims = read_claims()
    if len(arguments) != 1 or arguments[0] not in claims:
        sys.exit(f"ID: expected one of {sorted(claims)}, got {' '.join(arguments) or 'none'}")
    claim = claims[arguments[0]]
    print(f"{claim.statement} ({claim.source})\n{claim.measure}", flush=True)
    recorded = decide(claim)
    print(f"bound     {claim.bound.text}\nmeasured  {recorded['text']}, in {claim.chapter}")
    print(f"verdict   {recorded['verdict']}")
    if claim.superseded_by is not None:
        print(f"superseded by {claim.superseded_by}: {claim.reason}")


if __name__ == "__main__":
    main(sys.argv[1:])
