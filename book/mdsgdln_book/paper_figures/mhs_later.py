"""Figures 5 to 9 of *Make Haste Slowly*, one function each."""

import numpy as np
import pandas as pd

from mdsgdln import statistics, theory
from mdsgdln_book import plots, tables
from mdsgdln_book.experiments import two_hidden, two_hidden_staged
from mdsgdln_book.experiments.finding_gates import DRAWN
from mdsgdln_book.paper_figures import runs
from mdsgdln_book.paper_figures.mhs import BLUE, EVERY_80, ORANGE
from mdsgdln_book.paper_figures.parts import (
    FAINT,
    OURS,
    PAPER,
    RELU,
    bars,
    decomposition,
    draw_separators,
    heatmap,
    mosaic,
)


def figure_5():
    """Draw losses and singular values with three, four and five contexts."""
    figure, axes = plots.panels(3, 2, height=2.5, sharex=True)
    table = tables.load("context_candidates")
    for column, number in enumerate((3, 4, 5)):
        case, top, bottom = f"{number} contexts", *axes[:, column]
        setting, ours, gated = (
            runs.contextual_setting(case),
            runs.train_reduced(case),
            runs.train_gated(case),
        )
        row = table[table["case"] == case].iloc[0]
        top.plot(EVERY_80, row["relu_losses"], color=RELU, linewidth=2.5, label="ReLU network")
        top.plot(runs.STEPS, gated.losses, color=BLUE, label="all but one")
        closed, strengths = runs.predict_with_fit(case)
        top.plot(runs.STEPS, closed, **PAPER, label="closed form, fitted")
        top.plot(runs.STEPS, ours.losses, **OURS, label="prediction, no fit")
        top.set_title(case)
        path = list(setting.found)[1]
        for mode, colour in zip((0, 1, 3), plots.COLOURS, strict=False):
            bottom.plot(runs.STEPS, gated.strengths[path][:, mode], color=colour, **FAINT)
            bottom.plot(runs.STEPS, strengths[path][mode], **PAPER | {"color": colour})
            bottom.plot(runs.STEPS, ours.strengths[path][:, mode], **OURS | {"color": colour})
        bottom.set_xlabel("step")
    axes[0, 0].set_ylabel("loss")
    axes[1, 0].set_ylabel("contextual strength")
    axes[0, 2].legend(fontsize="x-small")
    for style, label in ((FAINT, "trained"), (PAPER, "fitted"), (OURS, "no fit")):
        axes[1, 2].plot([], [], **style | {"color": RELU}, label=label)
    axes[1, 2].legend(fontsize="x-small", loc="center right")
    return figure


def figure_6():
    """Draw the network with two hidden layers, its losses, their spread, and outputs."""
    figure, axes = mosaic("aaaaaaaa;bbbbcccc;ddddmnop", 7.2, height_ratios=[1.1, 1, 1])
    plots.graph(two_hidden_staged.modular_network()[0], axes["a"], "(a) gated network")
    rows = tables.load("two_hidden")
    rows = rows[(rows["structures"] == "trees") & (rows["seed"] < 10)]
    steps, typical = 200 * np.arange(150), {}
    for name in ("ReLU", "as published", "unstaged"):
        some = rows[rows["network"] == name]
        losses = np.stack(some["losses"].tolist())
        index = int(np.argmin(np.abs(losses - losses.mean(axis=0)).sum(axis=1)))
        typical[name] = losses, losses[index], some["outputs"].iloc[index]
    named = {
        "b": ("as published", BLUE, "(b) stages set by hand"),
        "c": ("unstaged", ORANGE, "no stages"),
    }
    for panel, (name, colour, title) in named.items():
        for key, ink in (("ReLU", RELU), (name, colour)):
            losses, nearest, _ = typical[key]
            axes[panel].plot(steps, losses.T, color=ink, alpha=0.25, linewidth=0.8)
            label = "ReLU network" if key == "ReLU" else "gated network"
            axes[panel].plot(steps, nearest, color=ink, linewidth=2, label=label)
        axes[panel].set(title=title, xlabel="published step", ylim=(0, 4.2))
    axes["b"].set_ylabel("loss")
    axes["b"].legend(fontsize="x-small")
    for name, ink in (("ReLU", RELU), ("as published", BLUE), ("unstaged", ORANGE)):
        axes["d"].plot(steps, typical[name][0].std(axis=0), color=ink, label=name)
    axes["d"].set(title="spread of the runs", xlabel="published step", ylabel="st. dev. of loss")
    axes["d"].legend(fontsize="x-small")
    shown = [(i, name) for i in (0, 1) for name in ("ReLU", "as published")]
    for panel, (index, name) in zip("mnop", shown, strict=True):
        outputs = two_hidden.BASES["trees"] @ np.asarray(typical[name][2])[index]
        label = "ReLU" if name == "ReLU" else "gated"
        heatmap(axes[panel], outputs, (-1, 1), f"{label}\n{(15, 22)[index]} 000")
        draw_separators(axes[panel], (15, 30, 45), (8, 16))
    return figure


