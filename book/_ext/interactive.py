"""Sphinx extension: figures with controls, drawn in the page by book/_static/interactive.

`{interactive} name` makes the place of a figure, with its caption as content, numbered if it has a
`:name:`; those of `RECORDED` get their numbers from `figure_data`. Only pages that have such a
figure load its script.
"""

import re

from docutils import nodes
from docutils.parsers.rst import Directive, directives

from mdsgdln_book.interactive import SHARED, markup

RECORDED = ("clusters", "gate", "gating")  # figures whose numbers need nothing of a chapter
PLACE = re.compile(r'<div class="interactive" data-figure="([a-z_]+)">')


def recorded(name: str):
    """The numbers of a figure of `RECORDED`, None for other figures."""
    if name not in RECORDED:
        return None
    from mdsgdln_book import figure_data  # here, as it imports JAX

    return getattr(figure_data, name)()


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
