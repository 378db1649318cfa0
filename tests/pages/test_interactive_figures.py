"""Interactive figures in a browser: controls are moved by keyboard, curves and words are read."""

import json
import re

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mdsgdln import gates, networks, statistics, tasks, theory
from mdsgdln_book.places import RESULTS

PATHWAYS = {"two": 2, "four": 4}
XOR = {"two": lambda m: m, "four": lambda m: np.sqrt(2 + m**2)}  # output of a mode of strength 1
CASES = ["3 contexts", "tree, ring, cross", "4 contexts", "5 contexts"]
CASES += ["XoR, margin 2", "XoR, margin 0.2"]


class Figure:
    """A figure in its page: its controls by name, what it says and what it draws."""

    def __init__(self, node):
        self.node = node

    def __getitem__(self, control):
        return float(self.control(control).input_value())

    def control(self, name):
        return self.node.locator(f"[data-control='{name}']")

    def sliders(self):
        found = self.node.locator("input[type=range]").all()
        return [slider.get_attribute("data-control") for slider in found]

    def press(self, control, *keys):
        """Move a control with the keyboard alone."""
        self.control(control).focus()
        for key in keys:
            self.control(control).press(key)

    @property
    def words(self):
        text = self.node.locator(".interactive-result").inner_text()
        return text.replace("\xa0", " ").replace("−", "-")

    @property
    def numbers(self):
        return numbers(self.words)

    def cells(self, kind):
        found = self.node.locator(f"[data-{kind}]").all()
        return np.array([cell.get_attribute("aria-pressed") == "true" for cell in found], int)

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


def numbers(text):
    return [float(number) for number in re.findall(r"\d+(?:\.\d+)?", text)]


def recorded(name, **setting):
    lines = (RESULTS / f"{name}.jsonl").read_text("utf8").splitlines()
    rows = [row for row in map(json.loads, lines) if row.get("setting") == setting]
    return rows[0]["results"]


# What a figure must draw and say where its controls are now ---------------------------------------


def modes(figure):
    found = statistics.modes(tasks.semantic("tree", num_items=4))
    s, d = found.singular_values[:3], found.input_variances[:3]
    start = theory.expected_initial_strength(100, 10 ** figure["scale"])
    assert_allclose(figure.numbers, np.log(s / (d * start) - 1) / (2 * s), atol=0.051)
    for part, rate, stop in zip(figure.words.split(": ")[1].split("; "), s, d, strict=True):
        name = part.split(" at time ")[0]
        figure.draws(0, name, lambda t: theory.mode_trajectory(t, rate, stop, start)[0], more=0.01)  # noqa: B023


