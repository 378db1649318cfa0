"""As many processes as there are cores, up to what memory allows."""

import joblib
import pytest

from _ext import cores


@pytest.mark.parametrize(
    ("number", "gigabytes", "limit", "expected"),
    [
        (16, 64, "max", 16),
        (16, 8, "max", 4),
        (16, 64, str(6 * 2**30), 3),
        (16, 64, str(2**63), 16),
        (2, 1, None, 1),
    ],
)
def test_a_process_a_core_up_to_what_memory_allows(
    monkeypatch, tmp_path, number, gigabytes, limit, expected
):
    sizes = {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": gigabytes * 2**30 // 4096}
    if limit:
        (tmp_path / "memory.max").write_text(limit + "\n")
    monkeypatch.delenv("CORES", raising=False)
    monkeypatch.setattr(cores, "LIMIT", tmp_path / "memory.max")
    monkeypatch.setattr(cores.os, "sysconf", sizes.__getitem__)
    monkeypatch.setattr(joblib, "cpu_count", lambda: number)
    assert cores.cores() == expected
    monkeypatch.setenv("CORES", "3")
    assert cores.cores() == 3


def test_no_more_kernels_than_the_files_that_may_be_open_allow(monkeypatch):
    """On macOS they are 256; ten kernels need 280."""
    monkeypatch.setenv("CORES", "10")
    monkeypatch.setattr(cores.resource, "getrlimit", lambda which: (256, 4096))
    assert cores.cores() == 8
    monkeypatch.setattr(cores.resource, "getrlimit", lambda which: (4096, 4096))
    assert cores.cores() == 10
