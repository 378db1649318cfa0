"""Compressed mean field: merging, the designed network, the curve of a trained network.

With two hidden layers, narrow networks averaged in time.
"""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose as close, assert_array_equal as equal

from mdsgdln import networks, tasks, theory, training
from mdsgdln.theory.relu_neurons import descend, in_span, merge, patterns
from mdsgdln.theory.relu_prediction import averaged_in_time

KEY = jax.random.key(0)
RNG = np.random.default_rng(0)
INPUTS, TARGETS = np.abs(RNG.normal(size=(3, 6))), RNG.normal(size=(2, 6))
XOR = tasks.xor(1.0)


def one_gate(count=40):
    """Neurons (w, v) around one direction that is well inside of its gate."""
    near = np.concatenate([np.ones(3), [1.0, -1.0]])
    return near + 0.1 * np.random.default_rng(1).normal(size=(count, 5))


def trained_neurons(z, steps, rate=0.02):
    """Gradient descent by automatic differentiation; losses on the way and Σ z zᵀ at the end."""

    def loss(z):
        outputs = z[:, 3:].T @ jax.nn.relu(z[:, :3] @ INPUTS)
        return jnp.sum((TARGETS - outputs) ** 2) / (2 * 6)

    @jax.jit
    def step(z, _):
        value, slope = jax.value_and_grad(loss)(z)
        return z - rate * slope, value

    end, losses = jax.lax.scan(step, jnp.asarray(z), None, steps)
    return np.asarray(losses), np.asarray(end.T @ end), np.asarray(end)


# Merging ----------------------------------------------------------------------------------------


def test_merged_neurons_learn_alike_while_the_gate_stays():
    z = 0.05 * one_gate()
    few, (event,) = merge(z, INPUTS, 0.0, 0.5)
    assert (event.merged, event.into) == (40, len(few)) == (40, 10)
    assert event.gate.all() and not event.boundary.any()
    close(few.T @ few, z.T @ z, rtol=0, atol=1e-12)
    expected, end, many = trained_neurons(z, 200)
    losses, merged_end, _ = trained_neurons(few, 200)
    assert (patterns(many[:, :3], INPUTS) == 1).all()
    assert expected[-1] < 0.9 * expected[0]
    close(losses, expected, rtol=0, atol=1e-12)
    close(merged_end, end, rtol=0, atol=1e-12)


def test_other_gates_and_other_directions_stay():
    few, events = merge(one_gate(), INPUTS, 0.0, 1.0)
    assert len(few) == 40 and not events
    both = np.concatenate([one_gate(), -one_gate()])
    few, events = merge(both, INPUTS, 0.0, 0.5)
    assert [(event.merged, event.gate.all()) for event in events] == [(40, False), (40, True)]
    assert len(few) == 20


def test_a_sample_near_its_boundary_has_no_side():
    w = np.array([[1.0, 0.01], [1.0, -0.01], [1.0, 0.1], [-1.0, 0.0]])
    equal(patterns(w, np.eye(2)), [[1, 0], [1, 0], [1, 1], [-1, 0]])
    z = np.concatenate([w[:2], w[:2]]) @ np.eye(2, 3)
    _, (event,) = merge(z, np.eye(2), 0.1, 0.9)
    assert event.gate.tolist() == [True, False] and event.boundary.tolist() == [False, True]


# The flow of neurons ----------------------------------------------------------------------------


def test_a_round_is_gradient_flow():
    z = 0.1 * one_gate(8)
    _, losses = descend(jnp.asarray(z), INPUTS, TARGETS, 0.01, 50)
    fine, *_ = trained_neurons(z, 5000, rate=1e-4)
    close(losses, fine[::100], rtol=2e-4)
    last = [descend(z, INPUTS, TARGETS, 0.2 / n, 10 * n + 1)[1][-1] for n in (1, 2, 4)]
    assert (last[0] - last[1]) / (last[1] - last[2]) == pytest.approx(4, rel=0.15)  # Heun's order


def test_draws_are_isotropic_in_the_span():
    columns = np.zeros((4, 3))
    columns[1:3] = RNG.normal(size=(2, 3))
    inside, reduced = in_span(RNG.normal(size=(20, 4)), columns)
    close(inside.T @ inside, 20 * np.eye(2), atol=1e-12)
    close(reduced.T @ reduced, columns.T @ columns, atol=1e-12)


# The prediction ---------------------------------------------------------------------------------


def trained(task, width, scale, rate, steps, seed=1):
    network = networks.ReLUNetwork((len(task.inputs), width, len(task.targets)))
    return training.train(network, network.init(jax.random.key(seed), scale), task, rate, steps)


def test_prediction_follows_a_trained_network():
    task = tasks.xor(0.5)
    run = trained(task, 512, 1e-4, 0.02, 2500)
    predicted = theory.predict_relu(task, 512, 1e-4, run.times, key=KEY)
    assert run.losses[-1] < 0.02 * run.losses[0]
    error = np.sum(np.abs(predicted.losses - run.losses)) / np.sum(run.losses)
    assert error < 0.03
    assert predicted.neurons < 64


