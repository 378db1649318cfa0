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

What depends on recorded values is a place while pages are read, and filled when they are written.
"""

import json
import re
from collections.abc import Iterable
from html import escape
from pathlib import Path

import pandas as pd
from docutils import nodes
from docutils.statemachine import StringList
from myst_nb.sphinx_ import NbMetadataCollector
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective, SphinxRole

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
OTHER_KINDS = ("superseded", "retired", "missing")  # of a claim without a verdict that counts
CLASSES = {text: name for name, text in MISSED.items()}  # of rows; other kinds are their own
TICK, TILDE, CROSS, OPEN = "✓", "~", "✗", "○"
SYMBOLS = {HOLDS: TICK, "missing": OPEN, MISSED["statement"]: CROSS}
SYMBOLS |= {MISSED["setting"]: TILDE, MISSED["bound"]: TILDE}
NAMES = {TICK: "holds", TILDE: "partly", CROSS: "fails", OPEN: "open"}
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
NULL = re.compile(r", null (\S+?)(?:,|$)")  # in the text of a recorded value
Values = dict[str, dict | None]


# Values ------------------------------------------------------------------------------------------


def recorded_values(env) -> dict[str, list[tuple[str, dict]]]:
    """What chapters recorded: {claim id: [(document, recorded value)]}."""
    folder = Path(env.mystnb_config.output_folder)
    found: dict[str, list[tuple[str, dict]]] = {}
    for doc, stored in sorted(NbMetadataCollector.get_doc_data(env).items()):
        path = folder / f"{doc}.glue.json"
        if not stored.get("glue") or not path.is_file():
            continue
        for output in json.loads(path.read_text(encoding="utf8")).values():
            value = output.get("metadata", {}).get("claim")
            if value is not None:
                found.setdefault(value["id"], []).append((doc, value))
    return found


def pick_values(claims: dict[str, Claim], recorded: dict) -> tuple[Values, list[str]]:
    """Each claim's value, if it has one, and what is wrong with those that should."""
    problems = [f"unknown claim {id} is recorded" for id in recorded if id not in claims]
    values: Values = dict.fromkeys(claims)
    for id, claim in claims.items():
        found = recorded.get(id, [])
        if any(doc.rpartition("/")[2] != claim.chapter for doc, _ in found):
            problems.append(f"claim {id} is recorded outside its chapter {claim.chapter!r}")
        elif found:
            values[id] = found[0][1]
        elif claim.stands:
            problems.append(f"claim {id} has no measured value")
    return values, problems


def status_of(claim: Claim, value: dict | None) -> str:
    """One of VERDICTS or of OTHER_KINDS."""
    if not claim.stands:
        return "retired" if claim.retired else "superseded"
    return "missing" if value is None else value["kind"]


def check(app, env) -> None:
    """Every claim has a value, and every value a claim; not where one chapter alone is executed."""
    if env.config.nb_execution_mode != "off":
        for problem in pick_values(read_claims(), recorded_values(env))[1]:
            logger.warning("%s", problem, location=LEDGER)


# While pages are read ----------------------------------------------------------------------------


class Place(nodes.Inline, nodes.Element):
    """Where something of a claim goes, once every chapter has recorded its values."""


class Role(SphinxRole):
    """The roles: `{claim}`, `{measured}` and `{null}` are of claims that stand."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Leave a place."""
        claim = read_claims().get(self.text)
        wrong = None
        if claim is None or (self.name in ("claim", "measured", "null") and not claim.stands):
            wrong = f"no claim {self.text} that stands"
        elif self.name == "null" and claim.null is None:
            wrong = f"claim {self.text} has no null"
        if wrong:
            logger.warning(wrong, location=self.get_location())
            return [], []
        self.env.note_dependency(str(CLAIMS_FILE))
        if claim.chapter != self.env.docname.rpartition("/")[2]:
            self.env.metadata[self.env.docname]["tells_of_others"] = True
        return [Place(claim=self.text, role=self.name)], []


def claim_cells(claim: Claim) -> list[str]:
    """A claim's row, as Markdown."""
    named = [("null", claim.null), ("rival", claim.rival)]
    measure = "; ".join([claim.measure, *(f"{name}: {text}" for name, text in named if text)])
    quote = f" “{claim.quote}”" if claim.quote else ""
    about = claim.about + (", paraphrased" if claim.paraphrase else "")
    chapter = f"{{doc}}`{claim.chapter.replace('_', ' ')} <{claim.chapter}>`"
    bound = claim.bound.text + (" (value known before)" if claim.seen else "")
    verdict = f"{{verdict}}`{claim.id}`"
    if later := claim.superseded_by:
        verdict = f"superseded by {{ref}}`{later} <claim-{later}>`: {claim.reason}"
    elif claim.retired:
        verdict = f"retired: {claim.retired}"
    link = f"{{ref}}`{claim.id} <claim-{claim.id}>`"
    statement = f"{claim.statement} ({measure}){quote} {link}"
    value = f"{{recorded}}`{claim.id}`"
    return [statement, about, claim.source, chapter, bound, value, verdict]


class Ledger(SphinxDirective):
    """`{ledger}`: a table of all claims with what was measured."""

    def parse(self, head: list[str], rows: Iterable[list[str]]) -> nodes.container:
        """A table, its cells Markdown; the page is read again when claims have changed."""
        self.env.note_dependency(str(CLAIMS_FILE))
        box = nodes.container(classes=[self.name])
        lines = StringList(markdown_table(head, rows).splitlines(), "")
        self.state.nested_parse(lines, self.content_offset, box)
        return box

    def run(self) -> list[nodes.Node]:
        """Give each claim's row an anchor that other pages can refer to."""
        claims, domain = read_claims(), self.env.get_domain("std")
        box = self.parse(HEAD, map(claim_cells, claims.values()))
        (body,) = box.findall(nodes.tbody)
        for row, id in zip(body.children, claims, strict=True):
            row["claim"] = id
            row["ids"].append(f"claim-{id}")
            domain.note_hyperlink_target(f"claim-{id}", self.env.docname, f"claim-{id}", id)
        return [box]


