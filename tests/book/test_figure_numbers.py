"""The CSV of a figure has the numbers that it plots, and the pages offer it."""

import base64
import gzip
import io

import jax
import matplotlib.pyplot as plt
import nbformat
import numpy as np
import pandas as pd
import pytest
from bs4 import BeautifulSoup
from matplotlib.collections import LineCollection, PathCollection, PolyCollection, QuadMesh
from matplotlib.container import BarContainer
from matplotlib.contour import ContourSet

from mdsgdln_book import figure_numbers, paper_figures
from mdsgdln_book.extensions import figure_menu
from mdsgdln_book.pages import pdf
from mdsgdln_book.paper_figures import runs

GRAPHS = ("mhs-1", "nrr-1")  # boxes and arrows alone


def read(figure) -> pd.DataFrame:
    return pd.read_csv(io.StringIO(figure_numbers.as_csv(figure)))


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


def seen(case: str, *seed) -> runs.Seen:
    """In place of a training, whose curves do not matter here: curves of the same shapes."""
    setting, rise = runs.contexts(case), np.linspace(0, 1, len(runs.STEPS)) ** 2
    rng = np.random.default_rng(0)
    size = setting.basis.shape[0], setting.task.num_samples
    return runs.Seen(
        1 - rise,
        rng.normal(size=(len(rise), *size)),
        rng.normal(size=(len(rise), 6, size[1])),
        {path: np.outer(rise, modes.singular_values) for path, modes in setting.found.items()},
    )


def fitted(case: str) -> tuple[np.ndarray, dict]:
    strengths = {path: values.T for path, values in seen(case).strengths.items()}
    return seen(case).losses, strengths


def exclusive_or(margin: float) -> tuple[list, np.ndarray]:
    weights = runs.RELU_XOR.init(jax.random.key(0), 1.0)
    return weights, np.outer(np.arange(10), 1 / (1 + margin + runs.XOR_TIMES))


@pytest.mark.parametrize("name", sorted(paper_figures.FIGURES))
def test_numbers_of_the_papers_figures(name, monkeypatch):
    """All that is drawn is in the CSV, read back, and nothing else."""
    for run in ("relu", "gated", "reduced"):
        monkeypatch.setattr(runs, run, seen)
    monkeypatch.setattr(runs, "fitted", fitted)
    monkeypatch.setattr(runs, "exclusive_or", exclusive_or)
    figure = paper_figures.draw(name)
    assert figure.axes and figure.number not in plt.get_fignums()  # a notebook shows it once
    if name in GRAPHS:
        assert figure_numbers.as_csv(figure) == ""
        return
    rows = read(figure)
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


def panel():
    figure, axes = plt.subplots()
    plt.close(figure)
    return figure, axes


def test_bars_and_areas_and_marks():
    figure, axes = panel()
    axes.bar([1, 2], [3, 4], bottom=[0, 1], label="up")
    axes.barh([5], [6], label="aside")
    axes.axvline(7)
    axes.axhline(8)
    axes.fill_between([0, 1], [0, 0], [1, 2], label="band")
    axes.errorbar([1.0], [2.0], [0.5])
    axes.scatter([1, 2], [3, 4], c=[5, 6])
    rows = read(figure).set_index("kind")[["x", "y", "value"]].fillna(-1)
    assert rows.loc["bar"].to_numpy().tolist() == [[1, 3, 0], [2, 5, 1]]
    assert rows.loc["horizontal bar"].to_numpy().tolist() == [6, 5, 0]
    assert rows.loc["vertical line"].to_numpy().tolist() == [7, -1, -1]
    assert rows.loc["horizontal line"].to_numpy().tolist() == [-1, 8, -1]
    assert {(0, 0), (1, 0), (0, 1), (1, 2)} == set(map(tuple, points(rows.loc["area"])))
    assert points(rows.loc["segment"]).tolist() == [[1, 1.5], [1, 2.5]]
    assert rows.loc["points"].to_numpy().tolist() == [[1, 3, 5], [2, 4, 6]]


