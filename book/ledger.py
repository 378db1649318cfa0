"""Sphinx extension: the ledger of claims, and an execution cache that knows the package.

`{ledger}` lists every claim of claims.yml with the value its chapter recorded while this book was
built. A claim without a value, a stale value or a value for an unknown claim is a warning, so
that a build with `-W` fails.

MyST-NB's cache of executed chapters looks at their code only. Here it lies in a folder named after
a digest of the package, so that an edit of the package executes the chapters again.
"""

import json
from collections import Counter
from pathlib import Path

from docutils import nodes
from docutils.statemachine import StringList
from myst_nb.sphinx_ import NbMetadataCollector
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from .claims import (
    CLAIMS_FILE,
    ROOT,
    Claim,
    claim_digest,
    code_files,
    digest_files,
    markdown_table,
    read_claims,
)

logger = logging.getLogger(__name__)
HEAD = ["claim", "source", "chapter", "bound", "measured", "verdict"]


def set_cache(app, config) -> None:
    """Tie re-reading of pages and the execution cache to the package's digest."""
    config.package_digest = digest_files([*code_files(ROOT), CLAIMS_FILE], root=ROOT)
    cache = Path(app.outdir).parent / ".jupyter_cache" / config.package_digest
    config.nb_execution_cache_path = str(cache)


def failed_documents(env) -> list[str]:
    """Chapters whose last execution failed; they are executed again in every build."""
    data = NbMetadataCollector.get_doc_data(env)
    return [
        doc for doc, stored in data.items() if not stored.get("exec_data", {}).get("succeeded", 1)
    ]


def find_outdated(app, env, added, changed, removed) -> list[str]:
    """The ledger is read in every build, as any chapter may have changed."""
    return [*getattr(env, "ledger_documents", []), *failed_documents(env)]


def read_ledger_last(app, env, docnames: list[str]) -> None:
    """Put the ledger behind the chapters it reports on."""
    ledgers = getattr(env, "ledger_documents", set()) | {app.config.ledger_document}
    docnames.sort(key=lambda name: (name in ledgers, name))


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
    if own[0]["digest"] != claim_digest(claim):
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
        if old:
            verdict = f"superseded by {claim.superseded_by}: {claim.reason}"
        else:
            verdict = value["verdict"] if value else "missing"
        kind = "superseded" if old else "missing" if value is None else ""
        verdicts[kind or ("holds" if value["holds"] else "fails")] += 1
        text = value["text"] if value else "–"
        link = f"{{doc}}`{claim.chapter.replace('_', ' ')} <{claim.chapter}>`"
        statement = f"{claim.statement} ({claim.measure})"
        rows.append([statement, claim.source, link, claim.bound.text, text, verdict])
    table = markdown_table(HEAD, rows)
    return [count_line(verdicts), "", *table.splitlines()], problems


class Ledger(SphinxDirective):
    """`{ledger}`: a table of all claims with what was measured."""

    def run(self) -> list[nodes.Node]:
        """Build the table from the chapters read before."""
        documents = getattr(self.env, "ledger_documents", set())
        self.env.ledger_documents = documents | {self.env.docname}
        path = Path(self.config.ledger_claims or CLAIMS_FILE)
        lines, problems = ledger_lines(read_claims(path), recorded_values(self.env))
        for problem in problems:
            logger.warning("%s", problem, location=self.get_location())
        box = nodes.container(classes=["ledger"])
        self.state.nested_parse(StringList(lines, str(path)), self.content_offset, box)
        return [box]


def setup(app) -> dict:
    """Register the extension."""
    app.add_config_value("package_digest", "", rebuild="env", types=[str])
    app.add_config_value("ledger_claims", "", rebuild="env", types=[str])
    app.add_config_value("ledger_document", "book/ledger", rebuild="env", types=[str])
    app.add_directive("ledger", Ledger)
    app.connect("config-inited", set_cache)
    app.connect("env-get-outdated", find_outdated)
    app.connect("env-before-read-docs", read_ledger_last)
    return {"version": "1", "parallel_read_safe": False, "parallel_write_safe": True}
