"""The values that chapters recorded for claims, as they are kept of their execution."""

from functools import cache

from _ext import execution
from mdsgdln_book.claims import Claim, read_claims

OTHER_KINDS = ("superseded", "retired", "missing")  # of a claim without a verdict that counts
Recorded = dict[str, list[tuple[str, dict]]]
Values = dict[str, dict | None]


@cache
def recorded_values() -> Recorded:
    """What chapters recorded: {claim id: [(chapter, recorded value)]}."""
    found: Recorded = {}
    for chapter, path in execution.chapters().items():
        notebook = execution.kept(path)
        cells = execution.code_cells(notebook) if notebook is not None else ()
        for output in (output for cell in cells for output in cell.outputs):
            if (value := output.get("metadata", {}).get("claim")) is not None:
                found.setdefault(value["id"], []).append((chapter, value))
    return found


def pick_values(claims: dict[str, Claim], recorded: Recorded) -> tuple[Values, list[str]]:
    """Each claim's value, if it has one, and what is wrong with those that should."""
    problems = [f"unknown claim {id} is recorded" for id in recorded if id not in claims]
    values: Values = dict.fromkeys(claims)
    for id, claim in claims.items():
        found = recorded.get(id, [])
        if any(chapter != claim.chapter for chapter, _ in found):
            problems.append(f"claim {id} is recorded outside its chapter {claim.chapter!r}")
        elif found:
            values[id] = found[0][1]
        elif claim.stands:
            problems.append(f"claim {id} has no measured value")
    return values, problems


@cache
def claim_values() -> Values:
    """The value of each claim of claims.yml, None where none is kept."""
    return pick_values(read_claims(), recorded_values())[0]


def status_of(claim: Claim, value: dict | None) -> str:
    """One of VERDICTS or of OTHER_KINDS."""
    if not claim.stands:
        return "retired" if claim.retired else "superseded"
    return "missing" if value is None else value["kind"]
