"""The CSV of a figure has the numbers that it plots."""

import io
import os
from pathlib import Path

import jax
import jupytext
import matplotlib.pyplot as plt
import nbclient
import nbformat
import numpy as np
import pandas as pd
import pytest
from read_back import hold, hold_lines, points

from mdsgdln_book import figure_numbers, paper_figures
from mdsgdln_book.pages import pdf
from mdsgdln_book.paper_figures import runs
from mdsgdln_book.places import BOOK
from mdsgdln_book.references import chapters

GRAPHS = ("mhs-1", "nrr-1")  # boxes and arrows alone


def read(figure) -> pd.DataFrame:
    return pd.read_csv(io.StringIO(figure_numbers.as_csv(figure)))


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
    assert hold(figure, read(figure))


FIGURES = [name for name, path in chapters().items() if "\n    caption:" in path.read_text("utf8")]


@pytest.mark.nightly
@pytest.mark.parametrize("name", sorted(FIGURES))
def test_numbers_of_every_figure(name):
    """As above, in a kernel that executes the whole chapter."""
    notebook = jupytext.read(chapters()[name])
    last = "import read_back\nassert read_back.HELD and not read_back.WRONG, read_back.WRONG"
    notebook.cells.append(nbformat.v4.new_code_cell(last))
    client = nbclient.NotebookClient(
        notebook,
        timeout=600,
        kernel_name="python3",
        extra_arguments=["--ext=read_back"],
        resources={"metadata": {"path": str(BOOK)}},
    )
    client.execute(env=os.environ | {"PYTHONPATH": str(Path(__file__).parent)})


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


def test_too_much_is_left_out():
    figure, axes = panel()
    axes.imshow(np.random.default_rng(0).normal(size=(300, 300)))
    assert figure_numbers.as_csv(figure) == ""
    assert figure_numbers.as_csv(panel()[0]) == ""


def test_the_whole_book_has_every_chapter():
    parts = pdf.order()
    assert parts[0] == ("", ["book/start"])
    assert {"book/xor", "book/ledger", "book/api"} <= {p for _, pages in parts for p in pages}
