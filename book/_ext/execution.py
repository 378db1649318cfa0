"""Chapters are executed when what their outputs depend on has changed; also a Sphinx extension.

MyST-NB keeps what a chapter printed in jupyter-cache, found by the chapter's cells. The rest that
outputs depend on names the folder of that cache: both packages without comments and docstrings,
tables, what is installed, variables, processor and device, and what decides the chapter's claims.
Prose executes nothing.

    python -m _ext.execution [chapter ...]

executes what is missing there, one kernel a core. By itself MyST-NB executes one chapter after the
other; jupyter-cache's parallel executor takes all cores whatever the memory, a fixed share each.
"""

import asyncio
import os
import re
import shutil
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from time import monotonic

from joblib import Parallel, delayed
from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn
from jupyter_cache.readers import get_reader
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode, from_dict
from traitlets.config import Config

from _ext.cores import cores
from mdsgdln_book.claims import read_claims
from mdsgdln_book.fingerprints import code_files, fingerprint, short_hash
from mdsgdln_book.places import BOOK, RESULTS, ROOT, STRICT

KEPT = ROOT / "_build/.jupyter_cache"
MOST_KEPT = 8  # versions of a chapter
ROOM = 50 << 20  # bytes of disk, without which nothing is begun
HEADER = re.compile(r"---\n(?:(?!---).*\n)*kernelspec:")  # of a page that is a notebook
TIMEOUT = 600  # seconds a cell may take
# Where a kernel is reached without encryption, it complains.
ENCRYPTED = Config(KernelManager={"transport_encryption": "auto"})
FAILURES = CellExecutionError, CellTimeoutError, DeadKernelError


@cache
def key(chapter: str) -> str:
    """A short name of all that the outputs of a chapter depend on, but its own cells."""
    files = [*code_files(), *RESULTS.glob("*.json*"), ROOT / "requirements.txt"]
    claims = [
        (claim.id, claim.bound, claim.missed, claim.null is None, claim.rival is None)
        for claim in read_claims().values()
        if claim.chapter == chapter
    ]
    return short_hash(fingerprint(files), repr(claims))


def place(chapter: str) -> Path:
    """The folder that keeps what a chapter prints."""
    return KEPT / chapter / key(chapter)


def chapters(book: Path = BOOK) -> dict[str, Path]:
    """The pages that are notebooks, by name: those whose header names a kernel."""
    pages = {page.stem: page for page in sorted(book.glob("*.md"))}
    return {name: page for name, page in pages.items() if HEADER.match(page.read_text("utf8"))}


def read(path: Path) -> NotebookNode:
    """A chapter as MyST-NB reads it."""
    return get_reader({"type": "plugin", "name": "myst_nb_md"})(str(path))


def code_cells(notebook: NotebookNode) -> list[NotebookNode]:
    """The notebook's code cells."""
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def kept(path: Path) -> NotebookNode | None:
    """Return a chapter with the outputs that are kept of it, None if there are none."""
    folder = place(path.stem)
    if not folder.exists():
        return None
    try:
        return get_cache(folder).merge_match_into_notebook(read(path))[1]
    except KeyError:
        return None


def execute(path: Path, **options) -> NotebookNode:
    """Run a chapter by this Python, in its own folder; its claims are decided strictly."""
    os.environ[STRICT] = "yes"
    client = NotebookClient(
        read(path),
        timeout=TIMEOUT,
        coalesce_streams=True,
        record_timing=False,  # in the metadata by which a cache finds what was executed
        resources={"metadata": {"path": str(path.parent)}},
        config=ENCRYPTED,
        **options,
    )
    manager = client.create_kernel_manager()
    manager.kernel_spec_manager.kernel_dirs = []  # others may be called python3, too
    return asyncio.run(client.async_execute())  # ends its loop in whichever thread it runs


def executed(path: Path) -> NotebookNode:
    """Return a chapter with its outputs: the kept ones, or new ones, which are then kept."""
    if (notebook := kept(path)) is not None:
        return notebook
    begun = monotonic()
    notebook = execute(path)
    keep(path, notebook, monotonic() - begun)
    return notebook


