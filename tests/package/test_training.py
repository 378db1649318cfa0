"""Training: against a loop written out by hand, observation, batches, one's own networks."""

import pickle
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace
from unittest.mock import Mock

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from bad_input import refused
from numpy.testing import assert_allclose as close

import mdsgdln as md
from mdsgdln import _descent, _progress, networks, squared_error, statistics, tasks, training
from mdsgdln._batches import draw_batches
from mdsgdln.training import DivergenceError, train

KEY = jax.random.key(0)
TASK = tasks.semantic(num_items=4)
NETWORK = networks.LinearNetwork((4, 6, 7))
WEIGHTS = NETWORK.init(KEY, 0.3)


def by_hand(num_steps, decay=0.0):
    """Losses and weights of gradient descent, the derivative worked out on paper."""
    first, second = map(np.asarray, WEIGHTS)
    inputs, targets = np.asarray(TASK.inputs), np.asarray(TASK.targets)
    losses, path = [], [(first, second)]
    for _ in range(num_steps):
        error = targets - second @ first @ inputs
        size = (first**2).sum() + (second**2).sum()
        losses.append((error**2).sum() / (2 * TASK.num_samples) + decay / 2 * size)
        step = error @ inputs.T / TASK.num_samples
        first, second = (
            first + 0.05 * (second.T @ step - decay * first),
            second + 0.05 * (step @ first.T - decay * second),
        )
        path.append((first, second))
    return np.array(losses), path


def with_decay(network, weights, task):
    return squared_error(network, weights, task) + 0.15 * sum((w**2).sum() for w in weights)


@pytest.mark.parametrize(
    ("options", "every"),
    [
        ({}, None),
        ({}, 1),
        ({}, 5),  # divides the steps
        ({"loss": with_decay}, 3),
        ({"batch_size": 4, "key": KEY}, 50),  # all samples; more than the steps
    ],
)
def test_descent_is_the_loop_written_out_and_observation_does_not_change_it(options, every):
    if every is not None:
        options = options | {"every": every, "observe": lambda w: {"map": w[1] @ w[0]}}
    run = train(NETWORK, WEIGHTS, TASK, 0.05, 20, **options)
    losses, path = by_hand(20, 0.3 if "loss" in options else 0.0)
    close(run.losses, losses, rtol=1e-12)
    for found, expected in zip(run.weights, path[-1], strict=True):
        close(found, expected, atol=1e-12)
    if every is not None:
        close(run.observed["map"], [w[1] @ w[0] for w in path[:-1:every]], atol=1e-12)
    if "loss" not in options:
        with jax.numpy_dtype_promotion("strict"):
            close(run.times, 0.05 * np.arange(20), rtol=1e-15)


@pytest.mark.parametrize(
    ("optimiser", "rate"), [(optax.adam, 0.01), (optax.adam(0.01), None), (optax.lbfgs(), None)]
)
def test_optimisers_of_optax(optimiser, rate):
    """Those that ask for the loss, too: a line search, by the loop of optax's documentation."""
    run = train(NETWORK, WEIGHTS, TASK, rate, 6, optimiser=optimiser)
    rule = optax.with_extra_args_support(optimiser if rate is None else optimiser(rate))

    def loss(weights):
        return squared_error(NETWORK, weights, TASK)

    @jax.jit
    def step(weights, state):
        value, gradient = jax.value_and_grad(loss)(weights)
        how = {"value": value, "grad": gradient, "value_fn": loss}
        update, state = rule.update(gradient, state, weights, **how)
        return value, optax.apply_updates(weights, update), state

    weights, state = WEIGHTS, rule.init(WEIGHTS)
    for found in run.losses:
        value, weights, state = step(weights, state)
        close(found, value, rtol=1e-8)
    close(run.weights[0], weights[0], atol=1e-10)


@pytest.mark.parametrize(
    "options",
    [
        {"optimiser": optax.adam},
        {"optimiser": optax.sgd(0.05), "learning_rate": None},  # with momentum or without
        {"batch_size": 2, "key": KEY},
        {"loss": with_decay},
    ],
)
def test_only_plain_gradient_descent_has_a_time(options):
    run = train(NETWORK, WEIGHTS, TASK, num_steps=3, **{"learning_rate": 0.05} | options)
    assert run.losses.shape == (3,)
    assert not hasattr(run, "times")
    with pytest.raises(AttributeError, match="times: expected a run of full-batch gradient desc"):
        run.times  # noqa: B018


