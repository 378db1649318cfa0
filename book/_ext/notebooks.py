"""Sphinx extension: every chapter as a notebook, to download or to run elsewhere.

The notebooks lie in the folder `notebooks` of the built site, with both packages as wheels, which
their first cell installs where they are missing. Where the environment names the book's repository
(BOOK_REPOSITORY=https://github.com/owner/name), it installs from there, and pages get buttons for
Binder and Colab, which read the repository's branch `notebooks`: a copy of that folder.
`python -m _ext.notebooks <folder>` writes it.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import jupytext
from nbformat import NotebookNode, v4

import mdsgdln
from _ext.execution import chapters
from mdsgdln_book.places import BOOK, ROOT, git

REPOSITORY = os.environ.get("BOOK_REPOSITORY", "").rstrip("/")
WHEELS = [f"{name}-{mdsgdln.__version__}-py3-none-any.whl" for name in ("mdsgdln", "mdsgdln_book")]
INSTALL = """\
# Where the book's packages are missing, this installs them, as they were when this was written.
# A file ./….whl is linked on the page *API* of the book's site: save both next to this notebook.
import importlib.util

if importlib.util.find_spec("mdsgdln_book") is None:
    %pip install --quiet {}"""
ELSEWHERE = {
    "Binder": "https://mybinder.org/v2/gh/{}/notebooks?labpath={}.ipynb",
    "Colab": "https://colab.research.google.com/github/{}/blob/notebooks/{}.ipynb",
}
CHAPTERS = frozenset(chapters())


def block(found: re.Match) -> str:
    """A directive as Markdown: a formula between dollars, a solution folded, else its title."""
    _, name, title, options, content = found.groups()
    if name == "math":
        lines = "\n".join(filter(str.strip, content.split("\n")))  # an empty line would end it
        tag = "".join(f"\n\\tag{{{label}}}" for label in re.findall(r":label: (\S+)", options))
        return f"$$\n\\begin{{aligned}}\n{lines}\n\\end{{aligned}}{tag}\n$$"
    if name == "solution":
        return f"<details>\n<summary>Solution</summary>\n\n{content}\n</details>"
    if name in ("figure", "interactive"):
        return f"*See the page.* {content}"
    title = {"solution-start": "Solution", "solution-end": ""}.get(name, title or name.capitalize())
    return f"**{title}.**\n\n{content}" if title else ""


def link(found: re.Match) -> str:
    """A link between chapters, as one between notebooks; other places of the book by their name."""
    text, name, place = found.groups(default="")
    text = text or (name or place).replace("_", " ")
    return f"[{text}]({name}.ipynb)" if name in CHAPTERS else text


# MyST, and what Jupyter, Binder and Colab show without further parts; in this order.
MARKDOWN = [
    (r"^\([\w-]+\)=\n", ""),
    (
        r"^ *(`{3,}|:{3,})\{(?:prf:)?([\w:-]+)\} *(.*)\n((?: *:[\w-]+:.*\n)*)((?:.*\n)*?) *\1 *$",
        block,
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
        while changes:  # blocks lie in each other
            text, changes = re.subn(pattern, shown, text, flags=re.M)
    return text


def requirements() -> list[str]:
    """The two distributions as pip finds them: in the repository, or next to the notebook."""
    if not REPOSITORY:
        return [f"./{wheel}" for wheel in WHEELS]
    source = f"git+{REPOSITORY}@{git('rev-parse', 'HEAD') or 'main'}"
    return [f"mdsgdln @ {source}", f"mdsgdln-book @ {source}#subdirectory=book"]


def to_notebook(path: Path) -> NotebookNode:
    """The chapter, not executed, behind a cell that installs what it needs."""
    notebook = jupytext.read(path)
    cells = [v4.new_code_cell(INSTALL.format(" ".join(f'"{each}"' for each in requirements())))]
    for cell in notebook.cells:
        figure = cell.metadata.get("mystnb", {}).get("figure", {})
        hidden = {"hide-input", "remove-input", "remove-cell"} & {*cell.metadata.get("tags", [])}
        cell.metadata = {"jupyter": {"source_hidden": True}} if hidden else {}
        if cell.cell_type == "markdown":
            cell.source = plain(cell.source)
        cells.append(cell)
        if caption := " ".join(figure.get("caption", "").split()):
            cells.append(v4.new_markdown_cell(f"**{figure.get('name')}.** {plain(caption)}"))
    for number, cell in enumerate(cells):
        cell.id = f"cell-{number}"
    return v4.new_notebook(cells=cells, metadata={"kernelspec": notebook.metadata.kernelspec})


def write(folder: Path) -> None:
    """Write all chapters as notebooks, the packages as wheels, and what Binder needs."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in (*folder.glob("*.ipynb"), *folder.glob("*.whl")):
        path.unlink()
    for name, path in chapters().items():
        jupytext.write(to_notebook(path), folder / f"{name}.ipynb")
    for project in (ROOT, BOOK):
        build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
        subprocess.run(build, cwd=project, check=True, capture_output=True)
    (folder / "requirements.txt").write_text("\n".join([*requirements(), "jupyterlab", ""]), "utf8")
    (folder / "runtime.txt").write_text("python-3.11\n", encoding="utf8")


def add_buttons(app, pagename: str, templatename: str, context: dict, doctree) -> None:
    """Let the theme offer the notebook of a chapter, and to run it where there is a repository.

    Its own buttons would lead to the chapter's source, which is no notebook elsewhere.
    """
    if "kernelspec" not in app.env.metadata.get(pagename, {}) or app.builder.name != "html":
        return
    name = pagename.rpartition("/")[2]
    context["ipynb_source"] = f"../notebooks/{name}.ipynb"  # seen from its folder of sources
    if REPOSITORY:
        project = REPOSITORY.removeprefix("https://github.com/")
        buttons = [
            {"type": "link", "text": text, "url": url.format(project, name), "icon": "fas fa-play"}
            for text, url in ELSEWHERE.items()
        ]
        group = {"type": "group", "label": "launch-buttons", "tooltip": "Run this page"}
        context["header_buttons"].append(group | {"icon": "fas fa-rocket", "buttons": buttons})


def ship_notebooks(app, exception) -> None:
    """Put the notebooks into the built site, unless one chapter alone is built."""
    if exception is None and app.builder.name == "html" and app.config.nb_execution_mode != "off":
        write(Path(app.outdir) / "notebooks")


def setup(app) -> dict:
    """Register the extension."""
    app.connect("html-page-context", add_buttons)
    app.connect("build-finished", ship_notebooks)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


if __name__ == "__main__":
    write(Path(sys.argv[1]))
