"""Where things lie: in a clone beside this package, where it is installed inside it."""

import os
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent
ROOT = PACKAGE.parents[1]  # of a clone
# Claims, papers and scripts; in a clone the chapters, too.
BOOK = PACKAGE / "data" if (PACKAGE / "data").is_dir() else PACKAGE.parent
ELSEWHERE = "BOOK_RESULTS"  # in the environment of what is run on recomputed tables
RESULTS = Path(os.environ.get(ELSEWHERE, PACKAGE / "results"))
STRICT = "BOOK_STRICT"  # in the environment where the book is made or tested: see claims.py
