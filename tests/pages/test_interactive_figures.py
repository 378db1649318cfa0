"""Interactive figures in a browser: every control is moved, and drawn curves are the package's."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mdsgdln import statistics, tasks, theory
from mdsgdln_book.places import RESULTS

FIGURES = {
    "modes": "deep_linear", "phase": "deep_linear", "curves": "race_or_lazy",
    "pathways": "gated_networks",
    "gate": "which_gates", "gating": "which_gates",
    "timeline": "race_law", "unfolding": "semantic", "imitation": "start", "routes": "sharing",
    "attention": "in_context",
}  # fmt: skip
# What a figure says and draws, without the numbers of its clip paths.
SHOWN = r"""(figure) => [...figure.querySelectorAll(".interactive-result, svg")]
  .map((part) => part.outerHTML).join("").replace(/clip-\d+/g, "")"""


class Figure:
    """A figure in its page: its controls by name, what it says and what it draws."""

    def __init__(self, node):
        self.node = node

    def __getitem__(self, control):
        return float(self.control(control).input_value())

    def control(self, name):
        return self.node.locator(f"[data-control='{name}']")

    def sliders(self):
        """The sliders' values, by name."""
        found = self.node.locator("input[type=range]").all()
        return {s.get_attribute("data-control"): s.input_value() for s in found}

    def press(self, control, *keys):
        """Move a control with the keyboard alone."""
        self.control(control).focus()
        for key in keys:
            self.control(control).press(key)

    @property
    def words(self):
        return self.node.locator(".interactive-result").inner_text().replace("\xa0", " ")

    def shown(self):
        """What is said and drawn: something, and nothing that is no number."""
        text, words = self.node.evaluate(SHOWN), self.words
        assert words and "undefined" not in words and "NaN" not in text
        return text

    def reset(self, values):
        """What is shown with these values of sliders."""
        for slider, value in values.items():
            self.control(slider).fill(value)
        return self.shown()

    def cells(self, kind):
        pressed = "cells => cells.map((cell) => cell.getAttribute('aria-pressed') === 'true')"
        return np.array(self.node.locator(f"[data-{kind}]").evaluate_all(pressed), int)

    def curve(self, picture, series):
        """Points of a drawn curve in the axes' units, and the size of a pixel in them."""
        drawn = self.node.locator("svg[data-frame]").nth(picture)
        left, right, top, bottom, *ends = map(float, drawn.get_attribute("data-frame").split())
        path = drawn.locator(f"path[data-series='{series}']").first.get_attribute("d")
        x, y = np.array([point.split() for point in path[1:].split("L")], float).T
        unit = (ends[1] - ends[0]) / (right - left), (ends[3] - ends[2]) / (bottom - top)
        return ends[0] + (x - left) * unit[0], ends[2] + (bottom - y) * unit[1], unit

    def draws(self, picture, series, expected, grid=None, more=1e-4):
        """Whether a curve is that of a function, on a grid or wherever it is drawn."""
        x, y, (step, pixel) = self.curve(picture, series)
        if grid is not None:
            assert_allclose(x, grid, atol=0.01 * step)
            x = np.asarray(grid)
        values = expected(x) if callable(expected) else expected
        assert_allclose(y, values, atol=0.01 * pixel + more)


def recorded(name, **setting):
    lines = (RESULTS / f"{name}.jsonl").read_text("utf8").splitlines()
    rows = [row for row in map(json.loads, lines) if row.get("setting") == setting]
    return rows[0]["results"]


# What a figure must draw where its controls are now -----------------------------------------------


def modes(figure):
    found = statistics.modes(tasks.semantic("tree", num_items=4))
    s, d = found.singular_values[:3], found.input_variances[:3]
    start = theory.expected_initial_strength(100, 10 ** figure["scale"])
    for part, rate, stop in zip(figure.words.split(": ")[1].split("; "), s, d, strict=True):
        name = part.split(" at time ")[0]
        figure.draws(0, name, lambda t: theory.mode_trajectory(t, rate, stop, start)[0], more=0.01)  # noqa: B023


