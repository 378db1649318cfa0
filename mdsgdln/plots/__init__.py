"""Figures in one style, light or dark, colour-blind safe. Draws what it is given, computes nothing.

Every function returns a ``matplotlib.figure.Figure``.
"""

from mdsgdln.plots.appearance import COLOURS, DIVERGING, PAGE_WIDTH, SEQUENTIAL, panels, style
from mdsgdln.plots.data import curves, kinds, matrices
from mdsgdln.plots.diagram import graph

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
__dir__ = __all__.copy  # what completion shows
