"""Sphinx extension: chapters are executed when something changed that they depend on, all at once.

MyST-NB executes a chapter when it reads it, one after the other, and keeps the outputs for as long
as its code stays. Sphinx could read in parallel, but the domain of sphinx-proof cannot be merged.
So what is about to be read is executed before, one kernel a core, and left in MyST-NB's cache, as
nbval does (tests/references/conftest.py): in a folder for each state of all else that outputs
depend on, which is both packages, the tables, what is installed, and the chapter's own claims.
Prose and captions execute nothing.
"""

import ast
import hashlib
import os
import threading
from concurrent.futures import ThreadPoolExecutor, as_completed
from functools import cache, partialmethod
from pathlib import Path

from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn, JupyterCacheAbstract
from jupyter_cache.cache.main import JupyterCacheBase
from jupyter_cache.executors.utils import ExecutionResult, single_nb_execution
from myst_nb.core.execute import cache as execute_module
from myst_nb.core.read import (
    create_nb_reader,
    is_myst_markdown_notebook,
    read_myst_markdown_notebook,
)
from myst_nb.sphinx_ import NbMetadataCollector
from nbclient.exceptions import DeadKernelError
from nbformat import NotebookNode, from_dict
from sphinx.environment import CONFIG_OK

from _ext.cores import cores
from _ext.references import ENCRYPTED, code_cells
from mdsgdln_book.claims import read_claims
from mdsgdln_book.places import BOOK, PACKAGE, RESULTS, ROOT, STRICT

FAILED: dict[str, ExecutionResult] = {}  # in this build, by page

DOCUMENTED = ast.Module, ast.ClassDef, ast.FunctionDef  # what has a docstring
PARSING = threading.Lock()  # in two threads at once, Python 3.11 fails to


@cache
def fingerprint(paths: tuple[Path, ...]) -> str:
    """A short name of what files hold; of Python, of what runs: comments and docstrings do not."""
    parts = [content(path) for path in paths]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]


def content(path: Path) -> bytes:
    """What counts of a file."""
    if path.suffix != ".py":
        return path.read_bytes()
    with PARSING:
        tree = ast.parse(path.read_bytes())
    for node in ast.walk(tree):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node) is not None:
            node.body[0] = ast.Pass()
    return ast.dump(tree).encode()


@cache
def key(page: str) -> str:
    """A short name of all that the outputs of a page depend on, but its own cells."""
    code = [*(ROOT / "mdsgdln").rglob("*.py"), *PACKAGE.rglob("*.py"), *RESULTS.glob("*.json*")]
    chapter = page.rpartition("/")[2]
    claims = [claim.entry for claim in read_claims().values() if claim.chapter == chapter]
    text = repr([fingerprint(tuple(sorted([*code, ROOT / "requirements.txt"]))), claims])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def find_outdated(app, env, added, changed, removed) -> list[str]:
    """Pages that were read with another key, or not executed to their end."""
    read = NbMetadataCollector.get_doc_data(env)

    def is_done(page: str) -> bool:
        executed = read[page].get("exec_data") or {"succeeded": True}
        return read[page].get("key") == key(page) and executed["succeeded"]

    return [page for page in env.found_docs if not (page in read and is_done(page))]


def place(page: str, build: Path = ROOT / "_build") -> Path:
    """The cache in which MyST-NB keeps a page."""
    return build / ".jupyter_cache" / page / key(page)


def folder(app, page: str) -> Path:
    """The cache of a page in this build."""
    return place(page, Path(app.outdir).parent)


def execute_together(app, env, docnames: list[str]) -> None:
    """Execute what is about to be read; where one chapter is asked for, that one alone."""
    only = app.config.only_chapter
    if only and env.config_status == CONFIG_OK:
        docnames[:] = [name for name in docnames if name == only or name not in env.all_docs]
    with ThreadPoolExecutor(cores()) as pool:
        running = {}
        for page in (page for page in docnames if only in ("", page)):
            notebook, kept = read(env, page), get_cache(folder(app, page))
            if notebook is not None and not is_kept(kept, notebook):
                running[pool.submit(execute, env, page, notebook, kept)] = page
        try:
            for number, done in enumerate(as_completed(running), 1):
                name, seconds = running[done].rpartition("/")[2], done.result()
                print(f"{name}: {seconds:.0f} s, {number} of {len(running)}", flush=True)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def search_only_the_whole(app) -> None:
    """Leave out the search index where a page is built alone and there is none to enter it in."""
    if app.config.only_chapter and not (Path(app.outdir) / "searchindex.js").exists():
        app.builder.search = False


