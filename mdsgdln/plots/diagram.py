"""The graph of a gated network, with its gates."""

from collections.abc import Mapping

import matplotlib as mpl
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.offsetbox import AnnotationBbox, DrawingArea, OffsetBox, TextArea, VPacker
from matplotlib.patches import FancyArrowPatch, Rectangle

from mdsgdln import _checks as checks
from mdsgdln.graphs import Node
from mdsgdln.networks import GatedNetwork
from mdsgdln.plots.appearance import COLOURS, GATES, panels

TEXT = 7.0  # points; less where nodes are many
CHARACTER, MARGIN = 0.62, 1.4  # of a text's size: its widest character, and what a box adds
BAR = 0.8  # of it: the height of a gate


def graph(network: GatedNetwork, axes: Axes | None = None, title: str = "") -> Figure:
    """Draw the graph of a gated network, inputs below; a gated edge is dashed.

    The bar in a gated node has one cell per sample, from white for 0 to black for 1 (the mean over
    neurons, if each has its own gate).
    """
    checks.instance("network", network, GatedNetwork)
    checks.instance("axes", axes, Axes | None)
    if axes is None:
        _, (axes,) = panels(1, width=5.0, height=3.4)
    position = _node_positions(network)
    xs, ys = np.array(list(position.values())).T
    axes.set(xlim=(xs.min() - 0.5, xs.max() + 0.5), ylim=(ys.min() - 0.3, ys.max() + 0.3))
    size = _text_size(axes, network, xs)
    boxes = {
        node: AnnotationBbox(
            _node(network, node, neurons, size, _ink(colour)),
            position[node],
            bboxprops={"boxstyle": f"round,pad={0.3 * size / TEXT}", "facecolor": colour, "lw": 0},
            pad=0.0,
            zorder=2,
        )
        for (node, neurons), colour in zip(network.graph.sizes, _colours(network), strict=True)
    }
    for box in boxes.values():
        axes.add_artist(box)
    for edge in network.graph.edges:
        axes.add_patch(_arrow(edge, position, boxes, gated=edge in network.edge_gates))
    axes.set_title(title)
    axes.axis("off")
    return axes.figure.figure  # the whole one, if the axes are in a part


def _colours(network: GatedNetwork) -> list[str]:
    return [COLOURS[index % len(COLOURS)] for index in range(len(network.graph.sizes))]


def _ink(colour: str) -> str:
    """Return black, or white on a colour that is dark."""
    red, green, blue = (channel**2.2 for channel in mpl.colors.to_rgb(colour))
    return "black" if 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.18 else "white"


def _text_size(axes: Axes, network: GatedNetwork, xs: np.ndarray) -> float:
    """Return the size of text, in points, at which the widest node leaves its neighbours room."""
    width = 72 * axes.bbox.width / axes.figure.dpi / (xs.max() - xs.min() + 1)
    longest = max(len(line) for node, n in network.graph.sizes for line in _lines(node, n))
    return min(TEXT, width / (CHARACTER * longest + MARGIN))


def _lines(node: Node, neurons: int) -> tuple[str, str]:
    return str(node), f"({neurons})"


def _node(network: GatedNetwork, node: Node, neurons: int, size: float, ink: str) -> OffsetBox:
    """Return a node's name, its number of neurons, and its gate."""
    parts: list[Artist] = [
        TextArea(line, textprops={"fontsize": size, "color": ink}) for line in _lines(node, neurons)
    ]
    if node in network.node_gates:
        gate = np.atleast_2d(np.asarray(network.node_gates[node])).mean(axis=0)
        parts.append(_gate_bar(gate, CHARACTER * size * max(map(len, _lines(node, neurons))), size))
    return VPacker(children=parts, align="center", pad=0.0, sep=0.15 * size)


def _gate_bar(gate: np.ndarray, width: float, size: float) -> DrawingArea:
    """Return a gate as a bar of one cell per sample, on the scale from 0 to 1."""
    shade, cell = mpl.colormaps[GATES], width / len(gate)
    bar = DrawingArea(width, BAR * size)
    for sample, value in enumerate(np.clip(gate, 0, 1)):
        place = (sample * cell, 0.0)
        line = min(0.4, cell / 8)
        bar.add_artist(
            Rectangle(place, cell, BAR * size, facecolor=shade(value), edgecolor="grey", lw=line)
        )
    return bar


def _arrow(
    edge: tuple[Node, Node],
    position: Mapping[Node, tuple[float, float]],
    boxes: Mapping[Node, AnnotationBbox],
    gated: bool,
) -> FancyArrowPatch:
    """Return an edge, from the border of one node to that of the other."""
    source, target = edge
    return FancyArrowPatch(
        position[source],
        position[target],
        patchA=boxes[source].patch,
        patchB=boxes[target].patch,
        shrinkA=1,
        shrinkB=1,
        arrowstyle="-|>",
        mutation_scale=8,
        color="#808080",
        linestyle="--" if gated else "-",
        zorder=3,
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
            position[node] = (index - (len(nodes) - 1) / 2, float(height))
    return position
