"""Sphinx extension: chapters are executed when something changed that they depend on, all at once.

MyST-NB executes a chapter when it reads it, one after the other, and keeps the outputs for as long
as the chapter's own cells stay. Here a chapter is read again when its key (``dependencies``) is
not the one that it was last read with. What is about to be read is executed before, one kernel a
core, and left where its key says in MyST-NB's cache. What fails is left there for this build only:
reading finds it and does not execute it again, and the next build does.
"""

import os
import shutil
import sys
import time
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path

from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn, JupyterCacheAbstract
from jupyter_cache.executors.utils import single_nb_execution
from myst_nb.core.read import create_nb_reader, is_myst_markdown_notebook
from myst_nb.sphinx_ import NbMetadataCollector
from nbclient.exceptions import DeadKernelError
from nbformat import NotebookNode
from sphinx.environment import CONFIG_OK
from sphinx.util import logging

from mdsgdln_book.dependencies import key
from mdsgdln_book.places import STRICT
from mdsgdln_book.references import ENCRYPTED, code_cells

MOST_KERNELS = 4  # at a time: each needs up to 2 GB of memory

logger = logging.getLogger(__name__)


def show(line: str) -> None:
    """Put a line in place of the last one; in a terminal only."""
    if sys.stdout.isatty():
        print(f"\r\x1b[2K{line[: shutil.get_terminal_size().columns - 1]}", end="", flush=True)


def watch(running: dict[Future, str]) -> None:
    """Say how far the chapters are, until all are executed."""
    begun, total, waiting = time.monotonic(), len(running), set(running)
    while waiting:
        finished, waiting = wait(waiting, timeout=1, return_when=FIRST_COMPLETED)
        done = total - len(waiting)
        for number, future in enumerate(finished, start=done - len(finished) + 1):
            line = f"{running[future]}: executed in {future.result():.0f} s"
            if not sys.stdout.isatty():
                print(f"{line}, {number} of {total} chapters", flush=True)
        now = ", ".join(name for future, name in running.items() if future.running())
        show(f"executed {done} of {total} chapters, {time.monotonic() - begun:.0f} s, now {now}")
    show("")


def keep(cache: JupyterCacheAbstract, notebook: NotebookNode, uri: str, seconds: float) -> None:
    """Put an executed chapter into a cache."""
    bundle = CacheBundleIn(notebook, uri, data={"execution_seconds": seconds})
    cache.cache_notebook_bundle(bundle, check_validity=False, overwrite=True)


def recall(cache: JupyterCacheAbstract, notebook: NotebookNode) -> bool:
    """Whether a cache has the chapter; if with other captions, it then has it with these."""
    records = cache.list_cache_records()
    try:
        cache.match_cache_notebook(notebook)
    except KeyError:
        if records:
            old = cache.get_cache_bundle(records[-1].pk)
            notebook.metadata.update(old.nb.metadata)
            for cell, known in zip(code_cells(notebook), old.nb.cells, strict=True):
                cell.outputs, cell.execution_count = known.outputs, known.execution_count
            cache.remove_cache(old.record.pk)
            keep(cache, notebook, old.record.uri, old.record.data["execution_seconds"])
    return bool(records)


def what_failed(notebook: NotebookNode, error: Exception) -> tuple[int, str]:
    """The line of the cell that was begun last, and in words what happened in it."""
    lines = zip(notebook.metadata["source_map"], notebook.cells, strict=True)
    cells = [(line, cell) for line, cell in lines if cell.cell_type == "code"]
    begun = [number for number, (_, cell) in enumerate(cells) if cell.execution_count]
    number = max(begun, default=0)
    said = str(error).partition("\n")[0]  # a cell that hangs is quoted whole
    said = f"{error.ename}: {error.evalue}" if hasattr(error, "ename") else said
    return cells[number][0], f"code cell {number + 1}: {said}"


