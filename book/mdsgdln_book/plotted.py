"""The numbers that a figure plots, as CSV. A row is a point.

Its columns are the panel, the kind of what is drawn there, its number, its label, x, y and a value:

- `line`, and `points` (their colour is the value); one without a label has its look as its name;
- `bar`, from the value to y at the place x; `horizontal bar`, from the value to x at the place y;
- `vertical line` at x, `horizontal line` at y;
- `segment`, a row an end, as of error bars; `area`, the corners of a filled area;
- `image`, the value of each cell at its centre.

Arrows, boxes, texts, level lines and fields of lines are left out. In a kernel that loads this
module as an extension, every figure that a cell shows carries its numbers, and a PNG.
"""

import base64
import io
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import collections
from matplotlib.colors import to_hex
from matplotlib.lines import Line2D

FIELD = 2000  # points of segments drawn together: more are a background, as the lines of a flow
METADATA = "figure_numbers"  # of an output
COLUMNS = ["panel", "kind", "number", "label", "x", "y", "value"]
Drawn = tuple[str, str, Any, Any, Any]  # kind, label, x, y, value


def load_ipython_extension(shell) -> None:
    """Let every figure that a cell shows carry its numbers, and a picture of pixels."""
    formatter = shell.display_formatter.mimebundle_formatter
    formatter.for_type_by_name("matplotlib.figure", "Figure", bundle)


def bundle(figure, **_) -> tuple[dict, dict]:
    """Return a figure as PNG, and its numbers as metadata of the output."""
    file = io.BytesIO()
    figure.savefig(file, format="png", facecolor="white")
    picture = base64.b64encode(file.getvalue()).decode()
    return {"image/png": picture}, {METADATA: as_csv(figure)}


def as_csv(figure) -> str:
    """Return the plotted numbers as CSV; nothing where there are none."""
    axes = [part for whole in figure.axes for part in (whole, *whole.child_axes)]
    panels = [part for part in axes if not hasattr(part, "_colorbar") and part.get_visible()]
    found = []
    for number, panel in enumerate(panels, start=1):
        panel.get_xlim(), panel.get_ylim()  # a panel knows its limits when it is asked
        name = f"{number} {title(panel)}".strip()
        for order, (kind, label, x, y, value) in enumerate(drawn(panel), start=1):
            fields = (name, kind, order, label, x, y, value)
            found.append(pd.DataFrame(dict(zip(COLUMNS, fields, strict=True))))
    if not found:
        return ""
    return pd.concat(found).to_csv(index=False, float_format="%.6g", lineterminator="\n")


def title(panel) -> str:
    """Return the text above a panel, or next to it."""
    titles = [panel.get_title(loc) for loc in ("left", "center", "right")]
    return " ".join(filter(None, titles)) or panel.get_ylabel()


def drawn(panel) -> Iterator[Drawn]:
    """Yield what a panel draws from numbers."""
    for line in filter(lambda line: line.get_visible(), panel.lines):
        yield from of_line(line, panel)
    for container in panel.containers:
        if hasattr(container, "orientation") and hasattr(container, "patches"):
            yield of_bars(container)
    for collection in filter(lambda collection: collection.get_visible(), panel.collections):
        yield from of_collection(collection)
    for image in panel.images:
        if image.get_visible() and image.get_array().ndim == 2:
            yield of_image(image)


def name_of(artist) -> str:
    """The label of what is drawn, without the _ that keeps it from the legend; or how it looks."""
    label = artist.get_label()
    if not label.startswith(("_child", "_nolegend")):
        return label.removeprefix("_")
    if isinstance(artist, Line2D):
        return f"{to_hex(artist.get_color())} {artist.get_linestyle()}"
    return ""


def plain(points) -> np.ndarray:
    """Points as numbers, NaN where they are masked."""
    return np.ma.filled(np.ma.asarray(points, float), np.nan)


def of_line(line, panel) -> Iterator[Drawn]:
    """A line; nothing if it is empty, or not drawn in the panel's coordinates."""
    x, y = plain(line.get_xydata()).reshape(-1, 2).T
    in_x, in_y = line.get_transform().contains_branch_seperately(panel.transData)
    if len(x) == 0 or hasattr(line, "_xy1"):
        return
    if in_x and in_y:
        kind = "line" if line.get_linestyle() not in ("None", "none", "", " ") else "points"
        yield kind, name_of(line), x, y, np.nan
    elif in_x:
        yield "vertical line", name_of(line), x[:1], np.nan, np.nan
    elif in_y:
        yield "horizontal line", name_of(line), np.nan, y[:1], np.nan


def of_bars(container) -> Drawn:
    """Bars side by side."""
    boxes = [patch.get_bbox().get_points() for patch in container.patches]
    left, bottom, right, top = np.reshape(boxes, (-1, 4)).T
    if container.orientation == "horizontal":
        return "horizontal bar", name_of(container), right, (bottom + top) / 2, left
    return "bar", name_of(container), (left + right) / 2, top, bottom


def of_collection(collection) -> Iterator[Drawn]:
    """Points, segments, filled areas and meshes."""
    label, values = name_of(collection), collection.get_array()
    if isinstance(collection, collections.PathCollection):
        colours = np.nan if values is None else values
        yield "points", label, *plain(collection.get_offsets()).T, colours
    elif isinstance(collection, collections.QuadMesh):
        corners = np.asarray(collection.get_coordinates())
        centres = (corners[1:, 1:] + corners[:-1, :-1]) / 2
        yield "image", label, *centres.reshape(-1, 2).T, plain(values).ravel()
    elif isinstance(collection, collections.LineCollection):
        segments = [segment for segment in collection.get_segments() if len(segment)]
        if sum(map(len, segments)) <= FIELD:
            yield from (("segment", label, *plain(each).T, np.nan) for each in segments)
    elif isinstance(collection, collections.PolyCollection):
        for path in collection.get_paths():
            yield "area", label, *plain(path.vertices).T, np.nan


def of_image(image) -> Drawn:
    """The cells of an image, at their centres."""
    values = plain(image.get_array())
    left, right, bottom, top = image.get_extent()
    height, width = values.shape
    first, last = (top, bottom) if image.origin == "upper" else (bottom, top)
    across = left + (np.arange(width) + 0.5) * (right - left) / width
    along = first + (np.arange(height) + 0.5) * (last - first) / height
    x, y = np.meshgrid(across, along)
    return "image", name_of(image), x.ravel(), y.ravel(), values.ravel()
