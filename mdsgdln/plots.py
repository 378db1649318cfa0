"""Figures in one style, light or dark, colour-blind safe. Draws what it is given, computes nothing.

Every function returns a ``matplotlib.figure.Figure``; notebooks show a figure that ends a cell.
"""

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mdsgdln import checks
from mdsgdln.checks import Numbers
from mdsgdln.graphs import Node
from mdsgdln.networks import GatedNetwork

COLOURS = sns.color_palette("colorblind").as_hex()
DIVERGING = "RdBu_r"
SEQUENTIAL = "viridis"
PAGE_WIDTH = 7.2  # inches; wider figures are scaled down by the page, text and all


def style(dark: bool = False) -> None:
    """Set the style of all later figures: transparent ground, ink for light or dark pages.

    Notebooks then show figures as SVG, which can be saved and scaled.
    """
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

    A figure never gets wider than the page: its panels shrink instead, so that text stays legible.
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
        **subplots,
    )
    plt.close(figure)  # a notebook shows the figure a cell returns, and shows it once
    return figure, axes[0] if num_rows == 1 else axes


def curves(
    times: Numbers,
    measured: Mapping[str, Numbers],
    predicted: Mapping[str, Numbers] | None = None,
    axes: Axes | None = None,
    x_label: str = "time (learning rate × step)",
    y_label: str = "loss",
    title: str = "",
) -> Figure:
    """Draw curves over time: measured ones solid, predicted ones dashed.

    Args:
        times: shape (T,).
        measured: {label: (T,) or (repeats, T)}, repeats drawn faint.
        predicted: {label: (T,)}; a label that ``measured`` has too takes its colour, unlabelled.
        axes: where to draw; a new figure if not given.
        x_label: label of the time axis.
        y_label: label of the other axis.
        title: title of the panel.
    """
    times = checks.finite_array("times", times, 1, "(T,)")
    measured = _checked("measured", measured, (1, 2), len(times))
    predicted = _checked("predicted", predicted or {}, (1,), len(times))
    checks.instance("axes", axes, Axes | None)
    if axes is None:
        _, (axes,) = panels(1, width=6.0, height=3.4)
    colour_of = dict(zip(measured, COLOURS * 3, strict=False))
    for label, values in measured.items():
        lines = np.atleast_2d(values)
        faint = 1.0 if len(lines) == 1 else 0.4
        for index, line in enumerate(lines):
            axes.plot(
                times,
                line,
                color=colour_of[label],
                alpha=faint,
                label=label if index == 0 else None,
            )
    for label, values in predicted.items():
        shared = label in colour_of
        axes.plot(
            times,
            values,
            color="black" if not shared else _darker(colour_of[label]),
            linestyle=(0, (4, 2)),
            linewidth=1.6,
            label=None if shared else label,
        )
    axes.set(xlabel=x_label, ylabel=y_label, title=title)
    if axes.get_legend_handles_labels()[0]:
        legend = axes.legend(fontsize="small")
        plt.setp(legend.legend_handles, alpha=1.0)
    return axes.figure.figure  # the whole one, if the axes are in a part


def _checked(
    name: str, values: Mapping[str, Numbers], num_axes: Sequence[int], width: int | None = None
) -> dict[str, np.ndarray]:
    """Return {label: array}, or raise ``ValueError`` unless all fit; NaN is a gap."""
    checks.instance(name, values, Mapping)
    arrays = {
        label: np.asarray(checks.real_array(f"{name}[{label!r}]", value, str(width)))
        for label, value in values.items()
    }
    for label, array in arrays.items():
        fits = array.ndim in num_axes and array.size and width in (None, array.shape[-1])
        if not fits:
            raise ValueError(
                f"{name}[{label!r}]: expected {width or 'some'} columns of "
                f"{num_axes} axes, got shape {array.shape}"
            )
    return arrays


def _darker(colour: str) -> tuple[float, ...]:
    return tuple(0.45 * channel for channel in mpl.colors.to_rgb(colour))


