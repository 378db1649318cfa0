"""What nbval has executed `make book` shows: chapters are executed once for both."""

import pytest
from nbval.plugin import IPyNbCell

from _ext import execution

ran: dict[
    str, list
] = {}  # source, outputs and seconds of each cell that agreed, by chapter


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Note a cell that agrees with its reference; keep a chapter with its last one."""
    report = yield
    if isinstance(item, IPyNbCell) and report.when == "call" and report.passed:
        name = item.parent.path.stem
        cells = ran.setdefault(name, [])
        cells.append((item.cell.source, item.test_outputs, call.duration))
        execution.keep(name, cells)
    return report