def attention(figure):
    """Curves and the winner are those of the table."""
    p, B, K = round(figure["p"], 1), int(figure["copies"]), int(2 ** figure["classes"])
    copies = B / 8 - (1 - p) * (1 - B / 8) / (K - 1)
    in_context, in_weights = copies * np.sqrt(1 / 8 + 1 / K - 1 / (8 * K)), (1 - p) / np.sqrt(K)
    assert (in_context > in_weights) == ("by the formula attention" in figure.words)
    run = recorded("attention_race", p=p, B=B, K=K, seed=1)
    for name, drops in zip(("context", "weights"), run["predicted_drops"], strict=True):
        figure.draws(0, name, drops, more=0.006)


@pytest.fixture
def open_figure(page, address):
    """A function that opens the chapter of a figure and returns the figure."""

    def show(name):
        page.goto(f"{address}/book/{FIGURES[name]}.html")
        return Figure(page.locator(f".interactive[data-figure={name}]"))

    yield show
    wrong = [problem for problem in page.problems if "interactive" in problem.lower()]
    assert not wrong + [problem for problem in page.problems if problem.startswith("script error")]


@pytest.mark.parametrize("name", FIGURES)
def test_every_control_changes_the_figure(open_figure, name):
    """Sliders by keyboard, from end to end and back to the same figure; choices; buttons."""
    figure = open_figure(name)
    values = figure.sliders()
    first = figure.reset(values)
    for slider in values:
        figure.press(slider, "Home")
        lowest = figure.shown()
        figure.press(slider, "End")
        assert figure.shown() != lowest, slider
        assert figure.reset(values) == first, slider
    for group in figure.node.locator("fieldset").all():
        seen, choices = set(), group.locator("input").all()
        for choice in choices:
            choice.check()
            seen.add(figure.shown())
        assert len(seen) == len(choices)
        choices[0].check()
    for button in figure.node.locator("button:not(.interactive-cell)").all():
        button.press("Enter")
        figure.shown()


@pytest.mark.parametrize("check", [modes, attention], ids=lambda check: check.__name__)
def test_what_is_drawn_is_the_packages(open_figure, check):
    """As formulas are tested in tests/book: from the start, at all sliders' ends and near them."""
    figure = open_figure(check.__name__)
    check(figure)
    for keys in (["ArrowRight"], ["End"], ["ArrowLeft"] * 2, ["Home"]):
        for slider in figure.sliders():
            figure.press(slider, *keys)
        check(figure)


@pytest.mark.parametrize("name, kind", [("gate", "cell"), ("gating", "gate")])
def test_cells_by_keyboard(open_figure, name, kind):
    """Each press changes one cell, which keeps the focus, and the words follow."""
    figure = open_figure(name)
    cells, rng = figure.node.locator(f"[data-{kind}]"), np.random.default_rng(3)
    choices, seen = figure.node.locator("input[type=radio]"), set()
    for choice in range(max(1, choices.count())):
        if choices.count():
            choices.nth(choice).check()
        for cell in rng.integers(cells.count(), size=12 if kind == "cell" else 6):
            before = figure.cells(kind)
            cells.nth(int(cell)).press("Space")
            assert np.flatnonzero(figure.cells(kind) != before).tolist() == [cell]
            assert cells.nth(int(cell)).evaluate("cell => cell === document.activeElement")
            seen.add(figure.words.split()[0])
    assert len(seen) == 2


def test_animation_plays_and_pauses(open_figure, page):
    figure = open_figure("unfolding")
    button = figure.node.get_by_role("button")
    button.press("Enter")
    page.wait_for_function("document.querySelector('[data-control=time]').value > 40")
    button.press("Enter")
    assert button.inner_text() == "play"
    before = figure["time"]
    page.wait_for_timeout(300)
    assert figure["time"] == before


def test_animation_with_reduced_motion(open_figure, page):
    page.emulate_media(reduced_motion="reduce")
    figure = open_figure("unfolding")
    before, button = figure["time"], figure.node.get_by_role("button", name="next stage")
    button.press("Enter")
    after = figure["time"]
    page.wait_for_timeout(200)
    assert figure["time"] == after != before
