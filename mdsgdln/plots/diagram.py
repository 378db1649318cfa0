"""The graph of a gated network, with its gates."""

import matplotlib as mpl
import numpy as np
import seaborn as sns
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
    lines = {node: (str(node), f"({neurons})") for node, neurons in network.graph.sizes}
    room = 72 * axes.bbox.width / axes.figure.dpi / (xs.max() - xs.min() + 1)  # for a node, points
    longest = max(len(line) for both in lines.values() for line in both)
    size = min(TEXT, room / (CHARACTER * longest + MARGIN))
    patches = {}
    for index, node in enumerate(lines):
        colour = COLOURS[index % len(COLOURS)]
        box = AnnotationBbox(
            _node(lines[node], network.node_gates.get(node), size, colour),
            position[node],
            bboxprops={"boxstyle": f"round,pad={0.3 * size / TEXT}", "facecolor": colour, "lw": 0},
            pad=0.0,
            zorder=2,
        )
        axes.add_artist(box)
        patches[node] = box.patch
    for source, target in network.graph.edges:
        arrow = FancyArrowPatch(
            position[source],
            position[target],
            patchA=patches[source],
            patchB=patches[target],
            shrinkA=1,
            shrinkB=1,
            arrowstyle="-|>",
            mutation_scale=8,
            color="#808080",
            linestyle="--" if (source, target) in network.edge_gates else "-",
            zorder=3,
        )
        axes.add_patch(arrow)
    axes.set_title(title)
    axes.axis("off")
    return axes.figure.figure  # the whole one, if the axes are in a part


def _node(lines: tuple[str, str], gate, size: float, colour: str) -> OffsetBox:
    """Return a node's name, its number of neurons, and its gate: a bar on the scale from 0 to 1."""
    ink = "black" if sns.utils.relative_luminance(colour) > 0.18 else "white"
    looks = {"fontsize": size, "color": ink}
    parts: list[Artist] = [TextArea(line, textprops=looks) for line in lines]
    if gate is not None:
        gate = np.atleast_2d(np.asarray(gate)).mean(axis=0)
        width, height = CHARACTER * size * max(map(len, lines)), BAR * size
        cell = width / len(gate)
        bar = DrawingArea(width, height)
        for sample, value in enumerate(np.clip(gate, 0, 1)):
            look = {"facecolor": mpl.colormaps[GATES](value), "edgecolor": "grey"}
            place = (sample * cell, 0.0)
            bar.add_artist(Rectangle(place, cell, height, lw=min(0.4, cell / 8), **look))
        parts.append(bar)
    return VPacker(children=parts, align="center", pad=0.0, sep=0.15 * size)


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
