"""Curves over time, and matrices side by side."""

from collections.abc import Mapping, Sequence

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mdsgdln import _checks as checks
from mdsgdln._checks import Numbers, Scalar
from mdsgdln.plots.appearance import COLOURS, DASHES, DIVERGING, GATES, panels


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
        faint = 1.0 if len(lines) == 1 else 0.4
        for index, line in enumerate(lines):
            axes.plot(
                times,
                line,
                color=colour_of[label],
                alpha=faint,
                label=label if index == 0 else None,
            )
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
    arrays = {
        label: np.asarray(checks.real_array(f"{name}[{label!r}]", value, str(width)))
        for label, value in values.items()
    }
    for label, array in arrays.items():
        fits = array.ndim in num_axes and array.size and width in (None, array.shape[-1])
        if not fits:
            raise ValueError(
                f"{name}[{label!r}]: expected {width or 'some'} columns of "
                f"{num_axes} axes, got shape {array.shape}"
            )
    return arrays


def _darker(colour: str) -> tuple[float, ...]:
    return tuple(0.45 * channel for channel in mpl.colors.to_rgb(colour))


def matrices(
    named: Mapping[str, Numbers],
    row_labels: Sequence[Sequence[str]] | None = None,
    column_labels: Sequence[Sequence[str]] | None = None,
    annotate: bool = False,
    width: float = 2.8,
    height: float = 2.8,
    limits: Sequence[Scalar] | None = None,
) -> Figure:
    """Draw matrices side by side on one scale, diverging about zero or from white to black.

    Args:
        named: {title: matrix}.
        row_labels: labels of the rows of each matrix.
        column_labels: labels of the columns of each matrix.
        annotate: write the entries, one decimal.
        width: of a panel, inches.
        height: of a panel, inches.
        limits: ends of the scale, ``(0, 1)`` for gates, which are then drawn from white to black;
            if not given, the largest absolute entry, above and below zero.
    """
    named = _checked("named", named, (2,))
    if not named:
        raise ValueError("named: expected at least one matrix, got none")
    for axis, (name, labels) in enumerate(
        [("row_labels", row_labels), ("column_labels", column_labels)]
    ):
        if labels is not None:
            checks.several(name, labels, len(named))
            for texts, matrix in zip(labels, named.values(), strict=True):
                checks.several(name, texts, matrix.shape[axis])
    figure, axes = panels(len(named), width=width, height=height)
    if limits is None:
        largest = max(float(np.nanmax(np.abs(matrix))) for matrix in named.values()) or 1.0
        limits = -largest, largest
    checks.several("limits", limits, 2)
    if not limits[0] < limits[1]:
        raise ValueError(f"limits: expected (lowest, highest), got {limits!r:.80}")
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