def test_a_run_passes_through_transformations():
    def train_from(weights):
        return train(NETWORK, weights, TASK, 0.05, 20, optimiser=optax.sgd)

    both = jax.jit(jax.vmap(train_from))([jnp.stack([w, 2 * w]) for w in WEIGHTS])
    close(both.times, [0.05 * np.arange(20)] * 2, rtol=1e-15)
    close(both.losses[0], by_hand(20)[0], rtol=1e-12)


def test_every_sample_is_in_one_batch_of_an_epoch():
    for epoch in np.asarray(draw_batches(KEY, 6, 2, 9)).reshape(3, 6):
        assert sorted(epoch) == list(range(6))


def test_one_function_is_compiled_once_whatever_the_labels():
    calls = []

    def observe(weights):
        calls.append(1)
        return weights[0]

    for labels in (None, "abcd", "efgh"):
        task = tasks.Task(TASK.inputs, TASK.targets, labels and list(labels))
        train(networks.LinearNetwork((4, 6, 7)), WEIGHTS, task, 0.05, 2, observe=observe)
    assert len(calls) <= 2  # traced once, and once for its shapes


@pytest.mark.parametrize("classes", [3, 1])
def test_losses_are_those_written_out(classes):
    rng = np.random.default_rng(0)
    network = networks.ReLUNetwork((4, 6, classes))
    weights, inputs = network.init(KEY, 1.0), rng.normal(size=(4, 5))
    targets = np.eye(3)[rng.integers(0, 3, 5)].T[:classes]
    outputs = np.asarray(network.apply(weights, inputs))
    expected = np.log1p(np.exp(outputs)) - targets * outputs
    task = tasks.Task(inputs, targets)
    assert md.logistic(network, weights, task) == pytest.approx(expected.sum() / 5, rel=1e-12)
    if classes > 1:
        log_sum = np.log(np.exp(outputs).sum(axis=0))
        expected = np.mean(log_sum - np.sum(targets * outputs, axis=0))
        assert md.cross_entropy(network, weights, task) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("unit", [1e-3, 1e3])
def test_deviation_is_the_relative_error_and_a_reference_that_is_flat_is_warned_about(unit):
    reference = unit * np.array([10.0, 5.0, 1.0])
    losses = reference + unit * np.array([1.0, -1.0, 0.0])
    assert md.deviation(losses, reference, learned=0.2) == pytest.approx(2 / 16)
    with pytest.warns(UserWarning, match=r"falls to 0\.1 of its start, expected below 0\.05"):
        md.deviation(losses, reference, learned=0.05)
    assert np.isnan(md.deviation(np.zeros(3), np.zeros(3), learned=None))
    assert md.deviation([1.0, -1.0, -4.0], [1.0, -1.0, -2.0], None) == 2 / 4


@pytest.mark.parametrize("loss", [md.cross_entropy, md.logistic])
def test_targets_that_are_no_probabilities_are_refused(loss):
    for wrong in (-1.0, 1.5):
        task = tasks.Task(np.eye(4), wrong * np.ones((7, 4)))
        with refused("task: expected targets between 0 and 1"):
            train(NETWORK, WEIGHTS, task, 0.05, 2, loss=loss)
    with refused("task: expected targets that sum to 1"):
        train(NETWORK, WEIGHTS, TASK, 0.05, 2, loss=md.cross_entropy)


@pytest.mark.parametrize("loss", [md.squared_error, md.cross_entropy, md.logistic])
def test_one_output_is_not_compared_with_several_targets(loss):
    network = networks.ReLUNetwork((4, 5, 1))
    with refused(r"targets: expected shape \(1, 4\)"):
        loss(network, network.init(KEY, 0.1), tasks.Task(np.eye(4), np.eye(4) + 1))


