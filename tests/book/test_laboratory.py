"""The laboratory trains as the package does, and what its page says of its tasks is true."""

import json
from functools import cache
from itertools import product

import jax
import numpy as np
import optax
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from py_mini_racer import MiniRacer

import mdsgdln as md
from mdsgdln_book import interactive
from mdsgdln_book.experiments import letting_go, reduced

STEPS, HIDDEN = 100, 40
RULES = {  # with learning rates at which 100 steps learn something
    "descent": (optax.sgd, 0.1),
    "momentum": (lambda rate: optax.sgd(rate, momentum=0.9), 0.01),
    "adam": (optax.adam, 0.003),
    "muon": (optax.contrib.muon, 0.01),
}
LOSSES = {"squared": md.squared_error, "logistic": md.logistic}

TASKS = {  # with their number of groups
    "structures": (md.tasks.contextual(3, 8, ["tree", "ring", "cross"]), 3),
    "apart": (md.tasks.contextual(4, 4, common=np.zeros((7, 4))), 4),
    "xor": (md.tasks.xor(0.4), 4),
}
SCRIPT = """
const list = (rows) => Float64Array.from(rows.flat());
const across = (rows) => list(rows[0].map((_, h) => rows.map((row) => row[h])));
const pair = ([first, ...others]) => [list(first), ...others.map(across)]; // and feedback
const rowsOf = (values, count) => Engine.parts(values, count).map((row) => [...row]);
const lossesOf = (task, network, settings) =>
  [...Engine.train(task, network, settings)].map(({ loss }) => loss);
const Called = {
  relu(given, weights, settings) {
    const task = Engine.prepare(given, settings);
    const network = Engine.reluNetwork(task, pair(weights), settings.activation ?? "relu");
    const losses = lossesOf(task, network, settings);
    return { losses, activity: rowsOf(network.A, weights[0].length), outputs: task.K };
  },
  gated(given, sets, weights, settings) {
    const task = Engine.prepare(given, settings);
    const pathways = Engine.pathwaysOf(task, sets, settings.common);
    return lossesOf(task, Engine.gatedNetwork(task, pathways, weights.map(pair)), settings);
  },
  preferences(given, weights, turned) {
    const task = Engine.prepare(given, { rule: "adam" });
    const [into, out] = pair(weights).map((values) => Engine.parts(values, weights[0].length));
    const neurons = into.map((w, h) => [w, out[h]]);
    if (turned) Engine.turn(task, neurons);
    return { pi: Engine.preferences(task, neurons).map(({ pi }) => [...pi]),
      weights: [0, 1].map((side) => neurons.map((neuron) => [...neuron[side]])) };
  },
  census(given, weights) {
    const task = Engine.prepare(given, { rule: "adam" });
    const network = Engine.reluNetwork(task, pair(weights), "relu");
    network.outputs(new Float64Array(task.Y.length));
    const H = weights[0].length;
    const [into, out] = pair(weights).map((values) => Engine.parts(values, H));
    const neurons = into.map((w, h) => [w, out[h]]);
    const initial = Engine.preferences(task, neurons);
    return Engine.census(task, neurons, Engine.parts(network.A, H), initial);
  },
  floor: (given) => Engine.linearFloor(Engine.prepare(given, { rule: "adam" })),
  normals: (seed, count) => [...Engine.normals(seed)(count, 2)],
  presets: () => Object.keys(Laboratory.PRESETS),
  task: (hash) => Laboratory.samples(Laboratory.fromAddress(hash)),
  again: (hash) => Laboratory.toAddress(Laboratory.fromAddress(hash)),
  program: (hash) => Laboratory.program(Laboratory.fromAddress(hash)),
  run(hash, seed) {
    const chosen = { ...Laboratory.fromAddress(hash), seed };
    const job = Laboratory.job(chosen);
    const run = { chosen, guess: null, job, frames: [], curves: {} };
    run.gatings = Laboratory.gatings(chosen);
    for (const part of makeEngine().run(job)) {
      if (part.kind === "frame") run.frames.push(part);
      else if (part.kind === "gated") (run.curves[part.key] ??= []).push(part.curve);
      else run[part.kind] = part;
    }
    const every = run.frames.filter(({ step }) => step % job.every === 0);
    return { loss: every.map(({ loss }) => loss), curves: Object.fromEntries(
        Object.entries(run.curves).map(([key, [curve]]) => [key, curve])),
      last: run.frames.at(-1), said: Laboratory.judge(run).said };
  },
};
"""