def read(env, page: str) -> NotebookNode | None:
    """A page as MyST-NB reads it, if it has code."""
    path = env.doc2path(page)
    text = Path(path).read_text(encoding="utf8")
    if not is_myst_markdown_notebook(text):
        return None
    return create_nb_reader(path, env.myst_config, env.mystnb_config, text).read(text)


def is_kept(kept: JupyterCacheAbstract, notebook: NotebookNode) -> bool:
    """Whether a cache has the outputs of a page."""
    try:
        kept.match_cache_notebook(notebook)
    except KeyError:
        return False
    return True


def execute(env, page: str, notebook: NotebookNode, kept: JupyterCacheAbstract) -> float:
    """Execute a page, keep it, and return the seconds that it took."""
    path = Path(env.doc2path(page))
    options = {"timeout": env.mystnb_config.execution_timeout, "allow_errors": False}
    try:
        result = single_nb_execution(notebook, str(path.parent), config=ENCRYPTED, **options)
    except DeadKernelError as error:
        result = ExecutionResult(notebook, str(path.parent), 0, error, str(error))
    if result.err is None:
        bundle = CacheBundleIn(notebook, str(path), data={"execution_seconds": result.time})
        kept.cache_notebook_bundle(bundle, check_validity=False, overwrite=True)
    else:
        FAILED[page] = result
    return result.time


def keep(name: str, cells: list[tuple], book: Path = BOOK) -> None:
    """Keep a chapter that something else has executed to its end.

    Its cells are (source, outputs, seconds); with others than the chapter has, nothing is kept.
    """
    path = book / f"{name}.md"
    notebook = read_myst_markdown_notebook(path.read_text(encoding="utf8"), path=path)
    code = code_cells(notebook)
    if [source for source, _, _ in cells] != [cell.source for cell in code]:
        return
    for number, (cell, (_, outputs, _)) in enumerate(zip(code, cells, strict=True), 1):
        cell |= {"execution_count": number, "outputs": [*map(from_dict, outputs)]}
    hash_code_and_tags()
    data = {"execution_seconds": sum(seconds for _, _, seconds in cells)}
    bundle = CacheBundleIn(notebook, str(path), data=data)
    kept = get_cache(place(f"book/{name}"))
    kept.cache_notebook_bundle(bundle, check_validity=False, overwrite=True)


def choose_cache(app, page: str, content: list[str]) -> None:
    """Let MyST-NB find what has been executed; it executes nothing by itself."""
    only = app.config.only_chapter
    known = only in ("", page) or has_outputs(app, page)
    if not only:  # what was read for one page is read anew with the whole, which minds warnings
        NbMetadataCollector.set_doc_data(app.env, page, "key", key(page))
    app.env.mystnb_config = app.env.mystnb_config.copy(
        execution_cache_path=str(folder(app, page)), execution_mode="cache" if known else "off"
    )

    def recall(notebook, **options) -> ExecutionResult:
        notebook.cells = FAILED[page].nb.cells
        return FAILED[page]

    execute_module.single_nb_execution = recall


def has_outputs(app, page: str) -> bool:
    """Whether a page has been executed as it stands."""
    if not folder(app, page).exists() or (notebook := read(app.env, page)) is None:
        return False
    return is_kept(get_cache(folder(app, page)), notebook)


@cache
def hash_code_and_tags() -> None:
    """Of the metadata of a cell, let its tags count for the cache, and not its caption."""
    base = JupyterCacheBase
    hashed, merged = base.create_hashed_notebook, base.merge_match_into_notebook
    base.create_hashed_notebook = partialmethod(hashed, cell_metadata=("tags",))
    base.merge_match_into_notebook = partialmethod(merged, cell_meta=())


def setup(app) -> dict:
    """Register the extension; claims of what it executes are decided strictly."""
    os.environ[STRICT] = "yes"
    FAILED.clear()
    hash_code_and_tags()
    app.add_config_value("only_chapter", "", rebuild="", types=[str])
    app.connect("builder-inited", search_only_the_whole)
    app.connect("env-get-outdated", find_outdated)
    app.connect("env-before-read-docs", execute_together)
    app.connect("source-read", choose_cache)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
