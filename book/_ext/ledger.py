"""Sphinx extension: the ledger of claims, and the marks that lead to it.

The sentence that {claim}`xor-half-loss-time` follows has been tested. The mark is a tick where the
claim holds, a cross where the paper's statement fails in its own setting, and a tilde where only
our bound was missed or our setting may differ. It leads to the claim's row of the ledger; the
preview of links (`preview.js`) shows statement, bound, value and verdict. {measured} and a claim's
id is what its chapter recorded, {null} the value of its null, and
{decided} the claim's id with its verdict, as tables have it.

`{ledger}` lists each claim of claims.yml; `{ref}` finds its row as `claim-<id>`. `{counts}` counts
the claims, by whose they are and by verdict, and `{headlines}` shows some of them in short. A claim
without a value or a value for an unknown claim is a warning.

A page is read again when a value that it shows is another one.
"""

import re
from collections.abc import Iterable
from html import escape

import pandas as pd
from docutils import nodes
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective, SphinxRole

from _ext.recorded import (
    OTHER_KINDS,
    Values,
    claim_values,
    pick_values,
    recorded_values,
    status_of,
)
from mdsgdln_book.claims import (
    CHOICES,
    CLAIMS_FILE,
    HOLDS,
    MISSED,
    VERDICTS,
    Claim,
    markdown_table,
    read_claims,
)

logger = logging.getLogger(__name__)
LEDGER = "book/ledger"  # the page
HEAD = ["claim", "about", "source", "chapter", "bound", "measured", "verdict"]
CLASSES = {text: name for name, text in MISSED.items()}  # of rows; other kinds are their own
OPEN = "○"
MARKS = {HOLDS: ("✓", "holds"), "missing": (OPEN, "open")}  # symbol and name
MARKS |= {MISSED["statement"]: ("✗", "fails")}
MARKS |= dict.fromkeys((MISSED["setting"], MISSED["bound"]), ("~", "partly"))
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
NULL = re.compile(r", null (\S+?)(?:,|$)")  # in the text of a recorded value


# Roles -------------------------------------------------------------------------------------------


def format_value(value: float) -> str:
    """The value as a sentence has it.

    >>> format_value(0.034), format_value(2.8e-5), format_value(3e7)
    ('0.034', '2.8 × 10⁻⁵', '3 × 10⁷')
    """
    number, _, power = f"{value:g}".partition("e")
    return f"{number} × 10{str(int(power)).translate(RAISED)}" if power else number


def measured(claim: Claim, value: dict | None) -> str:
    """The value alone."""
    return OPEN if value is None else format_value(value["value"])


def null(claim: Claim, value: dict | None) -> str:
    """The value of the claim's null."""
    return OPEN if value is None else NULL.search(value["text"])[1]


def mark(claim: Claim, value: dict | None) -> str:
    """The symbol, which leads to the claim's row, and the lines of its preview."""
    symbol, name = MARKS[status_of(claim, value)]
    lines = [claim.statement, f"{claim.source}; {claim.about}", f"bound: {claim.bound.text}"]
    if value is not None:
        lines += [f"measured: {value['text']}", value["verdict"]]
    return (
        f'<a class="claim-mark {name}" href="ledger.html#claim-{claim.id}" '
        f'aria-label="claim: {name}" data-preview="{escape(chr(10).join(lines))}">{symbol}</a>'
    )


def decided(claim: Claim, value: dict | None) -> str:
    """The id, which leads to the claim's row, and the verdict without its reason."""
    return f'<a href="ledger.html#claim-{claim.id}">{claim.id}</a>: {status_of(claim, value)}'


ROLES = {"claim": mark, "decided": decided, "measured": measured, "null": null}  # as HTML


class Role(SphinxRole):
    """The roles; all but `{decided}` are of claims that stand."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Show the claim's value."""
        claim = read_claims().get(self.text)
        wrong = None
        if claim is None or (self.name != "decided" and not claim.stands):
            wrong = f"no claim {self.text} that stands"
        elif self.name == "null" and claim.null is None:
            wrong = f"claim {self.text} has no null"
        if wrong:
            logger.warning(wrong, location=self.get_location())
            return [], []
        note(self.env, claim.id)
        shown = ROLES[self.name](claim, claim_values()[claim.id])
        return [nodes.raw("", shown, format="html")], []


# Tables ------------------------------------------------------------------------------------------


def claim_cells(claim: Claim, value: dict | None) -> list[str]:
    """A claim's row, as Markdown."""
    named = [("null", claim.null), ("rival", claim.rival)]
    measure = "; ".join([claim.measure, *(f"{name}: {text}" for name, text in named if text)])
    quote = f" “{claim.quote}”" if claim.quote else ""
    about = claim.about + (", paraphrased" if claim.paraphrase else "")
    chapter = f"{{doc}}`{claim.chapter.replace('_', ' ')} <{claim.chapter}>`"
    bound = claim.bound.text + (" (value known before)" if claim.seen else "")
    shown, verdict = (value["text"], value["verdict"]) if value else ("–", "missing")
    if later := claim.superseded_by:
        verdict = f"superseded by {{ref}}`{later} <claim-{later}>`: {claim.reason}"
    elif claim.retired:
        verdict = f"retired: {claim.retired}"
    link = f"{{ref}}`{claim.id} <claim-{claim.id}>`"
    statement = f"{claim.statement} ({measure}){quote} {link}"
    return [statement, about, claim.source, chapter, bound, shown, verdict]