def test_integer_class_labels_get_the_advice_to_make_them_one_hot():
    labels = np.array([0, 2, 1, 2])
    task = tasks.Task.from_samples(np.eye(4), labels)
    network, options = networks.ReLUNetwork((4, 100, 3)), {"loss": md.cross_entropy}
    weights, advice = network.init(KEY, 0.01), r"from_samples\(X, numpy\.eye\(3\)\[labels\]\)"
    with refused(rf"task: expected one row per class, as Task\.{advice}"):
        train(network, weights, task, 0.05, 2, **options)
    with refused(advice):
        md.predict(network, 0.01, task, 0.05, 2, key=KEY, **options)
    for two in ([0, 1, 1, 0], [0, 0, 0, 0]):
        task = tasks.Task.from_samples(np.eye(4), np.array(two))
        with refused(r"task: expected one row per class, as .*numpy\.eye\(2\)"):
            train(network, weights, task, 0.05, 2, **options)
    md.losses.check_targets(md.cross_entropy, tasks.Task(np.eye(4), np.ones((1, 4))))  # one class
    one_hot = tasks.Task.from_samples(np.eye(4), np.eye(3)[labels])
    assert train(network, weights, one_hot, 0.05, 2, **options).losses[0] < 1.2


@pytest.mark.parametrize(
    ("rate", "num_steps", "words"),
    [(50.0, 200, r"the loss .* step \d+"), (1e308, 1, "the weights .* step 1;")],
)
def test_divergence_names_the_step_and_the_cause(rate, num_steps, words):
    with pytest.raises(DivergenceError, match=rf"{words}.*too large") as diverged:
        train(NETWORK, [10 * w for w in WEIGHTS], TASK, rate, num_steps)
    run = diverged.value.run
    assert len(run.losses) == run.diverged_at and np.isfinite(run.losses).all()
    start = squared_error(NETWORK, [10 * w for w in WEIGHTS], TASK)
    assert run.losses[0] == pytest.approx(float(start), rel=1e-12)
    assert pickle.loads(pickle.dumps(diverged.value)).run.diverged_at == run.diverged_at


def test_a_compiled_function_of_a_task_trains_and_theory_says_that_it_needs_numbers():
    network, weights = NETWORK, WEIGHTS
    losses = jax.jit(lambda task: train(network, weights, task, 0.05, 20).losses)(TASK)
    close(losses, train(network, weights, TASK, 0.05, 20).losses)
    close(jax.jit(squared_error)(network, weights, TASK), losses[0], rtol=1e-12)
    for function in (statistics.modes, lambda task: md.predict(network, 0.1, task, 0.1, 3).losses):
        with refused("task: expected concrete numbers, got what JAX traces"):
            jax.jit(function)(TASK)


# Batches, records, runs that go on ---------------------------------------------------------------


OTHER = tasks.Task(np.eye(4)[:, :3], np.ones((7, 3)))