def keep(path: Path, notebook: NotebookNode, seconds: float) -> None:
    """Keep an executed chapter for the pages."""
    bundle = CacheBundleIn(notebook, str(path), data={"execution_seconds": seconds})
    get_cache(place(path.stem)).cache_notebook_bundle(bundle, overwrite=True)
    versions = sorted((KEPT / path.stem).iterdir(), key=lambda version: version.stat().st_mtime)
    for old in versions[:-MOST_KEPT]:
        shutil.rmtree(old, ignore_errors=True)


def keep_cells(path: Path, cells: Sequence[tuple[str, list, float]]) -> None:
    """Keep a chapter that nbval has executed: the source, outputs and seconds of each cell.

    With other cells than the chapter has now, nothing is kept.
    """
    notebook = read(path)
    code = code_cells(notebook)
    if [source for source, _, _ in cells] != [cell.source for cell in code]:
        return
    for number, (cell, (_, outputs, _)) in enumerate(zip(code, cells, strict=True), 1):
        cell |= {"execution_count": number, "outputs": [*map(from_dict, outputs)]}
    keep(path, notebook, sum(seconds for _, _, seconds in cells))


def execute_missing(paths: Sequence[Path]) -> list[str]:
    """Execute chapters of which nothing is kept; return the errors."""
    missing = [path for path in paths if kept(path) is None]
    wrong, begun = [], monotonic()
    parallel = Parallel(cores(), "threading", return_as="generator_unordered")
    for number, (path, error) in enumerate(parallel(map(delayed(attempt), missing)), 1):
        wrong += [f"{path.stem}: {error}"] if error else []
        after = f"{number} of {len(missing)} after {monotonic() - begun:.0f} s"
        print(f"executed {path.stem}, {after}", flush=True)
    return wrong


def attempt(path: Path) -> tuple[Path, str]:
    """Execute a chapter; return it, with the error if one of its cells fails."""
    try:
        executed(path)
    except FAILURES as error:
        return path, str(error)
    return path, ""


# For Sphinx --------------------------------------------------------------------------------------


def choose_cache(app, page: str, content: list[str]) -> None:
    """Let MyST-NB find what has been executed, also where it shall execute nothing (mode "off")."""
    folder = place(page.rpartition("/")[2])
    found = kept(Path(app.env.doc2path(page))) is not None
    mode = "cache" if found else app.config.nb_execution_mode
    options = {"execution_cache_path": str(folder), "execution_mode": mode}
    app.env.mystnb_config = app.env.mystnb_config.copy(**options)
    app.env.metadata[page]["key"] = folder.name


def find_outdated(app, env, added, changed, removed) -> list[str]:
    """Pages that were read with another key."""
    return [
        page
        for page in env.found_docs
        if env.metadata[page].get("key") != key(page.rpartition("/")[2])
    ]


def setup(app) -> dict:
    """Register the extension; an executed chapter decides its claims strictly."""
    os.environ[STRICT] = "yes"
    app.connect("env-get-outdated", find_outdated)
    app.connect("source-read", choose_cache)
    return {"version": "2", "parallel_read_safe": True, "parallel_write_safe": True}


def require_room() -> None:
    """End with one sentence where the disk is full; Sphinx ends with a traceback."""
    if (free := shutil.disk_usage(ROOT).free) < ROOM:
        sys.exit(f"The disk is full: the book needs {ROOM >> 20} MB more, got {free >> 20}.")


def main(*names: str) -> int:
    """Execute what is missing of some chapters, or of all; 1 if that went wrong."""
    pages, known = [page.stem for page in BOOK.glob("*.md")], chapters()
    if unknown := set(names) - set(pages):
        sys.exit(f"CHAPTER: expected some of {sorted(pages)}; got {sorted(unknown)}")
    require_room()
    try:
        wrong = execute_missing([known[name] for name in names or known if name in known])
    except (OSError, RuntimeError):
        require_room()
        raise
    print(*wrong, sep="\n", end="\n" * bool(wrong), file=sys.stderr)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
