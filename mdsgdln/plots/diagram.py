"""The graph of a gated network, with its gates."""

from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mdsgdln import _checks as checks
from mdsgdln.graphs import Node
from mdsgdln.networks import GatedNetwork
from mdsgdln.plots.appearance import COLOURS, panels


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
