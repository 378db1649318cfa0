"""The references: every chapter's code cells with the text they printed.

`python -m _ext.references [chapter ...]` writes `tests/references/<chapter>.ipynb`, which nbval
executes again and compares. Kept is what can be compared, and nothing else: no pictures, no HTML,
no warnings, no metadata that differ every time. What was executed for the pages is not executed
again.
"""

import sys
from pathlib import Path

import nbformat
from nbformat import NotebookNode, v4

from _ext import execution
from _ext.execution import chapters, code_cells, executed, read
from mdsgdln_book.places import BOOK, ROOT

REFERENCES = ROOT / "tests/references"
COMPARED = ("text/plain", "text/markdown", "text/latex")
COMPARED += ("application/papermill.record/text/plain",)


def keep_output(output: NotebookNode) -> NotebookNode | None:
    """The comparable part of an output, or None."""
    if output.output_type == "stream":
        stdout = v4.new_output("stream", name="stdout", text=output.text)
        return stdout if output.name == "stdout" else None
    if output.output_type not in ("display_data", "execute_result"):
        return None
    data = {mime: text for mime, text in output.data.items() if mime in COMPARED}
    count = {k: output[k] for k in ("execution_count",) if k in output}
    return v4.new_output(output.output_type, data=data, **count) if data else None


def scrub(notebook: NotebookNode) -> NotebookNode:
    """An executed notebook reduced to code and comparable outputs; ids of cells are numbers."""
    cells = []
    for number, cell in enumerate(code_cells(notebook)):
        outputs = [kept for output in cell.outputs if (kept := keep_output(output))]
        given = {"execution_count": cell.execution_count, "id": f"cell-{number}"}
        metadata = {"tags": list(tags)} if (tags := cell.metadata.get("tags")) else {}
        cells.append(v4.new_code_cell(cell.source, outputs=outputs, metadata=metadata, **given))
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})


def regenerate(source: Path, folder: Path = REFERENCES) -> None:
    """Write the reference of a chapter, executed if it is not yet."""
    folder.mkdir(parents=True, exist_ok=True)
    nbformat.write(scrub(executed(source)), folder / f"{source.stem}.ipynb")


def compared(cell) -> tuple[str, list[str]]:
    """What a chapter and its reference have in common of a cell: code and tags."""
    return cell.source, cell.metadata.get("tags", [])


def drift(book: Path = BOOK, folder: Path = REFERENCES) -> list[str]:
    """How references and chapters differ in code, tags or coverage; empty if they do not."""
    sources, references = chapters(book), {path.stem: path for path in folder.glob("*.ipynb")}
    found = [f"{name}: chapter without a reference" for name in sources if name not in references]
    found += [f"{name}: reference without a chapter" for name in references if name not in sources]
    for name in sources.keys() & references.keys():
        ours = code_cells(read(sources[name]))
        theirs = code_cells(nbformat.read(references[name], as_version=4))
        if [*map(compared, ours)] != [*map(compared, theirs)]:
            found.append(f"{name}: code or tags differ")
        elif not all(cell.execution_count for cell in theirs):
            found.append(f"{name}: a cell was never executed, so nothing is compared")
    return found


def main(*names: str) -> int:
    """Write the references of the named chapters, or of all; 1 if something is wrong."""
    known = chapters()
    if unknown := set(names) - set(known):
        sys.exit(f"CHAPTER: expected some of {sorted(known)}, got {sorted(unknown)}")
    if execution.main(*names):
        return 1
    for name in names or known:
        regenerate(known[name])
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