class Headlines(Ledger):
    """`{headlines}`: the claims that its lines name, without what a referee needs besides."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return a table, its values places."""
        claims, rows = read_claims(), []
        for id in filter(None, map(str.strip, self.content)):
            if claim := claims.get(id):
                source = f"{claim.statement} ({{ref}}`{claim.source} <claim-{id}>`)"
                rows.append([source, claim.bound.text, f"{{measured}}`{id}`", f"{{kind}}`{id}`"])
            else:
                logger.warning("no claim %s", id, location=self.get_location())
        return [self.parse(["statement", "bound", "measured", "verdict"], rows)]


class Counts(SphinxDirective):
    """`{counts}`: how many claims, by whose they are and by verdict."""

    def run(self) -> list[nodes.Node]:
        """Leave a place."""
        return [nodes.container("", Place(role="counts"), classes=[self.name])]


# When pages are written --------------------------------------------------------------------------


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


def format_value(value: float) -> str:
    """The value as a sentence has it.

    >>> format_value(0.034), format_value(2.8e-5), format_value(3e7)
    ('0.034', '2.8 × 10⁻⁵', '3 × 10⁷')
    """
    number, _, power = f"{value:g}".partition("e")
    return f"{number} × 10{str(int(power)).translate(RAISED)}" if power else number


def text_of(role: str, claim: Claim, value: dict | None) -> str:
    """What a role shows as text."""
    if role == "kind":
        return status_of(claim, value)
    if value is None:
        return {"verdict": "missing", "recorded": "–"}.get(role, OPEN)
    if role == "measured":
        return format_value(value["value"])
    if role == "null":
        return NULL.search(value["text"])[1]
    return value["verdict" if role == "verdict" else "text"]


class Fill(SphinxPostTransform):
    """Fills the places, and gives each row of the ledger its verdict as a class."""

    default_priority = 5

    def run(self, **options) -> None:
        """Fill them."""
        places = list(self.document.findall(Place))
        if not places:
            return
        claims = read_claims()
        values, _ = pick_values(claims, recorded_values(self.env))
        for row in self.document.findall(lambda node: isinstance(node, nodes.row)):
            if (id := row.attributes.pop("claim", None)) in claims:
                kind = status_of(claims[id], values[id])
                row["classes"].append(CLASSES.get(kind, kind))
        for place in places:
            if place["role"] == "counts":
                counts, sentence = count(claims, values)
                table = counts.to_html(index=False, border=0, classes="table")
                shown = nodes.raw("", table, format="html"), nodes.paragraph(text=sentence)
                place.replace_self(shown)
                continue
            claim, role = claims.get(place["claim"]), place["role"]
            if claim is None:
                logger.warning("no claim %s any more", place["claim"], location=place)
                place.replace_self([])
            elif link := {"claim": self.mark, "decided": self.link}.get(role):
                place.replace_self(nodes.raw("", link(claim, values[claim.id]), format="html"))
            else:
                place.replace_self(nodes.Text(text_of(role, claim, values[claim.id])))

    def row_of(self, claim: Claim) -> str:
        """The address of a claim's row."""
        page = self.app.builder.get_relative_uri(self.env.docname, LEDGER).partition("#")[0]
        return f"{page}#claim-{claim.id}"

    def mark(self, claim: Claim, value: dict | None) -> str:
        """The symbol, which leads to the claim's row, and the lines of its preview."""
        symbol = SYMBOLS[status_of(claim, value)]
        lines = [claim.statement, f"{claim.source}; {claim.about}", f"bound: {claim.bound.text}"]
        if value is not None:
            lines += [f"measured: {value['text']}", value["verdict"]]
        return (
            f'<a class="claim-mark {NAMES[symbol]}" href="{self.row_of(claim)}" '
            f'aria-label="claim: {NAMES[symbol]}" data-preview="{escape(chr(10).join(lines))}">'
            f"{symbol}</a>"
        )

    def link(self, claim: Claim, value: dict | None) -> str:
        """The id, which leads to the claim's row, and the verdict without its reason."""
        return f'<a href="{self.row_of(claim)}">{claim.id}</a>: {status_of(claim, value)}'


def written_anew(app, env) -> list[str]:
    """The pages that tell of claims of all chapters, whose values may have changed."""
    others = {page for page in env.found_docs if env.metadata[page].get("tells_of_others")}
    return sorted({app.config.root_doc, LEDGER} | others)


def add_filter(app, pagename, templatename, context, doctree) -> None:
    """Give the ledger's page alone the script that filters its rows."""
    if pagename == LEDGER:
        app.add_js_file("ledger.js", loading_method="defer")


def setup(app) -> dict:
    """Register the extension."""
    app.add_directive("ledger", Ledger)
    app.add_directive("counts", Counts)
    app.add_directive("headlines", Headlines)
    for role in ("claim", "measured", "null", "recorded", "verdict", "kind", "decided"):
        app.add_role(role, Role())
    app.add_post_transform(Fill)
    app.connect("env-updated", written_anew)
    app.connect("env-check-consistency", check)
    app.connect("html-page-context", add_filter)
    app.set_html_assets_policy("always")  # a preview may have a formula, the page none
    app.add_css_file("ledger.css")
    app.add_css_file("preview.css")
    app.add_js_file("preview.js", loading_method="defer")
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
