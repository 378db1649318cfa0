"""Training: against a loop written out by hand, observation, batches, bad input."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from bad_input import BAD_INPUT

from mdsgdln import networks, tasks, training
from mdsgdln.training import DivergenceError, train

KEY = jax.random.key(0)
TASK = tasks.semantic(num_items=4)
NETWORK = networks.LinearNetwork((4, 6, 7))
WEIGHTS = NETWORK.init(KEY, 0.3)


def by_hand(weights, task, learning_rate, num_steps, decay=0.0):
    """Gradient descent of a two-layer linear network, the derivative worked out on paper."""
    first, second = (np.asarray(weight) for weight in weights)
    inputs, targets = np.asarray(task.inputs), np.asarray(task.targets)
    losses = []
    for _ in range(num_steps):
        error = targets - second @ first @ inputs
        size = (first**2).sum() + (second**2).sum()
        losses.append((error**2).sum() / (2 * task.num_samples) + decay / 2 * size)
        step = error @ inputs.T / task.num_samples
        first, second = (
            first + learning_rate * (second.T @ step - decay * first),
            second + learning_rate * (step @ first.T - decay * second),
        )
    return np.array(losses), (first, second)


def test_gradient_descent_is_the_loop_written_out():
    run = train(NETWORK, WEIGHTS, TASK, 0.05, 100)
    losses, weights = by_hand(WEIGHTS, TASK, 0.05, 100)
    np.testing.assert_allclose(run.losses, losses, rtol=1e-12)
    for found, expected in zip(run.weights, weights, strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-12)
    assert run.observed is None
    np.testing.assert_allclose(run.times, 0.05 * np.arange(100), rtol=1e-15)


def test_outputs_over_time_in_one_line():
    network = networks.pathways(TASK, np.eye(4)[:3], 2)
    weights = network.init(KEY, 0.3)
    run = train(network, weights, TASK, 0.05, 20, observe="outputs", every=5)
    assert run.observed.shape == (4, 7, 4)
    assert len(run.times[::5]) == 4
    squares = ((TASK.targets[None] - run.observed) ** 2).sum(axis=(1, 2))
    np.testing.assert_allclose(squares / 8, run.losses[::5], rtol=1e-12)


def with_decay(network, weights, task):
    return training.loss(network, weights, task) + 0.15 * sum((w**2).sum() for w in weights)


@pytest.mark.parametrize("options", [{}, {"batch_size": 4, "key": KEY}])
def test_another_loss_is_descended(options):
    run = train(NETWORK, WEIGHTS, TASK, 0.05, 100, loss=with_decay, **options)
    losses, weights = by_hand(WEIGHTS, TASK, 0.05, 100, decay=0.3)
    np.testing.assert_allclose(run.losses, losses, rtol=1e-12)
    for found, expected in zip(run.weights, weights, strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("every", [1, 3, 5, 20, 50])
def test_observation_does_not_change_the_run(every):
    run = train(
        NETWORK, WEIGHTS, TASK, 0.05, 20, observe=lambda w: {"map": w[1] @ w[0]}, every=every
    )
    plain = train(NETWORK, WEIGHTS, TASK, 0.05, 20)
    np.testing.assert_allclose(run.losses, plain.losses, rtol=1e-12)
    steps = range(0, 20, every)
    assert len(run.observed["map"]) == len(steps)
    for record, step in zip(run.observed["map"], steps, strict=True):
        weights = WEIGHTS if step == 0 else train(NETWORK, WEIGHTS, TASK, 0.05, step).weights
        np.testing.assert_allclose(record, weights[1] @ weights[0], atol=1e-12)


def test_observed_losses_belong_to_the_observed_weights():
    run = train(NETWORK, WEIGHTS, TASK, 0.05, 9, observe=lambda w: training.loss(NETWORK, w, TASK))
    np.testing.assert_allclose(run.observed, run.losses, rtol=1e-12)


@pytest.mark.parametrize(("optimiser", "rate"), [(optax.adam, 0.01), (optax.adam(0.01), None)])
def test_optax_optimisers(optimiser, rate):
    run = train(NETWORK, WEIGHTS, TASK, rate, 30, optimiser=optimiser)
    adam = optax.adam(0.01)
    weights, state = WEIGHTS, adam.init(WEIGHTS)
    for _ in range(30):
        gradient = jax.grad(training.loss, argnums=1)(NETWORK, weights, TASK)
        update, state = adam.update(gradient, state)
        weights = optax.apply_updates(weights, update)
    np.testing.assert_allclose(run.weights[0], weights[0], atol=1e-10)


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
    run = train(
        **{"network": NETWORK, "weights": WEIGHTS, "task": TASK, "learning_rate": 0.05}
        | {"num_steps": 3}
        | options
    )
    assert run.losses.shape == (3,)
    with pytest.raises(ValueError, match="times: expected a run of plain gradient descent"):
        run.times  # noqa: B018


def test_a_run_passes_through_transformations():
    def train_from(weights):
        return train(NETWORK, weights, TASK, 0.05, 3, optimiser=optax.sgd)

    both = jax.jit(jax.vmap(train_from))([jnp.stack([w, 2 * w]) for w in WEIGHTS])
    np.testing.assert_allclose(both.times, [[0, 0.05, 0.1]] * 2, rtol=1e-15)
    losses, *_ = train_from(WEIGHTS)
    np.testing.assert_allclose(both.losses[0], losses, rtol=1e-12)


def test_one_step_size_is_given():
    with pytest.raises(ValueError, match="learning_rate: expected .*None.*already built.*0.1"):
        train(NETWORK, WEIGHTS, TASK, 0.1, 30, optimiser=optax.adam(0.01))
    with pytest.raises(BAD_INPUT, match="learning_rate: expected a number"):
        train(NETWORK, WEIGHTS, TASK, None, 30, optimiser=optax.adam)
    with pytest.raises(DivergenceError, match="that of the optimiser"):
        train(NETWORK, WEIGHTS, TASK, None, 200, optimiser=optax.sgd(50.0))


def test_batches_use_every_sample_once_an_epoch():
    drawn = np.asarray(training._batches(KEY, 6, 2, 9))
    for epoch in drawn.reshape(3, 6):
        assert sorted(epoch) == list(range(6))


def test_batch_of_all_samples_is_full_batch():
    gates = np.eye(4)[:3]
    network = networks.pathways(TASK, gates, 2)
    weights = network.init(KEY, 0.3)
    full = train(network, weights, TASK, 0.05, 20)
    batch = train(network, weights, TASK, 0.05, 20, batch_size=4, key=KEY)
    np.testing.assert_allclose(batch.losses, full.losses, rtol=1e-10)


@pytest.mark.parametrize("every", [1, 4])
def test_small_batches_follow_the_gradient_of_their_samples(every):
    run = train(
        NETWORK, WEIGHTS, TASK, 0.05, 7, batch_size=1, key=KEY, observe=lambda w: w[0], every=every
    )
    weights = WEIGHTS
    for columns in np.asarray(training._batches(KEY, 4, 1, 7)):
        part = TASK.take(columns)
        gradient = jax.grad(training.loss, argnums=1)(NETWORK, weights, part)
        weights = [w - 0.05 * g for w, g in zip(weights, gradient, strict=True)]
    np.testing.assert_allclose(run.weights[0], weights[0], atol=1e-12)
    assert run.losses[0] == pytest.approx(float(training.loss(NETWORK, WEIGHTS, TASK)))


def test_runs_of_one_shape_compile_once():
    train(NETWORK, WEIGHTS, TASK, 0.05, 11)
    before = training._scan._cache_size()
    train(NETWORK, [2 * w for w in WEIGHTS], TASK, 0.01, 11)
    assert training._scan._cache_size() == before


FACTOR = 1.0  # a test below changes it


def on_host(factor):
    shape = jax.ShapeDtypeStruct(WEIGHTS[0].shape, WEIGHTS[0].dtype)
    return lambda w: jax.pure_callback(lambda weight: factor * np.asarray(weight), shape, w[0])


def of_a_global(weights):
    return FACTOR * weights[0]


@pytest.mark.parametrize(
    "observer",
    [
        lambda factor: lambda w: factor * w[0],
        lambda factor: jax.jit(lambda w: jnp.full((6, 4), factor) @ np.eye(4) * w[0]),
        on_host,
        lambda factor: of_a_global,
    ],
)
def test_what_an_observer_reads_may_change(observer, monkeypatch):
    for factor in (1.0, 2.0):
        monkeypatch.setitem(globals(), "FACTOR", factor)
        run = train(NETWORK, WEIGHTS, TASK, 0.05, 2, observe=observer(factor))
        np.testing.assert_array_equal(run.observed[0], factor * WEIGHTS[0])


def decayed(network, weights, task):
    return training.loss(network, weights, task) + FACTOR * jnp.sum(weights[0] ** 2)


def test_what_a_loss_reads_may_change(monkeypatch):
    for factor in (1.0, 2.0):
        monkeypatch.setitem(globals(), "FACTOR", factor)
        run = train(NETWORK, WEIGHTS, TASK, 0.05, 2, loss=decayed)
        assert run.losses[0] == pytest.approx(float(decayed(NETWORK, WEIGHTS, TASK)))


@pytest.mark.parametrize("observe", ["outputs", jax.jit(lambda w: w[1] @ w[0])])
def test_a_compiled_observer_compiles_once(observe):
    found = []
    for scale in (1, 2):
        train(NETWORK, [scale * w for w in WEIGHTS], TASK, 0.05, 2, observe=observe)
        found.append(training._scan._cache_size())
    assert found[0] == found[1]


def test_float32_weights_stay_float32():
    weights = [w.astype(jnp.float32) for w in WEIGHTS]
    run = train(NETWORK, weights, TASK, 0.05, 5)
    assert {w.dtype for w in run.weights} == {jnp.dtype(jnp.float32)}


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"batch_size": 5, "key": KEY}, "batch_size"),
        ({"batch_size": 2}, "key"),
        ({"weights": [w.T for w in WEIGHTS]}, "weights"),
        ({"task": tasks.xor(1.0)}, "inputs"),
        ({"task": tasks.Task(np.eye(4), np.ones((3, 4)))}, "targets"),
    ],
)
def test_bad_input_is_named(changes, name):
    arguments = {
        "network": NETWORK,
        "weights": WEIGHTS,
        "task": TASK,
        "learning_rate": 0.1,
        "num_steps": 3,
    }
    with pytest.raises(BAD_INPUT, match=name):
        train(**(arguments | changes))


@pytest.mark.parametrize(
    ("rate", "num_steps", "words"),
    [(50.0, 200, r"the loss .* step \d+"), (1e308, 1, "the weights .* step 1;")],
)
def test_divergence_names_the_step_and_the_cause(rate, num_steps, words):
    with pytest.raises(DivergenceError, match=rf"{words}.*too large"):
        train(NETWORK, [10 * w for w in WEIGHTS], TASK, rate, num_steps)
