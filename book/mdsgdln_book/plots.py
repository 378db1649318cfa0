"""Figures in the style of this book, light or dark, colour-blind safe. Draws, computes nothing.

Every function returns a ``matplotlib.figure.Figure``.
"""

import sys
from collections.abc import Mapping, Sequence

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from cycler import cycler
from jaxtyping import ArrayLike
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mdsgdln.plots import graph, kinds

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

# Seaborn's colours for the colour-blind and its style for papers; seaborn takes a second to import.
COLOURS = ["#0173b2", "#de8f05", "#029e73", "#d55e00", "#cc78bc"]
COLOURS += ["#ca9161", "#fbafe4", "#949494", "#ece133", "#56b4e9"]
INK = "#1a1a1a"
TEXT, SMALL = 10.56, 9.68  # points
STYLE = {
    "axes.axisbelow": True,
    "axes.facecolor": "none",
    "axes.grid": True,
    "axes.linewidth": 1.0,
    "axes.prop_cycle": cycler(color=COLOURS),
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": "medium",
    "figure.constrained_layout.use": True,
    "figure.dpi": 150,
    "figure.facecolor": "none",
    "font.sans-serif": ["Arial", "DejaVu Sans", "Liberation Sans", "Bitstream Vera Sans"],
    "grid.color": "#d9d9d9",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "lines.linewidth": 1.2,
    "lines.markersize": 4.8,
    "lines.solid_capstyle": "round",
    "patch.edgecolor": "w",
    "patch.force_edgecolor": True,
    "patch.linewidth": 0.8,
    "savefig.dpi": 150,
    "savefig.facecolor": "none",
    "svg.hashsalt": "mdsgdln",  # the same figure, the same file
}
STYLE |= dict.fromkeys(("font.size", "axes.labelsize", "legend.title_fontsize"), TEXT)
STYLE |= dict.fromkeys(("legend.fontsize", "xtick.labelsize", "ytick.labelsize"), SMALL)
STYLE |= dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor"), INK)
for axis in "xy":
    STYLE |= {f"{axis}tick.color": INK}
    STYLE |= {f"{axis}tick.major.size": 4.8, f"{axis}tick.major.width": 1.0}
    STYLE |= {f"{axis}tick.minor.size": 3.2, f"{axis}tick.minor.width": 0.8}
DIVERGING = "RdBu_r"
SEQUENTIAL = "viridis"
DASHES = [(0, (4, 2)), (0, (1, 1)), (0, (7, 1.5, 1, 1.5)), (0, (10, 3))]
PAGE_WIDTH = 7.2  # inches; wider figures are scaled down by the page, text and all


def style() -> None:
    """Set the style of all later figures: transparent ground, dark ink, SVG."""
    mpl.rcParams.update(STYLE)
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


def curves(
    times: ArrayLike,
    measured: Mapping[str, ArrayLike],
    predicted: Mapping[str, ArrayLike] | None = None,
    axes: Axes | None = None,
    x_label: str = "time (learning rate × step)",
    y_label: str = "loss",
    title: str = "",
) -> Figure:
    """Draw curves over time: measured ones solid, predicted ones dashed, each in its own way.

    Args:
        times: shape (T,).
        measured: {label: (T,) or (repeats, T)}, repeats drawn faint.
        predicted: {label: (T,)}; a label that ``measured`` has too takes its colour, unlabelled.
        axes: where to draw; a new figure if not given.
        x_label: label of the time axis.
        y_label: label of the other axis.
        title: title of the panel.
    """
    predicted = predicted or {}
    if axes is None:
        _, (axes,) = panels(1, width=6.0, height=3.4)
    colour_of = dict(zip(measured, COLOURS * 3, strict=False))
    for label, values in measured.items():
        lines = np.atleast_2d(values)
        look = {"color": colour_of[label], "alpha": 1.0 if len(lines) == 1 else 0.4}
        axes.plot(times, lines.T, label=[label, *[None] * (len(lines) - 1)], **look)
    alone = [label for label in predicted if label not in colour_of]
    dashes_of = dict(zip(alone, DASHES * len(alone), strict=False))
    for label, values in predicted.items():
        shared = label in colour_of
        axes.plot(
            times,
            values,
            color=_darker(colour_of[label]) if shared else mpl.rcParams["text.color"],
            linestyle=dashes_of.get(label, DASHES[0]),
            linewidth=1.6,
            label=None if shared else label,
        )
    axes.set(xlabel=x_label, ylabel=y_label, title=title)
    if axes.get_legend_handles_labels()[0]:
        legend = axes.legend(fontsize="small")
        plt.setp(legend.legend_handles, alpha=1.0)
    return axes.figure.figure  # the whole one, if the axes are in a part


def _darker(colour: str) -> tuple[float, ...]:
    return tuple(0.45 * channel for channel in mpl.colors.to_rgb(colour))


def matrices(
    named: Mapping[str, ArrayLike],
    row_labels: Sequence[Sequence[str]] | None = None,
    column_labels: Sequence[Sequence[str]] | None = None,
    annotate: bool = False,
) -> Figure:
    """Draw matrices side by side on one scale, diverging about zero.

    Args:
        named: {title: matrix}.
        row_labels: labels of the rows of each matrix.
        column_labels: labels of the columns of each matrix.
        annotate: write the entries, one decimal.
    """
    import seaborn  # here, as its import takes a second

    named = {title: np.asarray(matrix) for title, matrix in named.items()}
    largest = max(float(np.nanmax(np.abs(matrix))) for matrix in named.values()) or 1.0
    figure, axes = panels(len(named), width=2.8, height=2.8)
    for index, (ax, (title, matrix)) in enumerate(zip(axes, named.items(), strict=True)):
        seaborn.heatmap(
            matrix,
            ax=ax,
            cmap=DIVERGING,
            vmin=-largest,
            vmax=largest,
            annot=np.round(matrix, 1) + 0.0 if annotate else False,  # no "-0.0"
            fmt=".1f",
            annot_kws={"size": 8},
            cbar=index == len(named) - 1,
            xticklabels=column_labels[index] if column_labels else False,
            yticklabels=row_labels[index] if row_labels else False,
            linewidths=0.5 if matrix.size < 200 else 0,
            linecolor="#b3b3b3",
        )
        ax.set_title(title)
        ax.tick_params(axis="x", rotation=90)
        ax.tick_params(axis="y", rotation=0)
    return figure