class Execution:
    """The executions of one build.

    Attributes:
        keys: of all chapters.
        caches: where reading finds the chapters that have been executed.
        failures: for chapters, line and cause.
    """

    def __init__(self):
        self.keys: dict[str, str] = {}
        self.caches: dict[str, Path] = {}
        self.failures: dict[str, tuple[int, str]] = {}

    def find_outdated(self, app, env, added, changed, removed) -> list[str]:
        """The chapters that were read with another key, or when they had failed."""
        self.config = env.mystnb_config
        if self.config.execution_mode != "cache":
            return []
        for name in env.found_docs:
            path = Path(env.doc2path(name))
            if is_myst_markdown_notebook(path.read_text(encoding="utf8")):
                self.keys[name] = key(path)
        known = NbMetadataCollector.get_doc_data(env)
        return [name for name, now in self.keys.items() if known.get(name, {}).get("key") != now]

    def execute_together(self, app, env, docnames: list[str]) -> None:
        """Execute the chapters among some documents, as many at a time as there are cores."""
        only = app.config.only_chapter
        if only and env.config_status == CONFIG_OK:
            docnames[:] = [name for name in docnames if name == only or name not in env.all_docs]
        shutil.rmtree(Path(self.config.execution_cache_path, "failed"), ignore_errors=True)
        with ThreadPoolExecutor(min(os.cpu_count() or 1, MOST_KERNELS)) as pool:
            running = {}
            for name in filter(self.keys.get, docnames):
                notebook = self.read(env, name)
                folder = Path(self.config.execution_cache_path, name, self.keys[name])
                if recall(get_cache(folder), notebook):
                    self.caches[name] = folder
                elif only in ("", name):
                    running[pool.submit(self.execute, env, name, notebook)] = name
            try:
                watch(running)
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise
        for name, (line, cause) in self.failures.items():
            logger.warning("Executing notebook failed: %s", cause, location=(name, line))

    def read(self, env, name: str) -> NotebookNode:
        """A chapter as MyST-NB reads it."""
        path = env.doc2path(name)
        text = Path(path).read_text(encoding="utf8")
        return create_nb_reader(path, env.myst_config, self.config, text).read(text)

    def execute(self, env, name: str, notebook: NotebookNode) -> float:
        """Execute one chapter, keep it, and return the seconds it took."""
        path, begun = Path(env.doc2path(name)), time.monotonic()
        caches = Path(self.config.execution_cache_path)
        self.caches[name] = caches / name / self.keys[name]
        try:
            timeout = self.config.execution_timeout
            options = {"allow_errors": False, "config": ENCRYPTED}
            error = single_nb_execution(notebook, str(path.parent), timeout, **options).err
        except DeadKernelError as dead:
            error = dead
        seconds = time.monotonic() - begun
        if error is not None:
            self.caches[name] = caches / "failed" / name
            self.failures[name] = what_failed(notebook, error)
        keep(get_cache(self.caches[name]), notebook, str(path), seconds)
        return seconds

    def choose_cache(self, app, name: str, content: list[str]) -> None:
        """Let MyST-NB find a chapter that has been executed, and execute none by itself."""
        if name in self.keys:
            place = {"execution_mode": "off"}
            if name in self.caches:
                place = {"execution_cache_path": str(self.caches[name])}
                if name not in self.failures:
                    NbMetadataCollector.set_doc_data(app.env, name, "key", self.keys[name])
            app.env.mystnb_config = self.config.copy(**place)

    def say_why(self, app, exception) -> None:
        """Let the cause of a failure be what is read last."""
        show("")
        for name, (line, cause) in self.failures.items():
            print(f"Chapter {name} failed at line {line}, {cause}", file=sys.stderr)


def setup(app) -> dict:
    """Register the extension; claims of what it executes are decided strictly."""
    os.environ[STRICT] = "yes"
    execution = Execution()
    app.add_config_value("only_chapter", "", rebuild="", types=[str])
    app.connect("env-get-outdated", execution.find_outdated)
    app.connect("env-before-read-docs", execution.execute_together)
    app.connect("source-read", execution.choose_cache)
    app.connect("build-finished", execution.say_why, priority=950)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
