"""Figures with controls, drawn in the page by book/_static/interactive.

A page holds an empty place, which the script of that name fills. `place(name, data)` is one as the
output of a cell, with numbers that the chapter has computed.
"""

import json

from IPython.display import HTML

from mdsgdln_book.places import BOOK

SCRIPTS = BOOK / "_static" / "interactive"
SHARED = ("theory", "figure")  # scripts that every figure needs, in this order


def parts(name: str) -> list[str]:
    """The scripts and styles of a figure, from ``SCRIPTS``: one, or all that its folder holds."""
    found = sorted([*SCRIPTS.glob(f"{name}.js"), *(SCRIPTS / name).glob("*.*s")])
    return [path.relative_to(SCRIPTS).as_posix() for path in found]


def figure_markup(name: str, data=None) -> str:
    """The place of a figure in a page, with ``data`` as JSON in it."""
    known = sorted({path.stem for path in SCRIPTS.iterdir() if parts(path.stem)} - {*SHARED})
    if name not in known:
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


def place(name: str, data=None) -> HTML:
    """Return the figure ``name`` with ``data``, to be the last line of a cell."""
    return HTML(figure_markup(name, data))
