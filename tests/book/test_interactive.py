"""The interactive figures' formulas are the package's, and their places in the pages are sound."""

import json
from itertools import combinations, product

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from py_mini_racer import MiniRacer
from scipy import optimize

from mdsgdln import deviation, gates, networks, statistics, tasks, theory
from mdsgdln_book import figure_data, interactive, tables
from mdsgdln_book.experiments import routes

ITEMS, CONTEXTS = 4, 3  # of the figure of a neuron's gate
MARGINS = (0.3, 0.8, 0.9, 2.5)
SETTINGS = [(sigma, hidden) for sigma in (1e-6, 2e-4, 1e-2) for hidden in (4, 128, 1024)]


@pytest.fixture(scope="module")
def javascript():
    """A function that calls one of `Theory` with each row of arguments; infinity comes as None."""
    engine = MiniRacer()
    engine.eval("var Figures = { define() {} };")
    for name in ("theory", "timeline"):
        engine.eval((interactive.SCRIPTS / f"{name}.js").read_text(encoding="utf8"))

    def call(name, *rows):
        text = json.dumps(rows, default=lambda array: np.asarray(array).tolist())
        return json.loads(
            engine.eval(f"JSON.stringify({text}.map((row) => Theory.{name}(...row)))")
        )

    return call


def same(found, expected, tolerance=1e-9):
    assert_allclose(np.array(found, float), expected, rtol=tolerance, atol=1e-14)


# Formulas with one value for each row of arguments: rows and what the package says ---------------


def deepMode():
    times = np.linspace(0, 60, 25)
    settings = product((0.0, 0.05, 0.4, 3.0), (0.0, 0.2, 2.0), (1e-14, 1e-4, 0.3, 5.0))
    for setting in settings:
        rows = [(t, *setting) for t in times]
        yield rows, theory.mode_trajectory(times, *setting)[0]


def modeTime():
    times, setting = np.array([5, 13.0, 18.0]), (0.4, 0.4, 1e-5)
    heights = theory.mode_trajectory(times, *setting)[0]
    yield [(float(height), *setting) for height in heights], times
    yield [(1.1, *setting), (0.1, 0.4, 0.4, 0.2)], [np.nan, 0]


def expectedStart():
    for sigma, hidden in SETTINGS:
        yield [(hidden, sigma)], [theory.expected_initial_strength(hidden, sigma)]


