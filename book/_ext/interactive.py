"""Sphinx extension: figures with controls, drawn in the page by book/_static/interactive.

`{interactive} name` makes the place of a numbered figure; the figures of `RECORDED` get their
numbers from `figure_data`. Only pages that have such a figure load its script. `{laboratory}` and
words with an address, ``try it <task=xor>``, lead to the laboratory with that task.
"""

import re

from docutils import nodes
from docutils.parsers.rst import Directive, directives

from mdsgdln_book.interactive import SHARED, figure_markup, parts

RECORDED = ("gate", "gating")  # figures whose numbers need nothing of a chapter
PLACE = re.compile(r'<div class="interactive" data-figure="([a-z_]+)">')


def recorded(name: str):
    """The numbers of a figure of `RECORDED`, None for other figures."""
    if name not in RECORDED:
        return None
    from mdsgdln_book import figure_data  # here, as it imports JAX

    return getattr(figure_data, name)()


class InteractiveDirective(Directive):
    """`{interactive} name`, with a `:name:` and with the caption, one paragraph, as content."""

    required_arguments = 1
    has_content = True
    option_spec = {"name": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        """Return the place and its caption."""
        content = nodes.Element()
        self.state.nested_parse(self.content, self.content_offset, content)
        if len(content) != 1:
            raise self.error(f"caption: expected one paragraph, got {len(content)}")
        place = nodes.raw(
            "", figure_markup(self.arguments[0], recorded(self.arguments[0])), format="html"
        )
        figure = nodes.figure("", place, nodes.caption("", "", *content[0].children))
        self.add_name(figure)
        return [figure]


def laboratory_role(name, rawtext, text, lineno, inliner, options=None, content=()):
    """Return a link to the laboratory; its page reads the task from the address."""
    words, _, address = text.rstrip(">").rpartition(" <")
    if not words or not address.startswith("task="):
        message = f"laboratory: expected words and an address, try it <task=xor>, got {text!r}"
        return [], [inliner.reporter.error(message, line=lineno)]
    uri = f"laboratory.html#{address}"
    return [nodes.reference(rawtext, words, refuri=uri, internal=True)], []


def add_scripts(app, pagename: str, templatename: str, context: dict, doctree) -> None:
    """Load the style and the scripts of the page's figures, and nothing on other pages."""
    names = sorted(set(PLACE.findall(context.get("body", ""))))
    if names:
        app.add_css_file("interactive/interactive.css")
        for part in (part for name in (*SHARED, *names) for part in parts(name)):
            if part.endswith(".css"):
                app.add_css_file(f"interactive/{part}")
            else:
                app.add_js_file(f"interactive/{part}", loading_method="defer")


def setup(app) -> dict:
    """Register the extension."""
    app.add_directive("interactive", InteractiveDirective)
    app.add_role("laboratory", laboratory_role)
    app.connect("html-page-context", add_scripts)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
