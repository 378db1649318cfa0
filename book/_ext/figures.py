"""One figure, drawn again with its numbers: `make figure NAME=mhs-4`, or `NAME=fig-xor-cells`.

A figure of the papers has a short name and is drawn alone. Any other figure has the name that its
chapter gives it, and that chapter is executed. `_build/figures` then has the figure and, as CSV,
the numbers that it plots. A row is a point. Its columns are the panel, what is drawn there
(`kind`), which one it is, its label, x, y and a value:

- `line`, and `points` (their colour is the value);
- `bar`, from the value to y at the place x; `horizontal bar`, from the value to x at the place y;
- `vertical line` at x, `horizontal line` at y;
- `segment`, a row an end, as of error bars; `area`, the corners of a filled area;
- `image`, the value of each cell at its centre.

Arrows, boxes, texts, level lines and fields of lines are left out.
"""

import re
import sys
from pathlib import Path

import jax
import numpy as np
import pandas as pd

from mdsgdln_book.places import BOOK

FOLDER = Path("_build/figures")
FIGURE = re.compile(r"^\s+figure:\n\s+caption:.*?\n\s+name: (\S+)$", re.MULTILINE | re.DOTALL)
SVG = "image/svg+xml"
FIELD = 2000  # points of segments drawn together: more are a background, as the lines of a flow
DIGITS = 6
METADATA = "figure_numbers"  # of an output, in a kernel that loads this module as an extension
COLUMNS = ["panel", "kind", "number", "label", "x", "y", "value"]


def write(name: str, folder: Path = FOLDER) -> list[Path]:
    """Draw a figure; return where it is, and its numbers if it has any.

    Raises:
        ValueError: there is none of that name.
    """
    from mdsgdln_book import paper_figures

    name = name.removeprefix("fig-paper-")
    if name in paper_figures.FIGURES:
        return write_alone(name, folder)
    chapters = {
        figure: page
        for page in sorted(BOOK.glob("*.md"))
        for figure in FIGURE.findall(page.read_text(encoding="utf8"))
    }
    if name in chapters:
        return write_of_chapter(name, chapters[name], folder)
    others = sorted(each for each in chapters if not each.startswith("fig-paper-"))
    raise ValueError(f"name: expected one of {[*paper_figures.FIGURES, *others]}, got {name!r:.80}")


def write_alone(name: str, folder: Path) -> list[Path]:
    """Draw a figure of the papers on white ground."""
    from mdsgdln_book import paper_figures, plots

    plots.style()
    figure = paper_figures.draw(name)
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / f"{name}.png", facecolor="white")
    return [folder / f"{name}.png", *write_numbers(name, as_csv(figure), folder)]


def write_of_chapter(name: str, chapter: Path, folder: Path) -> list[Path]:
    """Execute the chapter of a figure, and write what it shows."""
    from _ext import execution

    print(f"executing {chapter.stem} ...", flush=True)
    notebook = execution.execute(chapter, extra_arguments=["--ext=_ext.figures"])
    for cell in notebook.cells:
        found = cell.metadata.get("mystnb", {}).get("figure", {}).get("name", "")
        for output in cell.get("outputs", []):
            if found == name and SVG in output.get("data", {}):
                folder.mkdir(parents=True, exist_ok=True)
                (folder / f"{name}.svg").write_text(output.data[SVG], encoding="utf8")
                numbers = output.metadata.get(METADATA, "")
                return [folder / f"{name}.svg", *write_numbers(name, numbers, folder)]
    raise ValueError(f"name: {name} is a figure with controls; its page shows it")


def write_numbers(name: str, text: str, folder: Path) -> list[Path]:
    """Write the numbers of a figure, if it has any."""
    path = folder / f"{name}.csv"
    if text:
        path.write_text(text, encoding="utf8")
    return [path] if text else []


# Numbers -----------------------------------------------------------------------------------------


def load_ipython_extension(shell) -> None:
    """Let every figure that a cell shows carry its numbers in the metadata of the output."""
    formatter = shell.display_formatter.mimebundle_formatter
    numbers = lambda figure: ({}, {METADATA: as_csv(figure)})  # noqa: E731
    formatter.for_type_by_name("matplotlib.figure", "Figure", numbers)


def as_csv(figure) -> str:
    """Return the plotted numbers as CSV; nothing where there are none."""
    found = rows(figure)
    if found.empty:
        return ""
    return found.to_csv(index=False, float_format=f"%.{DIGITS}g", lineterminator="\n")


