"""Sphinx extension for the API page.

Docstrings may write |x| for an absolute value, or describe an argument as "n.", which reST would
misread as a substitution and as the first entry of a list. Fields of named tuples, which their
class describes, are not listed a second time.
"""

import re

LITERAL = re.compile(r"(``.*?``|:math:`.*?`)")
SYMBOL = re.compile(r"^( +)(\w\.)$")  # as Napoleon has it, below the name


def escape(line: str) -> str:
    r"""Escape bars outside literals, and a symbol that is all there is to say of an argument.

    >>> escape("|a| of ``x | y``")
    '\\|a\\| of ``x | y``'
    >>> escape("    C.")
    '    \\C.'
    """
    parts = LITERAL.split(SYMBOL.sub(r"\1\\\2", line))
    parts[::2] = [part.replace("|", r"\|") for part in parts[::2]]
    return "".join(parts)


def process(app, what, name, obj, options, lines: list[str]) -> None:
    """Escape every line of a docstring in place."""
    lines[:] = [escape(line) for line in lines]


def skip_field(app, what, name, obj, skip: bool, options) -> bool | None:
    """Leave out what Python says by itself about a named tuple's fields."""
    return True if (getattr(obj, "__doc__", "") or "").startswith("Alias for field") else None


def setup(app) -> dict:
    """Register the extension."""
    app.connect("autodoc-process-docstring", process)
    app.connect("autodoc-skip-member", skip_field)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
