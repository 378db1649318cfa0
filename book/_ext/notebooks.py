"""Sphinx extension: every chapter as a notebook, to download or to run elsewhere.

The notebooks lie in the folder `notebooks` of the built site, with both packages as wheels, which
their first cell installs where they are missing. Where the environment names the book's repository
(BOOK_REPOSITORY=https://github.com/owner/name), it installs from there, and pages get buttons for
Binder and Colab, which read the repository's branch `notebooks`: a copy of that folder.
`python -m _ext.notebooks <folder>` writes the notebooks alone.
"""

import os
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import jupytext
import nbformat

import mdsgdln
import mdsgdln_book
from _ext.execution import chapters
from mdsgdln_book.places import BOOK, ROOT, git

FOLDED = {"hide-input", "remove-input", "remove-cell"}  # code that a page hides
WHEELS = [f"{p.__name__}-{p.__version__}-py3-none-any.whl" for p in (mdsgdln, mdsgdln_book)]
INSTALL = """\
# Where the book's packages are missing, this installs them, as they were when this was written.{}
import importlib.util

if importlib.util.find_spec("mdsgdln_book") is None:
    %pip install --quiet {}"""
BESIDE = "\n# Both files lie beside this notebook on the book's site; save them in its folder."
CHAPTERS = frozenset(chapters())


def formula(found: re.Match) -> str:
    """A formula between dollars; an empty line would end it."""
    lines = "\n".join(filter(str.strip, found[3].split("\n")))
    tag = f"\n\\tag{{{found[2]}}}" if found[2] else ""
    return f"$$\n\\begin{{aligned}}\n{lines}\n\\end{{aligned}}{tag}\n$$"


def link(found: re.Match) -> str:
    """A link between chapters, as one between notebooks; other places of the book by their name."""
    text, name, place = found.groups(default="")
    text = text or (name or place).replace("_", " ")
    return f"[{text}]({name}.ipynb)" if name in CHAPTERS else text


# MyST, and what Jupyter, Binder and Colab show without further parts; in this order.
FENCE, OPTIONS, CONTENT = r"^ *(`{3,}|:{3,})", r"((?: *:[\w-]+:.*\n)*)", r"((?:.*\n)*?) *\1 *$"
MARKDOWN = [
    (r"^\([\w-]+\)=\n", ""),
    (rf"{FENCE}\{{math\}}\n(?: *:label: (\S+)\n)?{CONTENT}", formula),
    (rf"{FENCE}\{{solution-start\}}.*\n{CONTENT}", "**Solution.**"),
    (rf"{FENCE}\{{solution-end\}}.*\n{CONTENT}", ""),
    (
        rf"{FENCE}\{{solution\}}.*\n{OPTIONS}{CONTENT}",
        r"<details>\n<summary>Solution</summary>\n\n\3\n</details>",
    ),
    (rf"{FENCE}\{{(?:interactive|figure)\}}.*\n{OPTIONS}{CONTENT}", r"*See the page.* \3"),
    (rf"{FENCE}\{{[\w:-]+\}} +(\S.*)\n{OPTIONS}{CONTENT}", r"**\2.**\n\n\4"),
    (
        rf"{FENCE}\{{(?:prf:)?([\w-]+)\}} *\n{OPTIONS}{CONTENT}",
        lambda found: f"**{found[2].capitalize()}.**\n\n{found[4]}",
    ),
    (r"\$\$ *\(([\w-]+)\) *$", r"\\tag{\1}$$"),
    (r"\{(?:measured|null)\}`[^`]*`", "(value on the page)"),
    (r"\{claim\}`[^`]*`", ""),
    (r"\{eq\}`([^`<]*?)`", r"(\1)"),
    (r"\{[a-z:]+\}`([^`<]*?)(?: *<[^`>]+>)?`", r"\1"),
    (r"\[([^\]]*)\]\((\w*)(?:\.md)?(?:#([\w-]+))?\)", link),
]


def plain(text: str) -> str:
    """MyST as plain Markdown, with links to the notebooks of other chapters.

    >>> plain("see {eq}`flow`, {term}`modes <mode>` and {cite:t}`saxe2014`")
    'see (flow), modes and saxe2014'
    >>> plain("$$ a = b $$ (flow)")
    '$$ a = b \\\\tag{flow}$$'
    """
    for pattern, shown in MARKDOWN:
        changes = 1
        while changes:  # directives lie in each other
            text, changes = re.subn(pattern, shown, text, flags=re.M)
    return text


