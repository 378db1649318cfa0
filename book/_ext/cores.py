"""How many processes run at once: chapters, tables, tests."""

import os
from pathlib import Path

import joblib

LIMIT = Path("/sys/fs/cgroup/memory.max")  # of a container: a number, or "max"
EACH = 2**31  # bytes for a process, such as a chapter's kernel


def cores() -> int:
    """Return the number that `CORES` gives, or one per core as far as memory allows."""
    if given := os.environ.get("CORES"):
        return int(given)
    return max(1, min(joblib.cpu_count(), memory() // EACH))


def memory() -> int:
    """Return the bytes of this machine, or fewer where a container has fewer."""
    whole = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    limit = LIMIT.read_text().strip() if LIMIT.exists() else "max"
    return whole if limit == "max" else min(whole, int(limit))