@pytest.mark.parametrize("every", [1, 3, 50])
def test_losses_are_of_batches_and_those_of_whole_tasks_are_recorded_on_demand(every):
    options = {"batch_size": 3, "key": KEY, "observe": "loss", "held_out": OTHER, "every": every}
    run = train(NETWORK, WEIGHTS, TASK, 0.05, 10, **options)
    path = train(NETWORK, WEIGHTS, TASK, 0.05, 10, **options | {"observe": lambda w: w}).observed
    weights = [[layer[index] for layer in path] for index in range(-(-10 // every))]
    close(run.observed, [squared_error(NETWORK, w, TASK) for w in weights], rtol=1e-12)
    close(run.held_out, [squared_error(NETWORK, w, OTHER) for w in weights], rtol=1e-12)
    if every == 1:
        batches = draw_batches(KEY, 4, 3, 10)
        parts = [TASK.take(np.asarray(batch)) for batch in batches]
        expected = [squared_error(NETWORK, *each) for each in zip(weights, parts, strict=True)]
        close(run.losses, expected, rtol=1e-12)


SCHEDULE = optax.cosine_decay_schedule(0.02, 40)


@pytest.mark.parametrize(
    ("optimiser", "options"),
    [
        (optax.sgd(0.05, momentum=0.9), {}),
        (optax.adam(SCHEDULE), {"batch_size": 3}),
        (optax.MultiSteps(optax.adam(0.01), 3), {"batch_size": 1}),
        (optax.chain(optax.add_noise(0.1, 0.5, KEY), optax.sgd(0.05)), {}),
    ],
    ids=["momentum", "schedule", "several", "noise"],
)
def test_a_run_goes_on_to_the_bit(optimiser, options):
    options |= {"optimiser": optimiser, "key": KEY, "observe": "loss", "every": 4}
    whole = train(NETWORK, WEIGHTS, TASK, None, 40, **options)
    first = train(NETWORK, WEIGHTS, TASK, None, 20, **options)
    second = train(NETWORK, first.weights, TASK, None, 20, state=first.state, **options)
    for name in ("losses", "observed"):
        joined = np.concatenate([getattr(first, name), getattr(second, name)])
        assert joined.tolist() == getattr(whole, name).tolist()
    assert jax.tree.map(np.array_equal, second.weights, whole.weights) == [True, True]
    assert second.state.step == whole.state.step == 40


@pytest.mark.parametrize(
    ("options", "copy", "step", "ends"),  # seconds that a look and a step take
    [
        ({}, 0.0, 1e-6, [2, 6, 14, 30, 40]),  # 600 // (4 samples · 66 weights), then twice as many
        ({"batch_size": 3, "key": KEY}, 0.0, 1e-6, [3, 9, 14, 24, 28, 36, 40]),  # of 14 steps each
        ({}, 0.0, 1.0, [2, *range(3, 41)]),
        ({}, 2.0, 0.1, [2, 6, 14, 30, 40]),  # fewer steps would copy more often what is recorded
    ],
)
def test_chunks_of_a_run_are_the_run(options, copy, step, ends, monkeypatch):
    """Looked at after every few steps, batches drawn a few at a time, against one loop."""
    options |= {"observe": lambda w: w[0], "every": 3, "held_out": OTHER}
    whole = jax.jit(lambda weights: train(NETWORK, weights, TASK, 0.05, 40, **options))(WEIGHTS)
    clock, advance = [0.0], _descent.advance

    def timed(progress, stop, *rest):
        clock[0] += copy + step * (int(stop) - int(progress.step))
        return advance(progress, stop, *rest)

    monkeypatch.setattr(_descent, "advance", timed)
    monkeypatch.setattr(_descent, "time", SimpleNamespace(perf_counter=lambda: clock[0]))
    for name, value in (("FIRST", 600), ("GROWTH", 2), ("DRAWN", 50)):
        monkeypatch.setattr(_descent, name, value)
    steps = []

    def looks(progresses, *_):
        for each in progresses:
            steps.append(int(each.step))
            yield each

    monkeypatch.setattr(training, "watched", looks)
    run = train(NETWORK, WEIGHTS, TASK, 0.05, 40, **options)
    assert steps == ends
    for one, other in zip(jax.tree.leaves(run), jax.tree.leaves(whole), strict=True):
        close(one, other, rtol=1e-13)


INTERRUPTED = """
import signal, sys, threading
signal.signal(signal.SIGINT, signal.default_int_handler)  # which nohup and & leave out
import jax, numpy as np, mdsgdln as md
task = md.Task(np.ones((9, 400)), np.ones((1, 400)))
network = md.ReLUNetwork((9, 500, 1), biases=True)
weights = network.init(jax.random.key(0), 1e-2)
options = {"batch_size": 300, "key": jax.random.key(1), "observe": "loss"}
try:
    md.train(network, weights, task, 1e-3, 10**6, progress=True, **options)
except KeyboardInterrupt as stopped:
    print("stopped", file=sys.stderr, flush=True)
    run = stopped.run
done = run.state.step
assert 0 < done == len(run.losses) == len(run.observed)
run = md.train(network, run.weights, task, 1e-3, 10, state=run.state, **options)
whole = md.train(network, weights, task, 1e-3, done + 10, **options)
assert (run.losses == whole.losses[-10:]).all()
assert threading.active_count() == 1  # as that of tqdm would wait for a lock that Ctrl-C left taken
"""


def test_ctrl_c_is_heard_within_two_seconds_and_the_run_can_go_on():
    command = [sys.executable, "-c", INTERRUPTED]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        shown = ""
        while not re.search(r"\b[1-9]\d*/1000000", shown):  # the bar has moved
            shown += process.stderr.read(1)
        process.send_signal(signal.SIGINT)
        began = time.perf_counter()
        assert "stopped\n" in process.stderr
        assert time.perf_counter() - began < 2
        assert not process.stderr.read()
    assert process.returncode == 0


def test_a_bar_is_shown_where_it_is_asked_for_and_where_somebody_watches(capsys, monkeypatch):
    train(NETWORK, WEIGHTS, TASK, 0.05, 20)
    assert capsys.readouterr() == ("", "")  # no terminal
    looks = [SimpleNamespace(step=step) for step in (5, 12, 20)]
    assert list(_progress.watched(looks, 20, True)) == looks
    assert "20/20" in capsys.readouterr().err
    for stream, watched in ((Mock(**{"isatty.return_value": True}), True), (None, False)):
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stderr", stream)
            assert _progress.is_watched() == watched
    for watched in (True, False):  # a cell of a front end, and one of nbclient or nbval
        shell = Mock()
        shell.kernel.get_parent.return_value = {"content": {"allow_stdin": watched}}
        monkeypatch.setitem(sys.modules, "IPython", Mock(get_ipython=lambda shell=shell: shell))
        assert _progress.is_watched() == watched


def test_an_optimiser_is_given_no_more_than_it_takes():
    """SAM says that it takes more, and does not."""
    rule = optax.contrib.sam(optax.sgd(0.05), optax.sgd(0.01), opaque_mode=False)
    assert train(NETWORK, WEIGHTS, TASK, None, 40, optimiser=rule).losses[-1] < by_hand(1)[0]


@pytest.mark.parametrize("kind", [jnp.bfloat16, jnp.float16, int, jnp.float32])
def test_weights_that_would_lose_small_updates_become_double_precision(kind):
    network = networks.LinearNetwork((4, 7))
    run = train(network, [jnp.ones((7, 4), kind)], TASK, 1e-4, 3)
    same = train(network, [jnp.ones((7, 4))], TASK, 1e-4, 3)
    assert run.weights[0].dtype == (jnp.float32 if kind is jnp.float32 else float)
    close(run.losses, same.losses, rtol=1e-6 if kind is jnp.float32 else 0)


# Networks of one's own ---------------------------------------------------------------------------


GATES = jnp.array([0.5, 1.0, 0.0, 2.0])


@partial(jax.tree_util.register_dataclass, data_fields=["gates"], meta_fields=["activation"])
@dataclass
class Gain(md.Network, static=False):
    """A network of a user that is a pytree, stores a number for each sample and has a function."""

    gates: jax.Array
    activation: Callable

    def init(self, key, scale):
        return scale * jax.random.normal(key, (7, 4))

    def apply(self, weights, inputs):
        return self.gates[None, :] * self.activation(weights @ inputs)

    def take(self, columns):
        return Gain(self.gates[columns], self.activation)


@pytest.mark.parametrize("batch_size", [None, 3])
def test_a_network_of_ones_own_is_descended(batch_size):
    def loss_of(weights, columns):
        outputs = GATES[columns][None, :] * jnp.tanh(weights @ TASK.inputs[:, columns])
        return jnp.sum((TASK.targets[:, columns] - outputs) ** 2) / (2 * len(columns))

    network, losses, everything = Gain(GATES, jnp.tanh), [], np.arange(4)
    weights = start = network.init(KEY, 0.5)
    loss, gradient_of = jax.jit(loss_of), jax.jit(jax.grad(loss_of))
    drawn = [everything] * 9 if batch_size is None else draw_batches(KEY, 4, batch_size, 9)
    for batch in drawn:
        losses.append(loss(weights, np.asarray(batch)))
        weights = weights - 0.1 * gradient_of(weights, np.asarray(batch))
    run = train(network, start, TASK, 0.1, 9, batch_size=batch_size, key=KEY)
    close(run.losses, losses, rtol=1e-12)
    close(run.weights, weights, atol=1e-13)


def test_a_network_of_ones_own_that_does_not_fit_is_named():
    network = Gain(GATES, jnp.tanh)
    weights = network.init(KEY, 0.5)
    with refused(r"network: expected outputs of shape \(7, 4\)"):
        train(network, weights[:2], TASK, 0.1, 3)


@pytest.mark.parametrize("name", ["init", "apply"])
def test_a_method_that_a_network_of_ones_own_does_not_have_is_named(name):
    class Bare(md.Network):
        """Nothing is written."""

    with refused(f"network: expected a method {name}, got a Bare without"):
        Bare().init(KEY, 0.1) if name == "init" else train(Bare(), [], TASK, 0.1, 3)
