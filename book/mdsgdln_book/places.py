"""Where things lie: in a clone next to this package, where it is installed inside it."""

import os
import subprocess
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent
ROOT = PACKAGE.parents[1]  # of a clone
# Claims and scripts; in a clone the chapters, too.
BOOK = PACKAGE / "data" if (PACKAGE / "data").is_dir() else PACKAGE.parent
ELSEWHERE = "BOOK_RESULTS"  # in the environment of what is run on recomputed tables
RESULTS = Path(os.environ.get(ELSEWHERE, PACKAGE / "results"))
STRICT = "BOOK_STRICT"  # in the environment where the book is made or tested: see claims.py


def git(*arguments: str) -> str | None:
    """Return the output of a Git command, None where there is no Git or no repository."""
    command = ["git", "-C", str(ROOT), *arguments]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None