class Ledger(SphinxDirective):
    """`{ledger}`: a table of all claims with what was measured."""

    def parse(self, head: list[str], rows: Iterable[list[str]]) -> nodes.container:
        """A table of all claims, or of some; its cells are Markdown."""
        note(self.env, *read_claims())
        return nodes.container(
            "", *self.parse_text_to_nodes(markdown_table(head, rows)), classes=[self.name]
        )

    def run(self) -> list[nodes.Node]:
        """Give each claim's row its verdict as a class, and an anchor for other pages."""
        claims, values, domain = read_claims(), claim_values(), self.env.get_domain("std")
        box = self.parse(HEAD, map(claim_cells, claims.values(), values.values()))
        (body,) = box.findall(nodes.tbody)
        for row, (id, claim) in zip(body.children, claims.items(), strict=True):
            kind = status_of(claim, values[id])
            row["classes"].append(CLASSES.get(kind, kind))
            row["ids"].append(f"claim-{id}")
            domain.note_hyperlink_target(f"claim-{id}", self.env.docname, f"claim-{id}", id)
        return [box]


class Headlines(Ledger):
    """`{headlines}`: the claims that its lines name, without what a referee needs besides."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return a table."""
        claims, rows = read_claims(), []
        for id in filter(None, map(str.strip, self.content)):
            if claim := claims.get(id):
                source = f"{claim.statement} ({{ref}}`{claim.source} <claim-{id}>`)"
                kind = status_of(claim, claim_values()[id])
                rows.append([source, claim.bound.text, f"{{measured}}`{id}`", kind])
            else:
                logger.warning("no claim %s", id, location=self.get_location())
        return [self.parse(["statement", "bound", "measured", "verdict"], rows)]


def count(claims: dict[str, Claim], values: Values) -> tuple[pd.DataFrame, str]:
    """How many claims, by whose they are and by verdict; and what else a referee counts."""
    owners, kinds = CHOICES["about"], (*VERDICTS, *OTHER_KINDS)
    rows = [(status_of(claim, values[id]), claim.about) for id, claim in claims.items()]
    counts = pd.crosstab(*zip(*rows, strict=True), margins=True, margins_name="all")
    found = [kind for kind in (*kinds, "all") if kind in counts.index]
    counts = counts.reindex(index=found, columns=[*owners, "all"], fill_value=0)
    standing = [claim for claim in claims.values() if claim.stands]
    quoted = [c.source[:3] for c in standing if c.about == "paper" and c.quote]
    with_rival = [v for c in standing if (v := values[c.id]) and c.rival]
    return counts.rename_axis("verdict").reset_index().rename_axis(columns=None), (
        f"Of the claims about the papers that stand, {quoted.count('MHS')} quote MHS, "
        f"{quoted.count('NRR')} the slides of NRR, and {sum(c.paraphrase for c in standing)} "
        "paraphrase figures of those. The value was known when the bound was written: "
        f"{sum(claim.seen for claim in standing)}. "
        f"A rival stands next to the value: {len(with_rival)}; "
        "within the bound, so that the claim does not decide against it: "
        f"{sum(value['rival_holds'] for value in with_rival)}."
    )


class Counts(SphinxDirective):
    """`{counts}`: how many claims, by whose they are and by verdict."""

    def run(self) -> list[nodes.Node]:
        """Return the table and the sentence."""
        note(self.env, *read_claims())
        counts, sentence = count(read_claims(), claim_values())
        table = counts.to_html(index=False, border=0, classes="table")
        shown = nodes.raw("", table, format="html"), nodes.paragraph(text=sentence)
        return [nodes.container("", *shown, classes=[self.name])]


# Events ------------------------------------------------------------------------------------------


def note(env, *claims: str) -> None:
    """Have the page that is read depend on these claims and on what was recorded for them."""
    env.note_dependency(str(CLAIMS_FILE))
    env.metadata[env.docname].setdefault("claims", set()).update(claims)


def find_outdated(app, env, added, changed, removed) -> list[str]:
    """The pages that show a value which has changed."""
    values, before = claim_values(), getattr(env, "claim_values", {})
    env.claim_values = values
    new = {id for id, value in values.items() if value != before.get(id)}
    return [page for page in env.found_docs if new & env.metadata[page].get("claims", set())]


def check(app, env) -> None:
    """Every claim has a value, and every value a claim; not where one chapter alone is executed."""
    if env.config.nb_execution_mode != "off":
        for problem in pick_values(read_claims(), recorded_values())[1]:
            logger.warning("%s", problem, location=LEDGER)


def add_filter(app, pagename, templatename, context, doctree) -> None:
    """Give the ledger's page alone the script that filters its rows."""
    if pagename == LEDGER:
        app.add_js_file("ledger.js", loading_method="defer")


def setup(app) -> dict:
    """Register the extension."""
    app.add_directive("ledger", Ledger)
    app.add_directive("counts", Counts)
    app.add_directive("headlines", Headlines)
    for role in ROLES:
        app.add_role(role, Role())
    app.connect("env-get-outdated", find_outdated)
    app.connect("env-check-consistency", check)
    app.connect("html-page-context", add_filter)
    app.set_html_assets_policy("always")  # a preview may have a formula, the page none
    app.add_css_file("ledger.css")
    app.add_css_file("preview.css")
    app.add_js_file("preview.js", loading_method="defer")
    return {"version": "2", "parallel_read_safe": True, "parallel_write_safe": True}
