"""Sphinx extension for the API page.

Docstrings may write |x| for an absolute value, which reST would misread. Fields of named tuples,
which their class describes, are not listed a second time.
"""

import re

LITERAL = re.compile(r"(``.*?``|:math:`.*?`)")


def escape_bars(line: str) -> str:
    r"""Escape bars outside literals.

    >>> escape_bars("|a| of ``x | y``")
    '\\|a\\| of ``x | y``'
    """
    parts = LITERAL.split(line)
    parts[::2] = [part.replace("|", r"\|") for part in parts[::2]]
    return "".join(parts)


def process(app, what, name, obj, options, lines: list[str]) -> None:
    """Escape every line of a docstring in place."""
    lines[:] = [escape_bars(line) for line in lines]


def skip_field(app, what, name, obj, skip: bool, options) -> bool | None:
    """Leave out what Python says by itself about a named tuple's fields."""
    return True if (getattr(obj, "__doc__", "") or "").startswith("Alias for field") else None


def setup(app) -> dict:
    """Register the extension."""
    app.connect("autodoc-process-docstring", process)
    app.connect("autodoc-skip-member", skip_field)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
