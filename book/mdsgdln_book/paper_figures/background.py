"""The two figures with which the slides of *The Neural Race Reduction* recall earlier work."""

import numpy as np

from mdsgdln import statistics, theory
from mdsgdln_book import plots
from mdsgdln_book.paper_figures import runs
from mdsgdln_book.paper_figures.parts import (
    FAINT,
    OURS,
    classical_scaling,
    decomposition,
    heatmap,
    mosaic,
    write_numbers,
)

ITEMS = np.arange(16)
LEAK = 0.05  # stiffness of the spring from every node to zero
CLUSTERS = [(i, 16 + i // 4) for i in ITEMS]
GRAPHS = {
    "clusters": CLUSTERS,
    "tree": [(node, 16 + node // 2) for node in range(30)],
    "ring": [(i, (i + 1) % 16) for i in ITEMS],
    "chain": [(i, i + 1) for i in ITEMS[:-1]],
    "cross-cutting": [*CLUSTERS, *((i, 20 + i % 4) for i in ITEMS)],
}
ROWS = 0.6  # share of the properties that follow the rows of the fifth


def covariance(edges) -> np.ndarray:
    """Return the items' covariance if properties vary little along edges, of rows or of columns."""
    if np.max(edges) == 23:
        return ROWS * covariance(edges[:16]) + (1 - ROWS) * covariance(edges[16:] - [0, 4])
    precision = LEAK * np.eye(1 + np.max(edges))
    for i, j in edges:
        precision[[i, j], [i, j]] += 1
        precision[[i, j], [j, i]] -= 1
    found = np.linalg.inv(precision)[:16, :16]
    return 16 * found / np.trace(found)


def _circle(number: int, radius: float) -> np.ndarray:
    angles = 2 * np.pi * (np.arange(number) + 0.5) / number
    return radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)


def _places(name: str) -> np.ndarray:
    if name == "clusters":
        hubs = np.array([[-1, 1], [1, 1], [-1, -1], [1, -1]])
        return np.vstack([(hubs[:, None] + _circle(4, 0.6)).reshape(-1, 2), hubs])
    if name == "tree":
        rings = [(16, 1.0), (8, 0.75), (4, 0.5), (2, 0.25), (1, 0.0)]
        return np.vstack([_circle(number, radius) for number, radius in rings])
    if name == "ring":
        return _circle(16, 1)
    if name == "chain":
        return np.stack([ITEMS, 3 * np.sin(np.pi * ITEMS / 5)], axis=1)
    table = np.stack([ITEMS % 4, 3 - ITEMS // 4], axis=1)
    return np.vstack([table, [[-1, 3 - k] for k in range(4)], [[k, -1] for k in range(4)]])


def structures():
    """Draw graphs, covariances, modes and the development of representations."""
    figure, axes = plots.panels(5, 4, height=1.5)
    for column, (name, edges) in enumerate(GRAPHS.items()):
        graph, items, modes, ways = axes[:, column]
        places, colours = _places(name), plots.SEQUENTIAL
        for edge in edges:
            graph.plot(*places[list(edge)].T, color="#808080", linewidth=0.7, zorder=0)
        graph.scatter(*places[16:].T, s=9, facecolor="white", edgecolor="#808080")
        graph.scatter(*places[:16].T, s=12, c=ITEMS, cmap=colours)
        graph.set_title(name, fontsize="small")
        gamma = covariance(np.array(edges))
        heatmap(items, gamma, aspect="equal")
        values, vectors = np.linalg.eigh(gamma)
        values, vectors = values[::-1], vectors[:, ::-1]
        heatmap(modes, (vectors * np.sqrt(values)).T, aspect="equal")
        # a network with orthonormal inputs and targets √Γ: s = √λ/16, d = 1/16
        times = np.linspace(0, 300, 60)
        strength = runs.trajectory(times, np.sqrt(values) / 16, 1 / 16, 1e-3)
        hidden = np.sqrt(strength).T[:, :, None] * vectors.T  # times, modes, items
        found = classical_scaling(np.concatenate(hidden, axis=1)).reshape(60, 16, 2)
        for item in ITEMS:
            ways.plot(*found[:, item].T, color="#a0a0a0", linewidth=0.6)
        ways.scatter(*found[-1].T, s=12, c=ITEMS, cmap=colours)
        for ax in (graph, ways):
            ax.set_aspect("equal", "datalim")
    for ax in axes.flat:
        ax.set(xticks=[], yticks=[])
        ax.grid(False)
        ax.spines[:].set_visible(False)
    for ax, label in zip(axes[:, 0], ("graph", "covariance", "modes", "learning"), strict=True):
        ax.set_ylabel(label)
    return figure


def modes():
    """Draw the decomposition of the data, the network's map, and deep and shallow learning."""
    layout = "yyyyuuuussssvvvv;mmmmnnnnoooopppp;ccccccccdddddddd"
    figure, axes = mosaic(layout, 7.2, height_ratios=[1.1, 1, 1])
    found = statistics.modes(runs.HIERARCHY)
    final = np.asarray(found.singular_values / found.input_variances)
    decomposition([axes[name] for name in "yusv"], "(A) ")
    deep, shallow = runs.train_linear(2, 0), runs.train_linear(1, 0)
    now = 12.5  # time at which the map is shown
    shown = deep.maps[round(now / runs.LINEAR_RATE / runs.LINEAR_EVERY)]
    inner = found.left.T @ shown @ found.right
    parts = [(shown, "(B) map at 12.5"), (found.left, "$U$"), (inner, "$A(t)$")]
    for name, (matrix, title) in zip("mnop", [*parts, (found.right.T, "$V^\\top$")], strict=True):
        heatmap(axes[name], matrix, (-2.7, 2.7) if name == "o" else (-1.2, 1.2), title)
        write_numbers(axes[name], matrix)
    for name, run, depth, start in (("c", deep, 2, None), ("d", shallow, 1, 0.0)):
        start = theory.expected_initial_strength(100, runs.LINEAR_SCALE) if start is None else start
        s, d = found.singular_values, found.input_variances
        law = runs.trajectory(runs.LINEAR_TIMES, s, d, start, depth=depth)
        for mode, colour in enumerate(plots.COLOURS[:4]):
            axes[name].plot(runs.LINEAR_TIMES, run.strengths[:, mode], color=colour, **FAINT)
            axes[name].plot(runs.LINEAR_TIMES, law[mode], **OURS)
        axes[name].set_xlabel("time (learning rate × step)")
    axes["c"].axvline(now, color="#808080", linestyle=":", linewidth=1)
    axes["c"].set(title="(C) deep", ylabel="strength", ylim=(0, 1.05 * final[0]))
    axes["d"].set(title="(D) shallow", ylim=(0, 1.05 * final[0]))
    return figure
