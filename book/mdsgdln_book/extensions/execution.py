"""Sphinx extension: chapters are executed several at a time, before they are read.

MyST-NB executes a chapter when it reads it, and reads one after the other. Here all chapters that
are about to be read are executed first, one kernel a core, and left in MyST-NB's cache, where
reading finds them. A failed one is not kept: reading executes it again and says what is wrong.
"""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from jupyter_cache import get_cache
from myst_nb.core.execute import create_client
from myst_nb.core.read import create_nb_reader
from sphinx.util import logging

MOST_KERNELS = 4  # at a time: each needs up to 2 GB of memory

logger = logging.getLogger(__name__)


def execute(env, docname: str) -> None:
    """Execute one chapter, if the cache does not have it, as MyST-NB would when it reads it."""
    path = env.doc2path(docname)
    text = Path(path).read_text(encoding="utf8")
    config = env.mystnb_config
    reader = create_nb_reader(path, env.myst_config, config, text)
    if reader is not None:
        with create_client(reader.read(text), path, config, logger, reader.read_fmt) as client:
            found = client.exec_metadata or {}
        if found.get("runtime") is not None:
            logger.info("%s: executed in %.0f s", docname, found["runtime"])


def execute_together(app, env, docnames: list[str]) -> None:
    """Execute the chapters among some documents, as many at a time as there are cores."""
    config = env.mystnb_config
    if config.execution_mode == "cache":
        get_cache(config.execution_cache_path).get_cache_limit()  # makes the database, once for all
        with ThreadPoolExecutor(min(os.cpu_count() or 1, MOST_KERNELS)) as pool:
            list(pool.map(lambda docname: execute(env, docname), docnames))


def setup(app) -> dict:
    """Register the extension."""
    app.connect("env-before-read-docs", execute_together)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
