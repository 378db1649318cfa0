"""Colours, text and sizes of every figure."""

import sys

import matplotlib.pyplot as plt
import seaborn as sns

from mdsgdln import _checks as checks

COLOURS = sns.color_palette("colorblind").as_hex()
DIVERGING = "RdBu_r"
SEQUENTIAL = "viridis"
GATES = "Greys"  # off white, on black
DASHES = [(0, (4, 2)), (0, (1, 1)), (0, (7, 1.5, 1, 1.5)), (0, (10, 3))]
PAGE_WIDTH = 7.2  # inches; wider figures are scaled down by the page, text and all


def style(dark: bool = False) -> None:
    """Set the style of all later figures: transparent ground, ink for light or dark pages, SVG."""
    ink, grid = ("#e6e6e6", "#4a4a4a") if dark else ("#1a1a1a", "#d9d9d9")
    sns.set_theme(
        context="paper",
        style="ticks",
        palette=COLOURS,
        font_scale=1.1,
        rc={
            "figure.facecolor": "none",
            "savefig.facecolor": "none",
            "axes.facecolor": "none",
            "legend.frameon": False,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.grid": True,
            "grid.color": grid,
            "grid.linewidth": 0.6,
            "figure.dpi": 150,
            "savefig.dpi": 150,
            "figure.constrained_layout.use": True,
            "axes.titlesize": "medium",
            "axes.titlelocation": "left",
        }
        | {name: ink for name in ("text.color", "axes.labelcolor", "axes.edgecolor")}
        | {name: ink for name in ("xtick.color", "ytick.color")}
        | {"svg.hashsalt": "mdsgdln"},  # the same figure, the same file
    )
    ipython = sys.modules.get("IPython")
    if ipython is not None and ipython.get_ipython() is not None:  # in a notebook
        from matplotlib_inline.backend_inline import set_matplotlib_formats

        set_matplotlib_formats("svg", metadata={"Date": None})


def panels(
    num_columns: int, num_rows: int = 1, height: float = 3.0, width: float = 3.6, **subplots
):
    """Return a figure and its axes in a row (or a grid), sized per panel in inches.

    Panels shrink where the figure would get wider than the page.
    """
    num_columns = checks.positive_integer("num_columns", num_columns)
    num_rows = checks.positive_integer("num_rows", num_rows)
    checks.positive("height", height)
    checks.positive("width", width)
    width = min(width, PAGE_WIDTH / num_columns)
    figure, axes = plt.subplots(
        num_rows,
        num_columns,
        figsize=(width * num_columns, height * num_rows),
        squeeze=False,
        **({"layout": "constrained"} | subplots),
    )
    plt.close(figure)  # a notebook shows the figure a cell returns, and shows it once
    return figure, axes[0] if num_rows == 1 else axes
