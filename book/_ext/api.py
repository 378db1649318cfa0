"""Sphinx extension for the API page, and links to it from code.

Docstrings may write |x| for an absolute value, or describe an argument as "n.", which reST would
misread as a substitution and as the first entry of a list. Signatures call types by the names that
they have in the package, not by what these stand for. sphinx-codeautolink stops at the sections
without a title that sphinx-proof makes.
"""

import re

from sphinx.util.typing import stringify_annotation

from mdsgdln import _checks, graphs

ALIASES = {"Numbers": _checks.Numbers, "Scalar": _checks.Scalar, "Edge": graphs.Edge}
TYPES = {stringify_annotation(alias, "smart"): name for name, alias in ALIASES.items()}
TYPES |= {"jaxlib._jax.Array": "Array", "<factory>": "relu"}  # the activation of layers
LITERAL = re.compile(r"(``.*?``|:math:`.*?`)")
SYMBOL = re.compile(r"^( +)(\w\.)$")  # as Napoleon has it, below the name
MODULE_MEMBER = re.compile(  # in a link already if "> is before it
    r'(?<!">)<span class="n">(\w+)</span><span class="o">\.</span><span class="n">(\w+)</span>'
)


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


def rename(signature: str | None) -> str | None:
    """A signature with the package's names for types."""
    for text, name in TYPES.items():
        signature = signature and signature.replace(text, name)
    return signature


def link_names(html: str, names: set[str]) -> str:
    """Let `tasks.xor` in code lead to its documentation.

    >>> code = '<span class="n">tasks</span><span class="o">.</span><span class="n">xor</span>'
    >>> "#mdsgdln.tasks.xor" in link_names(code, {"mdsgdln.tasks.xor"})
    True
    """

    def linked(match: re.Match) -> str:
        name = f"mdsgdln.{match[1]}.{match[2]}"
        if name not in names:
            return match[0]
        return f'<a class="code-name" href="api.html#{name}">{match[0]}</a>'

    return MODULE_MEMBER.sub(linked, html)


def process(app, what, name, obj, options, lines: list[str]) -> None:
    """Escape every line of a docstring in place."""
    lines[:] = map(escape, lines)


def setup(app) -> dict:
    """Register the extension."""
    app.connect("autodoc-process-docstring", process)
    app.connect("autodoc-process-signature", lambda *given: tuple(map(rename, given[-2:])))
    # What Python says by itself about the fields of a named tuple, which its class describes.
    app.connect(
        "autodoc-skip-member",
        lambda app, what, name, obj, *rest: (obj.__doc__ or "").startswith("Alias for") or None,
    )
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
