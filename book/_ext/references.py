"""The references: every chapter's code cells with the text they printed.

`python -m _ext.references [chapter ...]` executes chapters and writes
`tests/references/<chapter>.ipynb`, which nbval executes again and compares. Kept is what can be
compared, and nothing else: no pictures, no HTML, no warnings, no metadata that differ every time.
"""

import os
import re
import sys
from pathlib import Path

import jupytext
import nbformat
from nbclient import NotebookClient
from traitlets.config import Config

from mdsgdln_book.places import BOOK, ROOT, STRICT

REFERENCES = ROOT / "tests" / "references"
TIMEOUT = 300  # seconds a cell may take
# Where a kernel is reached without encryption, it complains.
ENCRYPTED = Config(KernelManager={"transport_encryption": "auto"})
COMPARED = ("text/plain", "text/markdown", "text/latex")
HEADER = re.compile(r"---\n(?:(?!---).*\n)*kernelspec:")  # of a page that is a notebook
RECORD = "application/papermill.record/text/plain"


def chapters(book: Path = BOOK) -> dict[str, Path]:
    """The pages that are notebooks, by name: those whose header names a kernel."""
    pages = {page.stem: page for page in sorted(book.glob("*.md"))}
    return {name: page for name, page in pages.items() if HEADER.match(page.read_text("utf8"))}


def code_cells(notebook) -> list:
    """The notebook's code cells."""
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def keep_output(output):
    """The comparable part of an output, or None."""
    if output.output_type == "stream":
        if output.name == "stdout":
            return nbformat.v4.new_output("stream", name="stdout", text=output.text)
        return None
    if output.output_type not in ("display_data", "execute_result"):
        return None
    data = {mime: text for mime, text in output.data.items() if mime in (*COMPARED, RECORD)}
    count = {k: output[k] for k in ("execution_count",) if k in output}
    return nbformat.v4.new_output(output.output_type, data=data, **count) if data else None


def scrub(notebook):
    """An executed notebook reduced to code and comparable outputs."""
    cells = []
    for cell in code_cells(notebook):
        outputs = [kept for output in cell.outputs if (kept := keep_output(output))]
        tags = list(cell.metadata.get("tags", []))
        new = nbformat.v4.new_code_cell(
            cell.source,
            execution_count=cell.execution_count,
            outputs=outputs,
            metadata={"tags": tags} if tags else {},
        )
        cells.append(new)
    return numbered(cells)


def numbered(cells: list):
    """A notebook of these cells, whose ids are their numbers."""
    for number, cell in enumerate(cells):
        cell.id = f"cell-{number}"
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})


def execute(source: Path, **options):
    """Run a chapter in a fresh kernel, in its own folder; its claims are decided strictly."""
    os.environ[STRICT] = "yes"
    notebook = jupytext.read(source)
    client = NotebookClient(
        notebook,
        timeout=TIMEOUT,
        kernel_name="python3",
        coalesce_streams=True,
        resources={"metadata": {"path": str(source.parent)}},
        config=ENCRYPTED,
        **options,
    )
    return client.execute()


def regenerate(name: str, book: Path = BOOK, folder: Path = REFERENCES) -> Path:
    """Execute one chapter and write its reference."""
    target = folder / f"{name}.ipynb"
    folder.mkdir(parents=True, exist_ok=True)
    nbformat.write(scrub(execute(book / f"{name}.md")), target)
    return target


def compared(cell) -> tuple[str, list[str]]:
    """What a chapter and its reference have in common of a cell: code and tags."""
    return cell.source, cell.metadata.get("tags", [])


def drift(book: Path = BOOK, folder: Path = REFERENCES) -> list[str]:
    """How references and chapters differ in code, tags or coverage; empty if they do not."""
    sources, references = chapters(book), {path.stem: path for path in folder.glob("*.ipynb")}
    found = [f"{name}: chapter without a reference" for name in sources if name not in references]
    found += [f"{name}: reference without a chapter" for name in references if name not in sources]
    for name in sources.keys() & references.keys():
        ours = code_cells(jupytext.read(sources[name]))
        theirs = code_cells(nbformat.read(references[name], as_version=4))
        if [*map(compared, ours)] != [*map(compared, theirs)]:
            found.append(f"{name}: code or tags differ")
        elif not all(cell.execution_count for cell in theirs):
            found.append(f"{name}: a cell was never executed, so nothing is compared")
    return found


def main(names: list[str]) -> None:
    """Regenerate the references of the named chapters, or of all."""
    known = chapters()
    for name in names or known:
        if name not in known:
            sys.exit(f"chapter: expected one of {sorted(known)}, got {name!r}")
        print(f"{name} ...", flush=True)
        regenerate(name)


if __name__ == "__main__":
    main(sys.argv[1:])
