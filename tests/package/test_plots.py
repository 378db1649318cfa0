"""Figures: every drawing function returns a figure that can be drawn, light and dark."""

import io

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure

from mdsgdln import networks, plots, tasks

mpl.use("Agg")


@pytest.mark.parametrize("dark", [False, True])
def test_every_figure_draws(dark):
    plots.style(dark)
    task = tasks.xor(1.0)
    network = networks.pathways(task, np.eye(4), 32)
    times = np.arange(5)
    figures = [
        plots.curves(times, {"runs": np.ones((3, 5))}, {"runs": np.ones(5), "theory": times}),
        plots.matrices({"a": np.eye(3), "b": -np.eye(2)}, annotate=True),
        plots.graph(network),
        plots.panels(2)[0],
    ]
    for figure in figures:
        assert isinstance(figure, Figure)
        figure.savefig(io.BytesIO())
