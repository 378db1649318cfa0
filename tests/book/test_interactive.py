"""The interactive figures' formulas are the package's, and their places in the pages are sound."""

import json
import re
from itertools import combinations, product

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from docutils import nodes, utils
from docutils.core import publish_doctree
from docutils.parsers.rst import directives
from py_mini_racer import MiniRacer
from scipy import optimize

from _ext import interactive as directive
from mdsgdln import gates, networks, reln, statistics, tasks, theory
from mdsgdln_book import figure_data, interactive, tables
from mdsgdln_book.experiments import routes, xor_seeds
from mdsgdln_book.places import BOOK

ITEMS, CONTEXTS = 4, 3  # of the figure of a neuron's gate
MARGINS = (0.0, 0.3, 0.8, 0.9, 2.5)
SETTINGS = [(sigma, hidden) for sigma in (1e-6, 2e-4, 1e-2) for hidden in (4, 128, 1024)]


@pytest.fixture(scope="module")
def javascript():
    """A function that evaluates an expression of `Theory` and `x`; infinity comes as None."""
    engine = MiniRacer()
    parts = dict.fromkeys(part for parts in interactive.NEEDED.values() for part in parts)
    for name in ("theory", *parts):
        engine.eval((interactive.SCRIPTS / f"{name}.js").read_text(encoding="utf8"))

    def evaluate(expression, x=None):
        values = json.dumps(x, default=lambda array: np.asarray(array).tolist())
        return json.loads(engine.eval(f"JSON.stringify(((x) => {expression})({values}))"))

    return evaluate


def same(found, expected, tolerance=1e-9):
    np.testing.assert_allclose(np.array(found, float), expected, rtol=tolerance, atol=1e-14)


def all_patterns():
    bits = np.arange(2 ** (ITEMS * CONTEXTS))[:, None] >> np.arange(ITEMS * CONTEXTS) & 1
    return bits.reshape(-1, ITEMS, CONTEXTS)


def realisable_patterns():
    return [pattern for pattern in all_patterns() if gates.is_realisable(pattern)]


def test_deep_mode(javascript):
    times = np.linspace(0, 60, 25)
    for s in (0.0, 0.05, 0.4, 3.0):
        for d in (0.0, 0.2, 2.0):
            for start in (1e-14, 1e-4, 0.3, 5.0):
                found = javascript(
                    "x[0].map((t) => Theory.deepMode(t, ...x[1]))", [times, [s, d, start]]
                )
                same(found, theory.mode_trajectory(times, s, d, start)[0])


def test_mode_time_is_when_the_mode_passes_the_height(javascript):
    for height in (0.01, 0.5, 0.9):
        time = javascript("Theory.modeTime(...x)", [height, 0.4, 0.4, 1e-5])
        same(theory.mode_trajectory([time], 0.4, 0.4, 1e-5)[0], height)
    assert javascript("Theory.modeTime(1.1, 0.4, 0.4, 1e-5)") is None
    assert javascript("Theory.modeTime(0.1, 0.4, 0.4, 0.2)") == 0


def test_expected_start(javascript):
    for sigma, hidden in SETTINGS:
        found = javascript("Theory.expectedStart(...x)", [hidden, sigma])
        same(found, theory.expected_initial_strength(hidden, sigma))


@pytest.mark.parametrize("depth", [1, 2, 3, 4, 5])
def test_times_of_a_mode_at_any_depth(javascript, depth):
    """At these times the package's mode has learned these shares, and later ones follow."""
    for s, d, start in ((0.65, 0.25, 1e-3), (0.2, 0.25, 1e-4), (1.0, 0.25, 0.1), (0.3, 2.0, 1e-2)):
        shares = np.array([0.1, 0.3, 0.5, 0.9, 0.999])
        shares = shares[shares * s / d > start]
        times = javascript("Theory.depthTimes(...x)", [shares, s, d, start, depth])
        learned = theory.mode_trajectory([0, *times], s, d, start, depth)[0, 1:]
        same(learned, shares * s / d, 1e-5)
        half = javascript("Theory.depthTimes(...x)", [[0.5], s, d, start, depth])[0]
        same(half, times[list(shares).index(0.5)], 1e-6)