def xorLoss():
    """From the modes that the package finds in the data."""
    times = np.linspace(0, 50, 21)
    yield [(40, 2, 0, 1e-3, 128)], [0.5]
    for pathways, gate in ((2, np.array([[1, 1, 0, 0], [0, 0, 1, 1]])), (4, np.eye(4))):
        for margin, (sigma, hidden) in product(MARGINS, SETTINGS):
            task = tasks.xor(margin)
            gated, expected = networks.pathways(task, gate, 1), 0
            start = theory.expected_initial_strength(hidden // pathways, sigma)
            for path in gated.graph.paths:
                dataset = statistics.effective_dataset(gated, task, path)
                modes = statistics.modes(dataset)
                s, d = modes.singular_values, modes.input_variances
                strengths = theory.mode_trajectory(times, s, d, start)
                expected += theory.mode_losses(dataset, modes, strengths)
            yield [(t, pathways, margin, sigma, hidden) for t in times], expected


def learningTime():
    rows = [(contexts, size) for contexts in range(2, 13) for size in range(1, contexts)]
    yield rows, [theory.learning_time(*row) for row in rows]


def relativeError():
    for one, other in np.sort(np.random.default_rng(2).random((5, 2, 50)))[..., ::-1]:
        yield [(one, other)], [deviation(one, other, None)]


def driveOf():
    """Behind Eq. (gates-drive), over the best gated linear neuron's: √(k(C−k)/C)."""
    for a, b in ((w[:ITEMS], w[ITEMS:]) for w in np.random.default_rng(0).normal(size=(20, 7))):
        weights, pattern = np.concatenate([a, b]), a[:, None] + b > 0
        share = np.linalg.norm(drive(pattern) @ weights) / np.linalg.norm(weights)
        assert share / np.sqrt(2 / 3) <= figure_data.largest_drive(pattern) + 1e-9
        yield [(a, b)], [share / np.sqrt(2 / 3)]


@pytest.mark.parametrize(
    "formula",
    [deepMode, modeTime, expectedStart, xorLoss, learningTime, relativeError, driveOf],
)
def test_formula(javascript, formula):
    for rows, expected in formula():
        same(javascript(formula.__name__, *rows), expected)


# One mode ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("depth", [1, 2, 3, 5])
def test_times_of_a_mode_at_any_depth(javascript, depth):
    """At these times the package's mode has learned these shares, and later ones follow."""
    for s, d, start in ((0.65, 0.25, 1e-3), (0.2, 0.25, 1e-4), (1.0, 0.25, 0.1), (0.3, 2.0, 1e-2)):
        shares = np.array([0.1, 0.3, 0.5, 0.9, 0.999])
        shares = shares[shares * s / d > start]
        setting = (s, d, start, depth)
        times, half = javascript("depthTimes", (shares, *setting), ([0.5], *setting))
        learned = theory.mode_trajectory([0, *times], *setting)[0, 1:]
        same(learned, shares * s / d, 1e-5)
        same(half[0], times[list(shares).index(0.5)], 1e-6)


@pytest.mark.parametrize("start", [(0.1, 0.05), (-1.5, 1.45), (-0.3, -0.2), (0.2, -0.2)])
def test_weights_of_two_layers(javascript, start):
    """The figure's steps against the package's reduction of a chain of single neurons.

    Opposite weights go to the saddle.
    """
    for s, d in ((1.0, 1.0), (0.65, 0.25)):
        chain = networks.GatedNetwork({"x": 1, "h": 1, "y": 1}, [("x", "h"), ("h", "y")])
        task = tasks.Task([[np.sqrt(d)]], [[s / np.sqrt(d)]])
        edges = dict(zip(chain.graph.edges, start, strict=True))
        expected = theory.shared_race(chain, task, edges, np.linspace(0, 10, 11)).strengths
        expected = np.concatenate([expected[edge] for edge in chain.graph.edges]).T
        track = np.array(javascript("layerWeights", (start, s, d, 0.02, 500))[0])
        assert_allclose(track[::50], expected, atol=1e-5)
        kept = track[:, 0] ** 2 - track[:, 1] ** 2
        assert_allclose(kept, kept[0], atol=1e-6)
        if s == 1:
            assert_allclose(track[-1], javascript("layerEnd", (start, s, d))[0], atol=1e-5)


@pytest.mark.parametrize("active", [1, 3])
def test_race_of_two_pathways(javascript, active):
    """The figure's steps against the package, for a pathway that is on in a few of four copies."""
    items = tasks.semantic("tree", num_items=4)
    task = tasks.Task(np.tile(items.inputs, 4), np.tile(items.targets, 4))
    on = np.array([np.ones(16), np.repeat(np.arange(4) < active, 4)], float)
    racers = networks.pathways(task, on, num_hidden=50)
    modes = statistics.modes(items)
    s, d = float(modes.singular_values[0]), float(modes.input_variances[0])
    same([np.sqrt(7) / 4, 0.25], [s, d])  # the figure's
    for sigma in (1e-4, 5e-3, 0.1):
        start = theory.expected_initial_strength(50, sigma)
        expected = theory.pathway_race(racers, task, start, np.linspace(0, 60, 61)).strengths
        expected = np.stack([np.asarray(expected[path])[0] for path in racers.graph.paths], 1)
        [found] = javascript("pathwayRace", (active / 4, s, d, start, 0.1, 600))
        assert_allclose(np.array(found)[::10], expected, atol=1e-4, rtol=1e-4)
        bound = start ** (1 - active / 4) * (s / d) ** (active / 4)
        assert np.max(found, axis=0)[1] <= bound


def test_half_loss_time_and_crossover(javascript):
    crossover = np.sqrt(2 / 3)
    assert javascript("xorHalfTime", (2, 0, 1e-3, 128)) == [None]
    for setting in SETTINGS:
        same(*javascript("xorHalfTime", (2, crossover, *setting), (4, crossover, *setting)))
        for margin in MARGINS:
            rows = [(k, margin, *setting) for k in (2, 4)]
            two, four = javascript("xorHalfTime", *rows)
            assert (four < two) == (margin < crossover)
            half, first = javascript("xorLoss", (four, *rows[1]), (0, *rows[1]))
            same(half, first / 2)


# Items in contexts -------------------------------------------------------------------------------


@pytest.mark.parametrize("contexts, size", [(3, 1), (4, 2)])
def test_flow_of_one_item_mode(javascript, contexts, size):
    """The seven numbers of the timeline against the path sum of the whole network."""
    task = tasks.contextual(contexts, 2)
    network = networks.contextual_pathways(task, contexts, size, 1)
    mode = np.array([1, -1]) / np.sqrt(2)  # the tree's item mode has κ = 1
    output = np.asarray(tasks.structure("tree", 2)) @ mode
    same(np.linalg.norm(output), 1)
    seen = np.concatenate([mode, np.zeros(contexts)])
    subsets = list(combinations(range(contexts), size))

    def parts(w, alpha, beta, into, x, y, z):
        """Input weights and output blocks of the common pathway, and of each other one."""
        yield w, [alpha, *[beta] * contexts]
        for subset in subsets:
            yield into, [x, *np.where(np.isin(np.arange(contexts), subset), y, z)]

    for state in np.random.default_rng(0).normal(size=(2, 7)):
        weights = {}
        for path, (weight, block) in zip(network.graph.paths, parts(*state), strict=True):
            rows = seen if path[1] == "pathway 0" else mode
            weights[path[:2]] = jnp.asarray(weight * rows[None, :])
            weights[path[1:]] = jnp.asarray(np.kron(block, output)[:, None])
        flow = theory.path_gradient(network, weights, task)
        found = np.array(javascript("lifeFlow", (state, contexts, size))[0]) / task.num_samples
        for path, (weight, block), rows in zip(
            network.graph.paths, parts(*found), (seen, mode), strict=False
        ):
            same(flow[path[:2]], weight * rows[None], 1e-8)
            same(flow[path[1:]][:, 0], np.kron(block, output), 1e-8)


def test_life_of_one_item_mode(javascript):
    """It starts along the raw outputs, ends along the residual's, at the time of the race law."""
    for contexts, size in ((3, 1), (4, 2), (4, 3), (6, 2)):
        start = 1e-100
        unit = np.log(1 / start) / 2
        law = unit * theory.learning_time(contexts, size)
        step = 1.3 * law / 8000
        [states] = javascript("contextLife", (contexts, size, start, step, 8000))
        angle = np.sqrt((contexts - size) / contexts / (size + 1))
        first = [states[0][name] for name in ("common", "contextual", "raw", "residual")]
        same(first, [start, start, 1, angle])
        middle = states[int(0.7 / np.sqrt(contexts * (contexts + 1)) * unit / step)]
        assert middle["raw"] > 0.999
        learned = np.array([state["learned"] for state in states])
        assert abs(step * np.argmax(learned > 0.5) / law - 1) < 0.05, (contexts, size)
        same(learned[-1], 1, 1e-3)


# Gates -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def realisable():
    """Which of all patterns of four items in three contexts are realisable."""
    patterns = np.array(list(product((0, 1), repeat=ITEMS * CONTEXTS))).reshape(-1, ITEMS, CONTEXTS)
    return [(pattern, gates.is_realisable(pattern)) for pattern in patterns]


def test_patterns_of_a_neuron(javascript, realisable):
    """Weights have the pattern, and sliders (−2 to 2 in tenths) show them; or a part forbids it."""
    parts = javascript("forbiddenPart", *[[pattern] for pattern, _ in realisable])
    possible = [pattern for pattern, can in realisable if can]
    weights, shown = javascript("weightsOf", *[[pattern] for pattern in possible]), []
    for (pattern, can), part in zip(realisable, parts, strict=True):
        assert (part is None) == can
        if part is not None:
            cut = pattern[np.ix_(part["items"], part["contexts"])]
            assert sorted(map(tuple, cut)) == [(0, 1), (1, 0)]
            continue
        found = weights.pop(0)
        a, b = (np.array(found[name]) for name in "ab")
        assert_array_equal(a[:, None] + b > 0, pattern)
        shown.append((a, b))
        assert np.abs([*a, *b]).max() <= 2
        assert_allclose(np.round([*a, *b], 1), [*a, *b], atol=1e-12)
    assert javascript("patternOf", *shown) == [pattern.tolist() for pattern in possible]
    boundary = javascript("patternOf", ([0, 0.3], [0, -0.3, 0.1]))
    assert boundary == [[[0, 0, 1], [1, 0, 1]]]  # is off


def drive(pattern):
    """The matrix of Eq. (gates-drive) for a gate, (blocks, weights), from the task's residual."""
    items, contexts = np.shape(pattern)
    mode = np.repeat([1, -1], items // 2) / np.sqrt(items)
    residual = np.kron(np.eye(contexts) - 1 / contexts, mode)  # context-major samples
    task = tasks.contextual(contexts, items, [np.eye(items)] * contexts, np.eye(items))
    return residual @ (np.asarray(task.inputs) * np.ravel(pattern, "F")[None, :]).T


def test_price_of_a_context_gate():
    """The maximisation against the chapter's formula, for sizes beyond the figure."""
    for items, contexts in ((2, 3), (4, 3), (8, 3), (8, 4), (8, 5), (6, 2)):
        best_gate = max(np.sqrt(k * (contexts - k) / contexts) for k in range(1, contexts))
        for size in range(1, contexts):
            pattern = np.tile(np.arange(contexts) < size, (items, 1)).astype(int)
            price = (items + 2 * size) * (items + 2 * (contexts - size))
            price = np.sqrt(items * (items + contexts) / price)
            gated = np.sqrt(size * (contexts - size) / contexts)
            same(figure_data.largest_drive(pattern), price * gated / best_gate)


def test_best_drive_against_another_solver(realisable):
    rng = np.random.default_rng(1)
    patterns = [pattern for pattern, can in realisable if can]
    for index in rng.choice(len(patterns), 12, replace=False):
        pattern = patterns[index]
        matrix, side = drive(pattern), 2 * pattern - 1

        def slack(w, side=side):
            return (side * (w[:ITEMS, None] + w[ITEMS:])).ravel()

        def size(w, matrix=matrix):
            return -np.sum((matrix @ w) ** 2)

        limits = [{"type": "ineq", "fun": fun} for fun in (slack, lambda w: 1 - w @ w)]
        largest = 0.0
        for start in rng.normal(size=(12, ITEMS + CONTEXTS)):
            w = optimize.minimize(size, start, constraints=limits, method="SLSQP").x
            if slack(w).min() > -1e-7 and w @ w > 0.5:
                largest = max(largest, np.linalg.norm(matrix @ w) / np.linalg.norm(w))
        same(figure_data.largest_drive(pattern), largest / np.sqrt(2 / 3), 1e-5)


def test_drives_of_all_patterns(realisable):
    """By how many contexts each item is on in; none beats the context gate, as the words say."""
    data = figure_data.gate()
    patterns = [pattern for pattern, can in realisable if can]
    assert len(patterns) == data["count"] == 1066
    drives = [data["drives"]["".join(map(str, pattern.sum(axis=1)))] for pattern in patterns]
    for pattern, shown in list(zip(patterns, drives, strict=True))[::7]:
        assert_allclose(shown, figure_data.largest_drive(pattern), atol=5.1e-5)
    assert max(drives) == data["drives"]["2222"]


@pytest.mark.parametrize("bias", [0, 1])
@pytest.mark.parametrize(
    "number, inputs, count",
    [
        (0, tasks.xor(1.0).inputs[:2], (9, 14)),
        (1, tasks.xor(1.0).inputs, (15, 16)),
        (2, tasks.contextual(3, 2, [np.eye(2)] * 3, np.eye(2)).inputs, (46, 46)),
    ],
)
def test_gates_on_a_few_samples(number, inputs, count, bias):
    """Every pattern: weights that have it exactly if the package says that there are some."""
    inputs = np.concatenate([inputs, np.ones((bias, np.shape(inputs)[1]))])
    found = figure_data.gating()[number]["found"][bias]
    patterns = np.array(list(product((0, 1), repeat=inputs.shape[1])))
    possible = gates.are_realisable(patterns, inputs)
    assert len(found["weights"]) == possible.sum() == count[bias]
    for on, can in zip(patterns, possible, strict=True):
        name = "".join(map(str, on))
        assert (name in found["weights"]) == can != (name in found["conflicts"])
        if can:
            assert_array_equal(np.array(found["weights"][name]) @ inputs > 1e-9, on)
            continue
        part = found["conflicts"][name]
        assert not gates.are_realisable(on[None, part], inputs[:, part])[0]
        for left_out in part:
            rest = [i for i in part if i != left_out]
            assert not rest or gates.are_realisable(on[None, rest], inputs[:, rest])[0]
        # the words of the figure take this for granted
        assert_array_equal(inputs[:, part] @ (2 * on[part] - 1), 0)


# What pages hold ---------------------------------------------------------------------------------


def test_the_relu_network_follows_the_faster_gating(javascript):
    """Every setting of the sliders has a run, and the caption holds for each, by the figure's own
    formulas: nearer to the gating that learns faster, and within 0.15 of it."""
    data = figure_data.imitation()
    times = data["step"] * np.arange(data["points"])
    recorded_runs = tables.load("imitation").itertuples()
    runs = {(run.margin, run.scale, run.hidden): run for run in recorded_runs}
    settings = list(product(range(0, 21, 2), range(-5, -1), (5, 7, 9)))
    assert len(settings) == len(data["losses"]) == len(data["halves"]) == len(runs)
    for tenths, exponent, power in settings:
        margin, key = tenths / 10, f"{tenths / 10:.1f} {exponent} {power}"
        shown, drawn = np.zeros(data["points"]), data["losses"][key]
        shown[: len(drawn)] = np.array(drawn) / 1e4
        recorded = runs[margin, float(f"1e{exponent}"), 2**power].losses
        assert_allclose(shown, recorded, atol=5.1e-5)
        after = np.argmax(np.array(recorded) <= recorded[0] / 2)
        half = data["halves"][key]
        assert half is None if after == 0 else times[after - 1] <= half <= times[after]
        far = {}
        for k in (2, 4):
            setting = k, margin, 10.0**exponent, 2**power
            losses = javascript("xorLoss", *[(t, *setting) for t in times])
            [far[k]] = javascript("relativeError", (losses, shown))
        faster, slower = (4, 2) if margin < np.sqrt(2 / 3) else (2, 4)
        assert far[faster] < min(far[slower], 0.15), key


def test_routes_on_the_page(monkeypatch):
    """Their errors and their frames; trained routes are learned in stages."""
    with jax.numpy_rank_promotion("allow"):  # as for readers
        runs = routes.train_all_routes()
    monkeypatch.setattr(routes, "train_all_routes", lambda: runs)
    data = figure_data.routes()
    for (q, seed), run in runs.items():
        errors, frames = run["errors"], tasks.trained_routes(7, q)
        assert data["trained"][q] == np.flatnonzero(frames).tolist()
        shown = data["runs"][f"{q} {seed}"]
        assert_allclose(np.array(shown["errors"]) / 100, errors.reshape(7, 49), atol=0.006)
        for kind, mask in enumerate([frames, ~frames][: 2 - (q == 7)]):
            mean = errors[:, mask].mean(axis=1)
            assert_allclose(np.array(shown["means"])[:, kind], mean, rtol=0.06)
            ends = np.array(shown["course"][kind])[[0, -1]] / 1000
            assert_allclose(ends, mean[[0, -1]], atol=6e-4)
        taught = errors[:, frames].mean(axis=1)[1:]
        assert (taught < routes.LEVELS).all() and (np.diff(run["times"]) >= 0).all()