@pytest.fixture(scope="module")
def call():
    """A function that calls one of those above."""
    racer = MiniRacer()
    racer.eval("var document = { addEventListener() {} };")
    scripts = "figure theory laboratory/rules laboratory/networks laboratory/engine"
    for name in f"{scripts} laboratory/tasks laboratory/words".split():
        racer.eval((interactive.SCRIPTS / f"{name}.js").read_text(encoding="utf8"))
    racer.eval("var Engine = { ...makeRules(), ...makeNetworks(), ...makeEngine() };")
    racer.eval(SCRIPT)

    def called(name, *arguments):
        text = json.dumps(arguments, default=lambda array: np.asarray(array).tolist())
        return json.loads(racer.eval(f"JSON.stringify(Called.{name}(...{text}))"))

    return called


def given(task, groups):
    """The task as the engine takes it."""
    return {"groups": groups, "inputs": task.inputs.T, "targets": task.targets.T}


def settings(rule, loss="squared", sigma=1.0, **more):
    """Settings of the engine; with so large a σ nothing is reduced."""
    usual = {"rule": rule, "loss": loss, "rate": RULES[rule][1], "sigma": sigma, "steps": STEPS}
    return usual | more


def target(task, loss):
    """The task with targets that the loss allows."""
    fits = loss == "squared" or np.min(task.targets) >= 0
    return task if fits else md.Task(task.inputs, (task.targets + 1) / 2)


def started(task, scale=0.05):
    network = md.ReLUNetwork((len(task.inputs), HIDDEN, len(task.targets)))
    return network, network.init(jax.random.key(1), scale)


def trained(network, weights, task, rule, loss):
    make, rate = RULES[rule]
    return md.train(network, weights, task, rate, STEPS, optimiser=make, loss=LOSSES[loss])


EVERY = [("structures", rule, loss) for rule, loss in product(RULES, LOSSES)]
OTHERS = [("apart", "descent", "squared"), ("xor", "adam", "logistic"), ("xor", "muon", "squared")]


@pytest.mark.parametrize(("name", "rule", "loss"), EVERY + OTHERS)
def test_losses_and_gates(call, name, rule, loss):
    task, groups = TASKS[name]
    task = target(task, loss)
    network, weights = started(task)
    run = trained(network, weights, task, rule, loss)
    one_more = settings(rule, loss, steps=STEPS + 1)  # so that it looks at the last weights
    found = call("relu", given(task, groups), weights, one_more)
    assert_allclose(found["losses"][:STEPS], run.losses, rtol=1e-10)
    assert run.losses[-1] < 0.95 * run.losses[0]
    responses = np.asarray(run.weights[0] @ task.inputs)
    assert_allclose(found["activity"], np.maximum(responses, 0), atol=1e-10)
    clear = np.abs(responses) > 1e-9
    assert_array_equal((np.array(found["activity"]) > 0)[clear], (responses > 0)[clear])


SETS = {  # of a gating: groups in which its pathways are active; and the package's network
    "structures": (
        [[0, 1, 2], [0, 1], [0, 2], [1, 2]],
        lambda task: md.networks.contextual_pathways(task, 3, 2, 75),
    ),
    "xor": (
        [[0, 1], [2, 3]],
        lambda task: md.pathways(task, np.array([[1, 1, 0, 0], [0, 0, 1, 1]]), 75),
    ),
}


@pytest.mark.parametrize(("name", "rule", "loss"), [*EVERY[:6:2], EVERY[5], *OTHERS[1:]])
def test_gated_networks(call, name, rule, loss):
    (task, groups), (sets, make) = TASKS[name], SETS[name]
    task = target(task, loss)
    network = make(task)
    weights = network.init(jax.random.key(2), 0.05)
    pairs = [[weights[path[:2]], weights[path[1:]]] for path in network.graph.paths]
    run = trained(network, weights, task, rule, loss)
    found = call(
        "gated", given(task, groups), sets, pairs, settings(rule, loss, common=name != "xor")
    )
    assert_allclose(found, run.losses, rtol=1e-10, atol=1e-12)  # Muon ends in rounding


