"""Sphinx extension for the API page, and links to it from code.

Docstrings may write |x| for an absolute value, or describe an argument as "n.", which reST would
misread as a substitution and as the first entry of a list. Fields of named tuples, which their
class describes, are not listed a second time. Signatures call types by the names that
they have in the package, not by what these stand for.
"""

import re

from sphinx.util.typing import stringify_annotation

from mdsgdln import _checks, graphs

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


NAMES = {
    stringify_annotation(alias, "smart"): name
    for alias, name in (
        (_checks.Numbers, "Numbers"),
        (_checks.Scalar, "Scalar"),
        (graphs.Edge, "Edge"),
    )
}


def rename(signature: str) -> str:
    """A signature with the package's names for types, and functions as defaults by their name.

    >>> rename("(loss: ~jaxtyping.Float[jaxlib._jax.Array, 'T'] = <function loss>)")
    "(loss: ~jaxtyping.Float[Array, 'T'] = loss)"
    >>> rename(f"(times: {stringify_annotation(_checks.Numbers, 'smart')} = 0)")
    '(times: Numbers = 0)'
    """
    for text, name in NAMES.items():
        signature = signature.replace(text, name)
    signature = re.sub(r"<function ([\w.]+)>", r"\1", signature)
    signature = signature.replace("<factory>", "relu")  # the activation of layers
    return re.sub(r"(?<![\w.])~?(?:jax\.)?jaxlib\._jax\.Array", "Array", signature)


def process_signature(app, what, name, obj, options, signature, return_annotation):
    """Rename the types of a signature."""
    return tuple(part and rename(part) for part in (signature, return_annotation))


def process(app, what, name, obj, options, lines: list[str]) -> None:
    """Escape every line of a docstring in place."""
    lines[:] = [escape(line) for line in lines]


def skip_field(app, what, name, obj, skip: bool, options) -> bool | None:
    """Leave out what Python says by itself about a named tuple's fields."""
    return True if (getattr(obj, "__doc__", "") or "").startswith("Alias for field") else None


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


def setup(app) -> dict:
    """Register the extension."""
    app.connect("autodoc-process-docstring", process)
    app.connect("autodoc-process-signature", process_signature)
    app.connect("autodoc-skip-member", skip_field)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
