"""Figures 1 to 4 of *Make Haste Slowly*, one function each, laid out as its text says."""

import numpy as np

from mdsgdln import networks, tasks
from mdsgdln_book import plots, tables
from mdsgdln_book.paper_figures import runs
from mdsgdln_book.paper_figures.parts import (
    FAINT,
    OURS,
    PAPER,
    RELU,
    classical_scaling,
    draw_separators,
    heatmap,
    mosaic,
)

BLUE, ORANGE = plots.COLOURS[:2]
EVERY_80 = 80 * np.arange(101)  # steps of the losses in the table of candidates


def figure_1():
    """Draw the notation: nodes, edges, and gates of both."""
    network = networks.GatedNetwork(
        sizes={"x1": 3, "x2": 2, "h1": 4, "h2": 5, "y1": 2, "y2": 1},
        edges=[("x1", "h1"), ("x2", "h1"), ("h1", "h2"), ("h1", "y1"), ("h2", "y1"), ("h2", "y2")],
        node_gates={"h1": [1, 1, 0, 0], "h2": [0, 1, 1, 1]},
        edge_gates={("x2", "h1"): [1, 0, 1, 0]},
    )
    return plots.graph(network)


def figure_2():
    """Draw XOR with a margin: task, gatings, learning times, losses."""
    figure, axes = mosaic("aaabbbcccccc;ddddddeeefff;ddddddggghhh", 6.2, height_ratios=[1.1, 1, 1])
    task = tasks.xor(1.0)
    for (x, y), target in zip(np.asarray(task.inputs[:2]).T, task.targets[0], strict=True):
        sign, colour = ("+", BLUE) if target > 0 else ("−", plots.COLOURS[3])
        axes["a"].plot(x, y, "o" if target > 0 else "s", color=colour, markersize=8)
        axes["a"].text(x, 0.55 * y, f"{sign}1 at {sign}Δ", ha="center", va="center", fontsize=7)
    axes["a"].set(xlim=(-1.8, 1.8), ylim=(-1.4, 1.4), xlabel="$x_1$", ylabel="$x_2$")
    axes["a"].set(title="(a) task", xticks=[-1, 1], yticks=[-1, 1])
    two, four = np.kron(np.eye(2), np.ones((1, 2))), np.eye(4)
    plots.graph(networks.pathways(task, two, 64), axes["b"], "(b) linear gating")
    plots.graph(networks.pathways(task, four, 32), axes["c"], "(c) XOR gating")
    _learning_times(axes["d"])
    for name, margin in zip("efgh", (0.25, 0.7, 0.9, 1.5), strict=True):
        ax, losses = axes[name], runs.train_xor(margin)[1]
        ax.plot(runs.XOR_TIMES, losses.T, color=RELU, alpha=0.3, linewidth=1)
        for number, colour in ((2, BLUE), (4, ORANGE)):
            curve = runs.xor_formula(margin, number, runs.NEURONS // number)[0]
            ax.plot(runs.XOR_TIMES, curve, "--", color=colour, label=f"{number} paths")
        ax.set(
            xlim=(0, 30), ylim=(0, 0.55), title=("(e) " if name == "e" else "") + f"Δ = {margin}"
        )
        ax.tick_params(labelleft=name in "eg", labelbottom=name in "gh")
    axes["f"].legend(fontsize="x-small")
    axes["e"].set_ylabel("loss")
    axes["g"].set(xlabel="time", ylabel="loss")
    axes["h"].set_xlabel("time")
    return figure


def _learning_times(ax):
    measured = tables.load("xor_seeds").groupby("margin")["half_loss_time"]
    margins = np.linspace(0.01, 2.5, 84)
    for number, colour in ((2, BLUE), (4, ORANGE)):
        for neurons, line in ((runs.NEURONS // number, "--"), (runs.NEURONS, ":")):
            losses = runs.xor_formula(margins, number, neurons)
            times = [np.interp(-0.25, -curve, runs.XOR_TIMES, right=np.nan) for curve in losses]
            label = f"{number} paths, {neurons} neurons in each"
            ax.plot(margins, times, line, color=colour, label=label)
    middle, ends = measured.mean(), measured.quantile([0.05, 0.95]).unstack()
    reach = np.abs(ends.T.to_numpy() - middle.to_numpy())
    ax.errorbar(
        middle.index, middle, reach, fmt="o", color=RELU, markersize=4, label="ReLU network"
    )
    ax.axvline(np.sqrt(2 / 3), color="#808080", linestyle="-.", linewidth=1)
    ax.set(xlabel="margin Δ", ylabel="half-loss time", ylim=(0, 32), title="(d) learning time")
    ax.legend(fontsize="x-small", loc="upper right")


def figure_3():
    """Draw the contextual task and the pathways of its gated network."""
    task = tasks.contextual(3, 8, ["tree", "ring", "cross"])
    network = networks.contextual_pathways(task, 3, 2, runs.WIDTH)
    figure, axes = mosaic("xyg", 3.0, width_ratios=[1, 1, 2.6])
    rows = {"x": ([8], ["items", "contexts"], "inputs")}
    rows["y"] = [15, 30, 45], ["common", "tree", "ring", "cross"], "targets"
    for name, matrix in (("x", task.inputs), ("y", task.targets)):
        ends, labels, title = rows[name]
        heatmap(axes[name], matrix, (0, 1.2), title, cmap="Greys")
        draw_separators(axes[name], ends, (8, 16), BLUE, 1)
        edges = np.array([0, *ends, len(matrix)])
        places = (edges[1:] + edges[:-1] - 1) / 2
        axes[name].set_yticks(places, labels, rotation=90, va="center", fontsize=7)
        axes[name].set_xticks([3.5, 11.5, 19.5], "123", fontsize=7)
        axes[name].set_xlabel("context", fontsize="small")
    plots.graph(network, axes["g"], "pathways")
    return figure


def figure_4():
    """Draw losses, outputs, strengths and representations with three contexts."""
    layout = "aaaaaammnnoo;aaaaaappqqrr;sssssstttttt;uuuuuuvvvvvv;xxxxxxyyyyyy"
    ratios = [1, 1, 1, 1, 1.9]
    figure, axes = mosaic(layout, 9.6, height_ratios=ratios)
    setting, relu = runs.contextual_setting(runs.MIXED), runs.train_relu(runs.MIXED, 0)
    gated, ours = runs.train_gated(runs.MIXED), runs.train_reduced(runs.MIXED)
    fitted, strengths = runs.predict_with_fit(runs.MIXED)
    table = tables.load("context_candidates")
    others = np.stack(table[table["case"] == runs.MIXED]["one_context_losses"].tolist())
    ax = axes["a"]
    ax.plot(runs.STEPS, relu.losses, color=RELU, linewidth=2.5, label="ReLU network")
    ax.plot(runs.STEPS, gated.losses, color=BLUE, label="two contexts per pathway")
    ax.plot(EVERY_80, others[0], color=ORANGE, linewidth=1, label="one context per pathway")
    ax.plot(runs.STEPS, fitted, **PAPER, label="reduction, fitted starts")
    ax.plot(runs.STEPS, ours.losses, **OURS, label="prediction, no fit")
    ax.set(xlabel="step", ylabel="loss", title="(a) loss, and outputs")
    ax.legend(fontsize="x-small")
    fallen = relu.losses / relu.losses[0]
    for names, part in zip(("mp", "nq", "or"), (1 / 2, 1 / 4, 1 / 10), strict=True):
        index = int(np.argmax(fallen < part))
        for name, seen, label in zip(names, (relu, gated), ("ReLU", "gated"), strict=True):
            heatmap(axes[name], seen.outputs[index], (-1.2, 1.2), f"{label}, {runs.STEPS[index]}")
            draw_separators(axes[name], (15, 30, 45), (8, 16))
    titles = ["(b) common pathway", "off in cross-cutting", "off in ring", "off in tree"]
    for name, path, title in zip("stuv", setting.found, titles, strict=True):
        for mode, colour in enumerate(plots.COLOURS[:4]):
            drawn = (
                ("trained", gated.strengths[path][:, mode], FAINT),
                ("fitted", strengths[path][mode], PAPER),
                ("no fit", ours.strengths[path][:, mode], OURS),
            )
            for kind, values, style in drawn:
                label = f"_mode {mode + 1}, {kind}"  # for the numbers, not for the legend
                axes[name].plot(runs.STEPS, values, **style | {"color": colour, "label": label})
        axes[name].set(title=title, ylim=(-0.1, 3.4))
        if name in "su":
            axes[name].set_ylabel("strength")
    for style, label in ((FAINT, "trained"), (PAPER, "fitted"), (OURS, "no fit")):
        axes["t"].plot([], [], **style | {"color": RELU}, label=label)
    axes["t"].legend(fontsize="x-small")
    _representations(axes["x"], axes["y"], relu.hidden[:41:2], gated.hidden[:41:2])
    return figure


def _representations(left, right, relu, gated):
    """Draw the samples' paths through training, turned in space to fit, and seen from one side.

    A plane would not do: the ReLU network's second and third direction are almost equally long.
    """
    first, second = (classical_scaling(np.concatenate(seen, axis=1), 3) for seen in (relu, gated))
    one, _, other = np.linalg.svd(second.T @ first)
    for ax, places, title in ((left, first, "ReLU"), (right, second @ one @ other, "gated")):
        ways = places.reshape(-1, 24, 3)[:, :, :2]
        for sample in range(24):
            kind = sample // 8
            label = ["tree", "ring", "cross-cutting"][kind] if sample % 8 == 0 else f"_{sample}"
            colour = plots.COLOURS[kind]
            path = f"_sample {sample}, path"
            ax.plot(*ways[:, sample].T, color=colour, linewidth=0.8, label=path)
            ax.plot(*ways[-1, sample], "os^"[kind], color=colour, markersize=4, label=label)
        ax.set(title=("(c) " if ax is left else "") + f"{title} network", xticks=[], yticks=[])
        ax.set_aspect("equal", "datalim")
    left.legend(fontsize="x-small")