def matrices(
    named: Mapping[str, Numbers],
    row_labels: Sequence[Sequence[str]] | None = None,
    column_labels: Sequence[Sequence[str]] | None = None,
    annotate: bool = False,
    width: float = 2.8,
    height: float = 2.8,
) -> Figure:
    """Draw matrices side by side on one diverging scale centred at zero.

    Args:
        named: {title: matrix}.
        row_labels: labels of the rows of each matrix.
        column_labels: labels of the columns of each matrix.
        annotate: write the entries, one decimal.
        width: of a panel, inches.
        height: of a panel, inches.
    """
    named = _checked("named", named, (2,))
    if not named:
        raise ValueError("named: expected at least one matrix, got none")
    for axis, (name, labels) in enumerate(
        [("row_labels", row_labels), ("column_labels", column_labels)]
    ):
        if labels is not None:
            checks.several(name, labels, len(named))
            for texts, matrix in zip(labels, named.values(), strict=True):
                checks.several(name, texts, matrix.shape[axis])
    figure, axes = panels(len(named), width=width, height=height)
    limit = max(float(np.nanmax(np.abs(matrix))) for matrix in named.values()) or 1.0
    for index, (ax, (title, matrix)) in enumerate(zip(axes, named.items(), strict=True)):
        sns.heatmap(
            matrix,
            ax=ax,
            cmap=DIVERGING,
            vmin=-limit,
            vmax=limit,
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


def graph(network: GatedNetwork, axes: Axes | None = None, title: str = "") -> Figure:
    """Draw the graph of a gated network, inputs below; a bar beside a gated node is its gate.

    A bar has one cell per sample, filled where the gate is on (the mean over neurons, if each has
    its own). A gated edge is dashed.
    """
    checks.instance("network", network, GatedNetwork)
    checks.instance("axes", axes, Axes | None)
    if axes is None:
        _, (axes,) = panels(1, width=5.0, height=3.4)
    position = _node_positions(network)
    for source, target in network.graph.edges:
        gated = (source, target) in network.edge_gates
        axes.annotate(
            "",
            position[target],
            position[source],
            arrowprops={
                "arrowstyle": "-|>",
                "color": "#808080",
                "linestyle": "--" if gated else "-",
                "shrinkA": 7,
                "shrinkB": 7,
            },
        )
    for index, (node, neurons) in enumerate(network.graph.sizes):
        x, y = position[node]
        colour = COLOURS[index % len(COLOURS)]
        axes.plot(x, y, "o", markersize=11, color=colour, markeredgecolor="white", zorder=3)
        _node_label(axes, network, node, neurons, (x, y))
        if node in network.node_gates:
            gate = np.atleast_2d(np.asarray(network.node_gates[node])).mean(axis=0)
            _gate_bar(axes, x, y, gate, colour)
    xs, ys = np.array(list(position.values())).T
    axes.set(xlim=(xs.min() - 1.1, xs.max() + 1.1), ylim=(ys.min() - 0.35, ys.max() + 0.35))
    axes.set_title(title)
    axes.axis("off")
    return axes.figure.figure  # the whole one, if the axes are in a part


def _node_label(axes: Axes, network: GatedNetwork, node, neurons: int, position) -> None:
    """Name a node where no arrow passes: inputs below, outputs above, hidden ones beside."""
    below, above = node in network.graph.input_nodes, node in network.graph.output_nodes
    style: dict[str, Any] = {"textcoords": "offset points", "fontsize": 7}
    if below or above:
        offset, va = ((0, -8), "top") if below else ((0, 8), "bottom")
        axes.annotate(f"{node} ({neurons})", position, offset, ha="center", va=va, **style)
    else:
        side, ha = (-8, "right") if position[0] < 0 else (8, "left")
        axes.annotate(str(node), position, (side, 5), va="bottom", ha=ha, **style)
        axes.annotate(f"({neurons})", position, (side, -5), va="top", ha=ha, **style)


def _gate_bar(axes: Axes, x: float, y: float, gate: np.ndarray, colour: str) -> None:
    """Draw the gate of a node on its outer side, one cell per sample."""
    cell = min(0.16, 0.8 / len(gate))
    left = x - 0.2 - cell * len(gate) if x < 0 else x + 0.2
    for sample, value in enumerate(gate):
        axes.add_patch(
            mpl.patches.Rectangle(
                (left + sample * cell, y - 0.05),
                cell,
                0.1,
                facecolor=(*mpl.colors.to_rgb(colour), float(np.clip(value, 0, 1))),
                edgecolor="#808080",
                linewidth=0.5,
            )
        )


def _node_positions(network: GatedNetwork) -> dict[Node, tuple[float, float]]:
    """Return {node: (x, y)}: y is the longest way from an input, x spreads equal heights."""
    level: dict[Node, int] = {}
    for node in network.graph.order:
        sources = [source for source, target in network.graph.edges if target == node]
        level[node] = 1 + max((level[source] for source in sources), default=-1)
    top = max(level.values())
    level |= {node: top for node in network.graph.output_nodes}
    position = {}
    for height in range(top + 1):
        nodes = [node for node, _ in network.graph.sizes if level[node] == height]
        for index, node in enumerate(nodes):
            position[node] = (1.4 * (index - (len(nodes) - 1) / 2), float(height))
    return position
