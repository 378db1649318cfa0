"""The page of the interface: every module has an example, and the examples run."""

import re
from unittest.mock import patch

import matplotlib as mpl
from matplotlib.figure import Figure

import mdsgdln
from mdsgdln import tasks
from mdsgdln_book.places import BOOK

PAGE = (BOOK / "api.md").read_text(encoding="utf8")
EXAMPLE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_every_module_has_one_example():
    sections = re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:]
    shown = {part.split("\n")[0]: EXAMPLE.findall(part) for part in sections}
    modules = {
        name for name in mdsgdln.__all__ if getattr(mdsgdln, name).__class__ is type(mdsgdln)
    }
    assert {title[len("`mdsgdln.") : -1] for title in shown if "mdsgdln." in title} == modules
    for title, examples in shown.items():
        assert "mdsgdln." not in title or len(examples) == 1, title


def test_the_examples_run_one_after_the_other():
    mpl.use("Agg")
    names = {}
    with patch.dict(tasks.STRUCTURES):  # which an example adds to
        for example in EXAMPLE.findall(PAGE):
            exec(example, names)
    assert isinstance(names["diagram"], Figure)
    assert names["chains"].targets.shape == (8 + 8 + 15 + 15, 24)
