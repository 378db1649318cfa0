"""Chapters as notebooks that run anywhere: `to_notebook(path, repository, commit)`.

A first cell installs both packages where they are missing, from the repository or from their
wheels. The prose becomes plain Markdown, which
Jupyter, Binder and Colab show without further parts: directives turn into headings, labelled
equations into tagged ones, theorems into named ones, roles into their text.
"""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

import jupytext
import nbformat

import mdsgdln
import mdsgdln_book

NAMES = {"prf:proof": "Proof", "solution": "Solution", "interactive": "Interactive figure"}
OPEN = re.compile(r"^ *(?P<fence>`{3,}|:{3,})\{(?P<name>[\w:-]+)\} *(?P<argument>.*)$")
CODE = re.compile(r"^ *(?P<fence>`{3,})\w*$")
OPTION = re.compile(r"^ *:(?P<key>[\w-]+): *(?P<value>.*)$")
TARGET = re.compile(r"^\([\w-]+\)=\n", re.MULTILINE)
LABELLED = re.compile(r"\$\$ *\((?P<label>[\w-]+)\) *$", re.MULTILINE)
ROLE = re.compile(r"\{(?P<role>[a-z:]+)\}`(?P<text>[^`<]*?)(?: *<(?P<target>[^`>]+)>)?`")
THEOREM = re.compile(
    r"^[`:]{3,}\{prf:(?P<kind>\w+)\} *(?P<title>\S.*)\n:label: (?P<label>.*)$", re.MULTILINE
)
LINK = re.compile(r"\[(?P<text>[^\]]*)\]\((?P<name>\w*)(?:\.md)?(?:#(?P<place>[\w-]+))?\)")

# The two distributions, as pip finds them in the book's repository.
DISTRIBUTIONS = (
    "mdsgdln @ git+{repository}@{commit}",
    "mdsgdln-book @ git+{repository}@{commit}#subdirectory=book",
)
INSTALL = """\
# Where the book's package is missing, this installs it, as it was when this notebook was written.
import importlib.util

if importlib.util.find_spec("mdsgdln_book") is None:
    {install}
"""
FROM_REPOSITORY = "%pip install --quiet " + " ".join(f'"{each}"' for each in DISTRIBUTIONS)
# Without a repository, from their wheels, which lie beside the notebooks on the book's site.
WHEELS = tuple(
    f"{package.__name__}-{package.__version__}-py3-none-any.whl"
    for package in (mdsgdln, mdsgdln_book)
)
FROM_WHEELS = f"""\
# Both files lie beside this notebook on the book's site; save them in this notebook's folder.
    %pip install --quiet ./{WHEELS[0]} ./{WHEELS[1]}"""


def to_notebook(path: Path, repository: str = "", commit: str = "") -> nbformat.NotebookNode:
    """The chapter, not executed; its first cell knows the repository, if there is one."""
    source = jupytext.read(path)
    install = FROM_REPOSITORY if repository else FROM_WHEELS
    first = INSTALL.format(install=install.format(repository=repository, commit=commit))
    cells = [nbformat.v4.new_code_cell(first.rstrip())]
    siblings, titles = {page.stem for page in path.parent.glob("*.md")}, theorems(path.parent)
    for cell in source.cells:
        if cell.cell_type == "markdown":
            cells.append(nbformat.v4.new_markdown_cell(plain(cell.source, siblings, titles)))
            continue
        hidden = "hide-input" in cell.metadata.get("tags", [])
        folded = {"jupyter": {"source_hidden": True}} if hidden else {}
        cells.append(nbformat.v4.new_code_cell(cell.source, metadata=folded))
        caption = cell.metadata.get("mystnb", {}).get("figure", {}).get("caption")
        if caption:
            text = " ".join(caption.split())
            cells.append(nbformat.v4.new_markdown_cell(f"*Figure.* {plain(text, siblings)}"))
    for number, cell in enumerate(cells):
        cell.id = f"cell-{number}"
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})


