"""Figures: every drawing function returns a figure that can be drawn."""

import io

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.offsetbox import AnnotationBbox
from matplotlib.patches import Rectangle
from matplotlib.text import Text

from mdsgdln import networks, tasks
from mdsgdln_book import plots

mpl.use("Agg")


@pytest.mark.parametrize("styled", [False, True])
def test_every_figure_draws(styled):
    task = tasks.xor(1.0)
    network = networks.pathways(task, np.eye(4), 32)
    times = np.arange(5)
    plots.style() if styled else mpl.rcdefaults()
    figures = [
        plots.curves(times, {"runs": np.ones((3, 5))}, {"runs": np.ones(5), "theory": times}),
        plots.matrices({"a": np.eye(3), "b": -np.eye(2)}, annotate=True),
        plots.matrices({"gates": np.eye(3)}, [["a long name"] * 3], limits=(0, 1)),
        plots.graph(network),
        plots.panels(2)[0],
    ]
    for figure in figures:
        assert isinstance(figure, Figure)
        figure.savefig(io.BytesIO())
        assert_whole(figure)


def assert_whole(figure):
    """Nothing that is drawn reaches beyond the figure."""
    drawn, width, height = figure.get_tightbbox(), *figure.get_size_inches()
    assert drawn.x0 > -0.01 and drawn.y0 > -0.01
    assert drawn.x1 < width + 0.01 and drawn.y1 < height + 0.01


def test_a_node_has_a_cell_for_each_run_of_equal_gates():
    task = tasks.contextual(3, 8)
    network = networks.contextual_pathways(task, 3, 2, 10)
    figure = plots.graph(network, names={"pathway 0": "common"})
    boxes = [child for child in figure.axes[0].get_children() if isinstance(child, AnnotationBbox)]
    texts = [[str(text.get_text()) for text in box.findobj(Text)] for box in boxes]
    cells = {text[0]: len(box.findobj(Rectangle)) for text, box in zip(texts, boxes, strict=True)}
    assert [cells[name] for name in ("common", "pathway 1", "pathway 2", "pathway 3")] == [
        1,
        2,
        3,
        2,
    ]
    with pytest.raises(ValueError, match="names"):
        plots.graph(network, names={"pathway 9": "none"})


def test_predictions_are_told_apart():
    times, mpl.rcParams["text.color"] = np.arange(5), "#123456"
    figure = plots.curves(times, {"runs": times}, {"runs": times, "one": times, "two": times})
    _, shared, one, two = figure.axes[0].lines
    assert one.get_color() == two.get_color() == "#123456" != shared.get_color()
    assert one._dash_pattern != two._dash_pattern
    texts = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert texts == ["runs", "one", "two"]


def test_gates_are_drawn_from_0_to_1():
    half = plots.matrices({"gates": np.full((2, 2), 0.5)}, limits=(0, 1)).axes[0].collections[0]
    assert half.get_clim() == (0, 1)
    shown = half.cmap(half.norm(0.5))[0]
    assert 0.4 < shown < 0.75
