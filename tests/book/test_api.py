"""The examples on the page of the interface run."""

import re
from unittest.mock import patch

import matplotlib as mpl
from matplotlib.figure import Figure

from mdsgdln import tasks
from mdsgdln_book.places import BOOK

PAGE = (BOOK / "api.md").read_text(encoding="utf8")
EXAMPLE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_examples_run_one_after_the_other():
    mpl.use("Agg")
    names = {}
    with patch.dict(tasks.STRUCTURES):  # which an example adds to
        for example in EXAMPLE.findall(PAGE):
            exec(example, names)
    assert isinstance(names["diagram"], Figure)
    assert names["chains"].targets.shape == (8 + 8 + 15 + 15, 24)