def rows(figure) -> pd.DataFrame:
    """Return the plotted numbers, a row a point."""
    axes = [part for whole in figure.axes for part in (whole, *whole.child_axes)]
    panels = [part for part in axes if not hasattr(part, "_colorbar") and part.get_visible()]
    found = []
    for number, panel in enumerate(panels, start=1):
        panel.get_xlim(), panel.get_ylim()  # a panel knows its limits when it is asked
        name = " ".join([str(number), *filter(None, [title(panel)])])
        for order, (kind, label, columns) in enumerate(drawn(panel), start=1):
            label = "" if label.startswith("_") else label
            head = {"panel": name, "kind": kind, "number": order, "label": label}
            found.append(pd.DataFrame(head | columns))
    return pd.concat(found)[COLUMNS] if found else pd.DataFrame(columns=COLUMNS)


def title(panel) -> str:
    """Return the text above a panel, or next to it."""
    titles = [panel.get_title(loc) for loc in ("left", "center", "right")]
    return " ".join(filter(None, titles)) or panel.get_ylabel()


def drawn(panel):
    """Yield kind, label and the columns x, y and value of all that a panel draws from numbers."""
    for line in panel.lines:
        if line.get_visible() and (found := of_line(line, panel)):
            yield found
    for container in panel.containers:
        if hasattr(container, "orientation") and hasattr(container, "patches"):
            yield of_bars(container)
    for collection in panel.collections:
        if collection.get_visible():
            yield from of_collection(collection)
    for image in panel.images:
        if image.get_visible() and image.get_array().ndim == 2:
            yield "image", image.get_label(), of_image(image)


def columns(points, value=np.nan) -> dict:
    """The columns of points (points, 2)."""
    points = np.ma.filled(np.ma.asarray(points, float), np.nan)
    return {"x": points[:, 0], "y": points[:, 1], "value": value}


def of_line(line, panel):
    """A line; None if it is empty, or not drawn in the panel's coordinates."""
    points = np.ma.filled(np.ma.asarray(line.get_xydata(), float), np.nan)
    if len(points) == 0 or hasattr(line, "_xy1"):
        return None
    in_x, in_y = line.get_transform().contains_branch_seperately(panel.transData)
    if in_x and in_y:
        kind = "line" if line.get_linestyle() not in ("None", "none", "", " ") else "points"
        return kind, line.get_label(), columns(points)
    if in_x or in_y:
        kind, place = ("vertical line", 0) if in_x else ("horizontal line", 1)
        found = np.full((1, 2), np.nan)
        found[0, place] = points[0, place]
        return kind, line.get_label(), columns(found)
    return None


def of_bars(container):
    """Bars side by side."""
    boxes = np.array([patch.get_bbox().get_points() for patch in container.patches])
    boxes = boxes.reshape(-1, 2, 2)
    (left, bottom), (right, top) = boxes[:, 0].T, boxes[:, 1].T
    if container.orientation == "horizontal":
        found = {"x": right, "y": (bottom + top) / 2, "value": left}
        return "horizontal bar", container.get_label(), found
    found = {"x": (left + right) / 2, "y": top, "value": bottom}
    return "bar", container.get_label(), found


def of_collection(collection):
    """Points, segments, filled areas and meshes."""
    from matplotlib import collections

    label, values = collection.get_label(), collection.get_array()
    if isinstance(collection, collections.PathCollection):
        colours = np.nan if values is None else values
        yield "points", label, columns(collection.get_offsets(), colours)
    elif isinstance(collection, collections.QuadMesh):
        corners = np.asarray(collection.get_coordinates())
        centres = (corners[1:, 1:] + corners[:-1, :-1]) / 2
        values = np.ma.filled(values, np.nan).ravel()
        yield "image", label, columns(centres.reshape(-1, 2), values)
    elif isinstance(collection, collections.LineCollection):
        segments = [segment for segment in collection.get_segments() if len(segment)]
        if sum(map(len, segments)) <= FIELD:
            for segment in segments:
                yield "segment", label, columns(segment)
    elif isinstance(collection, collections.PolyCollection):
        for path in collection.get_paths():
            yield "area", label, columns(path.vertices)


def of_image(image) -> dict:
    """The cells of an image, at their centres."""
    values = np.ma.filled(np.ma.asarray(image.get_array(), float), np.nan)
    left, right, bottom, top = image.get_extent()
    height, width = values.shape
    first, last = (top, bottom) if image.origin == "upper" else (bottom, top)
    across = left + (np.arange(width) + 0.5) * (right - left) / width
    along = first + (np.arange(height) + 0.5) * (last - first) / height
    x, y = np.meshgrid(across, along)
    return {"x": x.ravel(), "y": y.ravel(), "value": values.ravel()}


if __name__ == "__main__":
    jax.config.update("jax_enable_x64", True)  # before any task is made
    try:
        print(*write(sys.argv[1] if len(sys.argv) == 2 else ""), sep="\n")
    except ValueError as error:
        sys.exit(str(error))