def xor_loss(times, gating, margin, sigma, hidden):
    root, pathways = XOR[gating](margin), PATHWAYS[gating]
    start = theory.expected_initial_strength(hidden // pathways, sigma)
    strength = theory.mode_trajectory(times, root / pathways, root**2 / pathways, start)[0]
    return np.asarray((1 - strength * root) ** 2 / 2)


def half_time(*setting):
    times = np.linspace(0, 200, 200_001)
    losses = xor_loss(times, *setting)
    return times[np.argmax(losses < losses[0] / 2)]


def race(figure):
    setting = figure["margin"], 10 ** figure["scale"], int(2 ** figure["hidden"])
    times = {gating: half_time(gating, *setting) for gating in XOR if XOR[gating](setting[0]) > 0}
    winner = {"two": "linear", "four": "exclusive-or"}[min(times, key=times.get)]
    assert figure.words.startswith(f"The {winner} gating")
    assert (winner == "linear") == (setting[0] > np.sqrt(2 / 3))
    assert f"The margin {setting[0]:.2f} lies" in figure.words
    said = numbers(figure.words.split("wins:")[1].split(". ")[0])
    assert_allclose(said, sorted(times.values()), atol=0.06)
    assert ("never" in figure.words) == (setting[0] == 0)
    grid = np.linspace(0, 50, 251)
    for gating in XOR:
        figure.draws(0, gating, xor_loss(grid, gating, *setting), grid)
    margins, two, _ = figure.curve(1, "two")
    _, four, _ = figure.curve(1, "four")
    four = four[-len(two) :]  # at margin 0 two pathways never learn
    near = (margins > 0.6) & (margins < 1.1)
    crossing = np.interp(0, (four - two)[near], margins[near])
    assert abs(crossing - np.sqrt(2 / 3)) < 0.001 or two[near].max() > 50
    assert figure.node.get_by_text("Δ*", exact=True).count() == 1


def imitation(figure):
    margin, sigma = round(figure["margin"], 1), float(f"1e{figure['scale']:.0f}")
    setting = margin, sigma, int(2 ** figure["hidden"])
    run = recorded("imitation", margin=margin, scale=sigma, hidden=setting[2])["losses"]
    times = np.linspace(0, 40, 101)
    curves = {"relu": np.array(run)} | {k: xor_loss(times, k, *setting) for k in XOR}
    for name, losses in curves.items():
        figure.draws(0, name, losses, times)
    faster = "linear" if margin > np.sqrt(2 / 3) else "exclusive-or"
    assert f"so the {faster}" in figure.words
    assert f"The margin {margin:.1f} lies" in figure.words
    far = [np.abs(curves[k] - run).sum() / np.sum(run) for k in XOR]
    assert_allclose(figure.numbers[-2:], sorted(far), atol=0.0061)
    others = [
        recorded("imitation", margin=tenths / 10, scale=sigma, hidden=setting[2])["losses"]
        for tenths in range(0, 21, 2)
    ]
    halved = sum(losses[-1] < losses[0] / 2 for losses in others)
    assert figure.node.locator("circle.fill.ink").count() == halved > 5


def curves(figure):
    depth, start, rate = int(figure["depth"]), 10 ** figure["start"], figure["rate"]
    final, text = rate / 0.25, figure.words

    def learned(times, start, layers):
        return theory.mode_trajectory(times, rate, 0.25, start, layers)[0] / final

    def time_of(share, start=start):
        times = np.linspace(0, 3000, 100_001)
        return np.interp(share, learned(times, start, depth), times)

    half, later = time_of(0.5), time_of(0.5, start / 10)
    assert figure.numbers[0] == depth
    assert_allclose(figure.numbers[1:3], [half, time_of(0.1)], atol=0.06)
    assert abs(numbers(text.split("half learned at time ")[2])[0] - later) < 0.06
    change = later / half if depth > 2 else later - half
    assert_allclose(numbers(text.split(", ")[-2 if depth == 2 else -1])[0], change, atol=0.06)
    assert ("without a plateau" in text) == (depth == 1)
    for layers in (1, 2, 3):
        times, drawn, (step, pixel) = figure.curve(0, f"L{layers}")
        grid = np.unique(times.clip(0))
        expected = np.asarray(learned([0, *grid[1:]], start, layers))
        steep = np.abs(np.gradient(expected, grid)) * 0.02 * step
        assert (
            np.abs(np.interp(grid, times, drawn) - expected) < 0.02 * pixel + steep + 2e-3
        ).all()
    exponents, halves, (_, pixel) = figure.curve(1, f"L{depth}")
    assert (
        abs(np.interp(np.log10(start), exponents, halves) - half) < 0.02 * pixel + 0.02 or half > 60
    )


def phase(figure):
    p, q, text = figure["first"], figure["second"], figure.words
    path_p, path_q, unit = figure.curve(0, "path")
    assert abs(path_p[0] - p) < 0.02 * unit[0] and abs(path_q[0] - q) < 0.02 * unit[1]
    kept = p**2 - q**2
    assert_allclose(path_p**2 - path_q**2, kept, atol=0.02)
    assert f"stays at {kept:.2f}." in text or abs(kept) < 0.005
    times, product, (_, pixel) = figure.curve(1, "b₁b₂")
    first, second = (figure.curve(1, name)[1] for name in ("b₁²", "b₂²"))
    assert_allclose(first - second, kept, atol=0.03 * pixel)
    assert_allclose(np.abs(product), np.sqrt(first * second), atol=0.03)
    ends = r"b₁ = (.*), b₂ = (.*): (?:the layers are balanced|one layer stays (.*) times as strong)"
    if p + q == 0:
        assert "saddle" in text
    else:  # a mode of strength 1 on the same hyperbola
        b1, b2, ratio = re.search(ends, text).groups()
        assert_allclose(
            [float(b1) * float(b2), float(b1) ** 2 - float(b2) ** 2], [1, kept], atol=0.02
        )
        size = sorted(map(abs, map(float, (b1, b2))))
        assert ratio is None or abs(size[1] / size[0] - float(ratio)) < 0.1
    if (p, q) == (0.1, 0.05):  # small weights follow Eq. 7 from a₀ = ((p + q)/2)²
        assert text.endswith(f"half learned at time {np.interp(0.5, product, times):.1f}.")
        effective = theory.mode_trajectory(times, 1, 1, ((p + q) / 2) ** 2)[0]
        assert_allclose(product, effective, atol=0.01)


def pathways(figure):
    """Against the package's race on twenty copies of the items."""
    fraction, sigma, text = figure["fraction"], 10 ** figure["scale"], figure.words
    items = tasks.semantic("tree", num_items=4)
    task = tasks.Task(np.tile(items.inputs, 20), np.tile(items.targets, 20))
    on = np.array([np.ones(80), np.repeat(np.arange(20) < round(20 * fraction), 4)], float)
    racers = networks.pathways(task, on, num_hidden=50)
    start, grid = theory.expected_initial_strength(50, sigma), np.linspace(0, 60, 601)
    found = theory.pathway_race(racers, task, start, grid).strengths
    found_modes = statistics.modes(items)
    final = found_modes.singular_values[0] / found_modes.input_variances[0]
    a, b = (np.asarray(found[path])[0] / final for path in racers.graph.paths)
    figure.draws(0, "A", a, grid)
    figure.draws(0, "B", b, grid)
    exponents, peaks, (_, pixel) = figure.curve(1, "B")
    assert abs(np.interp(np.log10(sigma), exponents, peaks) - b.max()) < 0.02 * pixel + 1e-3
    assert f"A has {100 * a[-1]:.0f} % of s/d and B {100 * b[-1]:.0f} %" in text
    if fraction == 1:
        assert text.endswith("share the mode equally.")
    else:
        assert text.startswith("A takes all:" if b.max() < 0.05 else "A wins:")
        expected = [100 * b.max(), grid[b.argmax()], 100 * (start / final) ** (1 - fraction)]
        assert_allclose(figure.numbers[:3], expected, atol=0.51)


def contexts(figure):
    C, k, sigma = int(figure["contexts"]), int(figure["size"]), 10 ** figure["scale"]
    rates = np.sqrt([k * (k + 1), k * (C - k) / C, C * (C + 1)])
    times = [theory.learning_time(C, m) for m in range(1, C)]
    expected = [C, k, *rates, times[k - 1], C - 1, min(times)]
    assert_allclose(figure.numbers[:8], expected, atol=0.0051)
    middle = sorted({C // 2, C - C // 2})
    assert figure.words.endswith(f"those on in {' or '.join(map(str, middle))}.")
    figure.draws(1, "law", times, range(1, C))
    if k == C - 1:
        start = theory.expected_initial_strength(100, sigma)
        grid = np.linspace(0, 0.4 * np.log(1 / start), 241)
        losses = theory.contextual_closed_form(C, 8, (start, start), 8 * C * grid)
        figure.draws(2, "closed form", losses, grid)


def timeline(figure):
    C, k = int(figure["contexts"]), int(figure["size"])
    start = theory.expected_initial_strength(100, 10 ** figure["scale"])
    law = np.log(1 / start) / 2 * theory.learning_time(C, k)
    said, half = numbers(figure.words.split("they have learned at ")[1])[:2]
    assert abs(said - law) < 0.06
    assert start > 1e-10 or abs(half / law - 1) < 0.3  # to leading order
    times, strengths, _ = figure.curve(0, "law")
    assert_allclose([times[-1], strengths[0]], [law, np.log10(start)], atol=0.05)


def gate(figure):
    a, b = (
        [figure[f"{kind}{i + 1}"] for i in range(n)] for kind, n in (("item", 4), ("context", 3))
    )
    pattern, activity = figure.cells("cell").reshape(4, 3), np.add.outer(a, b)
    bad = figure.node.locator("[data-cell].bad").all()
    if not gates.is_realisable(pattern):
        places = [tuple(map(int, node.get_attribute("data-cell").split())) for node in bad]
        assert [pattern[place] for place in places] in ([1, 0, 0, 1], [0, 1, 1, 0])
        assert figure.words.startswith("No ReLU neuron")
        return
    assert_array_equal(pattern, activity > 0)
    answer = (np.eye(3) - 1 / 3) @ (np.array([1, 1, -1, -1]) / 2 @ np.maximum(activity, 0))
    share = np.linalg.norm(answer) / np.linalg.norm([*a, *b]) / np.sqrt(2 / 3)
    assert not bad and figure.words.startswith("Realisable")
    assert f"on for {pattern.sum()} of 12 samples" in figure.words
    assert f"one of {gates.count_realisable(4, 3)} realisable" in figure.words
    assert "nothing is left" in figure.words or figure.words.endswith(f"reach {100 * share:.0f} %.")


def gating(figure):
    number, bias = (
        int(np.argmax([each.is_checked() for each in group.locator("input").all()]))
        for group in figure.node.locator("fieldset").all()
    )
    items, margin = tasks.contextual(3, 2, [np.eye(2)] * 3, np.eye(2)).inputs, tasks.xor(1.0).inputs
    inputs = np.asarray([margin[:2], margin, items][number])
    inputs = np.concatenate([inputs, np.ones((bias, inputs.shape[1]))])
    on = figure.cells("gate").reshape(-1, 4).T
    rows = figure.node.locator("tbody").nth(1).locator("tr").all()
    verdicts, *weights = [row.locator("td").all_inner_texts() for row in rows]
    possible = gates.are_realisable(on, inputs)
    assert verdicts == ["yes" if can else "no" for can in possible]
    for gate, can, column in zip(on, possible, zip(*weights, strict=True), strict=True):
        if can:
            w = np.array([float(weight.replace("−", "-")) for weight in column])
            assert_array_equal(w @ inputs > 0, gate)
        else:
            assert set(column) == {"–"}
    bad = [node.get_attribute("data-gate") for node in figure.node.locator(".bad").all()]
    assert {int(name.split()[0]) for name in bad} == set(np.flatnonzero(~possible))
    assert figure.words.startswith("All four" if possible.all() else "Neuron ")
    count = [(9, 14), (15, 16), (46, 46)][number][bias]
    assert figure.words.endswith(f"can have {count} of {2 ** inputs.shape[1]} gates.")


def clusters(figure):
    chosen = [each.is_checked() for each in figure.node.locator("input[type=radio]").all()]
    case, text = CASES[int(np.argmax(chosen))], figure.words
    runs = [recorded("finding_gates", case=case, seed=seed) for seed in range(5, 10)]
    assert text.startswith(f"With {figure['clusters']:.0f} clusters")
    unit = np.mean([run["plain_output"][0] for run in runs])
    for picture, (kind, over) in enumerate({"output": unit, "deviation": 1}.items()):
        mean = np.mean([run[f"plain_{kind}"] for run in runs], axis=0) / over
        figure.draws(picture, "mean", mean, range(2, 13))
        assert np.isclose(figure.numbers, mean[int(figure["clusters"]) - 2], atol=0.0051).any()
        assert f"smallest at {2 + mean.argmin()}" in text
        found = np.mean([run[kind] for run in runs]) / over
        assert np.isclose(figure.numbers[-2 + picture], found, atol=0.0051)
    counts = sorted({run["pathways"] for run in runs})
    assert f"Repetition chooses {' or '.join(map(str, counts))} gates" in text


def routes(figure):
    q, stage = int(figure["trained"]), int(figure["time"])
    data = json.loads(figure.node.locator("script").text_content())
    run = data["runs"][f"{q} {figure['seed'] - 1:.0f}"]
    time, text = run["times"][stage], figure.words
    cells = figure.node.locator("rect.route").all()
    shown = [int(cell.get_attribute("data-error")) for cell in cells]
    assert shown == run["errors"][stage]
    assert ["bad" in cell.get_attribute("class") for cell in cells] == [e > 100 for e in shown]
    assert figure.node.locator("rect.taught").count() == 7 * q
    assert f"Q = {q} trains {7 * q} of 49 routes" in text
    assert ("Before training" if stage == 0 else f"At time {time:.1f} ") in text
    for mean in run["means"][stage]:
        said = np.isclose(figure.numbers, mean, 0.05).any()
        assert said or (mean < 0.005 and "below 0.005" in text)
    last = {4: "right answers", 1: "worse than no answer", 7: "no others"}
    assert stage < 6 or last.get(q, "") in text
    assert figure.control("time").get_attribute("aria-valuetext") == f"{time:.1f}"


def sliding(figure):
    data = json.loads(figure.node.locator("script").text_content())
    states = data["neurons"][int(figure["neuron"]) - 1]["states"][int(figure["time"])]
    kinds = [r.get_attribute("data-state") for r in figure.node.locator("[data-state]").all()]
    assert kinds == [{"o": "off", "/": "slides", "x": "on"}[state] for state in states]
    counts = [kinds.count(kind) for kind in ("on", "slides", "off")]
    assert numbers(figure.words.split("24 samples")[1])[:3] == counts


def letting(figure):
    """As many cells are drawn as the record has, and words say in which context the fewest are."""
    data = json.loads(figure.node.locator("script").text_content())
    chosen = [each.is_checked() for each in figure.node.locator("input[type=radio]").all()]
    run = data["runs"][list(data["runs"])[chosen.index(True)]]
    drawn = figure.node.locator("path[data-series=active]").all()
    said = figure.words.split("; ")
    for path, text, sentence in zip(drawn, run["active"], said, strict=True):
        on = np.array([int(bit) for digit in text for bit in f"{int(digit, 16):04b}"])
        assert path.get_attribute("d").count("M") == on.sum()
        counts = on.reshape(-1, data["contexts"], 8)[-1].sum(axis=1)
        gone = f"context {counts.argmin() + 1}" if counts.min() <= 4 else "no context"
        assert f"lets go of {gone}" in sentence


def attention(figure):
    """Both rates and p* in closed form; curves and the winner are those of the table."""
    p, B, K = round(figure["p"], 1), int(figure["copies"]), int(2 ** figure["classes"])
    in_context, in_weights = B / 8 * np.sqrt(1 / 8 + 1 / K - 1 / (8 * K)), (1 - p) / np.sqrt(K)
    equal = 1 - B / 8 * np.sqrt(1 + (K - 1) / 8)
    assert_allclose(figure.numbers[:2], [in_context, in_weights], atol=0.0006)
    assert (in_context > in_weights) == ("by the formula attention" in figure.words)
    assert (in_context > in_weights) == (p > equal)
    if equal > 0:
        assert abs(figure.numbers[2] - equal) < 0.0051
        crossing = np.array([figure.curve(1, name)[1] for name in ("context", "weights")])
        gap = crossing[0] - crossing[1]
        assert abs(gap[0] / (gap[0] - gap[1]) - equal) < 0.01
    run = recorded("attention_race", p=p, B=B, K=K, seed=1)
    for name, drops in zip(("context", "weights"), run["predicted_drops"], strict=True):
        figure.draws(0, name, drops, more=0.006)
    trained = np.array(run["trained_drops"])
    first = trained[:, np.argmax(trained.max(axis=0) >= 0.25)].argmax()
    assert f"In training {('attention', 'the look-up')[first]}" in figure.words


def spread(figure):
    """Mean distance of the items from their centre, in the map's units."""
    items = figure.node.locator(".interactive-map .item").all()
    places = np.array([numbers(item.get_attribute("transform")) for item in items])
    assert places.shape == (16, 2)
    return np.linalg.norm(places - places.mean(axis=0), axis=1).mean()


def half_times(figure):
    dots = figure.node.locator(".interactive-stages circle").all()
    return sum("done" in dot.get_attribute("class") for dot in dots), len(dots)


def unfolding(figure):
    data = json.loads(figure.node.locator("script").text_content())
    chosen = [each.is_checked() for each in figure.node.locator("input[type=radio]").all()]
    shown = data["structures"][chosen.index(True)]
    name, levels = shown["name"].capitalize(), len(shown["halfTimes"])
    (done, count), time = half_times(figure), figure["time"]
    assert count == levels
    said = f"{done} of {count}" if done < count else f"all {done}"
    assert figure.words.startswith(f"{name}, time {time:.0f}: {said} levels")
    assert spread(figure) < 5 if time == 10 else done < count or spread(figure) > 60


FIGURES = {
    modes: "deep_linear", phase: "deep_linear", curves: "race_or_lazy", pathways: "gated_networks",
    race: "xor", contexts: "more_contexts", gate: "which_gates", gating: "which_gates",
    clusters: "finding_gates", timeline: "race_law", unfolding: "semantic", imitation: "start",
    routes: "sharing", sliding: "exactness", letting: "letting_go",
    attention: "in_context",
}  # fmt: skip


@pytest.fixture
def open_figure(page, address):
    """A function that opens the chapter of a figure and returns the figure."""

    def show(check):
        page.goto(f"{address}/book/{FIGURES[check]}.html")
        return Figure(page.locator(f".interactive[data-figure={check.__name__}]"))

    yield show
    wrong = [problem for problem in page.problems if "interactive" in problem.lower()]
    assert not wrong + [problem for problem in page.problems if problem.startswith("script error")]


@pytest.mark.parametrize("check", FIGURES, ids=lambda check: check.__name__)
def test_figure(open_figure, check):
    """From the start, at both ends of every slider and near them, and for every choice."""
    figure = open_figure(check)
    check(figure)
    for keys in (["ArrowRight"], ["End"], ["ArrowLeft"] * 2, ["Home"]):
        for slider in figure.sliders():
            figure.press(slider, *keys)
        check(figure)
    for choice in figure.node.locator("input[type=radio]").all():
        choice.check()
        for slider in figure.sliders():
            figure.press(slider, "PageUp")
        check(figure)


@pytest.mark.parametrize("check", FIGURES, ids=lambda check: check.__name__)
def test_on_a_phone_in_both_themes(open_figure, page, check):
    """Nothing sticks out, and every control has a name."""
    page.set_viewport_size({"width": 360, "height": 740})
    figure = open_figure(check).node
    for theme, first in {"light": "#0173b2", "dark": "#56b4e9"}.items():
        page.evaluate("theme => (document.documentElement.dataset.theme = theme)", theme)
        colour = "element => getComputedStyle(element).getPropertyValue('--c1').trim()"
        assert figure.evaluate(colour) == first
        box = figure.bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= 360
        for control in figure.locator("input, button, svg[data-frame]").all():
            inner = control.bounding_box()
            assert inner["x"] + inner["width"] <= box["x"] + box["width"] + 0.5
    for slider in figure.locator("input[type=range]").all():
        label = figure.locator(f"label[for='{slider.get_attribute('id')}']")
        assert label.inner_text().strip()
        assert slider.get_attribute("aria-valuetext")
    for picture in figure.locator("svg:not([aria-hidden])").all():
        assert picture.get_attribute("role") == "img"
        assert picture.get_attribute("aria-label")


@pytest.mark.parametrize("check, kind", [(gate, "cell"), (gating, "gate")])
def test_cells_by_keyboard(open_figure, check, kind):
    """Each press changes one cell, which keeps the focus, and the words follow."""
    figure = open_figure(check)
    cells, rng = figure.node.locator(f"[data-{kind}]"), np.random.default_rng(3)
    choices, seen = figure.node.locator("input[type=radio]"), set()
    for choice in range(max(1, choices.count())):
        if choices.count():
            choices.nth(choice).check()
        for cell in rng.integers(cells.count(), size=12 if kind == "cell" else 6):
            before = figure.cells(kind)
            cells.nth(int(cell)).focus()
            cells.nth(int(cell)).press("Space")
            assert np.flatnonzero(figure.cells(kind) != before).tolist() == [cell]
            assert cells.nth(int(cell)).evaluate("cell => cell === document.activeElement")
            check(figure)
            seen.add(figure.words.split()[0])
    assert len(seen) == 2


def test_price_of_two_contexts(open_figure):
    figure = open_figure(gate)
    figure.node.get_by_role("button", name="two contexts").press("Enter")
    n, C, k = 4, 3, 2
    formula = np.sqrt(n * (n + C) / ((n + 2 * k) * (n + 2 * (C - k))))
    assert f"no more than {100 * formula:.0f} % of the strength" in figure.words
    assert "no pattern allows more" in figure.words
    for name in ("not realisable", "staircase", "one sample", "start again"):
        figure.node.get_by_role("button", name=name).press("Enter")
        gate(figure)
        assert figure.words.startswith("No ReLU neuron") == (name == "not realisable")


def test_phase_by_mouse(open_figure, page):
    """A press sets the weights, a drag moves them; both stay inside."""
    figure = open_figure(phase)
    figure.press("first", "End")
    figure.press("second", "Home")
    phase(figure)  # opposite weights
    picture = figure.node.locator("svg[data-frame]").first
    picture.scroll_into_view_if_needed()
    box = picture.bounding_box()
    left, right, top, bottom = map(float, picture.get_attribute("data-frame").split()[:4])

    def at(p, q):
        x = box["x"] + left + (p + 2) / 4 * (right - left)
        return x, box["y"] + bottom - (q + 2) / 4 * (bottom - top)

    def weights():
        phase(figure)
        return figure["first"], figure["second"]

    page.mouse.click(*at(-0.5, 1.0))
    assert weights() == (-0.5, 1.0)
    page.mouse.move(*at(0, 0))
    page.mouse.down()
    page.mouse.move(*at(0.6, -0.2), steps=3)
    assert weights() == (0.6, -0.2)
    page.mouse.move(*at(1.9, 0.2))
    page.mouse.up()
    assert weights() == (1.5, 0.2)


def test_animation_plays_and_pauses(open_figure, page):
    figure = open_figure(unfolding)
    button = figure.node.get_by_role("button")
    assert button.inner_text() == "play"
    button.press("Enter")
    page.wait_for_function("document.querySelector('[data-control=time]').value > 40")
    button.press("Enter")
    assert button.inner_text() == "play"
    before = figure["time"]
    page.wait_for_timeout(300)
    assert figure["time"] == before


def test_animation_with_reduced_motion(open_figure, page):
    page.emulate_media(reduced_motion="reduce")
    figure = open_figure(unfolding)
    button = figure.node.get_by_role("button", name="next stage")
    for stage in (1, 2):
        button.press("Enter")
        assert half_times(figure)[0] == stage
        before = figure["time"]
        page.wait_for_timeout(200)
        assert figure["time"] == before


def test_without_javascript(browser, address):
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(f"{address}/book/xor.html")
        assert "It needs JavaScript" in page.locator(".interactive").inner_text()
