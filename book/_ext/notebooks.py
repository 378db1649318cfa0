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
from _ext.references import chapters, numbered
from mdsgdln_book.places import BOOK, ROOT, git

FOLDED = {"hide-input", "remove-input", "remove-cell"}  # code that a page hides
WHEELS = [f"{p.__name__}-{p.__version__}-py3-none-any.whl" for p in (mdsgdln, mdsgdln_book)]
INSTALL = """\
# Where the book's packages are missing, this installs them, as they were when this was written.{}
import importlib.util

if importlib.util.find_spec("mdsgdln_book") is None:
    %pip install --quiet {}"""
BESIDE = "\n# Both files lie beside this notebook on the book's site; save them in its folder."

# MyST as plain Markdown, which Jupyter, Binder and Colab show without further parts.
FORMULA = re.compile(r"^(`{3,})\{math\}\n(?::label: (\S+)\n)?(.*?)\n\1$", re.M | re.S)
BLOCK = re.compile(
    r"^ *(`{3,}|:{3,})\{([\w:-]+)\} *([^\n]*)\n((?: *:[\w-]+:[^\n]*\n)*)(.*?)^ *\1 *$", re.M | re.S
)
TARGET = re.compile(r"^\([\w-]+\)=\n", re.M)
LABELLED = re.compile(r"\$\$ *\(([\w-]+)\) *$", re.M)
ROLE = re.compile(r"\{([a-z:]+)\}`([^`<]*?)(?: *<[^`>]+>)?`")
LINK = re.compile(r"\[([^\]]*)\]\((\w*)(?:\.md)?(?:#([\w-]+))?\)")


def plain(text: str, siblings: frozenset[str] = frozenset()) -> str:
    """MyST as plain Markdown, with links to the notebooks of other chapters.

    >>> plain("see {eq}`flow`, {term}`modes <mode>` and {cite:t}`saxe2014`")
    'see (flow), modes and saxe2014'
    >>> plain("$$ a = b $$ (flow)")
    '$$ a = b \\\\tag{flow}$$'
    """
    text = FORMULA.sub(formula, TARGET.sub("", text))
    while BLOCK.search(text):
        text = BLOCK.sub(block, text)
    text = LABELLED.sub(lambda found: rf"\tag{{{found[1]}}}$$", text)
    text = ROLE.sub(role, text)
    return LINK.sub(lambda found: link(*found.groups(default=""), siblings), text)


def formula(found: re.Match) -> str:
    """A formula between dollars; an empty line would end it."""
    lines = "\n".join(filter(str.strip, found[3].split("\n")))
    tag = f"\n\\tag{{{found[2]}}}" if found[2] else ""
    return f"$$\n\\begin{{aligned}}\n{lines}\n\\end{{aligned}}{tag}\n$$"


def block(found: re.Match) -> str:
    """What a directive holds, under the name that it has."""
    _, name, argument, options, content = found.groups()
    if name == "solution":
        return f"<details>\n<summary>Solution</summary>\n\n{content}\n</details>"
    if name.startswith("solution"):  # cells are between its start and its end
        return "**Solution.**" if name == "solution-start" else ""
    label = re.search(r":(?:label|name): *(\S+)", options)
    if name in ("interactive", "figure"):
        content = f"*See the page.* {content}"
        argument = ""
    title = argument or (label and label[1]) or name.removeprefix("prf:").capitalize()
    return f"**{title}.**\n\n{content}"


def role(found: re.Match) -> str:
    """What a role shows."""
    if found[1] in ("measured", "null"):
        return "(value on the page)"
    shown = {"eq": f"({found[2]})", "claim": ""}
    return shown.get(found[1], found[2])


def link(text: str, name: str, place: str, siblings: frozenset[str]) -> str:
    """A link between chapters, as one between notebooks; other places of the book by their name."""
    text = text or (name or place).replace("_", " ")
    return f"[{text}]({name}.ipynb)" if name in siblings else text


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
    cells = [nbformat.v4.new_code_cell(install)]
    siblings = frozenset(chapters(path.parent))
    for cell in jupytext.read(path).cells:
        if cell.cell_type == "markdown":
            cells.append(nbformat.v4.new_markdown_cell(plain(cell.source, siblings)))
            continue
        hidden = FOLDED & set(cell.metadata.get("tags", []))
        metadata = {"jupyter": {"source_hidden": True}} if hidden else {}
        cells.append(nbformat.v4.new_code_cell(cell.source, metadata=metadata))
        figure = cell.metadata.get("mystnb", {}).get("figure", {})
        if caption := " ".join(figure.get("caption", "").split()):
            text = f"**{figure.get('name', 'Figure')}.** {plain(caption, siblings)}"
            cells.append(nbformat.v4.new_markdown_cell(text))
    return numbered(cells)


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


def remote_buttons(address: str, name: str) -> list[dict]:
    """Buttons that open a chapter's notebook on other machines."""
    project = urlsplit(address).path.strip("/")
    binder = f"https://mybinder.org/v2/gh/{project}/notebooks?labpath={name}.ipynb"
    colab = f"https://colab.research.google.com/github/{project}/blob/notebooks/{name}.ipynb"
    places = (("Binder", binder, "fas fa-rocket"), ("Colab", colab, "fas fa-play"))
    return [
        {"type": "link", "url": url, "text": place, "tooltip": f"Run on {place}", "icon": icon}
        for place, url, icon in places
    ]


def add_buttons(app, pagename: str, templatename: str, context: dict, doctree) -> None:
    """Offer the notebook of a chapter beside its source, and to run it if that is possible."""
    name = pagename.rpartition("/")[2]
    if "kernelspec" not in app.env.metadata.get(pagename, {}) or app.builder.name != "html":
        return
    groups = {button.get("label"): button for button in context["header_buttons"]}
    groups["download-buttons"]["buttons"].insert(
        0,
        {
            "type": "link",
            "url": context["pathto"](f"notebooks/{name}.ipynb", 1),
            "text": ".ipynb",
            "tooltip": "Download notebook",
            "icon": "fas fa-download",
            "label": "download-notebook-button",
        },
    )
    if repository():
        run = {"type": "group", "tooltip": "Run this page", "icon": "fas fa-rocket"}
        run |= {"label": "launch-buttons", "buttons": remote_buttons(repository(), name)}
        context["header_buttons"].insert(0, run)


def ship_notebooks(app, exception) -> None:
    """Put the notebooks and the packages that they need into the built site."""
    if exception is None and app.builder.name == "html":
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