def figure_7():
    """Draw a hierarchy, its singular value decomposition, and how it is learned."""
    figure, axes = mosaic("yyyyuuuussssvvvv;lllllllldddddddd", 5.4)
    decomposition([axes[name] for name in "yusv"])
    task, found = runs.HIERARCHY, statistics.modes(runs.HIERARCHY)
    start, times = theory.expected_initial_strength(100, runs.LINEAR_SCALE), runs.LINEAR_TIMES
    law = runs.trajectory(times, found.singular_values, found.input_variances, start)
    for seed in range(5):
        run = runs.train_linear(2, seed)
        axes["l"].plot(times, run.losses, color=BLUE, alpha=0.5, linewidth=1.5)
        for mode, colour in enumerate(plots.COLOURS[:4]):
            axes["d"].plot(times, run.strengths[:, mode], color=colour, alpha=0.5, linewidth=1.5)
    axes["l"].plot(times, theory.mode_losses(task, found, law), **OURS)
    axes["d"].plot(times, law.T, **OURS, label=["Eq. 7, no fit", None, None, None])
    axes["l"].set(title="loss", xlabel="time (learning rate × step)", ylabel="loss")
    axes["d"].set(title="strength of each mode", xlabel="time (learning rate × step)")
    axes["d"].legend(fontsize="x-small")
    return figure


def figure_8():
    """Draw the centroids of Algorithm 1 with three, four and five clusters."""
    figure, axes = plots.panels(3, height=2.2)
    rows = tables.load("finding_elbow")
    first = rows[rows["case"] == runs.MIXED].iloc[0]
    for ax, number in zip(axes, DRAWN, strict=True):
        means, title = first[f"drawn {number}"], f"{number} clusters"
        heatmap(ax, means, (0, 1.2), title, cmap="Greys")
        draw_separators(ax, range(1, number), (), "white", 2)
        draw_separators(ax, (), (8, 16), plots.COLOURS[3], 1)
        ax.set_xticks([3.5, 11.5, 19.5], "123")
        ax.set_xlabel("context")
    axes[0].set_ylabel("cluster")
    return figure


def figure_9():
    """Draw the error of the gated network against the number of clusters."""
    figure, axes = plots.panels(2, height=2.8)
    rows = tables.load("finding_gates")
    shown = {runs.MIXED: "tree, ring, cross-cutting", "3 contexts": "trees"}
    for ax, (case, title) in zip(axes, shown.items(), strict=True):
        some = rows[rows["case"] == case]
        errors = pd.DataFrame(some["plain_output"].tolist()).to_numpy().T
        bars(ax, range(2, 13), errors, BLUE, "Algorithm 1")
        ax.plot(some["pathways"].mean(), some["output"].mean(), "k*", ms=11, label="by density")
        ax.axvline(4, color="#808080", linestyle=":", linewidth=1)
        ax.set(title=title, xlabel="clusters", ylim=(0, None), xticks=range(2, 13, 2))
    axes[0].set_ylabel("mean squared error of outputs")
    axes[1].legend(fontsize="x-small")
    return figure
