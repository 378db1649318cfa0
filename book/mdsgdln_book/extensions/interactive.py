"""Sphinx extension: figures with controls, drawn in the page by book/_static/interactive.

A page holds an empty place, which the script of that name fills. `{interactive} name` makes one,
with its caption as content, numbered if it has a `:name:`; those of `RECORDED` get their numbers
from `figure_data`. `place(name, data)` is one as the output of a cell, with numbers that the
chapter has computed. Only pages that have such a figure load its script.
"""

import json
import re

from docutils import nodes
from docutils.parsers.rst import Directive, directives

from mdsgdln_book.places import BOOK

SCRIPTS = BOOK / "_static" / "interactive"
SHARED = ("theory", "figure")  # scripts that every figure needs, in this order
RECORDED = ("clusters", "gate", "gating")  # figures whose numbers need nothing of a chapter
PLACE = re.compile(r'<div class="interactive" data-figure="([a-z_]+)">')


def markup(name: str, data=None) -> str:
    """The place of a figure in a page, with ``data`` as JSON in it."""
    if not (SCRIPTS / f"{name}.js").is_file():
        known = sorted({path.stem for path in SCRIPTS.glob("*.js")} - {*SHARED})
        raise ValueError(f"name: expected one of {', '.join(known)}, got {name!r}")
    numbers = ""
    if data is not None:
        text = json.dumps(data, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
        numbers = f'<script type="application/json">{text}</script>'
    return (
        f'<div class="interactive" data-figure="{name}">{numbers}'
        '<p class="interactive-fallback">On the pages of the book, here is a figure with controls.'
        "<noscript> It needs JavaScript, which is switched off.</noscript></p></div>"
    )


def recorded(name: str):
    """The numbers of a figure of `RECORDED`, None for other figures."""
    if name not in RECORDED:
        return None
    from mdsgdln_book import figure_data  # here, as it imports JAX

    return getattr(figure_data, name)()


class Place:
    """The place of a figure as the value of a cell."""

    def __init__(self, name: str, data=None):
        self.name, self.html = name, markup(name, data)

    def __repr__(self) -> str:
        return f"interactive figure {self.name}"

    def _repr_html_(self) -> str:
        return self.html


def place(name: str, data=None) -> Place:
    """Return the figure ``name`` with ``data``, to be the last line of a cell."""
    return Place(name, data)


class InteractiveDirective(Directive):
    """`{interactive} name`, with the caption as content.

    With `:name:` it is numbered and can be referred to; its caption is then one paragraph.
    """

    required_arguments = 1
    has_content = True
    option_spec = {"name": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        """Return the place and its caption."""
        try:
            html = markup(self.arguments[0], recorded(self.arguments[0]))
        except ValueError as error:
            raise self.error(str(error)) from error
        caption = nodes.container(classes=["interactive-caption"])
        self.state.nested_parse(self.content, self.content_offset, caption)
        place = nodes.raw("", html, format="html")
        if "name" not in self.options:
            return [place, caption]
        if len(caption) != 1:
            raise self.error("a numbered figure has a caption of one paragraph")
        figure = nodes.figure("", place, nodes.caption("", "", *caption[0].children))
        self.add_name(figure)
        return [figure]


def figures_of(doctree: nodes.document | None) -> list[str]:
    """Names of the figures in a page."""
    raw = doctree.findall(nodes.raw) if doctree else []
    return sorted({name for node in raw for name in PLACE.findall(node.astext())})


def add_scripts(app, pagename: str, templatename: str, context: dict, doctree) -> None:
    """Load the style and the scripts of the page's figures, and nothing on other pages."""
    names = figures_of(doctree)
    if names:
        app.add_css_file("interactive/interactive.css")
        for name in (*SHARED, *names):
            app.add_js_file(f"interactive/{name}.js", loading_method="defer")


def setup(app) -> dict:
    """Register the extension."""
    app.add_directive("interactive", InteractiveDirective)
    app.connect("html-page-context", add_scripts)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