@pytest.mark.parametrize("origin", ["upper", "lower"])
def test_images_lie_where_they_are_drawn(origin):
    figure, axes = panel()
    axes.imshow(np.arange(6.0).reshape(2, 3), origin=origin, extent=(0, 3, 10, 14))
    rows = read(figure)
    assert rows["value"].tolist() == [0, 1, 2, 3, 4, 5]
    assert rows["x"].tolist() == [0.5, 1.5, 2.5] * 2
    assert rows["y"].tolist() == ([13] * 3 + [11] * 3 if origin == "upper" else [11] * 3 + [13] * 3)


def test_smooth_curves_are_short_and_gaps_stay():
    figure, axes = panel()
    times = np.linspace(0, 10, 8001)
    values = np.sin(times)
    values[4000:4010] = np.nan
    axes.plot(times, values)
    rows = read(figure)
    assert len(rows) < 400 and rows["y"].isna().sum() == 10
    assert hold_lines(axes, rows) == 1


def test_a_small_picture_is_one():
    figure, axes = panel()
    axes.plot([0, 1], [0, 1])
    picture = base64.b64decode(figure_numbers.small_picture(figure))
    assert picture.startswith(b"\x89PNG") and len(picture) < 10_000
    assert picture == base64.b64decode(figure_numbers.small_picture(figure))


def test_too_much_is_left_out():
    figure, axes = panel()
    axes.imshow(np.random.default_rng(0).normal(size=(300, 300)))
    assert figure_numbers.as_csv(figure) == ""
    assert figure_numbers.as_csv(panel()[0]) == ""


PAGE = """<div class="cell"><details class="hide"><div class="cell_input">code</div></details>
<div class="cell_output"><figure id="fig-x"><img alt="a" src="../_images/{name}.svg"/>
<figcaption><p>Words.</p></figcaption></figure></div></div>"""


def test_the_page_offers_them(tmp_path):
    svg, csv = "<svg/>", "panel,kind\n1,line\n"
    output = nbformat.v4.new_output("display_data", {figure_menu.SVG: svg})
    output.metadata[figure_numbers.METADATA] = csv
    figure = {"mystnb": {"figure": {"name": "fig-x"}}}
    cell = nbformat.v4.new_code_cell("1", outputs=[output], metadata=figure)
    notebook = nbformat.v4.new_notebook(cells=[cell])
    assert list(figure_menu.pictures(notebook)) == [("fig-x", svg, csv)]

    name = figure_menu.picture_name(svg)
    (tmp_path / "_images").mkdir()
    (tmp_path / "_images" / f"{name}.svg").write_text(svg)
    (tmp_path / "_images" / "old.csv.gz").write_text("")
    figure_menu.write_numbers(tmp_path, [notebook])
    (numbers,) = (tmp_path / "_images").glob("*.csv.gz")
    assert gzip.decompress(numbers.read_bytes()).decode() == csv

    page = BeautifulSoup(PAGE.format(name=name), "html.parser")
    figure_menu.add_menu(page, page.find("figure"), page.find("img"), numbers)
    menu = page.select_one("figure > details.figure-menu")
    assert [link["href"] for link in menu.find_all("a")] == [
        f"../_images/{name}.svg",
        f"../_images/{name}.csv.gz",
        "#cell-fig-x",
    ]
    assert page.find(id="cell-fig-x").get_text() == "code"
    assert menu.find("code").get_text() == "make figure NAME=fig-x"
    assert menu.find("summary").get_text() == "reproduce fig-x"


def test_the_whole_book_has_every_chapter():
    parts = pdf.order()
    assert parts[0] == ("", ["book/start"])
    assert {"book/xor", "book/ledger", "book/api"} <= {p for _, pages in parts for p in pages}
