"""Figures: the reduction that those of the papers show, marks of graphs, numbers as CSV."""

import io

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.offsetbox import AnnotationBbox
from matplotlib.patches import Rectangle
from matplotlib.text import Text

from mdsgdln import networks, tasks, theory
from mdsgdln_book import plots, plotted
from mdsgdln_book.paper_figures import routes


def read(figure) -> pd.DataFrame:
    return pd.read_csv(io.StringIO(plotted.as_csv(figure)))


def test_the_reduction_is_that_of_the_package():
    task, scale, rate = tasks.routing(3, 2), 0.2, 0.02
    race = theory.shared_race(
        networks.routing_network(task, 3, 2, 8),
        task,
        scale,
        rate * np.arange(50),
        learning_rate=rate,
    )
    ours = routes.reduced_race([scale] * 3, 3, 2, rate, 50)
    np.testing.assert_allclose(ours.losses, race.losses, rtol=1e-9)
    np.testing.assert_allclose(ours.values[:, 1].T, race.strengths["hidden 1", "hidden 2"])


def test_a_node_has_a_cell_for_each_run_of_equal_gates():
    task = tasks.contextual(3, 8)
    network = networks.contextual_pathways(task, 3, 2, 10)
    figure = plots.graph(network, names={"pathway 0": "common"})
    boxes = [child for child in figure.axes[0].get_children() if isinstance(child, AnnotationBbox)]
    texts = [[str(text.get_text()) for text in box.findobj(Text)] for box in boxes]
    cells = {text[0]: len(box.findobj(Rectangle)) for text, box in zip(texts, boxes, strict=True)}
    names = "common", "pathway 1", "pathway 2", "pathway 3"
    assert [cells[name] for name in names] == [1, 2, 3, 2]
    with pytest.raises(ValueError, match="names"):
        plots.graph(network, names={"pathway 9": "none"})


def panel():
    figure, axes = plt.subplots()
    plt.close(figure)
    return figure, axes


def test_all_kinds_of_marks_are_read():
    figure, axes = panel()
    axes.plot([0, 1, 2], [4, np.nan, 6], label="a line")
    axes.bar([1, 2], [3, 4], bottom=[0, 1], label="up")
    axes.barh([5], [6], label="aside")
    axes.axvline(7)
    axes.axhline(8)
    axes.fill_between([0, 1], [0, 0], [1, 2], label="band")
    axes.errorbar([1.0], [2.0], [0.5])
    axes.scatter([1, 2], [3, 4], c=[5, 6])
    rows = read(figure).set_index("kind")[["x", "y", "value"]].fillna(-1)
    assert rows.loc["line"].to_numpy().tolist()[:3] == [[0, 4, -1], [1, -1, -1], [2, 6, -1]]
    assert rows.loc["bar"].to_numpy().tolist() == [[1, 3, 0], [2, 5, 1]]
    assert rows.loc["horizontal bar"].to_numpy().tolist() == [6, 5, 0]
    assert rows.loc["vertical line"].to_numpy().tolist() == [7, -1, -1]
    assert rows.loc["horizontal line"].to_numpy().tolist() == [-1, 8, -1]
    corners = {tuple(point) for point in rows.loc["area"].to_numpy()[:, :2]}
    assert {(0, 0), (1, 0), (0, 1), (1, 2)} == corners
    assert rows.loc["segment"].to_numpy()[:, :2].tolist() == [[1, 1.5], [1, 2.5]]
    assert rows.loc["points"].to_numpy().tolist() == [[1, 3, 5], [2, 4, 6]]
    assert plotted.as_csv(panel()[0]) == ""
