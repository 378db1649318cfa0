"""What nbval has executed `make book` shows: chapters are executed once for both."""

import pytest
from nbval.plugin import IPyNbCell

from _ext import execution
from mdsgdln_book.places import BOOK

# Of each cell that agreed, by chapter: source, outputs and seconds.
ran: dict[str, list] = {}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Note a cell that agrees with its reference."""
    report = yield
    if isinstance(item, IPyNbCell) and report.when == "call" and report.passed:
        cells = ran.setdefault(item.parent.path.stem, [])
        cells.append((item.cell.source, item.test_outputs, call.duration))
    return report


def pytest_runtest_teardown(item, nextitem):
    """Keep a chapter after its last cell."""
    if isinstance(item, IPyNbCell) and getattr(nextitem, "parent", None) != item.parent:
        name = item.parent.path.stem
        execution.keep_cells(BOOK / f"{name}.md", ran.get(name, []))
