"""How many processes run at once: chapters, tables, tests."""

import os
import resource
from pathlib import Path

import joblib

LIMIT = Path("/sys/fs/cgroup/memory.max")  # of a container: a number, or "max"
EACH = 2**31  # bytes for a process, such as a chapter's kernel
FILES, OTHERS = 28, 32  # that a kernel takes where it is awaited, and that are open there anyway


def cores() -> int:
    """Return the number that `CORES` gives, or one per core; as far as memory and files allow."""
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    files = (soft - OTHERS) // FILES if soft != resource.RLIM_INFINITY else joblib.cpu_count()
    wanted = int(os.environ.get("CORES") or min(joblib.cpu_count(), memory() // EACH))
    return max(1, min(wanted, files))


def memory() -> int:
    """Return the bytes of this machine, or fewer where a container has fewer."""
    whole = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    limit = LIMIT.read_text().strip() if LIMIT.exists() else "max"
    return whole if limit == "max" else min(whole, int(limit))
