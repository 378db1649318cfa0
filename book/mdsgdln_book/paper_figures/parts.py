"""What the figures of both papers are put together from."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mdsgdln import statistics
from mdsgdln_book import plots
from mdsgdln_book.paper_figures import runs

# One look each for what a paper prescribes, for ours, and for ReLU networks.
PAPER = {"color": plots.COLOURS[3], "linestyle": (0, (1, 1)), "linewidth": 1.8}
OURS = {"color": "black", "linestyle": (0, (4, 2)), "linewidth": 1.2}
RELU = "#707070"
FAINT = {"linewidth": 2.5, "alpha": 0.4}  # what was trained, below what is predicted
TRAINED, UNTRAINED = plots.COLOURS[0], plots.COLOURS[3]


def mosaic(layout: str, height: float, **ratios) -> tuple[Figure, dict[str, Axes]]:
    """Return a figure as wide as the page, and its panels by name; rows are split by ``;``."""
    size = (plots.PAGE_WIDTH, height)
    figure, axes = plt.subplot_mosaic(layout, figsize=size, layout="constrained", **ratios)
    plt.close(figure)  # a notebook shows the figure a cell returns, and shows it once
    return figure, axes


def heatmap(axes: Axes, matrix, limits=None, title: str = "", **looks) -> None:
    """Draw a matrix, blue to red about zero unless it has limits."""
    matrix = np.asarray(matrix, float)
    largest = float(np.nanmax(np.abs(matrix)))
    low, high = limits or (-largest, largest)
    looks = {"cmap": plots.DIVERGING, "aspect": "auto", "interpolation": "nearest"} | looks
    axes.imshow(matrix, vmin=low, vmax=high, **looks)
    axes.set(xticks=[], yticks=[])
    axes.set_title(title, fontsize="small")
    axes.grid(False)


def draw_separators(
    axes: Axes, rows=(), columns=(), colour: str = "#808080", width: float = 0.5
) -> None:
    """Draw lines before some rows and columns of a heatmap."""
    for row in rows:
        axes.axhline(row - 0.5, color=colour, linewidth=width)
    for column in columns:
        axes.axvline(column - 0.5, color=colour, linewidth=width)


def bars(axes: Axes, places, values, colour: str, label: str, marker: str = "o") -> None:
    """Draw the mean of each row of values, and the range of the row."""
    values = np.asarray(values)
    mean = values.mean(axis=1)
    reach = np.abs(np.stack([values.min(axis=1), values.max(axis=1)]) - mean)
    style = {"color": colour, "label": label, "markersize": 3.5, "linewidth": 1.2}
    axes.errorbar(places, mean, reach, fmt=f"{marker}-", **style)


def classical_scaling(points, dimensions: int = 2) -> np.ndarray:
    """Return columns in the plane, or space, that keeps their distances best, (columns, 2 or 3)."""
    points = np.asarray(points) - np.mean(points, axis=1, keepdims=True)
    _, lengths, places = np.linalg.svd(points, full_matrices=False)
    return (lengths[:dimensions, None] * places[:dimensions]).T


def write_numbers(axes: Axes, matrix) -> None:
    """Write the entries of a heatmap into it, one decimal."""
    for (row, column), value in np.ndenumerate(np.round(np.asarray(matrix, float), 1) + 0.0):
        shade = axes.images[0].to_rgba(axes.images[0].get_array()[row, column])
        ink = "white" if np.dot(shade[:3], (0.3, 0.6, 0.1)) < 0.4 else "black"
        axes.text(column, row, f"{value:g}", ha="center", va="center", fontsize=6, color=ink)


def decomposition(axes: list[Axes], letter: str = "") -> None:
    """Draw the hierarchy of four items as the product of three matrices, in four panels."""
    modes = statistics.modes(runs.HIERARCHY)
    final = np.diag(modes.singular_values / modes.input_variances)
    shown = {f"{letter}targets": runs.HIERARCHY.targets, "$U$": modes.left}
    shown |= {"$S$, as $s/d$": final, "$V^\\top$": modes.right.T}
    for index, (ax, (title, matrix)) in enumerate(zip(axes, shown.items(), strict=True)):
        heatmap(ax, matrix, (-2.7, 2.7) if index == 2 else (-1.2, 1.2), title)
        write_numbers(ax, matrix)
        if index in (0, 3):
            ax.set_xticks(range(4), ["canary", "salmon", "oak", "rose"], rotation=90, fontsize=7)
    properties = ["grow", "move", "roots", "fly", "swim", "bark", "petals"]
    axes[0].set_yticks(range(7), properties, fontsize=7)
