"""The plotted numbers, read back from matplotlib's own objects, against those of the CSV.

As an extension of IPython it holds every figure that a chapter shows.
"""

import io

import numpy as np
import pandas as pd
from matplotlib.collections import LineCollection, PathCollection, PolyCollection, QuadMesh
from matplotlib.container import BarContainer
from matplotlib.contour import ContourSet

from mdsgdln_book import figure_numbers

HELD: list[int] = []  # numbers of each figure that a chapter showed
WRONG: list[str] = []


def load_ipython_extension(shell) -> None:
    """Hold every figure that a cell shows against its numbers."""
    formatter = shell.display_formatter.mimebundle_formatter
    formatter.for_type_by_name("matplotlib.figure", "Figure", note)


def note(figure) -> tuple[dict, dict]:
    text = figure_numbers.as_csv(figure)
    try:
        HELD.append(hold(figure, pd.read_csv(io.StringIO(text))) if text else 0)
    except Exception as error:  # IPython would go on without a word
        WRONG.append(f"figure {len(HELD) + len(WRONG) + 1}: {error!r}")
    return {}, {}


def hold(figure, rows: pd.DataFrame) -> int:
    """Hold all that a figure draws against the rows; there are no others. Return their number."""
    axes = [part for whole in figure.axes for part in (whole, *whole.child_axes)]
    panels = [part for part in axes if not hasattr(part, "_colorbar") and part.get_visible()]
    numbers, checked = rows["panel"].astype(str).str.split().str[0].astype(int), 0
    for number, panel in enumerate(panels, start=1):
        own = rows[numbers == number]
        hold_lines(panel, own)
        checked += (own["kind"] == "line").sum()
        for kind, expected in plotted(panel).items():
            part = own[own["kind"] == kind]
            checked += len(part)
            if kind == "image":
                ours = part["value"].to_numpy(float)
                np.testing.assert_allclose(ours, expected, rtol=1e-5, atol=1e-12)
            else:
                ours = points(part)
                expected = rounded(expected).reshape(-1, 2)
                np.testing.assert_allclose(ours, expected, rtol=1e-5, atol=1e-12)
    assert checked == len(rows)
    return checked


def points(rows) -> np.ndarray:
    return rows[["x", "y"]].to_numpy(float)


def rounded(points) -> np.ndarray:
    return np.array([[float(f"{number:.6g}") for number in point] for point in points])


def hold_lines(panel, rows) -> int:
    """Hold every line of a panel against its rows; return how many lines there were."""
    lines = rows[rows["kind"] == "line"]
    found = [part for _, part in lines.groupby("number", sort=True)]
    drawn = [
        line
        for line in panel.lines
        if len(line.get_xdata())
        and line.get_visible()
        and line.get_linestyle() not in ("None", "none", "", " ")
        and all(line.get_transform().contains_branch_seperately(panel.transData))
    ]
    assert len(found) == len(drawn)
    for line, part in zip(drawn, found, strict=True):
        plotted = np.ma.filled(np.ma.asarray(line.get_xydata(), float), np.nan)
        ours, places = points(part), map(tuple, rounded(plotted))
        assert {tuple(row) for row in ours[np.isfinite(ours).all(axis=1)]} <= set(places)
        kept = figure_numbers.needed(panel.transData.transform(plotted))
        if len(ours) < len(plotted):  # what is left out lies on the line that is drawn
            np.testing.assert_array_equal(ours, rounded(plotted[kept]))
            drawn_at = panel.transData.transform(plotted)
            corners = np.flatnonzero(kept)
            for first, last in zip(corners[:-1], corners[1:], strict=True):
                inner = drawn_at[first + 1 : last]
                away = figure_numbers.distance(inner, drawn_at[first], drawn_at[last])
                assert not len(away) or not np.isfinite(away).all() or away.max() <= 0.1
        else:
            np.testing.assert_array_equal(ours, rounded(plotted))
    return len(drawn)


def plotted(panel) -> dict[str, np.ndarray]:
    """What a panel draws but for its curves, as matplotlib has it, in the order of the rows."""
    found = {kind: [] for kind in ("points", "vertical line", "horizontal line", "bar", "segment")}
    found |= {"horizontal bar": [], "area": [], "image": []}
    for line in panel.lines:
        in_x, in_y = line.get_transform().contains_branch_seperately(panel.transData)
        if not line.get_visible() or not len(line.get_xdata()) or hasattr(line, "_xy1"):
            continue
        if in_x and in_y and line.get_linestyle() in ("None", "none", "", " "):
            found["points"] += list(np.ma.filled(line.get_xydata().astype(float), np.nan))
        elif in_x != in_y:
            place = line.get_xydata()[0].astype(float)
            place[1 if in_x else 0] = np.nan
            found["vertical line" if in_x else "horizontal line"].append(place)
    for container in panel.containers:
        if isinstance(container, BarContainer):
            aside = container.orientation == "horizontal"
            for bar in container.patches:
                right, top = bar.get_x() + bar.get_width(), bar.get_y() + bar.get_height()
                middle = bar.get_x() + bar.get_width() / 2, bar.get_y() + bar.get_height() / 2
                place = [right, middle[1]] if aside else [middle[0], top]
                found["horizontal bar" if aside else "bar"].append(place)
    for drawn in filter(lambda each: each.get_visible(), panel.collections):
        if isinstance(drawn, PathCollection):
            found["points"] += list(np.ma.filled(np.ma.asarray(drawn.get_offsets()), np.nan))
        elif isinstance(drawn, QuadMesh):
            found["image"] += list(np.ma.filled(drawn.get_array(), np.nan).ravel())
        elif isinstance(drawn, LineCollection):
            ends = [point for segment in drawn.get_segments() for point in segment]
            found["segment"] += ends if len(ends) <= figure_numbers.FIELD else []
        elif isinstance(drawn, PolyCollection) and not isinstance(drawn, ContourSet):
            found["area"] += [point for path in drawn.get_paths() for point in path.vertices]
    for image in panel.images:
        if image.get_visible() and image.get_array().ndim == 2:
            found["image"] += list(np.ma.filled(image.get_array().astype(float), np.nan).ravel())
    return found