def test_half_time_against_the_initial_strength(javascript):
    """A tenth of a small a₀: later by ln 10/(2s) for L = 2, 10^(1 - 2/L) times as late beyond."""
    s, d = 0.65, 0.25
    for depth in (1, 2, 3, 4, 5):
        start = 10.0 ** (-12 if depth < 3 else -30)
        early, late = (
            javascript("Theory.depthTimes(...x)", [[0.5], s, d, a, depth])[0]
            for a in (start, start / 10)
        )
        if depth < 3:
            law = [0, np.log(10) / (2 * s)][depth - 1]
            np.testing.assert_allclose(late - early, law, atol=1e-9)
        else:
            same(late / early, 10 ** (1 - 2 / depth), 1e-3)


@pytest.mark.parametrize(
    "start", [(0.1, 0.05), (1.5, 0.05), (0.05, -0.1), (-1.5, 1.45), (1.5, 1.5), (-0.3, -0.2)]
)
def test_weights_of_two_layers(javascript, start):
    """The figure's steps against the package's reduction of a chain of single neurons."""
    for s, d in ((1.0, 1.0), (0.65, 0.25)):
        chain = networks.GatedNetwork({"x": 1, "h": 1, "y": 1}, [("x", "h"), ("h", "y")])
        task = tasks.Task([[np.sqrt(d)]], [[s / np.sqrt(d)]])
        times = np.linspace(0, 10, 11)
        edges = dict(zip(chain.graph.edges, start, strict=True))
        expected = theory.shared_race(chain, task, edges, times).strengths
        expected = np.concatenate([expected[edge] for edge in chain.graph.edges]).T
        track = javascript("Theory.layerWeights(...x)", [start, s, d, 0.02, 500])
        track = np.array(track)
        np.testing.assert_allclose(track[::50], expected, atol=1e-5)
        kept = track[:, 0] ** 2 - track[:, 1] ** 2
        np.testing.assert_allclose(kept, kept[0], atol=1e-6)
        if s == 1:
            end = javascript("Theory.layerEnd(...x)", [start, s, d])
            np.testing.assert_allclose(track[-1], end, atol=1e-5)


def test_opposite_weights_go_to_the_saddle(javascript):
    track = javascript("Theory.layerWeights(...x)", [[0.7, -0.7], 1, 1, 0.02, 500])
    np.testing.assert_allclose(track[-1], 0, atol=1e-4)
    assert javascript("Theory.layerEnd([0.7, -0.7], 1, 1)") == [0, 0]


@pytest.mark.parametrize("active", [1, 2, 3, 4])
def test_race_of_two_pathways(javascript, active):
    """The figure's steps against the package, for a pathway that is on in a few of four copies."""
    items = tasks.semantic("tree", num_items=4)
    task = tasks.Task(np.tile(items.inputs, 4), np.tile(items.targets, 4))
    on = np.array([np.ones(16), np.repeat(np.arange(4) < active, 4)], float)
    racers = networks.pathways(task, on, num_hidden=50)
    modes = statistics.modes(items)
    s, d = float(modes.singular_values[0]), float(modes.input_variances[0])
    same([np.sqrt(7) / 4, 0.25], [s, d])  # the figure's
    times = np.linspace(0, 60, 61)
    for sigma in (1e-4, 5e-3, 0.1):
        start = theory.expected_initial_strength(50, sigma)
        expected = theory.pathway_race(racers, task, start, times).strengths
        expected = np.stack([np.asarray(expected[path])[0] for path in racers.graph.paths], 1)
        found = javascript("Theory.pathwayRace(...x)", [active / 4, s, d, start, 0.1, 600])
        np.testing.assert_allclose(np.array(found)[::10], expected, atol=1e-4, rtol=1e-4)
        bound = start ** (1 - active / 4) * (s / d) ** (active / 4)
        assert np.max(found, axis=0)[1] <= bound


