"""What the page of hyper-parameters says of chapters is what they assign."""

import ast
import contextlib

import jupytext
import pytest

from _ext import references


def assigned(chapter):
    """Constants that a chapter's cells assign, by name."""
    found = {}
    for cell in jupytext.read(references.chapters()[chapter]).cells:
        for line in ast.parse(cell.source).body if cell.cell_type == "code" else []:
            with contextlib.suppress(ValueError):
                if isinstance(line, ast.Assign):
                    value, target = ast.literal_eval(line.value), line.targets[0]
                    several = isinstance(target, ast.Tuple)
                    names = target.elts if several else [target]
                    values = value if several else [value]
                    found |= {ast.unparse(n): v for n, v in zip(names, values, strict=True)}
    return found


@pytest.mark.parametrize("chapter", ["xor", "routing"])
def test_constants_of_chapters_are_theirs(chapter):
    said = assigned("hyperparameters")[chapter]
    assert said and said.items() <= assigned(chapter).items()
