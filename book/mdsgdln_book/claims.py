"""Claims of the papers and the values measured for them.

`claims.yml` lists every claim with the bound that decides it, written before measuring, and says
whose claim it is: a paper's, with its words, a paper's carried over to another setting, or ours. A
chapter records what it measured::

    claims = Claims("xor")
    claims.record("xor-half-loss-time", 0.0431)
    claims.table()

Where a network imitates another, a value decides little by itself. Such a claim names its `null`,
how close a second seed of the imitated network comes, and a `rival` that should fail; the chapter
records the values of both beside its own.

A value outside its bound, and a claim without a value, are errors where the book is made or tested
(the environment variable BOOK_STRICT is set there). Elsewhere a reader explores: what is outside is
printed, and the chapter goes on.

A record shows nothing on the page. It travels with the executed notebook, from which the ledger
page is built.
"""

import math
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from IPython.display import display

from mdsgdln_book.claim_file import CLAIMS_FILE, Claim, read_claims
from mdsgdln_book.places import STRICT

RECORD_PREFIX = "application/papermill.record/"
# What a value says about its claim, one of these.
HOLDS, WITHIN = "holds", "holds within a bound"
MISSED = {
    "statement": "the paper's statement fails in its own setting",
    "setting": "our setting may differ from the published one",
    "bound": "our own bound was missed",
}
VERDICTS = (HOLDS, WITHIN, *MISSED.values())


def rounded_text(value: float, digits: int) -> str:
    """The value with so many significant digits; never `-0`.

    >>> rounded_text(0.04312, 3), rounded_text(1234567.0, 3), rounded_text(-0.0, 3)
    ('0.0431', '1.23e+06', '0')
    """
    text = f"{value:.{digits}g}"
    return "0" if float(text) == 0 else text


def order_above(value: float) -> float:
    """The least of 1e-12, 1e-8, 1e-4, … that is not below: what of rounding all machines share.

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
    holds: bool
    kind: str  # one of VERDICTS
    verdict: str
    rival_holds: bool
    entry: str


def finite_text(claim: Claim, value: float, digits: int) -> str:
    """The rounded value; one that is no finite number is an error."""
    if not math.isfinite(value):
        raise ValueError(f"claim {claim.id}: expected a finite number, got {value}")
    return rounded_text(value, digits)


def decide_kind(claim: Claim, holds: bool) -> str:
    """Which of VERDICTS it is."""
    if not holds:
        return MISSED[claim.missed]
    return WITHIN if claim.bound.only_upper and not claim.exact else HOLDS


def judge(
    claim: Claim, value: float, digits: int, because: str | None, **beside: float | None
) -> Measured:
    """Hold a value against the claim's bound; `beside` it those of the `null` and the `rival`."""
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
    kind = decide_kind(claim, holds)
    verdict = {WITHIN: f"holds within {number}", HOLDS: HOLDS}.get(kind, f"{kind}: {because}")
    verdict += "; the rival is within the bound, too" if rival_holds else ""
    return Measured(claim.id, float(number), text, holds, kind, verdict, rival_holds, claim.entry)


def markdown_table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A pipe table; bars inside cells are escaped."""
    head = list(head)
    lines = [head, ["---"] * len(head), *rows]
    cells = ([str(cell).replace("|", r"\|").replace("\n", " ") for cell in line] for line in lines)
    return "\n".join(f"| {' | '.join(line)} |" for line in cells)


class Claims:
    """The claims of one chapter, to be recorded as they are measured."""

    def __init__(self, chapter: str, path: Path = CLAIMS_FILE, strict: bool | None = None):
        """Find the claims whose `chapter` is this one; a chapter without claims is an error.

        `strict`, if not given, is whether the book is being made or tested.
        """
        self.strict = STRICT in os.environ if strict is None else strict
        self.chapter = chapter
        self._all = read_claims(path)
        self._claims = {k: c for k, c in self._all.items() if c.chapter == chapter}
        if not self._claims:
            known = sorted({claim.chapter for claim in self._all.values()})
            raise ValueError(f"chapter: expected one of {known}, got {chapter!r}")
        self._measured: dict[str, Measured] = {}

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
        current = {k: c for k, c in self._claims.items() if c.stands}
        missing = [id for id in current if id not in self._measured]
        if not self.strict:
            current = {id: claim for id, claim in current.items() if id not in missing}
        elif missing:
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
