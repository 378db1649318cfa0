"""Chapters as notebooks that run anywhere: `to_notebook(path, repository, commit, executed)`.

A first cell installs both packages where they are missing, from the repository or from their
wheels. The prose becomes plain Markdown, which Jupyter, Binder and Colab show without further
parts: theorems, figures and labelled equations have the book's numbers, roles become their text.
Outputs are those of an executed copy, if there is one.
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
RECORD = "application/papermill.record"  # a value that the ledger shows
FOLDED = {  # how a notebook shows what a page hides
    "hide-input": {"source_hidden": True},
    "remove-input": {"source_hidden": True},
    "remove-cell": {"source_hidden": True, "outputs_hidden": True},
}
OPEN = re.compile(r"^ *(?P<fence>`{3,}|:{3,})\{(?P<name>[\w:-]+)\} *(?P<argument>.*)$")
CODE = re.compile(r"^ *(?P<fence>`{3,})\w*$")
OPTION = re.compile(r"^ *:(?P<key>[\w-]+): *(?P<value>.*)$")
TARGET = re.compile(r"^\([\w-]+\)=\n", re.MULTILINE)
LABELLED = re.compile(r"\$\$ *\((?P<label>[\w-]+)\) *$", re.MULTILINE)
ROLE = re.compile(r"\{(?P<role>[a-z:]+)\}`(?P<text>[^`<]*?)(?: *<(?P<target>[^`>]+)>)?`")
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


def to_notebook(
    path: Path,
    repository: str = "",
    commit: str = "",
    known: Mapping[str, str] = MappingProxyType({}),
    executed: nbformat.NotebookNode | None = None,
) -> nbformat.NotebookNode:
    """The chapter; its first cell knows the repository, if there is one.

    Args:
        path: the chapter.
        repository: its address.
        commit: which one to install.
        known: what references show, by label (``numbers.shown``); the title of a page under
            "page:name", and what was measured of a claim under "claim:id".
        executed: a copy whose code cells have outputs; the notebook has none without it, or if it
            has more or fewer cells.
    """
    source = jupytext.read(path)
    install = FROM_REPOSITORY if repository else FROM_WHEELS
    first = INSTALL.format(install=install.format(repository=repository, commit=commit))
    cells = [nbformat.v4.new_code_cell(first.rstrip())]
    siblings = pages(path.parent)
    outputs = iter(outputs_of(source, executed))
    for cell in source.cells:
        if cell.cell_type == "markdown":
            cells.append(nbformat.v4.new_markdown_cell(plain(cell.source, siblings, known)))
            continue
        folded = [FOLDED[tag] for tag in cell.metadata.get("tags", []) if tag in FOLDED]
        metadata = {"jupyter": folded[0]} if folded else {}
        cells.append(nbformat.v4.new_code_cell(cell.source, metadata=metadata))
        if copy := next(outputs, None):
            cells[-1].execution_count = copy.execution_count
            cells[-1].outputs = [kept for each in copy.outputs if (kept := shown(each))]
        figure = cell.metadata.get("mystnb", {}).get("figure", {})
        if figure.get("caption"):
            text = plain(" ".join(figure["caption"].split()), siblings, known)
            name = known.get(figure.get("name"), "Figure")
            cells.append(nbformat.v4.new_markdown_cell(f"**{name}.** {text}"))
    if title := known.get(f"page:{path.stem}"):
        cell = next(cell for cell in cells[1:] if cell.source.startswith("# "))
        cell.source = re.sub("^# .*", lambda _: f"# {title}", cell.source, count=1)
    for number, cell in enumerate(cells):
        cell.id = f"cell-{number}"
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})


def outputs_of(
    source: nbformat.NotebookNode, executed: nbformat.NotebookNode | None
) -> list[nbformat.NotebookNode]:
    """The executed code cells of a chapter; none, if it has others now."""
    if executed is None:
        return []
    now, then = (
        [cell for cell in notebook.cells if cell.cell_type == "code"]
        for notebook in (source, executed)
    )
    return then if len(now) == len(then) else []


@cache
def pages(book: Path) -> frozenset[str]:
    """The names of all pages."""
    return frozenset(page.stem for page in book.glob("*.md"))


def recorded(executed: nbformat.NotebookNode) -> dict[str, float]:
    """The values that a chapter recorded, by claim."""
    outputs = (each for cell in executed.cells for each in cell.get("outputs", []))
    claims = (each.get("metadata", {}).get("claim", {}) for each in outputs)
    return {claim["id"]: claim["value"] for claim in claims if claim}


def shown(output: nbformat.NotebookNode) -> nbformat.NotebookNode | None:
    """What a reader sees of an output: of pictures the small one, of figures with controls none."""
    if output.output_type == "stream":
        return output if output.name == "stdout" else None
    data = dict(output.get("data", {}))
    hidden = {mime for mime in data if mime.startswith(RECORD)} | {"image/svg+xml"}
    if 'class="interactive"' in data.get("text/html", ""):
        hidden.add("text/html")
    kept = {mime: text for mime, text in data.items() if mime not in hidden}
    if not kept:
        return None
    count = {name: output[name] for name in ("execution_count",) if name in output}
    return nbformat.v4.new_output(output.output_type, data=kept, **count)


def plain(
    text: str, siblings: set[str] = frozenset(), known: Mapping[str, str] = MappingProxyType({})
) -> str:
    """MyST as plain Markdown, with the names of other chapters and what references show.

    >>> plain("see {eq}`flow`, {term}`modes <mode>` and {cite:t}`saxe2014`")
    'see (flow), modes and Saxe (2014)'
    >>> plain("$$ a = b $$ (flow)", known={"flow": "1.2"})
    '$$ a = b \\\\tag{1.2}$$'
    """
    text = "\n".join(unfold(TARGET.sub("", text).split("\n"), known))
    text = LABELLED.sub(lambda m: rf"\tag{{{known.get(m['label'], m['label'])}}}$$", text)
    text = ROLE.sub(lambda match: role_text(match, known), text)
    return LINK.sub(lambda match: link_text(match, siblings, known), text)


def unfold(lines: list[str], known: Mapping[str, str]) -> list[str]:
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
            before, after = frame(match["name"], match["argument"], options, known)
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


def frame(
    name: str, argument: str, options: dict, known: Mapping[str, str]
) -> tuple[list[str], list[str]]:
    """What stands before and behind the content of a directive."""
    label = options.get("label", options.get("name"))
    if name == "math":
        return ["$$"], [rf"\tag{{{known.get(label, label)}}}$$" if label else "$$"]
    title = known.get(label) or NAMES.get(name, name.removeprefix("prf:").capitalize())
    if name.startswith("solution"):
        title = f"Solution to {known[argument]}" if argument in known else "Solution"
        if name == "solution":
            return ["<details>", f"<summary>{title}</summary>", ""], ["", "</details>"]
        return [f"**{title}.**"] if name == "solution-start" else [], []  # cells are between them
    if name == "interactive":
        return [f"**{title}.** *See the page.*", ""], []
    if name in ("admonition", "note"):
        return [f"**{argument or title}.**", ""], [""]
    return [f"**{title} ({argument}).**" if argument else f"**{title}.**", ""], [""]


def role_text(match: re.Match, known: Mapping[str, str]) -> str:
    """What a role shows."""
    role, text = match["role"], match["text"]
    if role in ("prf:ref", "numref", "ref") and not match["target"]:
        return known.get(text, text)
    if role == "eq":
        return f"({known.get(text, text)})"
    if role in ("claim", "measured", "null"):
        value = known.get(f"claim:{text}") if role == "measured" else None
        return "" if role == "claim" else value or "(value in the ledger)"
    if role.startswith("cite"):
        keys = [re.sub(r"\D", "", key) for key in text.split(",")]
        names = [re.sub(r"[\d ]", "", key).capitalize() for key in text.split(",")]
        inside = role == "cite:p"
        pairs = [f"{n} {k}" if inside else f"{n} ({k})" for n, k in zip(names, keys, strict=True)]
        return f"({'; '.join(pairs)})" if inside else "; ".join(pairs)
    return text


def link_text(match: re.Match, siblings: set[str], known: Mapping[str, str]) -> str:
    """A link between chapters, as one between notebooks; other places of the book by their name."""
    name, place = match["name"], match["place"] or ""
    title = known.get(f"page:{name}", (name or place).replace("_", " "))
    shown = match["text"] or title
    return f"[{shown}]({name}.ipynb)" if name in siblings else shown
