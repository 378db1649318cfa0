"""Sphinx extension: every chapter as a notebook, to download or to run elsewhere.

The notebooks lie in the folder `notebooks` of the built site, with both packages as wheels, from
which they install what is missing. Where the environment names the book's repository
(BOOK_REPOSITORY=https://github.com/owner/name), pages also get buttons for Binder and Colab, which
read the repository's branch `notebooks`: a copy of that folder.
`python -m mdsgdln_book.extensions.launch <folder>` writes the notebooks alone.
"""

import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

import nbformat

from mdsgdln_book.notebooks import DISTRIBUTIONS, to_notebook
from mdsgdln_book.places import BOOK, ROOT, git
from mdsgdln_book.references import chapters

REQUIREMENTS = "\n".join([*DISTRIBUTIONS, "jupyterlab", ""])
PYTHON = "python-3.11\n"  # what Binder builds


known_chapters = cache(chapters)


def repository() -> str:
    """The address of the book's repository, empty where none is named."""
    return os.environ.get("BOOK_REPOSITORY", "").rstrip("/")


def commit() -> str:
    """The commit that the book is built from, or its main branch where Git does not say."""
    return git("rev-parse", "HEAD") or "main"


def remote_buttons(address: str, name: str) -> list[dict]:
    """Buttons that open a chapter's notebook on other machines."""
    project = urlsplit(address).path.strip("/")
    places = {
        "Binder": f"https://mybinder.org/v2/gh/{project}/notebooks?labpath={name}.ipynb",
        "Colab": f"https://colab.research.google.com/github/{project}/blob/notebooks/{name}.ipynb",
    }
    return [
        {"type": "link", "url": url, "text": place, "tooltip": f"Run on {place}", "icon": icon}
        for (place, url), icon in zip(places.items(), ("fas fa-rocket", "fas fa-play"), strict=True)
    ]


def add_buttons(app, pagename: str, templatename: str, context: dict, doctree) -> None:
    """Offer the notebook of a chapter beside its source, and to run it if that is possible."""
    name = pagename.rpartition("/")[2]
    if name not in known_chapters():
        return
    download = {
        "type": "link",
        "url": context["pathto"](f"notebooks/{name}.ipynb", 1),
        "text": ".ipynb",
        "tooltip": "Download notebook",
        "icon": "fas fa-download",
        "label": "download-notebook-button",
    }
    groups = {button.get("label"): button for button in context["header_buttons"]}
    groups["download-buttons"]["buttons"].insert(0, download)
    if repository():
        run = {"type": "group", "tooltip": "Run this page", "icon": "fas fa-rocket"}
        run |= {"label": "launch-buttons", "buttons": remote_buttons(repository(), name)}
        context["header_buttons"].insert(0, run)


def ship_notebooks(app, exception) -> None:
    """Put the notebooks and the packages that they need into the built site."""
    if exception is None and app.builder.format == "html":
        folder = Path(app.outdir) / "notebooks"
        write_notebooks(folder)
        write_wheels(folder)


def write_wheels(folder: Path) -> None:
    """Build both packages as wheels."""
    for project in (ROOT, BOOK):
        build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
        subprocess.run(build, cwd=project, check=True, capture_output=True)


def write_notebooks(folder: Path) -> None:
    """Write all chapters as notebooks, and what Binder needs to run them."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.iterdir():
        path.unlink()
    source = {"repository": repository(), "commit": commit()}
    for name, path in known_chapters().items():
        nbformat.write(to_notebook(path, **source), folder / f"{name}.ipynb")
    if repository():
        (folder / "requirements.txt").write_text(REQUIREMENTS.format(**source), encoding="utf8")
        (folder / "runtime.txt").write_text(PYTHON, encoding="utf8")


def link_repository(app, config) -> None:
    """Let the pages link to the repository, if there is one."""
    if repository():
        config.html_theme_options["repository_url"] = repository()
        config.html_theme_options["use_repository_button"] = True


def setup(app) -> dict:
    """Register the extension."""
    app.connect("config-inited", link_repository)
    app.connect("html-page-context", add_buttons, priority=502)  # after the theme's own buttons
    app.connect("build-finished", ship_notebooks)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


if __name__ == "__main__":
    write_notebooks(Path(sys.argv[1]))
