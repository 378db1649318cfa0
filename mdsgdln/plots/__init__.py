"""Figures in one style, light or dark, colour-blind safe. Draws what it is given, computes nothing.

Every function returns a ``matplotlib.figure.Figure``.
"""

from mdsgdln.plots.appearance import COLOURS, DIVERGING, PAGE_WIDTH, SEQUENTIAL, panels, style
from mdsgdln.plots.data import curves, matrices
from mdsgdln.plots.diagram import graph
from mdsgdln.plots.recorded import kinds

__all__ = [
    "COLOURS",
    "DIVERGING",
    "PAGE_WIDTH",
    "SEQUENTIAL",
    "curves",
    "graph",
    "kinds",
    "matrices",
    "panels",
    "style",
]


def __dir__() -> list[str]:
    return __all__
