"""Sphinx extension: `{claim}` marks a sentence as a claim, with what was measured of it.

The sentence that {claim}`xor-half-loss-time` follows has been tested. The mark is a tick where the
claim holds, a cross where the paper's statement fails in its own setting, and a tilde where only
our bound was missed or our setting may differ. It leads to the claim's row of the ledger; the
preview of links (`preview.js`) shows statement, bound, value and verdict. Where the sentence needs
the number itself, {measured}`xor-half-loss-time` is what the chapter recorded last, and
{null}`mixed-trees` what it recorded beside it for a claim with a null: how close a second seed of
the imitated network comes.
"""

import re
from html import escape
from pathlib import Path

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from sphinx.util.docutils import SphinxRole

from mdsgdln_book.claim_file import CLAIMS_FILE, Claim, read_claims
from mdsgdln_book.claims import HOLDS, MISSED, WITHIN
from mdsgdln_book.extensions.ledger import kind_of, pick_value, recorded_values

logger = logging.getLogger(__name__)
TICK, TILDE, CROSS, OPEN = "✓", "~", "✗", "○"
SYMBOLS = {HOLDS: TICK, WITHIN: TICK, MISSED["statement"]: CROSS}
SYMBOLS |= {MISSED["setting"]: TILDE, MISSED["bound"]: TILDE, "missing": OPEN}
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
NULL = re.compile(r", null (\S+?)(?:,|$)")  # in the text of a recorded value
NAMES = {TICK: "holds", TILDE: "partly", CROSS: "fails", OPEN: "open"}


class Mark(nodes.Inline, nodes.Element):
    """Where a claim's mark goes, once every chapter has recorded its values."""


def all_claims(config) -> dict[str, Claim]:
    """The claims of this book."""
    return read_claims(Path(config.ledger_claims or CLAIMS_FILE))


class ClaimRole(SphinxRole):
    """`{claim}` is the mark of a claim that stands, `{measured}` its value, `{null}` its null's."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Leave a place for the mark."""
        claim = all_claims(self.config).get(self.text)
        if claim is None or not claim.stands:
            logger.warning("no claim %s that stands", self.text, location=self.get_location())
            return [], []
        if self.name == "null" and claim.null is None:
            logger.warning("claim %s has no null", self.text, location=self.get_location())
            return [], []
        return [Mark(claim=claim.id, role=self.name)], []


def shown(claim: Claim, value: dict | None) -> tuple[str, str]:
    """The symbol, and the lines of the preview."""
    symbol = SYMBOLS[kind_of(claim, value)]
    lines = [claim.statement, f"{claim.source}; {claim.about}", f"bound: {claim.bound.text}"]
    if value is not None:
        lines += [f"measured: {value['text']}", value["verdict"]]
    return symbol, "\n".join(lines)


def printed(value: float) -> str:
    """The value as a sentence has it.

    >>> printed(0.034), printed(2.8e-5), printed(3e7)
    ('0.034', '2.8 × 10⁻⁵', '3 × 10⁷')
    """
    number, _, power = f"{value:g}".partition("e")
    return f"{number} × 10{str(int(power)).translate(RAISED)}" if power else number


class Marks(SphinxPostTransform):
    """Puts marks into their places."""

    default_priority = 5

    def run(self, **options) -> None:
        """Replace each place by a link to the ledger; by nothing where a page is not HTML."""
        places = list(self.document.findall(Mark))
        if not places:
            return
        claims, recorded = all_claims(self.config), recorded_values(self.env)
        for place in places:
            claim = claims[place["claim"]]
            value, _ = pick_value(claim, recorded.get(claim.id, []))
            if place["role"] == "measured":
                place.replace_self(nodes.Text(printed(value["value"]) if value else OPEN))
            elif place["role"] == "null":
                place.replace_self(nodes.Text(NULL.search(value["text"])[1] if value else OPEN))
            elif self.app.builder.format == "html":
                place.replace_self(nodes.raw("", self.html(claim, value), format="html"))
            else:
                place.replace_self([])

    def html(self, claim: Claim, value: dict | None) -> str:
        """The link."""
        symbol, text = shown(claim, value)
        ledger = self.app.builder.get_relative_uri(self.env.docname, self.config.ledger_document)
        return (
            f'<a class="claim-mark {NAMES[symbol]}" href="{ledger}#claim-{claim.id}" '
            f'aria-label="claim: {NAMES[symbol]}" data-preview="{escape(text)}">{symbol}</a>'
        )


def first_page(app, env) -> list[str]:
    """The first page, which marks claims of all chapters, is written anew in every build."""
    return [app.config.root_doc]


def setup(app) -> dict:
    """Register the extension; the ledger's has the settings."""
    app.add_role("claim", ClaimRole())
    app.add_role("measured", ClaimRole())
    app.add_role("null", ClaimRole())
    app.add_post_transform(Marks)
    app.connect("env-updated", first_page)
    app.add_css_file("preview.css")
    app.add_js_file("preview.js", loading_method="defer")
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
