"""The film strip: a ReLU network and the gated network that imitates it, on one axis of steps."""

from functools import cache

import jax
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from mdsgdln import networks, tasks, training
from mdsgdln_book import plots
from mdsgdln_book.experiments.reduced import keep_weights

ITEMS, CONTEXTS, NEURONS, SEED, SIGMA = 8, 3, 300, 20, 1e-4
RATE, STEPS, EVERY = 0.1, 1001, 5
FRAMES = (0, 90, 200, 1000)  # steps whose gates are shown
STAGES = {"A": (0, 60), "B": (60, 125), "C": (125, STEPS)}
LEFT = 0  # the context that our neuron has let go of in the end
SHOWN = 48  # neurons in a frame

HALVES = np.repeat([1.0, -1.0], ITEMS // 2) / np.sqrt(ITEMS)  # of the tree, its strongest mode


@cache
def setting() -> tuple:
    """Return the task, the ReLU network of *letting go*, and a gated one of as many neurons."""
    task = tasks.contextual(CONTEXTS, ITEMS)
    relu = networks.ReLUNetwork((ITEMS + CONTEXTS, NEURONS, 60))
    return task, relu, networks.contextual_pathways(task, CONTEXTS, 2, NEURONS // 4)


def train(seed: int, scale: float, num_steps: int) -> tuple:
    """Return the runs of the ReLU network and of the gated network."""
    task, *both = setting()
    return tuple(
        training.train(
            network,
            network.init(jax.random.key(seed), scale),
            task,
            RATE,
            num_steps,
            observe=keep_weights,
            every=EVERY,
        )
        for network in both
    )


def activity_and_weight(run) -> tuple[np.ndarray, np.ndarray]:
    """Return which samples activate each neuron, (T, neurons, P), and its ‖w‖ ‖u‖, (T, neurons)."""
    first, second = map(np.asarray, run.observed)
    active = np.einsum("thi,ip->thp", first, np.asarray(setting()[0].inputs)) > 0
    return active, np.linalg.norm(first, axis=2) * np.linalg.norm(second, axis=1)


def pathway_norms(run, inputs) -> np.ndarray:
    """Return the norm of what each pathway adds to the outputs of some inputs, (pathways, T).

    Args:
        run: of the gated network.
        inputs: items and contexts, (11, S); contextual pathways see the items alone.
    """
    norms, graph = [], setting()[2].graph
    for path in graph.paths:
        into, out = (np.asarray(run.observed[edge]) for edge in graph.path_edges(path))
        norms.append(np.linalg.norm(out @ into @ inputs[: into.shape[2]], axis=(1, 2)))
    return np.stack(norms)


def head_start(gated) -> tuple[np.ndarray, int]:
    """Return how much of the logarithm of their growth until T₀ contextual pathways have gained,
    (T,), and the number of T₀, when the common pathway has learned half of the tree's halves.
    """
    halves = np.concatenate([HALVES, np.zeros(CONTEXTS)])[:, None]
    common, *others = pathway_norms(gated, halves)
    growth = np.log(np.mean(others, axis=0))
    end = int(np.argmax(common > common.max() / 2))
    return (growth - growth[0]) / (growth[end] - growth[0]), end


def gained_before_silence(seed: int, scale: float, num_steps: int) -> float:
    """Return the part of the head start that is gained when neurons first fall silent: when less
    than 95 % of the weight is in neurons active everywhere, after this share has been reached.
    """
    relu, gated = train(seed, scale, num_steps)
    active, weight = activity_and_weight(relu)
    share = (weight * active.all(axis=2)).sum(axis=1) / weight.sum(axis=1)
    reached = int(np.argmax(share > 0.95))
    return float(head_start(gated)[0][reached + np.argmax(share[reached:] < 0.95)])


def draw() -> Figure:
    """Return the figure: losses, gates of the strongest neurons, strengths of pathways."""
    relu, gated = train(SEED, SIGMA, STEPS)
    figure = plt.figure(figsize=(plots.PAGE_WIDTH, 6.2), layout="constrained")
    plt.close(figure)
    axes = figure.subplot_mosaic(
        [["loss"] * 4, [*FRAMES], ["strengths"] * 4], height_ratios=[1, 1.6, 1]
    )
    _draw_losses(axes["loss"], {"ReLU network": relu, "gated network": gated})
    active, order, ours = _sort_neurons(relu)
    for step in FRAMES:
        _draw_gates(axes[step], active[step // EVERY][order], ours, f"step {step}")
    axes[FRAMES[0]].set_ylabel(f"{SHOWN} neurons")
    _draw_strengths(axes["strengths"], gated)
    return figure


def _sort_neurons(run):
    """Return activity, the strongest neurons by the context they leave, and the place of ours."""
    active, weight = activity_and_weight(run)
    items = active[-1].reshape(-1, CONTEXTS, ITEMS).sum(axis=2)
    gone = items <= ITEMS / 2
    lost = np.where(gone.sum(axis=1) == 1, gone.argmax(axis=1), CONTEXTS)
    strongest = np.argsort(-weight[-1])[:SHOWN]
    order = strongest[np.lexsort((-weight[-1][strongest], lost[strongest]))]
    ours = np.argmax(weight[-1] * ((lost == LEFT) & (items[:, LEFT] == 0)))
    return active, order, int(np.flatnonzero(order == ours)[0])


def _draw_losses(ax, runs):
    shades = (plots.COLOURS[7], plots.COLOURS[2], plots.COLOURS[0])
    for (name, (start, end)), shade in zip(STAGES.items(), shades, strict=True):
        ax.axvspan(start, end, color=shade, alpha=0.15, linewidth=0)
        ax.text(min((start + end) / 2, 200), 4.3, name, ha="center", fontsize="medium")
    for (name, run), style in zip(runs.items(), ("-", "--"), strict=True):
        ax.plot(run.losses, style, label=name, color=plt.rcParams["text.color"])
    losses = next(iter(runs.values())).losses
    for step in FRAMES:
        ax.plot(step, losses[step], "o", color=plots.COLOURS[3], markersize=4)
    ax.set(xlim=(0, STEPS), ylim=(0, 4.8), ylabel="loss")
    ax.legend(fontsize="small")


def _draw_gates(ax, active, ours, title):
    ax.imshow(active, cmap="Greys", aspect="auto", interpolation="nearest", vmin=0, vmax=1.4)
    width = CONTEXTS * ITEMS
    for line in range(ITEMS, width, ITEMS):
        ax.axvline(line - 0.5, color=plots.COLOURS[2], linewidth=1)
    box = {"fill": False, "edgecolor": plots.COLOURS[3], "linewidth": 1.5, "clip_on": False}
    ax.add_patch(Rectangle((-0.5, ours - 0.5), width, 1, **box))
    ax.set(yticks=[], title=title, xlabel="context")
    ax.set_xticks(np.arange(ITEMS, width + ITEMS, ITEMS) - (ITEMS + 1) / 2, [1, 2, 3])
    ax.tick_params(length=0)
    ax.grid(False)


def _draw_strengths(ax, gated):
    norms = pathway_norms(gated, np.asarray(setting()[0].inputs))
    steps = EVERY * np.arange(norms.shape[1])
    for norm, colour in zip(norms, plots.COLOURS[2:3] + plots.COLOURS[:1] * 3, strict=True):
        ax.plot(steps, norm, color=colour)
    _, end = head_start(gated)
    ax.axvline(EVERY * end, color="#808080", linestyle=":")
    ax.text(EVERY * end + 8, 3e-6, "$T_0$")
    ax.text(110, 60, "common pathway", fontsize="small")
    ax.text(330, 3e-3, "three contextual pathways", fontsize="small")
    ax.set(xlim=(0, STEPS), ylim=(1e-6, 1e3), yscale="log", ylabel="strength", xlabel="step")