@cache
def theorems(book: Path) -> Mapping[str, str]:
    """What the theorems of all chapters are called, by label."""
    found = (m for page in book.glob("*.md") for m in THEOREM.finditer(page.read_text("utf8")))
    return {m["label"]: f"{m['kind'].capitalize()} “{m['title']}”" for m in found}


def plain(
    text: str, siblings: set[str] = frozenset(), titles: Mapping[str, str] = MappingProxyType({})
) -> str:
    """MyST as plain Markdown, with the names of other chapters and the titles of theorems.

    >>> plain("see {eq}`flow`, {term}`modes <mode>` and {cite:t}`saxe2014`")
    'see (flow), modes and Saxe (2014)'
    >>> plain("$$ a = b $$ (flow)")
    '$$ a = b \\\\tag{flow}$$'
    """
    text = "\n".join(unfold(TARGET.sub("", text).split("\n")))
    text = LABELLED.sub(r"\\tag{\g<label>}$$", text)
    text = ROLE.sub(lambda match: role_text(match, titles), text)
    return LINK.sub(lambda match: link_text(match, siblings), text)


def unfold(lines: list[str]) -> list[str]:
    """Lines without directives: what they hold, under the name they have."""
    out, waiting, index = [], [], 0
    while index < len(lines):
        line, index = lines[index], index + 1
        if waiting and line.strip() == waiting[-1][0]:
            out += waiting.pop()[1]
        elif waiting and waiting[-1][1] == [line]:  # inside ordinary code
            out.append(line)
        elif match := OPEN.match(line):
            options = {}
            while index < len(lines) and (option := OPTION.match(lines[index])):
                options[option["key"]] = option["value"]
                index += 1
            before, after = frame(match["name"], match["argument"], options)
            if match["name"] == "math":
                end = next(i for i in range(index, len(lines)) if lines[i].strip()[:3] == "```")
                before += split(lines[index:end])
                index = end
            out += before
            waiting.append((match["fence"], after))
        else:
            if match := CODE.match(line):
                waiting.append((match["fence"], [match["fence"]]))
            out.append(line)
    return out


def split(lines: list[str]) -> list[str]:
    """The lines of an equation, aligned as Sphinx does if there are several."""
    body = [line for line in lines if line.strip()]
    if not any(r"\\" in line for line in body):
        return body
    return [r"\begin{split}", *body, r"\end{split}"]


def frame(name: str, argument: str, options: dict) -> tuple[list[str], list[str]]:
    """What stands before and behind the content of a directive."""
    if name == "math":
        tag = rf"\tag{{{options['label']}}}" if "label" in options else ""
        return ["$$"], [f"{tag}$$"]
    title = NAMES.get(name, name.removeprefix("prf:").capitalize())
    if name == "solution":
        return ["<details>", f"<summary>{title}</summary>", ""], ["", "</details>"]
    if name == "interactive":
        return [f"*{title} “{argument}”: see the page.*"], []
    if name in ("admonition", "note"):
        return [f"**{argument or title}.**", ""], [""]
    return [f"**{title} “{argument}”.**" if argument else f"**{title}.**", ""], [""]


def role_text(match: re.Match, titles: Mapping[str, str]) -> str:
    """What a role shows."""
    role, text = match["role"], match["text"]
    if role == "prf:ref":
        return titles.get(text, text)
    if role == "eq":
        return f"({text})"
    if role in ("claim", "measured", "null"):  # what was measured is not known yet
        return "" if role == "claim" else "(value in the ledger)"
    if role.startswith("cite"):
        keys = [re.sub(r"\D", "", key) for key in text.split(",")]
        names = [re.sub(r"[\d ]", "", key).capitalize() for key in text.split(",")]
        inside = role == "cite:p"
        pairs = [f"{n} {k}" if inside else f"{n} ({k})" for n, k in zip(names, keys, strict=True)]
        return f"({'; '.join(pairs)})" if inside else "; ".join(pairs)
    return text


def link_text(match: re.Match, siblings: set[str]) -> str:
    """A link between chapters, as one between notebooks; other places of the book by their name."""
    name, place = match["name"], match["place"] or ""
    shown = match["text"] or (name or place).replace("_", " ")
    return f"[{shown}]({name}.ipynb)" if name in siblings else shown
