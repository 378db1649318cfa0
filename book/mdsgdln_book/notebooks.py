"""Chapters as notebooks that run anywhere: `to_notebook(path, repository, commit)`.

A first cell installs both packages where they are missing, from the repository or from their
wheels. The prose becomes plain Markdown, which Jupyter, Binder and Colab show without further
parts: directives become their content, roles their text. What is numbered has its label.
"""

import re
from functools import cache
from pathlib import Path

import jupytext
import nbformat

import mdsgdln
import mdsgdln_book

FOLDED = {  # how a notebook shows what a page hides
    "hide-input": {"source_hidden": True},
    "remove-input": {"source_hidden": True},
    "remove-cell": {"source_hidden": True, "outputs_hidden": True},
}
FENCE = re.compile(r"^ *(?P<fence>`{3,}|:{3,})(?:\{(?P<name>[\w:-]+)\} *)?(?P<argument>.*)$")
OPTION = re.compile(r"^ *:(?P<key>[\w-]+): *(?P<value>.*)$")
TARGET = re.compile(r"^\([\w-]+\)=\n", re.MULTILINE)
LABELLED = re.compile(r"\$\$ *\((?P<label>[\w-]+)\) *$", re.MULTILINE)
ROLE = re.compile(r"\{(?P<role>[a-z:]+)\}`(?P<text>[^`<]*?)(?: *<[^`>]+>)?`")
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
    """The chapter, not executed; its first cell knows the repository, if there is one.

    Args:
        path: the chapter.
        repository: its address.
        commit: which one to install.
    """
    install = FROM_REPOSITORY if repository else FROM_WHEELS
    first = INSTALL.format(install=install.format(repository=repository, commit=commit))
    cells = [nbformat.v4.new_code_cell(first.rstrip())]
    siblings = pages(path.parent)
    for cell in jupytext.read(path).cells:
        if cell.cell_type == "markdown":
            cells.append(nbformat.v4.new_markdown_cell(plain(cell.source, siblings)))
            continue
        folded = [FOLDED[tag] for tag in cell.metadata.get("tags", []) if tag in FOLDED]
        metadata = {"jupyter": folded[0]} if folded else {}
        cells.append(nbformat.v4.new_code_cell(cell.source, metadata=metadata))
        figure = cell.metadata.get("mystnb", {}).get("figure", {})
        if figure.get("caption"):
            text = plain(" ".join(figure["caption"].split()), siblings)
            cells.append(
                nbformat.v4.new_markdown_cell(f"**{figure.get('name', 'Figure')}.** {text}")
            )
    for number, cell in enumerate(cells):
        cell.id = f"cell-{number}"
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})


@cache
def pages(book: Path) -> frozenset[str]:
    """The names of all pages."""
    return frozenset(page.stem for page in book.glob("*.md"))


def plain(text: str, siblings: frozenset[str] = frozenset()) -> str:
    """MyST as plain Markdown, with the names of other chapters.

    >>> plain("see {eq}`flow`, {term}`modes <mode>` and {cite:t}`saxe2014`")
    'see (flow), modes and saxe2014'
    >>> plain("$$ a = b $$ (flow)")
    '$$ a = b \\\\tag{flow}$$'
    """
    text = "\n".join(unfold(TARGET.sub("", text).split("\n")))
    text = LABELLED.sub(lambda match: rf"\tag{{{match['label']}}}$$", text)
    text = ROLE.sub(role_text, text)
    return LINK.sub(lambda match: link_text(match, siblings), text)


def unfold(lines: list[str]) -> list[str]:
    """Lines without directives: what they hold, under the name they have."""
    out, waiting, index = [], [], 0
    while index < len(lines):
        line, index = lines[index], index + 1
        if waiting and line.strip() == waiting[-1][0]:
            out += waiting.pop()[1]
            continue
        after = waiting[-1][1] if waiting else []
        if r"\end{aligned}" in after and not line.strip():
            continue  # it would end the formula
        inside_code = waiting and after == [waiting[-1][0]]
        match = None if inside_code else FENCE.match(line)
        if match is None:
            out.append(line)
        elif match["name"] is None:  # ordinary code
            out.append(line)
            waiting.append((match["fence"], [match["fence"]]))
        else:
            options = {}
            while index < len(lines) and (option := OPTION.match(lines[index])):
                options[option["key"]] = option["value"]
                index += 1
            before, after = frame(match["name"], match["argument"], options)
            out += before
            waiting.append((match["fence"], after))
    return out


def frame(name: str, argument: str, options: dict) -> tuple[list[str], list[str]]:
    """What stands before and behind the content of a directive."""
    label = options.get("label", options.get("name"))
    if name == "math":
        end = [rf"\tag{{{label}}}"] if label else []
        return ["$$", r"\begin{aligned}"], [r"\end{aligned}", *end, "$$"]
    if name == "solution":
        return ["<details>", "<summary>Solution</summary>", ""], ["", "</details>"]
    if name.startswith("solution"):  # cells are between its start and its end
        return ["**Solution.**"] if name == "solution-start" else [], []
    if name == "interactive":
        return [f"**{label}.** *See the page.*", ""], []
    title = argument or label or name.removeprefix("prf:").capitalize()
    return [f"**{title}.**", ""], [""]


def role_text(match: re.Match) -> str:
    """What a role shows."""
    role, text = match["role"], match["text"]
    if role == "eq":
        return f"({text})"
    if role in ("measured", "null"):
        return "(value on the page)"
    return "" if role == "claim" else text


def link_text(match: re.Match, siblings: frozenset[str]) -> str:
    """A link between chapters, as one between notebooks; other places of the book by their name."""
    name, place = match["name"], match["place"] or ""
    text = match["text"] or (name or place).replace("_", " ")
    return f"[{text}]({name}.ipynb)" if name in siblings else text
