"""Figures of *The Neural Race Reduction*, one function each, laid out as its slides say."""

import numpy as np
from matplotlib.patches import Rectangle

from mdsgdln import networks, tasks
from mdsgdln_book import plots, tables
from mdsgdln_book.paper_figures import routes, runs
from mdsgdln_book.paper_figures.parts import (
    OURS,
    PAPER,
    TRAINED,
    UNTRAINED,
    bars,
    draw_separators,
    heatmap,
    mosaic,
    write_numbers,
)

DOMAINS = routes.DOMAINS
KINDS = (("trained", TRAINED, "o"), ("untrained", UNTRAINED, "s"))


def figure_1():
    """Draw a network of modules that modalities and tasks share."""
    modules = {"see": "sight", "hear": "sound", "read": "text"}
    sizes = dict.fromkeys(modules, 28) | dict.fromkeys(modules.values(), 16)
    sizes |= {"concepts": 64, "speech": 16, "hand": 16, "say": 7, "write": 7, "point": 7}
    edges = list(modules.items()) + [(module, "concepts") for module in modules.values()]
    edges += [("concepts", "speech"), ("concepts", "hand"), ("speech", "say")]
    return plots.graph(networks.GatedNetwork(sizes, [*edges, ("hand", "write"), ("hand", "point")]))


def figure_3():
    """Draw XOR: cell types, four paths, and losses."""
    figure, axes = mosaic("abc", 2.9, width_ratios=[0.9, 1.2, 1.1])
    (first, _), losses = runs.train_xor(0.0)
    weights = np.asarray(first)[:, :2].T
    weights = weights / np.abs(weights).max()
    axes["a"].plot(*weights, "o", color="#cc3fa0", markersize=3, alpha=0.6)
    task = tasks.xor(0.0)
    for (x, y), target in zip(np.asarray(task.inputs[:2]).T, task.targets[0], strict=True):
        colour = plots.COLOURS[3] if target > 0 else plots.COLOURS[0]
        axes["a"].plot(1.3 * x, 1.3 * y, "+" if target > 0 else "_", color=colour, markersize=11)
    axes["a"].set(xlabel="$x_1$", ylabel="$x_2$", aspect="equal", title="(a) cell types")
    plots.graph(networks.pathways(task, np.eye(4), 32), axes["b"], "(b) four paths")
    ax = axes["c"]
    ax.plot(runs.XOR_TIMES, losses.T, color=plots.COLOURS[3], alpha=0.3, linewidth=1)
    ax.plot([], [], color=plots.COLOURS[3], label="ReLU, 128")
    for neurons, look in ((128, {**PAPER, "color": "black"}), (32, OURS)):
        curve = runs.xor_formula(0.0, 4, neurons)[0]
        ax.plot(runs.XOR_TIMES, curve, **look, label=f"{neurons} in a path")
    ax.set(xlabel="time", ylabel="loss", title="(c) loss", xlim=(0, 36))
    ax.legend(title="neurons", fontsize="x-small", title_fontsize="x-small", loc="upper right")
    return figure


def figure_4():
    """Draw the routing network, its task, its training, and what it answers."""
    layout = "aaaabbcccddd;eeeeeeffffff;ggggghhhhhhh"
    ratios = [1.1, 1.3, 1.7]
    figure, axes = mosaic(layout, 8.4, height_ratios=ratios)
    found, items = routes.train_routing_networks(), tasks.hierarchy()
    small = networks.routing_network(tasks.routing(2, 2), 2, 2, 64)
    plots.graph(small, axes["a"], "(a) network")
    for share, colour in ((DOMAINS, "#c0c0c0"), (routes.TRAINED, TRAINED)):
        counts = [share, DOMAINS * share, share]
        label = "all" if share == DOMAINS else "trained"
        axes["b"].bar(["in", "hid.", "out"], counts, color=colour, label=label)
    axes["b"].set(title="(b) paths", ylim=(0, 68))
    axes["b"].legend(fontsize="x-small", loc="upper center", handlelength=0.8)
    heatmap(axes["c"], items.targets, (0, 8), "", cmap="Greys")
    write_numbers(axes["c"], items.targets)
    axes["c"].set(title="(c) dataset", xlabel="item", ylabel="property")
    trained = tasks.trained_routes(DOMAINS, routes.TRAINED)
    heatmap(axes["d"], trained, (0, 1.2), "", cmap="Greys")
    axes["d"].set(title="(d) trained", xlabel="output domain", ylabel="input domain")
    _routing_dynamics(axes["e"], axes["f"], found)
    heatmap(axes["g"], found.similarity, (-1, 1))
    draw_separators(axes["g"], range(4, 28, 4), range(4, 28, 4), "white", 0.8)
    axes["g"].set(title="(g) similarity", xlabel="items in input domain 1 … 7")
    _outputs(axes["h"], found.outputs, (0, 9), cmap="Greys")
    axes["h"].set(title="(h) outputs", xlabel="input domain", ylabel="output domain")
    return figure