def repository() -> str:
    """The address of the book's repository, empty where none is named."""
    return os.environ.get("BOOK_REPOSITORY", "").rstrip("/")


def requirements() -> list[str]:
    """The two distributions as pip finds them: in the repository, or beside the notebook."""
    if not repository():
        return [f"./{wheel}" for wheel in WHEELS]
    source = f"git+{repository()}@{git('rev-parse', 'HEAD') or 'main'}"
    return [f"mdsgdln @ {source}", f"mdsgdln-book @ {source}#subdirectory=book"]


def to_notebook(path: Path) -> nbformat.NotebookNode:
    """The chapter, not executed, behind a cell that installs what it needs."""
    given = " ".join(f'"{each}"' for each in requirements())
    install = INSTALL.format("" if repository() else BESIDE, given)
    notebook = jupytext.read(path)
    cells = [nbformat.v4.new_code_cell(install)]
    for cell in notebook.cells:
        figure = cell.metadata.get("mystnb", {}).get("figure", {})
        hidden = FOLDED & set(cell.metadata.get("tags", []))
        cell.metadata = {"jupyter": {"source_hidden": True}} if hidden else {}
        if cell.cell_type == "markdown":
            cell.source = plain(cell.source)
        cells.append(cell)
        if caption := " ".join(figure.get("caption", "").split()):
            text = f"**{figure.get('name', 'Figure')}.** {plain(caption)}"
            cells.append(nbformat.v4.new_markdown_cell(text))
    for number, cell in enumerate(cells):
        cell.id = f"cell-{number}"
    kernel = {"kernelspec": notebook.metadata.kernelspec}
    return nbformat.v4.new_notebook(cells=cells, metadata=kernel)


def write_notebooks(folder: Path) -> None:
    """Write all chapters as notebooks, and what Binder needs to run them."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.iterdir():
        path.unlink()
    for name, path in chapters().items():
        nbformat.write(to_notebook(path), folder / f"{name}.ipynb")
    if repository():
        lines = "\n".join([*requirements(), "jupyterlab", ""])
        (folder / "requirements.txt").write_text(lines, encoding="utf8")
        (folder / "runtime.txt").write_text("python-3.11\n", encoding="utf8")


def write_wheels(folder: Path) -> None:
    """Build both packages as wheels."""
    for project in (ROOT, BOOK):
        build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
        subprocess.run(build, cwd=project, check=True, capture_output=True)


def button(text: str, url: str, tooltip: str, icon: str, **more) -> dict:
    """A button of the theme that leads somewhere."""
    return {"type": "link", "url": url, "text": text, "tooltip": tooltip, "icon": icon, **more}


def remote_buttons(address: str, name: str) -> list[dict]:
    """Buttons that open a chapter's notebook on other machines."""
    project = urlsplit(address).path.strip("/")
    binder = f"https://mybinder.org/v2/gh/{project}/notebooks?labpath={name}.ipynb"
    colab = f"https://colab.research.google.com/github/{project}/blob/notebooks/{name}.ipynb"
    return [
        button("Binder", binder, "Run on Binder", "fas fa-rocket"),
        button("Colab", colab, "Run on Colab", "fas fa-play"),
    ]


def add_buttons(app, pagename: str, templatename: str, context: dict, doctree) -> None:
    """Offer the notebook of a chapter beside its source, and to run it if that is possible.

    The theme's own buttons would lead to the source, which is no notebook elsewhere.
    """
    name = pagename.rpartition("/")[2]
    if "kernelspec" not in app.env.metadata.get(pagename, {}) or app.builder.name != "html":
        return
    groups = {group.get("label"): group for group in context["header_buttons"]}
    place, label = context["pathto"](f"notebooks/{name}.ipynb", 1), "download-notebook-button"
    notebook = button(".ipynb", place, "Download notebook", "fas fa-download", label=label)
    groups["download-buttons"]["buttons"].insert(0, notebook)
    if repository():
        run = {"type": "group", "tooltip": "Run this page", "icon": "fas fa-rocket"}
        run |= {"label": "launch-buttons", "buttons": remote_buttons(repository(), name)}
        context["header_buttons"].insert(0, run)


def ship_notebooks(app, exception) -> None:
    """Put the notebooks and the packages that they need into the built site."""
    alone = app.config.nb_execution_mode == "off"  # one chapter is built
    if exception is None and app.builder.name == "html" and not alone:
        folder = Path(app.outdir) / "notebooks"
        write_notebooks(folder)
        write_wheels(folder)


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