def test_gates_shares_and_events_fit_together():
    found = theory.predict_relu(XOR, 400, 1e-4, np.linspace(0, 60, 7), key=KEY)
    assert found.losses.shape == (7,)
    assert found.losses[0] == pytest.approx(np.sum(np.asarray(XOR.targets) ** 2) / 8, rel=1e-4)
    assert found.shares.sum() == pytest.approx(1)
    assert (np.diff(found.shares) <= 0).all()
    assert len(np.unique(found.gates, axis=0)) == len(found.gates) == len(found.shares)
    assert np.isin(found.gates, (0, 0.5, 1)).all()
    gone = sum(event.merged - event.into for event in found.events)
    assert found.neurons == 256 - gone
    times = [event.time for event in found.events]
    assert times == sorted(times) and 0 < times[0] and times[-1] <= 60
    # the samples of exclusive or that must say yes are what strong gates hold
    assert found.shares[:4].sum() > 0.9


def test_cosine_one_is_the_designed_network_of_no_more_neurons_than_there_are():
    for width, asked, neurons in ((400, 42, 40), (400, 256, 256), (128, 256, 128)):
        options = {"key": KEY, "num_neurons": asked, "cosine": 1}
        found = theory.predict_relu(XOR, width, 1e-3, [0.0, 1.0], **options)
        assert found.neurons == neurons and not found.events


def test_units_of_the_targets_are_units_of_time_and_size():
    """y → c² y with weights c w runs c² times as fast."""
    times = np.linspace(0, 30, 40)
    one = theory.predict_relu(XOR, 400, 1e-3, times, key=KEY)
    sparse = theory.predict_relu(XOR, 400, 1e-3, times[::13], key=KEY)
    equal(sparse.losses, one.losses[::13])
    scaled = tasks.Task(XOR.inputs, 4 * XOR.targets)
    other = theory.predict_relu(scaled, 400, 2e-3, times / 4, key=KEY)
    close(other.losses, 16 * one.losses, rtol=1e-6)


@pytest.mark.parametrize(
    ("width", "scale", "error"),
    [(16, 1e-4, 20), (400, 0.08, 40), ((64, 64), 1e-3, 40), ((200, 200), 0.05, 19)],
)
def test_few_neurons_and_large_weights_warn(width, scale, error):
    with pytest.warns(UserWarning, match=f"predict_relu.*{error} %"):
        theory.predict_relu(XOR, width, scale, [0.0], key=KEY)


def test_an_initial_output_that_counts_warns():
    task, sigma = tasks.contextual(3, 8), 0.13
    network = networks.ReLUNetwork((len(task.inputs), 64, len(task.targets)))
    drawn = jax.vmap(lambda key: network.apply(network.init(key, sigma), task.inputs))
    outputs = np.asarray(jax.jit(drawn)(jax.random.split(KEY, 50)))
    added = np.sum(outputs**2) / 50 / np.sum(np.asarray(task.targets) ** 2)
    with pytest.warns(UserWarning, match=r"initial output adds \d+%") as caught:
        theory.predict_relu(task, 64, sigma, [0.0], key=KEY)
    (said,) = re.findall(r"adds (\d+)%", " ".join(str(each.message) for each in caught))
    assert 0.05 < int(said) / 100 == pytest.approx(added, abs=0.01)


# Two hidden layers ------------------------------------------------------------------------------

DEEP = {"num_hidden": (200, 200), "key": KEY}  # one shape: one compilation


def test_two_layers_follow_a_trained_network():
    sigma = 0.1 / np.sqrt(200)
    network = networks.ReLUNetwork((3, 200, 200, 1))
    run = training.train(network, network.init(jax.random.key(1), sigma), XOR, 0.1, 500)
    found = theory.predict_relu(XOR, scale=sigma, times=run.times, **DEEP)
    assert run.losses[-1] < 0.02 * run.losses[0]
    error = np.sum(np.abs(found.losses - run.losses)) / np.sum(run.losses)
    assert error < 0.1
    assert found.neurons == 4 * (64 + 64) and not found.events
    assert found.gates.shape == (0, 4) and found.shares.shape == (0,)


def test_two_layers_have_the_units_of_three_matrices():
    """y → c³ y with weights c w runs c⁴ times as fast."""
    times = np.linspace(0, 60, 20)
    one = theory.predict_relu(XOR, scale=1e-2, times=times, **DEEP)
    scaled = tasks.Task(XOR.inputs, 8 * XOR.targets)
    other = theory.predict_relu(scaled, scale=2e-2, times=times / 16, **DEEP)
    assert one.losses[-1] < 0.5 * one.losses[0]
    close(other.losses, 64 * one.losses, rtol=1e-4)


def test_a_mean_in_time_is_a_curve_between():
    grid = np.linspace(0, 10, 1001)
    early, late = (1 / (1 + np.exp(4 * (grid - middle))) for middle in (3, 5))
    found = averaged_in_time(np.stack([early, late]), grid, grid)
    between = 1 / (1 + np.exp(4 * (grid - 4)))
    close(found[200:], between[200:], atol=2e-3)
    assert (np.diff(found) <= 0).all()
    apart = averaged_in_time(np.stack([0 * grid + 2, 0 * grid + 1]), grid, grid)
    equal(apart, 1.5)  # of curves that never meet
