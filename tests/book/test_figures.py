"""The reduction that figures of the papers show; the CSV of a figure has its numbers."""

import io

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from mdsgdln import networks, tasks, theory
from mdsgdln_book import plotted
from mdsgdln_book.paper_figures import routes


def read(figure) -> pd.DataFrame:
    return pd.read_csv(io.StringIO(plotted.as_csv(figure)))


def test_the_reduction_is_that_of_the_package():
    task, scale, rate = tasks.routing(3, 2), 0.2, 0.02
    race = theory.shared_race(
        networks.routing_network(task, 3, 2, 8),
        task,
        scale,
        rate * np.arange(50),
        learning_rate=rate,
    )
    ours = routes.reduced_race([scale] * 3, 3, 2, rate, 50)
    np.testing.assert_allclose(ours.losses, race.losses, rtol=1e-9)
    np.testing.assert_allclose(ours.values[:, 1].T, race.strengths["hidden 1", "hidden 2"])


def panel():
    figure, axes = plt.subplots()
    plt.close(figure)
    return figure, axes


def test_all_kinds_of_marks_are_read():
    figure, axes = panel()
    axes.plot([0, 1, 2], [4, np.nan, 6], label="a line")
    axes.bar([1, 2], [3, 4], bottom=[0, 1], label="up")
    axes.barh([5], [6], label="aside")
    axes.axvline(7)
    axes.axhline(8)
    axes.fill_between([0, 1], [0, 0], [1, 2], label="band")
    axes.errorbar([1.0], [2.0], [0.5])
    axes.scatter([1, 2], [3, 4], c=[5, 6])
    rows = read(figure).set_index("kind")[["x", "y", "value"]].fillna(-1)
    assert rows.loc["line"].to_numpy().tolist()[:3] == [[0, 4, -1], [1, -1, -1], [2, 6, -1]]
    assert rows.loc["bar"].to_numpy().tolist() == [[1, 3, 0], [2, 5, 1]]
    assert rows.loc["horizontal bar"].to_numpy().tolist() == [6, 5, 0]
    assert rows.loc["vertical line"].to_numpy().tolist() == [7, -1, -1]
    assert rows.loc["horizontal line"].to_numpy().tolist() == [-1, 8, -1]
    corners = {tuple(point) for point in rows.loc["area"].to_numpy()[:, :2]}
    assert {(0, 0), (1, 0), (0, 1), (1, 2)} == corners
    assert rows.loc["segment"].to_numpy()[:, :2].tolist() == [[1, 1.5], [1, 2.5]]
    assert rows.loc["points"].to_numpy().tolist() == [[1, 3, 5], [2, 4, 6]]
    assert plotted.as_csv(panel()[0]) == ""
