"""Sphinx extension for the API page.

Docstrings may write |x| for an absolute value, or describe an argument as "n.", which reST would
misread as a substitution and as the first entry of a list. Signatures call types by the names that
they have in the package, not by their definitions.
"""

import re
from collections.abc import Sequence

import numpy as np
from jaxtyping import Array, ArrayLike
from sphinx.util.typing import stringify_annotation

from mdsgdln.graphs import Edge

NUMBERS, SCALAR = ArrayLike | Sequence, float | int | np.number | Array
ALIASES = {"Numbers": NUMBERS, "Scalar": SCALAR, "Edge": Edge}
TYPES = {stringify_annotation(alias, "smart"): name for name, alias in ALIASES.items()}
TYPES |= {"jaxlib._jax.Array": "Array", "<factory>": "relu"}  # the activation of layers


def rename(signature: str | None) -> str | None:
    """A signature with the package's names for types."""
    for text, name in TYPES.items():
        signature = signature and signature.replace(text, name)
    return signature


def escape(app, what, name, obj, options, lines: list[str]) -> None:
    """Escape bars, and a symbol that is all there is to say of an argument."""
    for number, line in enumerate(lines):
        line = line if "`" in line else line.replace("|", r"\|")
        lines[number] = re.sub(r"^( +)(\w\.)$", r"\1\\\2", line)


def is_field(app, what, name, obj, skip, options) -> bool | None:
    """Leave out the fields of a named tuple, which its class describes."""
    return (obj.__doc__ or "").startswith("Alias for") or None


def setup(app) -> dict:
    """Register the extension."""
    app.connect("autodoc-process-docstring", escape)
    app.connect("autodoc-process-signature", lambda *given: tuple(map(rename, given[-2:])))
    app.connect("autodoc-skip-member", is_field)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
