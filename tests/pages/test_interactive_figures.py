"""Interactive figures in a browser: a control is moved by keyboard, curves and words are read."""

import json
import re

import numpy as np
import pytest

from mdsgdln import gates, networks, statistics, tasks, theory
from mdsgdln_book.places import RESULTS

MARGIN, SIGMA, HIDDEN = 0.5, 10**-3.7, 128  # where the figure of the race begins
XOR = {2: lambda m: m, 4: lambda m: np.sqrt(2 + m**2)}  # output of a mode of strength 1


@pytest.fixture
def open_figure(page, address):
    """A function that opens a chapter and returns its figure."""

    def show(chapter, name):
        page.goto(f"{address}/book/{chapter}.html")
        return page.locator(f".interactive[data-figure={name}]")

    yield show
    assert not [problem for problem in page.problems if "interactive" in problem.lower()]
    assert not [problem for problem in page.problems if problem.startswith("script error")]


def press(figure, control, *keys):
    """Move a control with the keyboard alone."""
    slider = figure.locator(f"[data-control={control}]")
    slider.focus()
    for key in keys:
        slider.press(key)


def words(figure):
    return figure.locator(".interactive-result").inner_text().replace("\xa0", " ")


def numbers(text):
    return [float(number) for number in re.findall(r"\d+(?:\.\d+)?", text)]


def curve(figure, picture, series):
    """Points of a drawn curve in the axes' units, (points, 2), and the size of a pixel in them."""
    drawn = figure.locator("svg[data-frame]").nth(picture)
    left, right, top, bottom, *ends = map(float, drawn.get_attribute("data-frame").split())
    path = drawn.locator(f"path[data-series='{series}']").get_attribute("d")
    x, y = np.array([point.split() for point in path[1:].split("L")], float).T
    unit = (ends[1] - ends[0]) / (right - left), (ends[3] - ends[2]) / (bottom - top)
    return ends[0] + (x - left) * unit[0], ends[2] + (bottom - y) * unit[1], unit


