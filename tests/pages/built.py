"""Where the built site lies."""

import os
from pathlib import Path

ROOT = Path(os.environ.get("SITE") or Path(__file__).parents[2] / "_build/html").resolve()
