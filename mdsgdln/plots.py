"""Figures of the graph of a gated network and of the kinds of neurons in a recording."""

from collections.abc import Hashable, Mapping
from itertools import groupby

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.offsetbox import AnnotationBbox, DrawingArea, OffsetBox, TextArea, VPacker
from matplotlib.patches import FancyArrowPatch, Rectangle

from mdsgdln import _checks as checks
from mdsgdln.discovery import Kinds
from mdsgdln.graphs import Node
from mdsgdln.networks import GatedNetwork

__all__ = ["graph", "kinds"]
__dir__ = __all__.copy  # what completion shows


BLUE, ORANGE, GREY = "#0173b2", "#d55e00", "#949494"  # seaborn's colour-blind safe palette
GATES = "Greys"  # off white, on black
MOST_NAMES = 16  # below an axis
TEXT = 8.0  # points; less where nodes are many
GROUNDS = {"end": "#e6e6e6", "open": "#b7e0d2", "gated": "#b3d4ea"}  # inputs and outputs; hidden
CHARACTER, MARGIN = 0.62, 1.4  # of the text size: the widest character, and the border of a box
BAR = 0.8  # of it: the height of a gate


def graph(
    network: GatedNetwork,
    axes: Axes | None = None,
    title: str = "",
    names: Mapping[Node, str] | None = None,
) -> Figure:
    """Draw the graph of a gated network, inputs at the bottom; a gated edge is dashed.

    The bar in a gated node has one cell for every run of samples of equal gate, from white for 0 to
    black for 1 (the mean over neurons if each has its own gate). Hidden nodes are blue, or green if
    they are always active. Without ``axes`` it makes a new figure; ``names`` of nodes replace their
    own.
    """
    checks.instance("network", network, GatedNetwork)
    checks.instance("axes", axes, Axes | None)
    named = {} if names is None else names
    checks.instance("names", named, Mapping)
    for node in named:
        checks.require(node in network.graph.neurons, "names", "nodes of the graph", node)
    if axes is None:
        axes = _figure(5.0, 3.4).subplots()
    position = _node_positions(network)
    xs, ys = np.array(list(position.values())).T
    axes.set(xlim=(xs.min() - 0.5, xs.max() + 0.5), ylim=(ys.min() - 0.3, ys.max() + 0.3))
    lines = {
        node: (str(named.get(node, node)), f"({neurons})") for node, neurons in network.graph.sizes
    }
    room = 72 * axes.bbox.width / axes.figure.dpi / (xs.max() - xs.min() + 1)  # for a node, points
    longest = max(len(line) for both in lines.values() for line in both)
    size = min(TEXT, room / (CHARACTER * longest + MARGIN))
    patches = {}
    ends = (*network.graph.input_nodes, *network.graph.output_nodes)
    for node in lines:
        gate = network.node_gates.get(node)
        always = gate is None or bool(np.all(np.asarray(gate) == 1))
        colour = GROUNDS["end" if node in ends else "open" if always else "gated"]
        box = AnnotationBbox(
            _node(lines[node], gate, size),
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


def _node(lines: tuple[str, str], gate, size: float) -> OffsetBox:
    looks = {"fontsize": size, "color": "black"}
    parts: list[Artist] = [TextArea(line, textprops=looks) for line in lines]
    if gate is not None:
        gate = np.clip(np.atleast_2d(np.asarray(gate)).mean(axis=0), 0, 1)
        width, height = CHARACTER * size * max(map(len, lines)), BAR * size
        bar = DrawingArea(width, height)
        starts = np.flatnonzero(np.diff(gate, prepend=np.nan))
        for start, end in zip(starts, [*starts[1:], len(gate)], strict=True):
            look = {"facecolor": mpl.colormaps[GATES](gate[start]), "edgecolor": "grey", "lw": 0.4}
            left, right = np.array([start, end]) * width / len(gate)
            bar.add_artist(Rectangle((left, 0.0), right - left, height, **look))
        parts.append(bar)
    return VPacker(children=parts, align="center", pad=0.0, sep=0.15 * size)


def _node_positions(network: GatedNetwork) -> dict[Node, tuple[float, float]]:
    """Return {node: (x, y)}: y is the longest path from an input, x spreads nodes of equal y."""
    graph = network.graph
    level: dict[Node, int] = {}
    for node in graph.order:
        level[node] = 1 + max((level[source] for source, _ in graph.incoming[node]), default=-1)
    top = max(level.values())
    level |= dict.fromkeys(graph.output_nodes, top)
    position = {}
    for height in range(top + 1):
        nodes = [node for node in graph.neurons if level[node] == height]
        for index, node in enumerate(nodes):
            position[node] = (index - (len(nodes) - 1) / 2, float(height))
    return position


def kinds(found: Kinds, x_label: str = "condition") -> Figure:
    """Draw the result of ``discovery.find``: recording, gates, and how far apart they are.

    Left, the activity of each neuron over its maximum; below the last line, neurons of no kind.
    Middle, the gates and their shares. Right, the silhouette of the recording and of surrogates
    without kinds. Up to 16 conditions are named, or, if their labels are tuples, the runs of their
    first entries.
    """
    checks.instance("found", found, Kinds)
    figure = _figure(7.2, 2.9)
    left, middle, right = figure.subplots(1, 3, width_ratios=[1, 0.9, 1.1])
    activity = np.nan_to_num(np.maximum(found.activity, 0))
    kind = np.where(found.gate_of < 0, len(found.gates), found.gate_of)
    order = np.lexsort([found.misfit, kind])
    order = order[activity[order].any(axis=1)]
    image = {"cmap": GATES, "vmin": 0, "vmax": 1, "aspect": "auto"}
    relative = activity[order] / activity[order].max(axis=1, keepdims=True)
    left.imshow(relative, interpolation="nearest", **image)
    for border in np.flatnonzero(np.diff(kind[order])):
        left.axhline(border + 0.5, color=ORANGE, linewidth=1)
    left.set(xlabel=x_label, ylabel="neuron", title="recording", yticks=[])
    if len(found.gates):
        middle.imshow(found.gates, **image)
    for row in range(1, len(found.gates)):
        middle.axhline(row - 0.5, color="white", linewidth=1.5)
    middle.set_yticks(range(len(found.gates)), [f"{share:.0%}" for share in found.shares])
    middle.set(xlabel=x_label, title="no kinds" if found.reason else "gates")
    ticks, names = _names(found.conditions)
    for axes in (left, middle):
        axes.set_xticks(ticks, names, rotation=90 if len("".join(names)) > 20 else 0)
        axes.grid(False)
    if np.isfinite(found.silhouette):
        right.hist(found.null, np.linspace(0, 1, 41), color=GREY, label="without kinds")
        right.axvline(found.silhouette, color=BLUE, label="recording")
        right.legend(fontsize="x-small", loc="upper left")
    right.set(xlabel="silhouette", ylabel="surrogates", xlim=(0, 1.05))
    return figure


def _names(conditions: tuple[Hashable, ...]) -> tuple[list[float], list[str]]:
    first = [condition[0] for condition in conditions if isinstance(condition, tuple)]
    if len(first) == len(conditions):
        runs = [(label, len(list(run))) for label, run in groupby(first)]
        ends = np.cumsum([length for _, length in runs])
        ticks = [end - (length + 1) / 2 for end, (_, length) in zip(ends, runs, strict=True)]
        return ticks, [str(label) for label, _ in runs]
    named = conditions if len(conditions) <= MOST_NAMES else ()
    return list(range(len(named))), [str(condition) for condition in named]


def _figure(width: float, height: float) -> Figure:
    """Close the figure, as a notebook would show an open one twice."""
    figure = plt.figure(figsize=(width, height), layout="constrained")
    plt.close(figure)
    return figure