def xor_loss(times, pathways, margin, sigma, hidden):
    root = XOR[pathways](margin)
    start = theory.expected_initial_strength(hidden // pathways, sigma)
    strength = theory.mode_trajectory(times, root / pathways, root**2 / pathways, start)[0]
    return np.asarray((1 - strength * root) ** 2 / 2)


def half_time(*setting):
    times = np.linspace(0, 200, 200_001)
    losses = xor_loss(times, *setting)
    return times[np.argmax(losses < losses[0] / 2)]


@pytest.mark.parametrize(
    "keys, exponent", [([], -3), (["ArrowLeft"] * 5, -3.5), (["Home"], -6), (["End"], -1.5)]
)
def test_modes(open_figure, keys, exponent):
    figure = open_figure("deep_linear", "modes")
    press(figure, "scale", *keys)
    found = statistics.modes(tasks.semantic("tree", num_items=4))
    s, d = found.singular_values[:3], found.input_variances[:3]
    start = theory.expected_initial_strength(100, 10**exponent)
    half_times = np.log(s / (d * start) - 1) / (2 * s)
    np.testing.assert_allclose(numbers(words(figure)), half_times, atol=0.051)
    for name, rate, stop in zip(words(figure).split(": ")[1].split("; "), s, d, strict=True):
        times, strengths, unit = curve(figure, 0, name.split(" at time ")[0])
        expected = theory.mode_trajectory(times, rate, stop, start)[0]
        np.testing.assert_allclose(strengths, expected, atol=0.02 * unit[1] + 0.01)


@pytest.mark.parametrize(
    "keys, setting, winner",
    [
        ({}, (MARGIN, SIGMA, HIDDEN), "exclusive-or"),
        ({"margin": ["ArrowRight"] * 10}, (1.0, SIGMA, HIDDEN), "linear"),
        ({"margin": ["End"], "scale": ["Home"]}, (2.5, 1e-6, HIDDEN), "linear"),
        ({"margin": ["Home"], "scale": ["End"]}, (0.0, 1e-2, HIDDEN), "exclusive-or"),
        ({"margin": ["ArrowRight"] * 6, "hidden": ["End"]}, (0.8, SIGMA, 1024), "exclusive-or"),
        ({"margin": ["ArrowRight"] * 7, "hidden": ["Home"]}, (0.85, SIGMA, 4), "linear"),
    ],
)
def test_race(open_figure, keys, setting, winner):
    figure = open_figure("xor", "race")
    for control, presses in keys.items():
        press(figure, control, *presses)
    text = words(figure)
    assert text.startswith(f"The {winner} gating")
    assert f"The margin {setting[0]:.2f} lies" in text
    expected = sorted(half_time(k, *setting) for k in (2, 4) if XOR[k](setting[0]) > 0)
    said = numbers(text.split("wins:")[1].split(". ")[0])
    np.testing.assert_allclose(said, expected, atol=0.06)
    assert ("never" in text) == (setting[0] == 0)
    for pathways in (2, 4):
        times, losses, (step, pixel) = curve(figure, 0, pathways)
        grid = np.linspace(0, 50, 251)
        np.testing.assert_allclose(times, grid, atol=0.01 * step)
        drawn = xor_loss(grid, pathways, *setting)
        np.testing.assert_allclose(losses, drawn, atol=0.01 * pixel)


def test_race_marks_the_crossover(open_figure):
    figure = open_figure("xor", "race")
    margins, two, (_, pixel) = curve(figure, 1, 2)
    _, four, _ = curve(figure, 1, 4)
    four = four[-len(two) :]  # at margin 0 two pathways never learn
    near = (margins > 0.6) & (margins < 1.1)
    crossing = np.interp(0, (four - two)[near], margins[near])
    assert abs(crossing - np.sqrt(2 / 3)) < 0.001
    assert figure.get_by_text("Δ*", exact=True).count() == 1
    at_one = np.interp(1.0, margins, two)
    assert abs(at_one - half_time(2, 1.0, SIGMA, HIDDEN)) < 0.02 * pixel + 0.01


@pytest.mark.parametrize(
    "keys, depth, start, rate",
    [
        ({}, 2, 1e-3, 0.65),
        ({"depth": ["Home"]}, 1, 1e-3, 0.65),
        ({"depth": ["ArrowRight"], "rate": ["End"]}, 3, 1e-3, 1.0),
        ({"depth": ["End"], "start": ["ArrowRight"] * 5}, 5, 10**-2.5, 0.65),
        ({"depth": ["ArrowRight"] * 2, "start": ["Home"], "rate": ["Home"]}, 4, 1e-5, 0.2),
    ],
)
def test_curves(open_figure, keys, depth, start, rate):
    """Drawn curves and spoken times are those of theory.mode_trajectory."""
    figure = open_figure("alignment", "curves")
    for control, presses in keys.items():
        press(figure, control, *presses)
    final = rate / 0.25

    def time_of(share, start=start):
        times = np.linspace(0, 3000, 100_001)
        learned = theory.mode_trajectory(times, rate, 0.25, start, depth)[0] / final
        return np.interp(share, learned, times)

    text = words(figure)
    half, later = time_of(0.5), time_of(0.5, start / 10)
    said = numbers(text)
    assert said[0] == depth
    np.testing.assert_allclose(said[1:3], [half, time_of(0.1)], atol=0.06)
    assert abs(float(text.split("half learned at time ")[2].split(",")[0]) - later) < 0.06
    change = later / half if depth > 2 else later - half
    shown = text.split(", ")[-2 if depth == 2 else -1].replace("later by", "")
    np.testing.assert_allclose(numbers(shown)[0], change, atol=0.06)
    assert ("without a plateau" in text) == (depth == 1)
    for layers in (1, 2, 3):
        times, drawn, (_, pixel) = curve(figure, 0, f"L{layers}")
        grid = np.unique(times.clip(0))
        expected = theory.mode_trajectory([0, *grid[1:]], rate, 0.25, start, layers)[0] / final
        steep = np.gradient(np.asarray(expected), grid) * 0.01 * curve(figure, 0, "L1")[2][0]
        found = np.interp(grid, times, drawn)
        assert (np.abs(found - expected) < 0.02 * pixel + 2 * np.abs(steep) + 2e-3).all()
    exponents, halves, (_, pixel) = curve(figure, 1, f"L{depth}")
    assert exponents[-1] == pytest.approx(-1, abs=1e-3)
    if half < 60:
        drawn = np.interp(np.log10(start), exponents, halves)
        assert abs(drawn - half) < 0.02 * pixel + 0.02


def place_of(figure, control):
    return float(figure.locator(f"[data-control={control}]").input_value())


def check_phase(figure):
    """What is drawn and said belongs to the weights that the sliders show."""
    p, q = place_of(figure, "first"), place_of(figure, "second")
    path_p, path_q, unit = curve(figure, 0, "path")
    assert abs(path_p[0] - p) < 0.02 * unit[0] and abs(path_q[0] - q) < 0.02 * unit[1]
    kept = p**2 - q**2
    np.testing.assert_allclose(path_p**2 - path_q**2, kept, atol=0.02)
    text = words(figure).replace("−", "-")
    assert f"stays at {kept:.2f}." in text or abs(kept) < 0.005
    times, product, (_, pixel) = curve(figure, 1, "b₁b₂")
    first, second = (curve(figure, 1, name)[1] for name in ("b₁²", "b₂²"))
    np.testing.assert_allclose(first - second, kept, atol=0.03 * pixel)
    np.testing.assert_allclose(np.abs(product), np.sqrt(first * second), atol=0.03)
    return p, q, times, product, text


def test_phase_from_small_weights(open_figure):
    """They end balanced, along Eq. 7 from a₀ = ((p + q)/2)²."""
    figure = open_figure("deep_linear", "phase")
    p, q, times, product, text = check_phase(figure)
    assert (p, q) == (0.1, 0.05)
    assert "b₁ = 1.00, b₂ = 1.00: the layers are balanced." in text
    half = np.interp(0.5, product, times)
    assert text.endswith(f"half learned at time {half:.1f}.")
    effective = theory.mode_trajectory(times, 1, 1, ((p + q) / 2) ** 2)[0]
    np.testing.assert_allclose(product, effective, atol=0.01)


def test_phase_from_large_and_from_opposite_weights(open_figure):
    figure = open_figure("deep_linear", "phase")
    press(figure, "first", "End")
    *_, text = check_phase(figure)
    assert "b₁ = 1.62, b₂ = 0.62: one layer stays 2.6 times as strong" in text
    press(figure, "second", "Home")
    press(figure, "first", *["ArrowLeft"] * 2)
    p, q, _, product, text = check_phase(figure)
    assert (p, q) == (1.4, -1.5)
    assert product[0] < -2 and "b₁ = -0.93, b₂ = -1.07: one layer" in text
    press(figure, "first", "End")
    *_, text = check_phase(figure)
    assert "saddle" in text


def test_phase_by_mouse(open_figure, page):
    """A press sets the weights, a drag moves them; both stay inside."""
    figure = open_figure("deep_linear", "phase")
    picture = figure.locator("svg[data-frame]").first
    picture.scroll_into_view_if_needed()
    box = picture.bounding_box()
    left, right, top, bottom = map(float, picture.get_attribute("data-frame").split()[:4])

    def at(p, q):
        x = box["x"] + left + (p + 2) / 4 * (right - left)
        return x, box["y"] + bottom - (q + 2) / 4 * (bottom - top)

    page.mouse.click(*at(-0.5, 1.0))
    assert check_phase(figure)[:2] == (-0.5, 1.0)
    page.mouse.move(*at(0, 0))
    page.mouse.down()
    page.mouse.move(*at(0.6, -0.2), steps=3)
    assert check_phase(figure)[:2] == (0.6, -0.2)
    page.mouse.move(*at(1.9, 0.2))
    page.mouse.up()
    assert check_phase(figure)[:2] == (1.5, 0.2)


@pytest.mark.parametrize(
    "keys, fraction, sigma",
    [
        ({}, 0.5, 10**-1.3),
        ({"scale": ["Home"]}, 0.5, 1e-4),
        ({"scale": ["End"], "fraction": ["ArrowRight"] * 5}, 0.75, 0.1),
        ({"scale": ["ArrowLeft"] * 7, "fraction": ["End"]}, 1.0, 1e-2),
    ],
)
def test_pathways(open_figure, keys, fraction, sigma):
    """Curves and words against the package's race on four copies of the items."""
    figure = open_figure("gated_networks", "pathways")
    for control, presses in keys.items():
        press(figure, control, *presses)
    items = tasks.semantic("tree", num_items=4)
    task = tasks.Task(np.tile(items.inputs, 4), np.tile(items.targets, 4))
    on = np.array([np.ones(16), np.repeat(np.arange(4) < 4 * fraction, 4)], float)
    racers = networks.pathways(task, on, num_hidden=50)
    start = theory.expected_initial_strength(50, sigma)
    grid = np.linspace(0, 60, 601)
    race = theory.pathway_race(racers, task, start, grid).strengths
    modes = statistics.modes(items)
    final = modes.singular_values[0] / modes.input_variances[0]
    a, b = (np.asarray(race[path])[0] / final for path in racers.graph.paths)
    for name, expected in (("A", a), ("B", b)):
        times, drawn, (_, pixel) = curve(figure, 0, name)
        np.testing.assert_allclose(times, grid, atol=0.01)
        np.testing.assert_allclose(drawn, expected, atol=0.01 * pixel + 1e-4)
    exponents, peaks, (_, pixel) = curve(figure, 1, "peak")
    here = np.interp(np.log10(sigma), exponents, peaks)
    assert abs(here - b.max()) < 0.02 * pixel + 1e-3
    text = words(figure)
    ends = f"A has {100 * a[-1]:.0f} % of s/d and B {100 * b[-1]:.0f} %"
    assert ends in text
    if fraction == 1:
        assert text.endswith("share the mode equally.")
    else:
        assert text.startswith("A takes all:" if b.max() < 0.05 else "A wins:")
        bound = (start / final) ** (1 - fraction)
        expected = [100 * b.max(), grid[b.argmax()], 100 * bound]
        np.testing.assert_allclose(numbers(text)[:3], expected, atol=0.51)


@pytest.mark.parametrize(
    "keys, contexts, size, sigma",
    [
        ({}, 4, 3, 1e-5),
        ({"size": ["Home"]}, 4, 1, 1e-5),
        ({"contexts": ["ArrowRight", "ArrowRight"], "size": ["End"]}, 6, 5, 1e-5),
        ({"contexts": ["Home"], "scale": ["End"]}, 3, 2, 1e-3),
        ({"contexts": ["End"], "size": ["End"], "scale": ["Home"]}, 8, 7, 1e-9),
    ],
)
def test_contexts(open_figure, keys, contexts, size, sigma):
    figure = open_figure("more_contexts", "contexts")
    for control, presses in keys.items():
        press(figure, control, *presses)
    text = words(figure)
    rates = [size * (size + 1), size * (contexts - size) / contexts, contexts * (contexts + 1)]
    times = [theory.learning_time(contexts, k) for k in range(1, contexts)]
    expected = [contexts, size, *np.sqrt(rates), times[size - 1], contexts - 1, min(times)]
    np.testing.assert_allclose(numbers(text)[:8], expected, atol=0.0051)
    middle = [half for half in (contexts // 2, contexts - contexts // 2)]
    assert text.endswith(f"those on in {' or '.join(map(str, sorted(set(middle))))}.")

    drawn, law, (step, pixel) = curve(figure, 1, "law")
    np.testing.assert_allclose(drawn, range(1, contexts), atol=0.01 * step)
    np.testing.assert_allclose(law, times, atol=0.01 * pixel)
    if size == contexts - 1:
        samples = 8 * contexts
        start = theory.expected_initial_strength(100, sigma)
        drawn, losses, (_, pixel) = curve(figure, 2, "closed form")
        grid = np.linspace(0, 0.4 * np.log(1 / start), 241)
        expected = theory.contextual_closed_form(contexts, 8, (start, start), samples * grid)
        np.testing.assert_allclose(losses, expected, atol=0.01 * pixel)


def pattern(figure):
    cells = figure.locator("[data-cell]")
    on = [cell.get_attribute("aria-pressed") == "true" for cell in cells.all()]
    return np.array(on, int).reshape(4, 3)


def weights(figure):
    def values(kind, count):
        names = [f"[data-control={kind}{number + 1}]" for number in range(count)]
        return np.array([float(figure.locator(name).input_value()) for name in names])

    return values("item", 4), values("context", 3)


def share(figure):
    """The drive of the weights that the sliders show, over the best gated linear neuron's."""
    a, b = weights(figure)
    mode = np.array([1, 1, -1, -1]) / 2
    hidden = np.maximum(a[:, None] + b, 0)
    answer = (np.eye(3) - 1 / 3) @ (mode @ hidden)
    return np.linalg.norm(answer) / np.linalg.norm([*a, *b]) / np.sqrt(2 / 3)


def test_gate_follows_the_weights(open_figure):
    figure = open_figure("which_gates", "gate")
    for control, key in (("item4", "End"), ("context3", "Home"), ("item1", "ArrowLeft")):
        press(figure, control, key)
        a, b = weights(figure)
        found = pattern(figure)
        np.testing.assert_array_equal(found, a[:, None] + b > 0)
        text = words(figure)
        assert f"on for {found.sum()} of 12 samples" in text
        assert f"one of {gates.count_realisable(4, 3)} realisable" in text
        assert text.endswith(f"These weights reach {100 * share(figure):.0f} %.")


def test_gate_says_what_is_realisable(open_figure):
    """Cells are toggled by keyboard; what is said is what the package says."""
    figure = open_figure("which_gates", "gate")
    rng = np.random.default_rng(3)
    seen = set()
    for cell in rng.integers(12, size=30):
        wanted = pattern(figure)
        wanted[divmod(cell, 3)] ^= 1
        chosen = figure.locator("[data-cell]").nth(int(cell))
        chosen.focus()
        chosen.press("Space")
        np.testing.assert_array_equal(pattern(figure), wanted)
        possible = gates.is_realisable(wanted)
        seen.add(possible)
        assert words(figure).startswith("Realisable" if possible else "No ReLU neuron")
        bad = figure.locator("[data-cell].bad")
        assert bad.count() == (0 if possible else 4)
        if possible:
            a, b = weights(figure)
            np.testing.assert_array_equal(wanted, a[:, None] + b > 0)
        else:
            places = [
                tuple(map(int, node.get_attribute("data-cell").split())) for node in bad.all()
            ]
            cut = [wanted[place] for place in places]
            assert cut in ([1, 0, 0, 1], [0, 1, 1, 0])
    assert seen == {True, False}


def test_price_of_two_contexts(open_figure):
    figure = open_figure("which_gates", "gate")
    figure.get_by_role("button", name="two contexts").press("Enter")
    n, C, k = 4, 3, 2
    formula = np.sqrt(n * (n + C) / ((n + 2 * k) * (n + 2 * (C - k))))
    assert f"no more than {100 * formula:.0f} % of the strength" in words(figure)
    assert "no pattern allows more" in words(figure)
    figure.get_by_role("button", name="not realisable").press("Enter")
    assert words(figure).startswith("No ReLU neuron")


def neurons(figure):
    """Gates (4, P), and the weights of each neuron, None where there are none."""
    cells = figure.locator("[data-gate]")
    on = [cell.get_attribute("aria-pressed") == "true" for cell in cells.all()]
    rows = [
        row.locator("td").all_inner_texts()
        for row in figure.locator("tbody").nth(1).locator("tr").all()
    ]
    verdicts, *weights = rows
    columns = zip(*weights, strict=True)
    found = [
        None if "–" in column else np.array([float(w.replace("−", "-")) for w in column])
        for column in columns
    ]
    assert verdicts == ["no" if w is None else "yes" for w in found]
    return np.array(on, int).reshape(-1, 4).T, found


@pytest.mark.parametrize("bias", [0, 1])
@pytest.mark.parametrize("number", [0, 1, 2])
def test_gates_of_four_neurons(open_figure, number, bias):
    """Cells are toggled by keyboard; weights and words are those of the package's tasks."""
    figure = open_figure("which_gates", "gating")
    groups = figure.locator("fieldset")
    groups.nth(0).locator("input").nth(number).check()
    groups.nth(1).locator("input").nth(bias).check()
    items = tasks.contextual(3, 2, [np.eye(2)] * 3, np.eye(2)).inputs
    margin = tasks.xor(1.0).inputs
    inputs = np.asarray([margin[:2], margin, items][number])
    inputs = np.concatenate([inputs, np.ones((bias, inputs.shape[1]))])
    rng, seen = np.random.default_rng(number), set()
    for cell in rng.integers(4 * inputs.shape[1], size=12):
        before, _ = neurons(figure)
        chosen = figure.locator("[data-gate]").nth(int(cell))
        chosen.focus()
        chosen.press("Space")
        after, weights = neurons(figure)
        before[cell % 4, cell // 4] ^= 1
        np.testing.assert_array_equal(after, before)
        possible = gates.are_realisable(after, inputs)
        bad = {
            int(node.get_attribute("data-gate").split()[0])
            for node in figure.locator("[data-gate].bad").all()
        }
        assert bad == set(np.flatnonzero(~possible))
        for on, w, can in zip(after, weights, possible, strict=True):
            assert (w is not None) == can
            if can:
                np.testing.assert_array_equal(w @ inputs > 0, on)
        text, seen = words(figure), seen | {possible.all()}
        assert text.startswith("All four" if possible.all() else "Neuron ")
        count = {0: (9, 14), 1: (15, 16), 2: (46, 46)}[number][bias]
        assert text.endswith(f"can have {count} of {2 ** inputs.shape[1]} gates.")
        focused = figure.page.evaluate("document.activeElement.dataset.gate")
        assert focused == f"{cell % 4} {cell // 4}"  # and can be pressed again


@pytest.mark.parametrize("task, clusters", [(0, 4), (1, 2), (3, 12), (5, 4)])
def test_clusters(open_figure, task, clusters):
    figure = open_figure("finding_gates", "clusters")
    figure.locator("input[type=radio]").nth(task).check()
    press(figure, "clusters", "Home", *["ArrowRight"] * (clusters - 2))
    contexts = ["3 contexts", "tree, ring, cross", "4 contexts", "5 contexts"]
    case = [*contexts, "XoR, margin 2", "XoR, margin 0.2"][task]
    runs = [recorded("finding_gates", case=case, seed=seed) for seed in range(5, 10)]
    text = words(figure)
    assert text.startswith(f"With {clusters} clusters")
    unit = np.mean([run["plain_output"][0] for run in runs])
    said = numbers(text)
    for picture, (kind, over) in enumerate({"output": unit, "deviation": 1}.items()):
        mean = np.mean([run[f"plain_{kind}"] for run in runs], axis=0) / over
        drawn, errors, (step, pixel) = curve(figure, picture, "mean")
        np.testing.assert_allclose(drawn, range(2, 13), atol=0.01 * step)
        np.testing.assert_allclose(errors, mean, atol=0.01 * pixel + 1e-4)
        assert np.isclose(said, mean[clusters - 2], atol=0.0051).any()
        assert f"smallest at {2 + mean.argmin()}" in text
        found = np.mean([run[kind] for run in runs]) / over
        assert np.isclose(said[-2 + picture], found, atol=0.0051)
    chosen = sorted({run["pathways"] for run in runs})
    assert f"Repetition chooses {' or '.join(map(str, chosen))} gates" in text


def spread(figure):
    """Mean distance of the items from their centre, in the map's units."""
    moved = [
        node.get_attribute("transform") for node in figure.locator(".interactive-map .item").all()
    ]
    places = np.array([numbers(text) for text in moved])
    assert places.shape == (16, 2)
    return np.linalg.norm(places - places.mean(axis=0), axis=1).mean()


def half_times(figure):
    dots = figure.locator(".interactive-stages circle")
    return sum("done" in dot.get_attribute("class") for dot in dots.all()), dots.count()


def test_animation_by_hand(open_figure):
    figure = open_figure("semantic", "unfolding")
    assert spread(figure) < 5  # nothing moves before anybody asks for it
    press(figure, "time", "End")
    assert spread(figure) > 60
    assert "all 2 levels of modes are half learned" in words(figure)
    press(figure, "time", "Home", "PageUp", "PageUp")
    for number, (name, count) in enumerate({"Clusters": 2, "Tree": 5, "Ring": 9}.items()):
        figure.locator("input[type=radio]").nth(number).check()
        time = int(figure.locator("[data-control=time]").input_value())
        done, all_of_them = half_times(figure)
        assert (all_of_them, done) == (count, done)
        assert words(figure).startswith(f"{name}, time {time}: {done} of {count} levels")


def test_animation_plays_and_pauses(open_figure, page):
    figure = open_figure("semantic", "unfolding")
    button = figure.get_by_role("button")
    time = figure.locator("[data-control=time]")
    assert button.inner_text() == "play"
    button.press("Enter")
    page.wait_for_function("document.querySelector('[data-control=time]').value > 40")
    button.press("Enter")
    assert button.inner_text() == "play"
    before = time.input_value()
    page.wait_for_timeout(300)
    assert time.input_value() == before


def test_animation_with_reduced_motion(open_figure, page):
    page.emulate_media(reduced_motion="reduce")
    figure = open_figure("semantic", "unfolding")
    button = figure.get_by_role("button", name="next stage")
    for stage in (1, 2):
        button.press("Enter")
        assert half_times(figure)[0] == stage
        before = figure.locator("[data-control=time]").input_value()
        page.wait_for_timeout(200)
        assert figure.locator("[data-control=time]").input_value() == before


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(
    "chapter, name",
    [
        ("deep_linear", "modes"),
        ("deep_linear", "phase"),
        ("alignment", "curves"),
        ("gated_networks", "pathways"),
        ("xor", "race"),
        ("more_contexts", "contexts"),
        ("which_gates", "gate"),
        ("which_gates", "gating"),
        ("finding_gates", "clusters"),
        ("race_law", "timeline"),
        ("semantic", "unfolding"),
    ],
)
def test_on_a_phone_in_both_themes(open_figure, page, chapter, name, theme):
    """Nothing sticks out, and every control has a name."""
    page.set_viewport_size({"width": 360, "height": 740})
    figure = open_figure(chapter, name)
    page.evaluate("theme => (document.documentElement.dataset.theme = theme)", theme)
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
    colour = "element => getComputedStyle(element).getPropertyValue('--c1').trim()"
    assert figure.evaluate(colour) == {"light": "#0173b2", "dark": "#56b4e9"}[theme]


def test_without_javascript(browser, address):
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(f"{address}/book/xor.html")
        assert "It needs JavaScript" in page.locator(".interactive").inner_text()


# Figures of recorded runs: imitation, routes ------------------------------------------------------


def recorded(name, **setting):
    (row,) = [
        row["results"]
        for row in map(json.loads, (RESULTS / f"{name}.jsonl").read_text("utf8").splitlines())
        if "setting" in row and row["setting"] == setting
    ]
    return row


@pytest.mark.parametrize(
    "keys, setting, faster",
    [
        ({}, (0.4, 1e-4, 128), "exclusive-or"),
        ({"margin": ["ArrowRight"] * 2}, (0.8, 1e-4, 128), "exclusive-or"),
        ({"margin": ["ArrowRight"] * 3}, (1.0, 1e-4, 128), "linear"),
        ({"margin": ["End"], "scale": ["End"], "hidden": ["End"]}, (2.0, 1e-2, 512), "linear"),
        ({"margin": ["Home"], "scale": ["Home"], "hidden": ["Home"]}, (0.0, 1e-5, 32), "exclusive"),
    ],
)
def test_imitation(open_figure, keys, setting, faster):
    """The recorded curve and both closed forms are drawn, and their distances said."""
    figure = open_figure("start", "imitation")
    for control, presses in keys.items():
        press(figure, control, *presses)
    margin, sigma, hidden = setting
    times = np.linspace(0, 40, 101)
    run = recorded("imitation", margin=margin, scale=sigma, hidden=hidden)["losses"]
    curves = {"relu": np.array(run)} | {k: xor_loss(times, k, *setting) for k in (2, 4)}
    for name, expected in curves.items():
        drawn, losses, (step, pixel) = curve(figure, 0, name)
        np.testing.assert_allclose(drawn, times, atol=0.01 * step)
        np.testing.assert_allclose(losses, expected, atol=0.01 * pixel + 5e-5)
    text = words(figure)
    assert f"so the {faster}" in text and f"The margin {margin:.1f} lies" in text
    far = [np.abs(curves[k] - run).sum() / np.sum(run) for k in (2, 4)]
    np.testing.assert_allclose(numbers(text)[-2:], sorted(far), atol=0.0061)
    assert figure.locator("circle.fill.ink").count() == 11


@pytest.mark.parametrize("trained, seed, stage", [(4, 0, 6), (1, 2, 6), (2, 1, 3), (7, 0, 0)])
def test_routes(open_figure, trained, seed, stage):
    figure = open_figure("sharing", "routes")
    press(figure, "trained", "Home", *["ArrowRight"] * (trained - 1))
    press(figure, "seed", *["ArrowRight"] * seed)
    press(figure, "time", "Home", *["ArrowRight"] * stage)
    data = json.loads(figure.locator("script").text_content())
    run = data["runs"][f"{trained} {seed}"]
    errors, time = np.array(run["errors"][stage]).reshape(7, 7) / 100, run["times"][stage]
    cells = figure.locator("rect.route").all()
    shown = np.array([float(cell.get_attribute("data-error")) for cell in cells]).reshape(7, 7)
    np.testing.assert_allclose(shown / 100, errors, atol=0.006)
    for cell, error in zip(cells, shown.ravel(), strict=True):
        assert ("bad" in cell.get_attribute("class")) == (error > 100)
    assert figure.locator("rect.taught").count() == 7 * trained
    text = words(figure)
    assert f"Q = {trained} trains {7 * trained} of 49 routes" in text
    assert ("Before training" if stage == 0 else f"At time {time:.1f} ") in text
    for mean in run["means"][stage]:
        assert (
            "below 0.005" in text if mean < 0.005 else np.isclose(numbers(text), mean, 0.05).any()
        )
    said = {(4, 6): "right answers", (1, 6): "worse than no answer", (7, 0): "no others"}
    assert said.get((trained, stage), "") in text
    said = figure.locator("[data-control=time]").get_attribute("aria-valuetext")
    assert said == f"{time:.1f}"


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("chapter, name", [("start", "imitation"), ("sharing", "routes")])
def test_recorded_runs_on_a_phone(open_figure, page, chapter, name, theme):
    test_on_a_phone_in_both_themes(open_figure, page, chapter, name, theme)