@pytest.mark.parametrize("pathways", [2, 4])
def test_exclusive_or(javascript, pathways):
    """Against the modes that the package finds in the data."""
    gate = np.array([[1, 1, 0, 0], [0, 0, 1, 1]]) if pathways == 2 else np.eye(4)
    times = np.linspace(0, 50, 21)
    for margin in MARGINS[1:]:
        task = tasks.xor(margin)
        gated = networks.pathways(task, gate, 1)
        datasets = [statistics.effective_dataset(gated, task, path) for path in gated.graph.paths]
        for sigma, hidden in SETTINGS:
            expected = 0
            for dataset in datasets:
                modes = statistics.modes(dataset)
                start = theory.expected_initial_strength(hidden // pathways, sigma)
                s, d = modes.singular_values, modes.input_variances
                strengths = theory.mode_trajectory(times, s, d, start)
                expected += theory.mode_losses(dataset, modes, strengths)
            setting = [pathways, margin, sigma, hidden]
            found = javascript("x[0].map((t) => Theory.xorLoss(t, ...x[1]))", [times, setting])
            same(found, expected, 1e-9)


def test_exclusive_or_without_a_margin(javascript):
    assert javascript("Theory.xorHalfTime(2, 0, 1e-3, 128)") is None
    assert javascript("Theory.xorLoss(40, 2, 0, 1e-3, 128)") == 0.5


def test_half_loss_time_and_crossover(javascript):
    for setting in SETTINGS:
        for margin in MARGINS[1:]:
            two, four = (
                javascript("Theory.xorHalfTime(...x)", [k, margin, *setting]) for k in (2, 4)
            )
            assert (four < two) == (margin < np.sqrt(2 / 3))
            half = javascript(
                "[x[0], 0].map((t) => Theory.xorLoss(t, ...x[1]))", [four, [4, margin, *setting]]
            )
            same(half[0], half[1] / 2)
        both = [
            javascript("Theory.xorHalfTime(x[0], Theory.crossover, ...x[1])", [k, setting])
            for k in (2, 4)
        ]
        same(both[0], both[1])
    same(javascript("Theory.crossover"), np.sqrt(2 / 3))


def test_race_law(javascript):
    for contexts in range(2, 13):
        for size in range(1, contexts):
            found = javascript("Theory.learningTime(...x)", [contexts, size])
            same(found, theory.learning_time(contexts, size))


@pytest.mark.parametrize("contexts", [2, 3, 5, 8])
@pytest.mark.parametrize("items", [2, 4, 8, 16])
def test_closed_form_of_the_loss(javascript, contexts, items):
    """On the final residual, pathways on in all contexts but one."""
    times = np.linspace(0, 30 * contexts * items, 15)
    for strengths in ((1e-9, 1e-9), (1e-6, 1e-3), (0.2, 1e-2)):
        expected = theory.contextual_closed_form(contexts, items, strengths, times)
        found = javascript(
            "x[0].map((t) => Theory.closedForm(t, ...x[1]))",
            [times, [contexts, contexts - 1, items, *strengths]],
        )
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("contexts, size", [(3, 1), (4, 2), (5, 2), (5, 4)])
def test_contextual_modes_for_other_sizes(javascript, contexts, size):
    """All pathways on in k contexts: the path sum on the final residual is that of the formula."""
    items, strength = 4, 0.03
    task = tasks.contextual(contexts, items)
    fit = np.asarray(task.targets) @ np.linalg.pinv(task.inputs) @ np.asarray(task.inputs)
    residual = tasks.Task(task.inputs, task.targets - fit)
    chosen = gates.context_gates(contexts, items, combinations(range(contexts), size))
    masks = np.tile(np.arange(items + contexts) < items, (len(chosen), 1))
    network = networks.pathways(residual, chosen, items - 1, masks)
    modes = theory.pathway_modes(network, residual)
    weights = {}
    for path, found in modes.items():
        weights[path[:2]] = jnp.sqrt(strength) * jnp.asarray(found.right.T)
        weights[path[1:]] = jnp.sqrt(strength) * jnp.asarray(found.left)
    levels = javascript("Theory.contextualModes(...x)", [contexts, size, items])
    s = np.concatenate([[level["s"]] * (level["count"] // len(chosen)) for level in levels])
    d = levels[0]["d"]
    flow = theory.path_gradient(network, weights, residual)
    for path, found in modes.items():
        same(found.singular_values, s)
        same(flow[path[1:]], np.sqrt(strength) * found.left * (s - d * strength)[None, :], 1e-8)

    outputs = network.apply(weights, residual.inputs)
    power = jnp.sum(residual.targets**2)
    gain = (power - jnp.sum((residual.targets - outputs) ** 2)) / (2 * residual.num_samples)
    losses = [
        javascript("Theory.closedForm(0, ...x)", [contexts, size, items, 1e-3, start])
        for start in (strength, 0)
    ]
    same(losses[1] - losses[0], gain)


def test_head_start_is_the_race_law(javascript):
    """To leading order: at a start of 10⁻²⁰⁰ a split is half learned when the law says."""
    items, start = 8, 1e-200
    for contexts, size in ((3, 1), (4, 3), (6, 2), (8, 7)):
        mode = javascript("Theory.contextualModes(...x)[0]", [contexts, size, items])
        unit = contexts * items / np.sqrt(items - 1) * np.log(1 / start) / 2
        law = unit * theory.learning_time(contexts, size)
        stop = mode["s"] / mode["d"]
        early, late = (
            javascript("Theory.headStartMode(...x)", [share * law, mode, start]) / stop
            for share in (0.97, 1.03)
        )
        assert early < 0.5 < late, (contexts, size)
        handover = np.log(1 / start) / (2 * mode["common"])
        around = [
            javascript("Theory.headStartMode(...x)", [handover * share, mode, start])
            for share in (1 - 1e-12, 1 + 1e-12)
        ]
        same(around[0], around[1], 1e-6)


@pytest.mark.parametrize("contexts, size", [(3, 1), (3, 2), (4, 2), (5, 3)])
def test_flow_of_one_item_mode(javascript, contexts, size):
    """The seven numbers of the timeline against the path sum of the whole network."""
    task = tasks.contextual(contexts, 2)
    network = networks.contextual_pathways(task, contexts, size, 1)
    mode = np.array([1, -1]) / np.sqrt(2)  # the tree's item mode has κ = 1
    output = np.asarray(tasks.structure("tree", 2)) @ mode
    same(np.linalg.norm(output), 1)
    seen = np.concatenate([mode, np.zeros(contexts)])
    subsets = list(combinations(range(contexts), size))
    for state in np.random.default_rng(0).normal(size=(5, 7)):
        blocks = [np.array([state[1], *[state[2]] * contexts])]
        for subset in subsets:
            inside = np.isin(np.arange(contexts), subset)
            blocks.append(np.array([state[4], *np.where(inside, state[5], state[6])]))
        inputs = [state[0], *[state[3]] * len(subsets)]
        weights = {}
        for path, weight, block in zip(network.graph.paths, inputs, blocks, strict=True):
            rows = seen if path[1] == "pathway 0" else mode
            weights[path[:2]] = jnp.asarray(weight * rows[None, :])
            weights[path[1:]] = jnp.asarray(np.kron(block, output)[:, None])
        flow = theory.path_gradient(network, weights, task)
        found = np.array(javascript("Theory.lifeFlow(...x)", [state, contexts, size]))
        found /= task.num_samples
        common, other = network.graph.paths[:2]
        same(flow[common[:2]], found[0] * seen[None], 1e-8)
        block = [found[1], *[found[2]] * contexts]
        same(flow[common[1:]][:, 0], np.kron(block, output), 1e-8)
        same(flow[other[:2]], found[3] * mode[None], 1e-8)
        inside = np.isin(np.arange(contexts), subsets[0])
        block = [found[4], *np.where(inside, found[5], found[6])]
        same(flow[other[1:]][:, 0], np.kron(block, output), 1e-8)


def test_life_of_one_item_mode(javascript):
    """It starts along the raw outputs, ends along the residual's, at the time of the race law."""
    for contexts, size in ((3, 1), (4, 2), (4, 3), (6, 2)):
        start = 1e-100
        unit = np.log(1 / start) / 2
        law = unit * theory.learning_time(contexts, size)
        setting = [contexts, size, start, 1.3 * law / 8000, 8000]
        states = javascript("Theory.contextLife(...x)", setting)
        same(states[0]["common"], start)
        same(states[0]["contextual"], start)
        same(states[0]["raw"], 1)
        angle = np.sqrt((contexts - size) / contexts / (size + 1))
        same(states[0]["residual"], angle)
        middle = states[int(0.7 / np.sqrt(contexts * (contexts + 1)) * unit / setting[3])]
        assert middle["raw"] > 0.999
        learned = np.array([state["learned"] for state in states])
        half = setting[3] * np.argmax(learned > 0.5)
        assert abs(half / law - 1) < 0.05, (contexts, size, half / law)
        same(learned[-1], 1, 1e-3)


def test_realisable_patterns(javascript):
    patterns = all_patterns()
    parts = javascript("x.map(Theory.forbiddenPart)", patterns)
    for pattern, part in zip(patterns, parts, strict=True):
        assert (part is None) == gates.is_realisable(pattern)
        if part is not None:
            cut = pattern[np.ix_(part["items"], part["contexts"])]
            assert sorted(map(tuple, cut)) == [(0, 1), (1, 0)]
    for items, contexts in ((2, 2), (3, 3), (4, 3), (8, 3), (5, 6)):
        found = javascript("Theory.countRealisable(...x)", [items, contexts])
        assert found == gates.count_realisable(items, contexts)


def test_weights_of_every_realisable_pattern(javascript):
    """They have the pattern, and the figure's sliders (−2 to 2 in tenths) can show them."""
    for pattern in realisable_patterns():
        found = javascript("Theory.weightsOf(x)", pattern)
        a, b = (np.array(found[name]) for name in "ab")
        np.testing.assert_array_equal(a[:, None] + b > 0, pattern)
        assert javascript("Theory.patternOf(x.a, x.b)", found) == pattern.tolist()
        assert np.abs([*a, *b]).max() <= 2
        np.testing.assert_allclose(np.round([*a, *b], 1), [*a, *b], atol=1e-12)


def test_the_boundary_is_off(javascript):
    assert javascript("Theory.patternOf([0, 0.3], [0, -0.3, 0.1])") == [[0, 0, 1], [1, 0, 1]]


def drive(pattern):
    """The matrix of Eq. (gates-drive) for a gate, (blocks, weights), from the task's residual."""
    items, contexts = np.shape(pattern)
    mode = np.repeat([1, -1], items // 2) / np.sqrt(items)
    residual = np.kron(np.eye(contexts) - 1 / contexts, mode)  # context-major samples
    task = tasks.contextual(contexts, items, [np.eye(items)] * contexts, np.eye(items))
    return residual @ (np.asarray(task.inputs) * np.ravel(pattern, "F")[None, :]).T


def test_drive_of_weights(javascript):
    rng = np.random.default_rng(0)
    for _ in range(20):
        a, b = rng.normal(size=ITEMS), rng.normal(size=CONTEXTS)
        weights, pattern = np.concatenate([a, b]), a[:, None] + b > 0
        share = np.linalg.norm(drive(pattern) @ weights) / np.linalg.norm(weights)
        found = javascript("Theory.driveOf(...x)", [a, b])
        same(found, share / np.sqrt(2 / 3))  # the best gated linear neuron: √(k(C−k)/C)
        assert found <= javascript("Theory.bestDrive(x)", pattern.astype(int)) + 1e-9


def test_price_of_a_context_gate(javascript):
    """The figure's maximisation against the chapter's formula, for sizes beyond the figure."""
    for items, contexts in ((2, 3), (4, 3), (8, 3), (8, 4), (8, 5), (6, 2)):
        for size in range(1, contexts):
            pattern = np.tile(np.arange(contexts) < size, (items, 1)).astype(int)
            setting = [items, contexts, size]
            found = javascript("Theory.bestDrive(x)", pattern)
            same(found, javascript("Theory.contextGateDrive(...x)", setting))
            best_gate = max(np.sqrt(k * (contexts - k) / contexts) for k in range(1, contexts))
            price = (items + 2 * size) * (items + 2 * (contexts - size))
            price = np.sqrt(items * (items + contexts) / price)
            gated = np.sqrt(size * (contexts - size) / contexts)
            same(found, price * gated / best_gate)


def test_best_drive_against_another_solver(javascript):
    rng = np.random.default_rng(1)
    patterns = realisable_patterns()
    for index in rng.choice(len(patterns), 12, replace=False):
        pattern = patterns[index]
        matrix, side = drive(pattern), 2 * pattern - 1

        def slack(w, side=side):
            return (side * (w[:ITEMS, None] + w[ITEMS:])).ravel()

        def size(w, matrix=matrix):
            return -np.sum((matrix @ w) ** 2)

        limits = [
            {"type": "ineq", "fun": slack},
            {"type": "ineq", "fun": lambda w: 1 - w @ w},
        ]
        largest = 0.0
        for start in rng.normal(size=(12, ITEMS + CONTEXTS)):
            w = optimize.minimize(size, start, constraints=limits, method="SLSQP").x
            if slack(w).min() > -1e-7 and w @ w > 0.5:
                largest = max(largest, np.linalg.norm(matrix @ w) / np.linalg.norm(w))
        same(javascript("Theory.bestDrive(x)", pattern), largest / np.sqrt(2 / 3), 1e-5)


def test_no_pattern_beats_the_context_gate(javascript):
    """All 1066 patterns of four items in three contexts: the figure says so in words."""
    patterns = realisable_patterns()
    assert len(patterns) == 1066
    best = javascript("x.map(Theory.bestDrive)", patterns)
    same(max(best), javascript("Theory.contextGateDrive(4, 3, 2)"))


CORNERS = np.array([[1, -1, 1, -1], [1, -1, -1, 1]])  # as in the figure of gates of four neurons


@pytest.mark.parametrize("bias", [0, 1])
@pytest.mark.parametrize(
    "inputs, count",
    [
        (CORNERS, (9, 14)),
        (tasks.xor(1.0).inputs, (15, 16)),
        (tasks.contextual(3, 2, [np.eye(2)] * 3, np.eye(2)).inputs, (46, 46)),
        (np.random.default_rng(4).integers(-2, 3, (3, 5)), None),
        (np.random.default_rng(5).normal(size=(2, 5)), None),
    ],
)
def test_gates_on_any_few_samples(javascript, inputs, count, bias):
    """Every pattern: weights that have it exactly if the package says that there are some."""
    inputs = np.concatenate([inputs, np.ones((bias, np.shape(inputs)[1]))])
    num_samples = inputs.shape[1]
    patterns = np.array(list(product((0, 1), repeat=num_samples)))
    possible = gates.are_realisable(patterns, inputs)
    found = javascript("x[1].map((on) => Theory.halfSpace(x[0], on))", [inputs.T, patterns])
    parts = javascript("x[1].map((on) => Theory.conflictOf(x[0], on))", [inputs.T, patterns])
    for on, w, part, can in zip(patterns, found, parts, possible, strict=True):
        assert (w is not None) == (part is None) == can
        if can:
            np.testing.assert_array_equal(np.array(w) @ inputs > 1e-9, on)
        else:
            assert not gates.are_realisable(on[None, part], inputs[:, part])[0]
            for left_out in part:
                rest = [i for i in part if i != left_out]
                assert not rest or gates.are_realisable(on[None, rest], inputs[:, rest])[0]
        if count and not can:  # the words of the figure take this for granted
            same = inputs[:, part] @ (2 * on[part] - 1)
            np.testing.assert_array_equal(same, 0)
        if count and can:
            np.testing.assert_array_equal(w, np.round(w))
    if count:
        assert javascript("Theory.countHalfSpaces(x)", inputs.T) == possible.sum() == count[bias]


def test_places():
    """A figure that there is not is named; data cannot end its own script."""
    known = (
        "clusters, contexts, curves, gate, gating, imitation, modes, pathways, phase, race, routes"
    )
    with pytest.raises(ValueError, match=f"name: expected one of {known}"):
        interactive.place("slope")
    html = interactive.place("unfolding", {"name": "</script>"})._repr_html_()
    assert html.count("</script>") == 1
    assert "<noscript>" in html
    assert repr(interactive.place("race")) == "interactive figure race"


def test_scripts_are_loaded_where_a_figure_is():
    doctree = utils.new_document("page")
    assert directive.figures_of(doctree) == []
    assert directive.figures_of(None) == []
    for name in ("race", "gate", "race"):
        doctree += nodes.raw("", interactive.markup(name), format="html")
    assert directive.figures_of(doctree) == ["gate", "race"]


def test_a_named_figure_is_numbered():
    """It then has a caption of its own, of one paragraph."""
    directives.register_directive("interactive", directive.InteractiveDirective)
    page = ".. interactive:: race\n{}\n   Two gatings, *one* winner.\n"
    [plain] = publish_doctree(page.format("")).findall(nodes.container)
    assert plain["classes"] == ["interactive-caption"]
    numbered = publish_doctree(page.format("   :name: fig-race\n"))
    [figure] = numbered.findall(nodes.figure)
    assert figure["names"] == ["fig-race"]
    assert figure.next_node(nodes.caption).astext() == "Two gatings, one winner."
    assert directive.figures_of(numbered) == ["race"]
    twice = page.format("   :name: fig-race\n") + "\n   And another paragraph.\n"
    settings = {"report_level": 5, "halt_level": 5}
    broken = publish_doctree(twice, settings_overrides=settings)
    assert "one paragraph" in broken.astext()


def test_a_page_loads_little():
    """Every chapter with figures: what they share, the style, and its own scripts."""
    sizes = {path.name: path.stat().st_size for path in interactive.SCRIPTS.iterdir()}
    shared = [f"{name}.js" for name in interactive.SHARED] + ["interactive.css"]
    seen = set()
    for page in BOOK.glob("*.md"):
        text = page.read_text(encoding="utf8")
        places = re.findall(r'(?:\{interactive\} |interactive\.place\(")(\w+)', text)
        needed = [part for name in places for part in interactive.NEEDED.get(name, ())]
        names = {f"{name}.js" for name in (*places, *needed)}
        assert sum(sizes[name] for name in names.union(shared)) < 40_000, page.name
        seen |= names
    assert seen.union(shared) == set(sizes)  # no script without a page


def test_scripts_need_no_other_host():
    files = sorted(interactive.SCRIPTS.iterdir())
    for path in files:
        text = path.read_text(encoding="utf8").replace("http://www.w3.org/2000/svg", "")
        for word in ("http:", "https:", "fetch(", "import ", "eval(", "innerHTML"):
            assert word not in text, (path.name, word)


# Figures of recorded runs: imitation, routes ------------------------------------------------------


def test_relative_error(javascript):
    rng = np.random.default_rng(2)
    for _ in range(5):
        one, other = np.sort(rng.random((2, 50)))[:, ::-1]
        found = javascript("Theory.relativeError(...x)", [one, other])
        same(found, reln.deviation(one, other, None))


def test_half_time_of_a_recorded_curve(javascript):
    times = 0.4 * np.arange(101)
    for middle in (0.5, 7.1, 22.0, 60.0):
        losses = 0.5 / (1 + np.exp(2 * (times - middle)))
        found = javascript("Theory.halfTimeOf(...x)", [losses, 0.4])
        expected = xor_seeds.half_loss_time(jnp.array(losses), jnp.array(times))
        assert found is None if np.isinf(expected) else abs(found - expected) < 1e-9


@pytest.mark.parametrize("name", ["clusters", "imitation"])
def test_the_data_of_a_page_are_small(name):
    assert len(interactive.place(name, getattr(figure_data, name)()).html) < 40_000


def test_the_data_of_sliding_gates_are_small_and_obey_the_law(javascript):
    """Signs of wᵀx, and the running maximum, up to the rounding of the weights."""
    task, times = tasks.contextual(3, 8), np.linspace(0, 110, 56)
    network = networks.ReLUNetwork((11, 20, len(task.targets)))
    weights = network.init(jax.random.key(0), 1e-4)
    flow = theory.relu_flow(network, weights, task, times, step=0.05, observe=lambda w: w)
    data, held = figure_data.sliding(flow), []
    assert len(interactive.place("sliding", data).html) < 40_000
    for neuron in data["neurons"]:
        for now, row in enumerate(neuron["states"]):
            w = np.array(neuron["weights"][now])
            activity = (w[8:, None] + w[None, :8]).ravel()
            signs = np.array(["o/x".index(state) - 1 for state in row])
            assert (np.abs(activity[signs == 0]) <= 1).all()
            assert (signs * activity >= -1).all()
            for context in range(3):
                law = javascript("Theory.heldWeight(...x)", [neuron, context, now, 8])
                off = "x" not in row[8 * context : 8 * context + 8]
                assert (law is not None) == off
                if off:
                    held.append(abs(law - w[8 + context]))
    assert len(held) > 50 and np.max(held) <= 2


def test_the_relu_network_follows_the_faster_gating(javascript):
    """Every setting of the sliders has a run, and the caption holds for each, by the figure's own
    formulas: nearer to the gating that learns faster, and within 0.15 of it."""
    data, count = figure_data.imitation(), 0
    times = data["step"] * np.arange(data["points"])
    runs = {
        (run.margin, run.scale, run.hidden): run for run in tables.load("imitation").itertuples()
    }
    for tenths in range(0, 21, 2):
        for exponent in range(-5, -1):
            for power in (5, 7, 9):
                setting = [tenths / 10, 10.0**exponent, 2**power]
                shown = np.zeros(data["points"])
                drawn = data["losses"][f"{tenths / 10:.1f} {exponent} {power}"]
                shown[: len(drawn)] = np.array(drawn) / 1e4
                recorded = runs[tenths / 10, float(f"1e{exponent}"), 2**power].losses
                np.testing.assert_allclose(shown, recorded, atol=5.1e-5)
                far = {
                    k: javascript(
                        "Theory.relativeError(x[0].map((t) => Theory.xorLoss(t, ...x[1])), x[2])",
                        [times, [k, *setting], shown],
                    )
                    for k in (2, 4)
                }
                faster, slower = (4, 2) if tenths / 10 < np.sqrt(2 / 3) else (2, 4)
                assert far[faster] < min(far[slower], 0.15), setting
                count += 1
    assert count == len(data["losses"]) == len(runs)


def test_clusters_on_the_page_are_those_of_the_table():
    data, table = directive.recorded("clusters"), tables.load("finding_gates")
    assert directive.recorded("race") is None
    assert data["numbers"] == list(range(2, 13))
    assert [task["name"] for task in data["tasks"]] == list(table["case"].unique())
    for task in data["tasks"]:
        runs = table[table["case"] == task["name"]]
        assert task["found"]["gates"] == runs["pathways"].tolist()
        two = np.mean([run[0] for run in runs["plain_output"]])
        for shown, column, unit in (
            ("output", "plain_output", two),
            ("loss", "plain_deviation", 1),
        ):
            np.testing.assert_allclose(task[shown], np.stack(list(runs[column])) / unit, atol=6e-5)
            found = runs[column.removeprefix("plain_")] / unit
            np.testing.assert_allclose(task["found"][shown], found, atol=6e-5)


def test_routes_on_the_page():
    """Their errors, their frames, and what the chapter says of them."""
    with jax.numpy_rank_promotion("allow"):  # as for readers
        runs, data = routes.every_run(), figure_data.routes()
    assert len(interactive.place("routes", data).html) < 40_000
    right = {q: 0 for q in range(1, 8)}
    for (q, seed), run in runs.items():
        errors, frames = run["errors"], tasks.trained_routes(7, q)
        assert data["trained"][q] == np.flatnonzero(frames).tolist()
        shown = data["runs"][f"{q} {seed}"]
        np.testing.assert_allclose(
            np.array(shown["errors"]) / 100, errors.reshape(7, 49), atol=0.006
        )
        for kind, mask in enumerate([frames, ~frames][: 2 - (q == 7)]):
            mean = errors[:, mask].mean(axis=1)
            np.testing.assert_allclose(np.array(shown["means"])[:, kind], mean, rtol=0.06)
            ends = np.array(shown["course"][kind])[[0, -1]] / 1000
            np.testing.assert_allclose(ends, mean[[0, -1]], atol=6e-4)
        taught = errors[:, frames].mean(axis=1)[1:]
        assert (taught < routes.LEVELS).all() and (np.diff(run["times"]) >= 0).all()
        untaught = errors[-1][~frames]
        right[q] += q == 7 or untaught.max() < 0.05
        assert q > 1 or untaught.mean() > 1
    assert right == {1: 0, 2: 1, 3: 3, 4: 3, 5: 3, 6: 3, 7: 3}
