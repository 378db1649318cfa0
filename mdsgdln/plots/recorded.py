"""Kinds of neurons that were found in a recording."""

from collections.abc import Hashable
from itertools import groupby

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from mdsgdln import _checks as checks
from mdsgdln.discovery import Found
from mdsgdln.plots.appearance import COLOURS, GATES, panels

MOST_NAMES = 16  # below an axis


def kinds(found: Found, x_label: str = "condition") -> Figure:
    """Draw what ``discovery.find`` found: the recording, the gates, and how sure they are.

    Left, the activity of all neurons, each over its largest. Middle, the gates and their shares of
    the weight. Right, agreement and silhouette over the number of clusters. Up to 16 conditions are
    named, or, if their labels are tuples, the runs of their first entries.

    Args:
        found: what to draw.
        x_label: what the columns of the activity are.
    """
    checks.instance("found", found, Found)
    figure, (left, middle, right) = panels(
        3, height=2.9, width_ratios=[1, 0.9, 1.1], layout="constrained"
    )
    order = np.lexsort([-found.sure, found.gate_of])
    order = order[found.gate_of[order] >= 0]
    activity = np.maximum(found.activity[order], 0)
    left.imshow(
        activity / activity.max(axis=1, keepdims=True),
        cmap=GATES,
        vmin=0,
        vmax=1,
        aspect="auto",
        interpolation="nearest",
    )
    for border in np.flatnonzero(np.diff(found.gate_of[order])):
        left.axhline(border + 0.5, color=COLOURS[3], linewidth=1)
    left.set(xlabel=x_label, ylabel="neuron", title="recording", yticks=[])
    middle.imshow(found.gates, cmap=GATES, vmin=0, vmax=1, aspect="auto")
    for row in range(1, len(found.gates)):
        middle.axhline(row - 0.5, color="white", linewidth=1.5)
    labels = [f"{share:.0%}" for share in found.shares]
    middle.set_yticks(range(len(labels)), labels)
    middle.set(xlabel=x_label, title="gates" if found.repeatable else "no kinds")
    ticks, names = _names(found.conditions)
    for axes in (left, middle):
        axes.set_xticks(ticks, names, rotation=90 if len("".join(names)) > 20 else 0)
    numbers = list(found.agreement)
    curves = {
        "agreement": (list(found.agreement.values()), "o-", COLOURS[0]),
        "silhouette": (list(found.silhouette.values()), "s-", COLOURS[2]),
        "without kinds": (list(found.null.values()), "--", COLOURS[7]),
    }
    for label, (values, style, colour) in curves.items():
        right.plot(numbers, values, style, color=colour, markersize=4, label=label)
    right.yaxis.set_major_formatter(PercentFormatter(1.0))
    right.set(xlabel="number of clusters", ylim=(0, 1.05), xticks=numbers[::2])
    right.legend(fontsize="x-small", loc="lower left")
    for axes in (left, middle):
        axes.grid(False)
    return figure


def _names(conditions: tuple[Hashable, ...]) -> tuple[list[float], list[str]]:
    """Return where to write which names of conditions."""
    first = [condition[0] for condition in conditions if isinstance(condition, tuple)]
    if len(first) == len(conditions):
        runs = [(label, len(list(run))) for label, run in groupby(first)]
        ends = np.cumsum([length for _, length in runs])
        ticks = [end - (length + 1) / 2 for end, (_, length) in zip(ends, runs, strict=True)]
        return ticks, [str(label) for label, _ in runs]
    if len(conditions) > MOST_NAMES:
        return [], []
    return list(range(len(conditions))), [str(condition) for condition in conditions]
