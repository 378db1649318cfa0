"""The numbers that a figure plots, as CSV: `as_csv(figure)`.

A kernel that loads this module as an extension lets a figure that a cell shows carry its numbers in
the metadata of the output; `make figure` writes them. A row is a point. Its columns are the panel,
what is drawn there (`kind`), which one it is, its label, x, y and a value:

- `line`, and `points` (their colour is the value);
- `bar`, from the value to y at the place x; `horizontal bar`, from the value to x at the place y;
- `vertical line` at x, `horizontal line` at y;
- `segment`, a row an end, as of error bars; `area`, the corners of what is filled;
- `image`, the value of each cell at its centre.

Arrows, boxes, texts, level lines and fields of lines are left out, and the numbers of a figure that
would take more than `LARGEST` bytes. A smooth curve has as
many points as it takes to draw it: what is left out lies within `TOLERANCE` pixels of the line
between its neighbours.
"""

import io

import numpy as np
import pandas as pd

LARGEST = 1_000_000  # bytes
TOLERANCE = 0.1  # pixels, of 150 in an inch
FIELD = 2000  # points of segments drawn together: more are a background, as the lines of a flow
FEW = 100  # points that are all kept
DIGITS = 6
METADATA = "figure_numbers"  # of an output
COLUMNS = ["panel", "kind", "number", "label", "x", "y", "value"]


def as_csv(figure) -> str:
    """Return the plotted numbers as CSV; nothing where there are none, or too many."""
    found = rows(figure)
    if found.empty:
        return ""
    text = io.StringIO()
    found.to_csv(text, index=False, float_format=f"%.{DIGITS}g", lineterminator="\n")
    return text.getvalue() if len(text.getvalue()) <= LARGEST else ""


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
    """What is written over a panel, or beside it."""
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
        marked = line.get_marker() not in ("None", "none", "", " ", None)
        kind = "line" if line.get_linestyle() not in ("None", "none", "", " ") else "points"
        kept = points if marked else points[needed(panel.transData.transform(points))]
        return kind, line.get_label(), columns(kept)
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
    from matplotlib.contour import ContourSet

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
    elif isinstance(collection, collections.PolyCollection) and not isinstance(
        collection, ContourSet
    ):
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


def needed(places) -> np.ndarray:
    """Which points of a curve, (points, 2) in pixels, it takes to draw it (Douglas and Peucker)."""
    kept = ~np.isfinite(places).all(axis=1)
    if len(places) <= FEW:
        return np.ones(len(places), bool)
    kept[[0, -1]] = True
    kept[1:] |= kept[:-1] & ~np.isfinite(places[:-1]).all(axis=1)  # where a curve goes on
    kept[:-1] |= kept[1:] & ~np.isfinite(places[1:]).all(axis=1)  # and where it breaks off
    corners = np.flatnonzero(kept)
    parts = list(zip(corners[:-1], corners[1:], strict=True))
    while parts:
        first, last = parts.pop()
        inner = places[first + 1 : last]
        if len(inner) == 0:
            continue
        away = distance(inner, places[first], places[last])
        farthest = int(away.argmax())
        if away[farthest] > TOLERANCE:
            middle = first + 1 + farthest
            kept[middle] = True
            parts += [(first, middle), (middle, last)]
    return kept


def distance(points, start, end) -> np.ndarray:
    """How far points are from the segment between two others."""
    along = end - start
    length = along @ along
    share = np.clip((points - start) @ along / length, 0, 1) if length else np.zeros(len(points))
    return np.linalg.norm(points - start - share[:, None] * along, axis=1)


def load_ipython_extension(shell) -> None:
    """Let every figure that a cell shows carry its numbers."""
    formatter = shell.display_formatter.mimebundle_formatter
    formatter.for_type_by_name(
        "matplotlib.figure",
        "Figure",
        lambda figure: ({}, {METADATA: as_csv(figure)}),
    )
