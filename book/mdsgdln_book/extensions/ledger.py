"""Sphinx extension: the ledger of claims.

`{ledger}` lists every claim of claims.yml with the value its chapter recorded while this book was
built; each row has an anchor, `{ref}` finds it as `claim-<id>`. A claim without a value, a stale
value or a value for an unknown claim is a warning, so that a build with `-W` fails. `{papers}`
shows one of the lists of papers.yml with the verdicts of its claims.
"""

import json
from collections import Counter
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import directives
from docutils.statemachine import StringList
from myst_nb.sphinx_ import NbMetadataCollector
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from mdsgdln_book.claims import CLAIMS_FILE, Claim, markdown_table, read_claims
from mdsgdln_book.papers import PAPERS_FILE, paper_lines, read_papers

logger = logging.getLogger(__name__)
HEAD = ["claim", "source", "chapter", "bound", "measured", "verdict"]


def find_outdated(app, env, added, changed, removed) -> list[str]:
    """The ledger is read in every build, as any chapter may have changed."""
    return [app.config.ledger_document]


def read_ledger_last(app, env, docnames: list[str]) -> None:
    """Put the ledger behind the chapters it reports on."""
    docnames.sort(key=lambda name: (name == app.config.ledger_document, name))


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


def pick_value(claim: Claim, values: list[tuple[str, dict]]) -> tuple[dict | None, str | None]:
    """The claim's value, and what is wrong with it, if something is."""
    own = [value for doc, value in values if doc.split("/")[-1] == claim.chapter]
    if len(own) != len(values):
        return None, f"claim {claim.id} is recorded outside its chapter {claim.chapter!r}"
    if not own:
        return None, f"claim {claim.id} has no measured value"
    if own[0]["entry"] != claim.entry:
        return None, f"claim {claim.id} has a stale value"
    return own[0], None


def count_line(verdicts: Counter) -> str:
    """For instance `12 claims: 11 hold, 1 does not.`"""
    hold, fail = verdicts["holds"], verdicts["fails"]
    parts = [f"{hold} {'holds' if hold == 1 else 'hold'}"]
    parts += [f"{fail} {'does' if fail == 1 else 'do'} not"]
    parts += [f"{verdicts[k]} {k}" for k in ("superseded", "missing") if verdicts[k]]
    total = sum(verdicts.values())
    return f"{total} {'claim' if total == 1 else 'claims'}: {', '.join(parts)}."


def claim_link(id: str) -> str:
    """A link to a claim's row, as Markdown."""
    return f"{{ref}}`{id} <claim-{id}>`"


def kind_of(claim: Claim, value: dict | None) -> str:
    """One of `holds`, `fails`, `superseded`, `missing`."""
    if claim.superseded_by is not None:
        return "superseded"
    return "missing" if value is None else "holds" if value["holds"] else "fails"


def short_verdicts(claims: dict[str, Claim], recorded: dict) -> dict[str, str]:
    """Each claim's verdict without the reasons, by id."""
    short = {}
    for id, claim in claims.items():
        value, _ = pick_value(claim, recorded.get(id, []))
        kind = kind_of(claim, value)
        short[id] = {"holds": value and value["verdict"], "fails": "does not hold"}.get(kind, kind)
    return short


def ledger_lines(claims: dict[str, Claim], recorded: dict) -> tuple[list[str], list[str]]:
    """The ledger as Markdown lines, and its complaints."""
    problems = [f"unknown claim {id} is recorded" for id in recorded if id not in claims]
    verdicts: Counter = Counter()
    rows = []
    for claim in claims.values():
        values = recorded.get(claim.id, [])
        old = claim.superseded_by is not None
        value, problem = (None, None) if old and not values else pick_value(claim, values)
        problems += [problem] if problem else []
        verdict = value["verdict"] if value else "missing"
        if old:
            verdict = f"superseded by {claim_link(claim.superseded_by)}: {claim.reason}"
        verdicts[kind_of(claim, value)] += 1
        text = value["text"] if value else "–"
        link = f"{{doc}}`{claim.chapter.replace('_', ' ')} <{claim.chapter}>`"
        statement = f"{claim.statement} ({claim.measure}) {claim_link(claim.id)}"
        rows.append([statement, claim.source, link, claim.bound.text, text, verdict])
    table = markdown_table(HEAD, rows)
    return [count_line(verdicts), "", *table.splitlines()], problems


class Ledger(SphinxDirective):
    """`{ledger}`: a table of all claims with what was measured."""

    def lines(self, claims: dict[str, Claim], recorded: dict) -> list[str]:
        """What the directive shows, as Markdown."""
        lines, problems = ledger_lines(claims, recorded)
        if getattr(self.config, "only_chapter", ""):  # the others may not have been executed
            problems = []
        for problem in problems:
            logger.warning("%s", problem, location=self.get_location())
        return lines

    def run(self) -> list[nodes.Node]:
        """Build the table from the chapters read before."""
        path = Path(self.config.ledger_claims or CLAIMS_FILE)
        claims, recorded = read_claims(path), recorded_values(self.env)
        box = nodes.container(classes=[self.name])
        lines = StringList(self.lines(claims, recorded), str(path))
        self.state.nested_parse(lines, self.content_offset, box)
        if self.name == "ledger":
            self.add_anchors(box, claims, recorded)
        return [box]

    def add_anchors(self, box: nodes.Node, claims: dict[str, Claim], recorded: dict) -> None:
        """Give each claim's row an anchor that other pages can refer to, and its verdict."""
        (body,) = box.findall(nodes.tbody)
        for row, claim in zip(body.children, claims.values(), strict=True):
            value, _ = pick_value(claim, recorded.get(claim.id, []))
            anchor = f"claim-{claim.id}"
            row["ids"].append(anchor)
            row["classes"].append(kind_of(claim, value))
            domain = self.env.get_domain("std")
            domain.note_hyperlink_target(anchor, self.env.docname, anchor, claim.id)


class Papers(Ledger):
    """`{papers} statements` or `{papers} figures`: one of the lists of papers.yml."""

    required_arguments = 1

    def lines(self, claims: dict[str, Claim], recorded: dict) -> list[str]:
        """What the directive shows, as Markdown."""
        self.env.note_dependency(str(PAPERS_FILE))
        kind = directives.choice(self.arguments[0], ("statements", "figures"))
        return paper_lines(read_papers()[kind], kind, short_verdicts(claims, recorded))


def add_filter(app, pagename, templatename, context, doctree) -> None:
    """The ledger's page gets a script that filters its rows."""
    if pagename == app.config.ledger_document:
        app.add_css_file("ledger.css")
        app.add_js_file("ledger.js", loading_method="defer")


def setup(app) -> dict:
    """Register the extension."""
    app.add_config_value("ledger_claims", "", rebuild="env", types=[str])
    app.add_config_value("ledger_document", "book/ledger", rebuild="env", types=[str])
    app.add_directive("ledger", Ledger)
    app.add_directive("papers", Papers)
    app.connect("env-get-outdated", find_outdated)
    app.connect("env-before-read-docs", read_ledger_last)
    app.connect("html-page-context", add_filter)
    return {"version": "1", "parallel_read_safe": False, "parallel_write_safe": True}