def by_hand(task, weights, loss, rate, squared=False, on=None):
    """Losses of gradient descent in a loop, sample by sample.

    Weights are W (H, N), U (K, H) and those by which errors return, V (K, H), which are U if there
    are none. Neurons are ReLUs, or squared ones; or linear ones where ``on`` (H, P) is 1.
    """
    W, U, *feedback = (np.array(each) for each in weights)
    X, Y = np.asarray(task.inputs), np.asarray(task.targets)
    losses = []
    for _ in range(STEPS):
        back = feedback[0] if feedback else U.copy()
        total, dW, dU = 0.0, np.zeros_like(W), np.zeros_like(U)
        for p, (x, y) in enumerate(zip(X.T, Y.T, strict=True)):
            z = W @ x
            active = on[:, p] if on is not None else (z > 0).astype(float)
            h, slope = (active * z**2, 2 * active * z) if squared else (active * z, active)
            o = U @ h
            if loss == "squared":
                total += np.sum((y - o) ** 2) / 2
                error = y - o
            else:
                total += np.sum(np.log(1 + np.exp(o)) - y * o)
                error = y - 1 / (1 + np.exp(-o))
            dU += np.outer(error, h)
            dW += np.outer((back.T @ error) * slope, x)
        losses.append(total / len(X.T))
        W, U = W + rate * dW / len(X.T), U + rate * dU / len(X.T)
    return losses


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("name", ["structures", "xor"])
@pytest.mark.parametrize(("squared", "feedback"), [(True, False), (False, True), (True, True)])
def test_squared_units_and_feedback(call, name, squared, feedback, loss):
    task, groups = TASKS[name]
    task = target(task, loss)
    _, weights = started(task, 0.2)
    if feedback:
        weights = [*weights, 0.3 * jax.random.normal(jax.random.key(3), weights[1].shape)]
    how = settings("descent", loss) | {
        "rule": "feedback" if feedback else "descent",
        "activation": "squared" if squared else "relu",
    }
    how["rate"] /= 4 if squared else 1  # at larger steps losses leap, and rounding grows
    expected = by_hand(task, weights, loss, how["rate"], squared)
    assert_allclose(call("relu", given(task, groups), weights, how)["losses"], expected, rtol=1e-10)
    assert expected[-1] < 0.95 * expected[0]


def test_gated_networks_with_feedback(call):
    """XOR's two pathways as one layer of linear neurons, of which half are on in a sample."""
    task, groups = TASKS["xor"]
    drawn = [
        np.split(0.2 * np.asarray(jax.random.normal(jax.random.key(k), shape)), 2, axis=axis)
        for k, (shape, axis) in enumerate([((10, 3), 0), ((1, 10), 1), ((1, 10), 1)])
    ]
    whole = [np.concatenate(parts, axis=axis) for parts, axis in zip(drawn, (0, 1, 1), strict=True)]
    on = np.repeat([[1, 1, 0, 0], [0, 0, 1, 1]], 5, axis=0)
    how = settings("descent", common=False) | {"rule": "feedback"}
    pathways = list(zip(*drawn, strict=True))
    found = call("gated", given(task, groups), SETS["xor"][0], pathways, how)
    assert_allclose(found, by_hand(task, whole, "squared", how["rate"], on=on), rtol=1e-10)


@pytest.mark.parametrize("rule", ["descent", "momentum", "muon"])
def test_targets_in_the_space_that_they_span(call, rule):
    """At σ ≤ 10⁻⁵ no output weights lie beside it. They would change the loss by 10⁻⁶ at most."""
    task = TASKS["structures"][0]
    network, (first, second) = started(task, 1e-5)
    basis = reduced.orthonormal_span(task.targets)
    inside = basis.T @ np.asarray(second)
    runs = [
        trained(network, [first, each], task, rule, "squared").losses
        for each in (basis @ inside, second)
    ]
    found = call("relu", given(task, 3), [first, inside], settings(rule, sigma=1e-5))
    assert found["outputs"] == basis.shape[1] < len(basis)
    assert_allclose(found["losses"], runs[0], rtol=1e-10)
    assert_allclose(runs[1], runs[0], rtol=1e-6)


# What is said of neurons -------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "contexts", "items"), [("structures", 3, 8), ("apart", 4, 4)])
def test_preferences_and_shares(call, name, contexts, items):
    task, numbers = TASKS[name][0], np.repeat(np.arange(contexts), items)
    network, weights = started(task)
    expected = md.theory.context_preference(network, weights, task, numbers)
    found = call("preferences", given(task, contexts), weights, False)
    assert_allclose(found["pi"], expected, atol=1e-10)
    turned = call("preferences", given(task, contexts), weights, True)
    first, second = letting_go.rotate_preferences(weights, task, numbers, np.ones(HIDDEN, int))
    assert_allclose(turned["weights"][0], first, atol=1e-10)
    assert_allclose(np.transpose(turned["weights"][1]), second, atol=1e-10)
    if name == "apart":
        assert_allclose(turned["pi"], np.roll(expected, 1, axis=1), atol=1e-10)

    off, mass = letting_go.inactive_contexts(weights, task, contexts)
    census = call("census", given(task, contexts), weights)
    assert_array_equal(census["on"], ~off)
    assert_allclose(census["share"], letting_go.share_by_context_count(off, mass), atol=1e-10)
    assert_allclose(census["right"], letting_go.forecast_accuracy(expected, off, mass), atol=1e-10)
    fit = np.asarray(task.targets) @ np.linalg.pinv(task.inputs) @ np.asarray(task.inputs)
    left = np.sum((np.asarray(task.targets) - fit) ** 2) / 2 / task.num_samples
    assert_allclose(call("floor", given(task, contexts)), left, atol=1e-10)


