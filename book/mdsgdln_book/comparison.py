"""`make test CHAPTER=…`: references are executed again, and what they print is compared.

    python -m mdsgdln_book.comparison [--jobs N] [--timeout SECONDS] [chapter ...]

nbval executes and compares; only here and in `tests/conftest.py` does anything depend on it.
"""

import argparse
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from mdsgdln_book.places import ROOT
from mdsgdln_book.references import REFERENCES, TIMEOUT, chapters


def command(paths: Sequence[Path], jobs: int = 1, timeout: int = TIMEOUT) -> list[str]:
    """What compares references: so many at a time, and so many seconds for a cell."""
    options = ["-q", "--nbval", "--nbval-current-env", f"--nbval-cell-timeout={timeout}"]
    if jobs > 1:
        options += [f"-n{jobs}", "--dist=loadfile"]  # a chapter's cells stay together
    return [sys.executable, "-m", "pytest", *options, *map(str, paths)]


def main(arguments: Sequence[str]) -> int:
    """Compare the references of the named chapters, or of all; 0 if nothing differs."""
    parser = argparse.ArgumentParser(prog="python -m mdsgdln_book.comparison")
    parser.add_argument("--jobs", type=int, default=2, help="chapters at a time")
    parser.add_argument("--timeout", type=int, default=TIMEOUT, help="seconds a cell may take")
    parser.add_argument("chapters", nargs="*")
    given = parser.parse_args(arguments)
    known = chapters()
    for name in given.chapters:
        if name not in known:
            parser.error(f"chapter: expected one of {', '.join(known)}; got {name}")
    paths = [REFERENCES / f"{name}.ipynb" for name in given.chapters] or [REFERENCES]
    return subprocess.run(command(paths, given.jobs, given.timeout), cwd=ROOT).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