def _routing_dynamics(left, right, found):
    for run in found.random:
        left.plot(run.losses, color=plots.COLOURS[3], alpha=0.3, linewidth=1)
    left.plot([], [], color=plots.COLOURS[3], label="random, ten runs")
    green, blue = plots.COLOURS[2], plots.COLOURS[0]
    left.plot(found.decoupled.losses, color=green, linewidth=3, alpha=0.6, label="decoupled")
    left.plot(found.reduced.losses, color=blue, linewidth=1, label="its theory")
    left.plot(found.fitted.losses, **PAPER | {"color": blue}, label="theory, σ₀/2.5 (fitted)")
    left.plot(found.derived.losses, **OURS, label="theory, σ₀/θ* (derived)")
    left.set(title="(e) training loss", xlabel="step", ylabel="loss")
    left.legend(fontsize="x-small")
    steps = routes.LOOK * np.arange(len(found.decoupled.values))
    layers = {"hidden": (1, blue), "input": (0, plots.COLOURS[3])}
    for name, (layer, colour) in layers.items():
        for run in found.random:
            right.plot(steps, run.values[:, layer], color=colour, alpha=0.12, linewidth=1)
        right.plot([], [], color=colour, label=name)
        right.plot(found.derived.values[:, layer], **OURS)
    right.plot([], [], **OURS, label="theory")
    right.set(title="(f) singular values", xlabel="step")
    right.legend(fontsize="x-small", loc="lower right")


def _outputs(ax, outputs, limits, **looks):
    heatmap(ax, outputs, limits, **looks)
    draw_separators(ax, range(7, 49, 7), range(4, 28, 4))
    for source, target in np.argwhere(tasks.trained_routes(DOMAINS, routes.TRAINED)):
        style = {"fill": False, "edgecolor": plots.COLOURS[1], "linewidth": 1.4}
        ax.add_patch(Rectangle((4 * source - 0.5, 7 * target - 0.5), 4, 7, **style))


