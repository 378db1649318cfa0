"""Curves over time, matrices side by side, and kinds of neurons that were found."""

from collections.abc import Hashable, Mapping, Sequence
from itertools import groupby

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from mdsgdln import _checks as checks
from mdsgdln._checks import Numbers, Scalar
from mdsgdln.discovery import Found
from mdsgdln.plots.appearance import COLOURS, DASHES, DIVERGING, GATES, panels

MOST_NAMES = 16  # below an axis


def curves(
    times: Numbers,
    measured: Mapping[str, Numbers],
    predicted: Mapping[str, Numbers] | None = None,
    axes: Axes | None = None,
    x_label: str = "time (learning rate × step)",
    y_label: str = "loss",
    title: str = "",
) -> Figure:
    """Draw curves over time: measured ones solid, predicted ones dashed, each in its own way.

    Args:
        times: shape (T,).
        measured: {label: (T,) or (repeats, T)}, repeats drawn faint.
        predicted: {label: (T,)}; a label that ``measured`` has too takes its colour, unlabelled.
        axes: where to draw; a new figure if not given.
        x_label: label of the time axis.
        y_label: label of the other axis.
        title: title of the panel.
    """
    times = checks.finite_array("times", times, 1, "(T,)")
    measured = _checked("measured", measured, (1, 2), len(times))
    predicted = _checked("predicted", predicted or {}, (1,), len(times))
    checks.instance("axes", axes, Axes | None)
    if axes is None:
        _, (axes,) = panels(1, width=6.0, height=3.4)
    colour_of = dict(zip(measured, COLOURS * 3, strict=False))
    for label, values in measured.items():
        lines = np.atleast_2d(values)
        look = {"color": colour_of[label], "alpha": 1.0 if len(lines) == 1 else 0.4}
        axes.plot(times, lines.T, label=[label, *[None] * (len(lines) - 1)], **look)
    alone = [label for label in predicted if label not in colour_of]
    dashes_of = dict(zip(alone, DASHES * len(alone), strict=False))
    for label, values in predicted.items():
        shared = label in colour_of
        axes.plot(
            times,
            values,
            color=_darker(colour_of[label]) if shared else mpl.rcParams["text.color"],
            linestyle=dashes_of.get(label, DASHES[0]),
            linewidth=1.6,
            label=None if shared else label,
        )
    axes.set(xlabel=x_label, ylabel=y_label, title=title)
    if axes.get_legend_handles_labels()[0]:
        legend = axes.legend(fontsize="small")
        plt.setp(legend.legend_handles, alpha=1.0)
    return axes.figure.figure  # the whole one, if the axes are in a part


def _checked(
    name: str, values: Mapping[str, Numbers], num_axes: Sequence[int], width: int | None = None
) -> dict[str, np.ndarray]:
    """Return {label: array}, or raise ``ValueError`` unless all fit; NaN is a gap."""
    checks.instance(name, values, Mapping)
    arrays = {}
    for label, value in values.items():
        array = np.asarray(checks.real_array(f"{name}[{label!r}]", value, str(width)))
        if array.ndim not in num_axes or not array.size or width not in (None, array.shape[-1]):
            raise ValueError(
                f"{name}[{label!r}]: expected {width or 'some'} columns of "
                f"{num_axes} axes, got shape {array.shape}"
            )
        arrays[label] = array
    return arrays


def _darker(colour: str) -> tuple[float, ...]:
    return tuple(0.45 * channel for channel in mpl.colors.to_rgb(colour))