def test_random_weights(call):
    drawn = np.array(call("normals", 7, 20000)) / 2
    assert abs(drawn.mean()) < 0.02 and abs(drawn.std() - 1) < 0.02
    assert abs(np.mean(drawn**4) - 3) < 0.2 and abs(np.mean(drawn[1:] * drawn[:-1])) < 0.02
    assert call("normals", 8, 3) != call("normals", 7, 3)


# Tasks, addresses and programs -------------------------------------------------------------------


def elsewhere(task, contexts, rows):
    """The equivalence: what is asked in a context, and its opposite in every other."""
    targets = np.array(task.targets).reshape(-1, rows, contexts, task.num_samples // contexts)
    for own, block in enumerate(targets[1:]):
        block[:, np.arange(contexts) != own] = 1 - block[:, [own]]
    return md.Task(task.inputs, targets.reshape(np.shape(task.targets)))


trees = md.tasks.contextual(3, 8)
PRESETS = {
    "trees": trees,
    "structures": TASKS["structures"][0],
    "two": md.tasks.contextual(2, 8),
    "four": md.tasks.contextual(4, 8),
    "apart": md.tasks.contextual(3, 8, common=np.zeros((15, 8))),
    "equivalence": elsewhere(trees, 3, 15),
    "xor": md.tasks.xor(0.4),
    "adam": trees,
    "logistic": trees,
}
DRAWN = "blocks=empty." + ".".join(["f0f0" + "0" * 4 * k + "000f" for k in range(3)])
ADDRESSES = [
    *(f"#task={name}" for name in PRESETS),
    "#task=trees&contexts=5&items=4&hidden=40&steps=600&turn=1&scale=0.001&rate=0.3&rule=adam",
    "#task=xor&margin=0.8&loss=logistic",
    "#task=xor&seed=7",
    "#task=four&rate=0.01&scale=0.032&activation=squared&rule=momentum",
    f"#task=trees&items=4&{DRAWN}",
]


def test_presets_are_the_packages_tasks(call):
    assert call("presets") == list(PRESETS)
    for name, task in PRESETS.items():
        found = call("task", f"#task={name}")
        assert_allclose(np.transpose(found["inputs"]), task.inputs)
        assert_allclose(np.transpose(found["targets"]), task.targets)
    drawn = np.array(call("task", f"#task=trees&items=4&{DRAWN}")["targets"])
    assert drawn[0, 7:].tolist() == [1, *[0] * 8] and drawn[3, 8] == 1


@pytest.mark.parametrize("address", ADDRESSES)
def test_addresses_hold_the_task(call, address):
    again = call("again", address)
    assert call("again", again) == again and call("task", again) == call("task", address)
    assert set(address[1:].split("&")) == set(again[1:].split("&"))


def test_nonsense_in_an_address_is_left_out(call):
    wrong = "#task=x&contexts=99&items=7&rule=constructor&scale=-3&rate=a&blocks=zz.tree.valueOf"
    assert call("again", wrong).startswith("#task=trees&contexts=5")


@pytest.mark.parametrize("address", ADDRESSES)
def test_programs_run(call, address, capsys):
    """And their task is the laboratory's."""
    program = call("program", address).replace("2000", "200").replace("hidden", "20")
    held: dict = {}
    exec(compile(program, address, "exec"), held)
    found = call("task", address)
    assert_allclose(held["task"].targets, np.transpose(found["targets"]), atol=1e-4)
    assert capsys.readouterr().out.count("[") == 2


# What the page says ------------------------------------------------------------------------------

LINEAR = "#task=trees&blocks=tree.empty.empty.empty"
NO_LINEAR = "#task=equivalence&loss=logistic&rate=0.2"
FEEDBACK, SQUARED = "#task=trees&rule=feedback", "#task=trees&activation=squared"


@pytest.fixture(scope="module")
def ran(call):
    """A function that runs a task once, whoever asks."""
    return cache(lambda address: call("run", address, 1))


def distances(run):
    """How far each gated network's losses are from the ReLU network's, relative to these."""
    loss = np.array(run["loss"])
    curves = {int(k): np.array(curve)[: len(loss)] for k, curve in run["curves"].items()}
    return {k: np.sum(np.abs(curve - loss)) / np.sum(loss) for k, curve in curves.items()}


@pytest.mark.parametrize(
    ("address", "like", "active", "least"),
    [
        ("#task=trees", 2, 2, 0.8),
        ("#task=two", 1, 1, 0.5),
        ("#task=trees&turn=1", 2, 2, 0.8),
        ("#task=apart", 1, 2, 0.8),
        ("#task=apart&scale=1e-7", 2, 2, 0.8),
        (NO_LINEAR, 2, 2, 0.8),
        (LINEAR, None, 3, 0.9),
        ("#task=logistic", None, 3, 0.5),
    ],
)
def test_curve_and_neurons(ran, address, like, active, least):
    """In how many contexts the gated network's neurons are active that learns alike, if one does
    alone, and in how many most neurons are; it is said where these disagree."""
    run = ran(address)
    far = distances(run)
    nearest, second = sorted(far.values())[:2]
    assert run["last"]["share"][active] > least
    if like is None:
        assert np.ptp(list(far.values())) < 0.01
    else:
        assert far[like] == nearest < 0.1 < second
    assert ("disagree" in run["said"]["share"]) == (like not in (None, active))


def test_xor_is_learned_otherwise_above_the_crossover(ran):
    below, above = (distances(ran(f"#task=xor&margin={margin}")) for margin in (0.8, 0.9))
    assert below[1] < below[2] and above[2] < above[1]


def test_under_adam_neurons_active_in_one_context_catch_up(call, ran):
    """Steps until half of what a linear network leaves is learned."""
    floor = call("floor", given(trees, 3)) / 2
    for address, ratio in (
        ("#task=trees", (1.5, 2)),
        ("#task=adam&rate=0.0005&steps=500", (0.8, 1.2)),
    ):
        run = ran(address)
        one, two = (np.argmax(np.array(run["curves"][k]) < floor) for k in "12")
        assert ratio[0] < one / two < ratio[1], (address, one, two)


def test_fewer_squared_units_are_silent_in_one_context(ran):
    assert ran(SQUARED)["last"]["share"][2] < 0.5


@pytest.mark.parametrize(
    ("address", "low", "high"), [("#task=trees", 0.8, 1), (FEEDBACK, 0.6, 0.9)]
)
@pytest.mark.parametrize("turned", ["", "&turn=1"])
def test_preferences_forecast_where_neurons_fall_silent(ran, address, low, high, turned):
    """Also where they are shifted; of feedback alignment those of the feedback, less often."""
    last = ran(address + turned)["last"]
    assert last["chance"] < 0.34 and low < last["right"] < high and last["partly"] > 0.5


# Verdicts: tasks of which each must be said, and others of which it must not ----------------------

EARLY = "#task=trees&steps=500&rate=0.01"
DEAD = "#task=two&items=4&hidden=20&rate=1&rule=muon&steps=500"
COARSE = "#task=trees&scale=0.3"
VERDICTS = {
    "explodes": (["#task=trees&rate=1&rule=adam"], ["#task=trees&rate=1", DEAD]),
    "died": ([DEAD], [EARLY, COARSE]),
    "fast": (
        ["#task=xor&rule=adam&loss=logistic&rate=0.3&scale=0.14&margin=1.2"],
        ["#task=xor", "#task=xor&rate=0.5"],
    ),
    "nothing": ([EARLY], ["#task=trees&steps=500", DEAD, "#task=xor"]),
    "unfinished": (["#task=trees&steps=500"], ["#task=trees", EARLY, DEAD]),
    "linear": ([LINEAR, "#task=logistic"], [EARLY, DEAD, "#task=trees", NO_LINEAR]),
    "noise": (
        ["#task=xor&rule=adam&rate=0.0001&scale=0.09&loss=logistic"],
        ["#task=trees", COARSE],
    ),
    "misfit": ([COARSE], ["#task=trees", LINEAR, DEAD]),
    "fit": (["#task=trees", "#task=two", "#task=apart"], [COARSE, LINEAR, EARLY]),
    "lead": (["#task=trees"], [COARSE, "#task=apart", "#task=adam", EARLY, FEEDBACK]),
    "squared": ([SQUARED], ["#task=trees", FEEDBACK, EARLY]),
}


@pytest.mark.parametrize("verdict", VERDICTS)
def test_verdicts(ran, verdict):
    must, must_not = VERDICTS[verdict]
    for address in must:
        assert ran(address)["said"].get(verdict), (address, ran(address)["said"])
    for address in must_not:
        assert not ran(address)["said"].get(verdict), (address, ran(address)["said"])