def figure_5():
    """Draw gating schemes, their dynamics, and errors against the share of trained outputs."""
    figure, axes = mosaic("aaaabbbbcccc;ddddddeeeeee", 5.0, height_ratios=[1, 1.4])
    for name, degree in zip("abc", (1, 2, 4), strict=True):
        block = np.arange(4) // degree
        path = block[:, None] * (4 // degree) + block
        heatmap(axes[name], path % 4 + path // 4 % 2, (0, 8), cmap="Pastel1", aspect="equal")
        write_numbers(axes[name], path + 1)
        title = ("(a) " if name == "a" else "") + f"P = {degree**2}"
        axes[name].set(title=title, xlabel="output domain", ylabel="input domain")
    for degree, colour in zip((1, 2, 5, 10), plots.COLOURS, strict=False):
        times, trained, reduced = routes.train_shared_group(degree)
        axes["d"].semilogx(times[1:], trained[1:], color=colour, linewidth=3, alpha=0.4)
        axes["d"].semilogx(times[1:], reduced[1:], **OURS | {"color": colour}, label=degree**2)
    axes["d"].set(title="(b) hidden matrix, first mode", xlabel="time", xlim=(3, 1400))
    axes["d"].set_ylabel("singular value")
    axes["d"].legend(title="$P$", fontsize="x-small", title_fontsize="x-small", loc="upper left")
    table = tables.load("sharing")
    table = table[table["kind"].str.match("10 domains.* 64") & (table["scale"] == 0.2)]
    share = table["kind"].str.extract(r", (\d+) trained")[0].astype(int)
    for kind, colour, marker in KINDS:
        errors = np.stack([table[kind][share == number] for number in range(1, 10)])
        bars(axes["e"], np.arange(1, 10) / 10, errors, colour, kind, marker)
        early = table.groupby(share)[f"{kind}_500"].mean()[:9]
        axes["e"].plot(np.arange(1, 10) / 10, early, "--", color=colour, linewidth=1)
    axes["e"].axvline(0.4, color="#808080", linestyle=":", linewidth=1)
    axes["e"].set(title="(c) error / power", xlabel="share of outputs trained", yscale="log")
    axes["e"].legend(fontsize="x-small")
    return figure


def figure_6():
    """Draw losses, errors, representations and outputs from several initial scales."""
    figure, axes = mosaic("aaabbb;ccddee;ffgghh", 7.6, height_ratios=[1.2, 1, 1.2])
    for scale, colour in zip((0.2, 0.66, 1.25, 2.5), plots.COLOURS, strict=False):
        axes["a"].plot(routes.train_from_scale(scale).losses, color=colour, label=f"σ₀ = {scale}")
    axes["a"].set(title="(a) training loss", xlabel="step", ylabel="loss / empty", ylim=(0, 1.6))
    axes["a"].legend(fontsize="x-small")
    table = tables.load("race_or_lazy")
    by_scale = table[table["kind"] == "as published"].groupby("scale")
    for kind, colour, marker in KINDS:
        errors = np.stack([rows[kind] for _, rows in by_scale])
        bars(axes["b"], list(by_scale.groups), errors, colour, kind, marker)
        axes["b"].plot(by_scale[f"{kind}_700"].mean(), "--", color=colour, linewidth=1)
    ticks = [0.05, 0.2, 0.66, 2.5, 7]
    axes["b"].set(title="(b) error / power", xscale="log", yscale="log", ylim=(1e-8, 300))
    axes["b"].set_xticks(ticks, ticks)
    axes["b"].minorticks_off()
    axes["b"].set_xlabel("initial scale σ₀")
    axes["b"].legend(fontsize="x-small")
    for above, below, scale in zip("cde", "fgh", (0.2, 1.25, 2.5), strict=True):
        found, letters = (
            routes.train_from_scale(scale),
            ("(c) ", "(d) ") if above == "c" else ("", ""),
        )
        heatmap(axes[above], found.similarity, (-1, 1))
        axes[above].set_title(f"{letters[0]}similarity, {scale}")
        _outputs(axes[below], found.outputs, (-13, 13))
        axes[below].set_title(f"{letters[1]}outputs, {scale}")
    return figure


def figure_7():
    """Draw transformed pictures, and errors against the share of pairs and the scale."""
    layout = "iijjkkppppppqqqqqq;llmmnnppppppqqqqqq;bbbbbbccccccdddddd"
    figure, axes = mosaic(layout, 4.9, height_ratios=[1, 1, 3])
    digit = np.asarray(tasks.digits().inputs[:, 7]).reshape(8, 8)
    orders = [np.random.default_rng(seed).permutation(64) for seed in (0, 1)]
    seen = [np.rot90(digit, turns) for turns in range(4)]
    seen += [digit.ravel()[order].reshape(8, 8) for order in orders]
    for name, image in zip("ijklmn", seen, strict=True):
        heatmap(axes[name], image, (0, image.max()), cmap="Greys", aspect="equal")
    axes["i"].set_title("(a) inputs", loc="left")
    labels = np.array([np.roll(np.arange(10), -shift) for shift in range(5)])
    heatmap(axes["p"], labels, (0, 20), cmap="Blues")
    write_numbers(axes["p"], labels)
    axes["p"].set(title="labels", xlabel="digit", ylabel="output domain")
    heatmap(axes["q"], tasks.trained_routes(10, 4), (0, 1.2), cmap="Greys")
    axes["q"].set(title="trained pairs", xlabel="output domain", ylabel="input domain")
    digits, mnist = tables.load("digit_routes"), tables.load("mnist_routes")
    digits = digits[digits["scale"] == 0.2].copy()
    for kind, _, _ in KINDS:
        digits[f"{kind}_error"] = [errors[-1] for errors in digits[f"{kind}_error"]]
    shown = {
        "b": (digits, "num_trained", 10, "(b) small digits"),
        "c": (mnist[mnist["scale"] == 0.2], "num_trained", 100, "(c) MNIST"),
        "d": (mnist[mnist["num_trained"] == 50], "scale", 1, "(d) MNIST"),
    }
    for name, (table, by, unit, title) in shown.items():
        grouped = table.groupby(by)
        for kind, colour, marker in KINDS:
            errors = np.stack([rows[f"{kind}_error"] for _, rows in grouped])
            places = np.array(list(grouped.groups)) / unit
            bars(axes[name], places, errors, colour, kind, marker)
        axes[name].set(title=title, ylim=(0, 1), xlabel="share of pairs trained")
    axes["d"].set(xscale="log", xlabel="initial scale σ₀")
    axes["b"].set_ylabel("test error rate")
    axes["b"].legend(fontsize="x-small")
    return figure
