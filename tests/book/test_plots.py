"""Figures: what their marks stand for."""

import matplotlib as mpl
import pytest
from matplotlib.offsetbox import AnnotationBbox
from matplotlib.patches import Rectangle
from matplotlib.text import Text

from mdsgdln import networks, tasks
from mdsgdln_book import plots

mpl.use("Agg")


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