def matrices(
    named: Mapping[str, Numbers],
    row_labels: Sequence[Sequence[str]] | None = None,
    column_labels: Sequence[Sequence[str]] | None = None,
    annotate: bool = False,
    limits: Sequence[Scalar] | None = None,
) -> Figure:
    """Draw matrices side by side on one scale, diverging about zero or from white to black.

    Args:
        named: {title: matrix}.
        row_labels: labels of the rows of each matrix.
        column_labels: labels of the columns of each matrix.
        annotate: write the entries, one decimal.
        limits: ends of the scale, ``(0, 1)`` for gates, which are then drawn from white to black;
            if not given, the largest absolute entry, above and below zero.
    """
    named = _checked("named", named, (2,))
    if not named:
        raise ValueError("named: expected at least one matrix, got none")
    for axis, name, labels in ((0, "row_labels", row_labels), (1, "column_labels", column_labels)):
        if labels is not None:
            checks.several(name, labels, len(named))
            for texts, matrix in zip(labels, named.values(), strict=True):
                checks.several(name, texts, matrix.shape[axis])
    if limits is None:
        largest = max(float(np.nanmax(np.abs(matrix))) for matrix in named.values()) or 1.0
        limits = -largest, largest
    checks.several("limits", limits, 2)
    if not limits[0] < limits[1]:
        raise ValueError(f"limits: expected (lowest, highest), got {limits!r:.80}")
    figure, axes = panels(len(named), width=2.8, height=2.8)
    for index, (ax, (title, matrix)) in enumerate(zip(axes, named.items(), strict=True)):
        sns.heatmap(
            matrix,
            ax=ax,
            cmap=DIVERGING if limits[0] < 0 else GATES,
            vmin=limits[0],
            vmax=limits[1],
            annot=np.round(matrix, 1) + 0.0 if annotate else False,  # no "-0.0"
            fmt=".1f",
            annot_kws={"size": 8},
            cbar=index == len(named) - 1,
            xticklabels=column_labels[index] if column_labels else False,
            yticklabels=row_labels[index] if row_labels else False,
            linewidths=0.5 if matrix.size < 200 else 0,
            linecolor="#b3b3b3",
        )
        ax.set_title(title)
        ax.tick_params(axis="x", rotation=90)
        ax.tick_params(axis="y", rotation=0)
    return figure


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
    figure, (left, middle, right) = panels(3, height=2.9, width_ratios=[1, 0.9, 1.1])
    order = np.lexsort([-found.sure, found.gate_of])
    order = order[found.gate_of[order] >= 0]
    activity = np.maximum(found.activity[order], 0)
    image = {"cmap": GATES, "vmin": 0, "vmax": 1, "aspect": "auto"}
    left.imshow(activity / activity.max(axis=1, keepdims=True), interpolation="nearest", **image)
    for border in np.flatnonzero(np.diff(found.gate_of[order])):
        left.axhline(border + 0.5, color=COLOURS[3], linewidth=1)
    left.set(xlabel=x_label, ylabel="neuron", title="recording", yticks=[])
    middle.imshow(found.gates, **image)
    for row in range(1, len(found.gates)):
        middle.axhline(row - 0.5, color="white", linewidth=1.5)
    middle.set_yticks(range(len(found.gates)), [f"{share:.0%}" for share in found.shares])
    middle.set(xlabel=x_label, title="gates" if found.repeatable else "no kinds")
    ticks, names = _names(found.conditions)
    for axes in (left, middle):
        axes.set_xticks(ticks, names, rotation=90 if len("".join(names)) > 20 else 0)
        axes.grid(False)
    numbers = list(found.agreement)
    for label, values, style, colour in (
        ("agreement", found.agreement, "o-", COLOURS[0]),
        ("silhouette", found.silhouette, "s-", COLOURS[2]),
        ("without kinds", found.null, "--", COLOURS[7]),
    ):
        right.plot(numbers, list(values.values()), style, color=colour, markersize=4, label=label)
    right.yaxis.set_major_formatter(PercentFormatter(1.0))
    right.set(xlabel="number of clusters", ylim=(0, 1.05), xticks=numbers[::2])
    right.legend(fontsize="x-small", loc="lower left")
    return figure


def _names(conditions: tuple[Hashable, ...]) -> tuple[list[float], list[str]]:
    """Return where to write which names of conditions."""
    first = [condition[0] for condition in conditions if isinstance(condition, tuple)]
    if len(first) == len(conditions):
        runs = [(label, len(list(run))) for label, run in groupby(first)]
        ends = np.cumsum([length for _, length in runs])
        ticks = [end - (length + 1) / 2 for end, (_, length) in zip(ends, runs, strict=True)]
        return ticks, [str(label) for label, _ in runs]
    shown = conditions if len(conditions) <= MOST_NAMES else ()
    return list(range(len(shown))), [str(condition) for condition in shown]
