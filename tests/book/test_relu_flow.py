"""Gradient flow of ReLU networks with sliding gates, against laws that do not know its steps."""

import jax
import numpy as np
import pytest
from numpy.testing import assert_allclose as close
from scipy.integrate import solve_ivp
from scipy.optimize import lsq_linear

from mdsgdln import deviation, networks, tasks, theory, training
from mdsgdln_book import dynamics
from mdsgdln_book.dynamics import sliding_step

pytestmark = [
    pytest.mark.usefixtures("compiled_in_less_time"),
    pytest.mark.xdist_group("relu_flow"),  # its programs are compiled once
]
KEY = jax.random.key(0)
CONTEXTS = tasks.contextual(3, 4)
SLIDE = tasks.Task([[1.0, 0.6], [0.0, 0.8]], [[1.0, -2.0]])  # the first lifts, the second pushes
ONE = networks.ReLUNetwork((2, 1, 1))
ALONG = np.array([0.8, -0.6])  # the boundary of the second sample


def network_of(task, width):
    return networks.ReLUNetwork((len(task.inputs), width, len(task.targets)))


NETWORK = network_of(CONTEXTS, 20)
WEIGHTS, STEP = NETWORK.init(KEY, 1e-3), 0.03


def flow_of(times, **options):
    return dynamics.relu_flow(NETWORK, WEIGHTS, CONTEXTS, times, step=STEP, **options)


@pytest.fixture(scope="module")
def watched():
    """The flow of three contexts, seen at every step."""
    return flow_of(STEP * np.arange(2001), observe=lambda weights: weights)


# The box problem --------------------------------------------------------------------------------


def bounded_least_squares(inputs, before, most):
    """q − Xλ of SciPy; samples with an empty box are left out, with which it does not converge."""
    inputs, most = inputs[:, most > 0], most[most > 0]
    if not most.size:
        return before
    pushes = lsq_linear(inputs, before, (0, most), "bvls", tol=1e-14, max_iter=500).x
    return before - inputs @ pushes


def check_box(step, inputs, before, most, theta, rounds):
    """Hold a step, begun from some sliders and again from what it found, against SciPy."""
    sliders = sliding_step.Sliders(theta, np.zeros((inputs.shape[1], *before.shape)))
    best = [bounded_least_squares(inputs, *n) for n in zip(before.T, most.T, strict=True)]
    for _ in range(rounds):
        w, sliders, found = step(inputs, before, most, sliders)
        assert found.max() <= 1e-10
        close(w.T, best, atol=1e-8)
        close(w, before - inputs @ (sliders.theta * most), atol=1e-12)


def test_step_solves_the_problem_of_bounded_least_squares():
    rng, step = np.random.default_rng(0), jax.jit(sliding_step.implicit_step)
    for inputs in (
        rng.normal(size=(3, 6)),
        np.concatenate([np.eye(3), -np.eye(3)], axis=1),
        np.repeat(rng.normal(size=(3, 3)) * [[1], [1], [0]], 2, axis=1),
    ):
        before = rng.normal(size=(3, 20))
        most = np.maximum(rng.normal(size=(6, 20)), 0)
        for theta in (np.zeros_like(most), rng.uniform(size=most.shape)):
            check_box(step, inputs, before, most, theta, 2)


def test_sweeps_solve_what_active_sets_do_not(monkeypatch):
    monkeypatch.setattr(sliding_step, "ACTIVE_SETS", 1)
    rng, step = np.random.default_rng(1), jax.jit(lambda *given: sliding_step.implicit_step(*given))
    inputs, before = rng.normal(size=(3, 6)), rng.normal(size=(3, 10))
    check_box(step, inputs, before, rng.uniform(size=(6, 10)), np.zeros((6, 10)), 1)


# One neuron -------------------------------------------------------------------------------------


def test_sliding_neuron_is_a_linear_one_with_a_projection():
    # Along the boundary the neuron is one mode with κ = x₁ᵀp: s = κ y₁/P, d = κ²/P.
    weights = [0.1 * ALONG[None], np.array([[0.1]])]
    times, errors = np.linspace(0, 30, 61), []
    strength = theory.mode_trajectory(times, 0.8 / 2, 0.64 / 2, 0.01)[0]
    exact = ((1 - 0.8 * strength) ** 2 + 4) / 4
    for step in (0.04, 0.02, 0.01):
        flow = dynamics.relu_flow(ONE, weights, SLIDE, times, step=step)
        assert (flow.states[:, 0] == [1, 0]).all() and flow.events.empty
        errors.append(deviation(flow.losses - 1, exact - 1))
        assert abs(flow.weights[0][0] @ SLIDE.inputs[:, 1]) < 1e-9
    assert errors[2] < 2e-3
    close(np.divide(errors[:2], errors[1:]), 2, rtol=0.05)


def test_neuron_reaches_a_boundary_and_slides_as_filippov_says():
    start = np.array([0.1, -0.2, 0.2])  # off on the second sample

    def velocity(slides):
        def field(_, z):
            push = z[2] * (1 - z[2] * max(z[0], 0)) / 2  # of the first sample, x₁ = (1, 0)
            turn = ALONG * ALONG[0] if slides else np.array([1.0, 0.0])
            return [*(push * turn), max(z[0], 0) * (1 - z[2] * max(z[0], 0)) / 2]

        return field

    def reaches(_, z):
        return z[0] * 0.6 + z[1] * 0.8

    reaches.terminal = True
    options = {"rtol": 1e-10, "atol": 1e-12, "events": reaches}
    free = solve_ivp(velocity(False), (0, 20), start, **options)
    hit = free.t[-1]
    rest = solve_ivp(velocity(True), (hit, 20), free.y[:, -1], rtol=1e-10, atol=1e-12)
    gaps = []
    for step in (0.02, 0.01):
        flow = dynamics.relu_flow(ONE, [start[None, :2], start[2:, None]], SLIDE, [20], step=step)
        (event,) = flow.events.to_dict("records")
        assert (event["neuron"], event["sample"], event["from"], event["to"]) == (0, 1, -1, 0)
        assert abs(event["time"] - hit) < 3 * step
        last = np.concatenate([np.ravel(layer) for layer in flow.weights])
        gaps.append(np.abs(last - rest.y[:, -1]).max())
    assert gaps[1] < 0.6 * gaps[0] < 0.01


def test_neuron_leaves_a_boundary_when_the_push_wins():
    # The first target is so large that it lifts the neuron over the boundary of the second.
    task = tasks.Task(SLIDE.inputs, [[20.0, -2.0]])
    weights = [np.array([[0.1, -0.2]]), np.array([[0.2]])]
    flow = dynamics.relu_flow(ONE, weights, task, [0, 5], step=1e-3)
    found = flow.events
    assert (found["from"].iloc[0], found["to"].iloc[0]) == (-1, 1)  # crosses without a rest


# Bad data ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["line", "repeated and zero", "nearly repeated", "opposite"])
def test_flow_follows_descent_on_awkward_inputs(kind):
    rng = np.random.default_rng(3)
    x = rng.normal(size=(3, 6))
    inputs = {
        "line": np.outer([1.0, 2, 3], rng.normal(size=12)),
        "repeated and zero": np.hstack([x[:, :4], x[:, :4], np.zeros((3, 4))]),
        "nearly repeated": np.hstack([x, x + 1e-9 * rng.normal(size=x.shape)]),
        "opposite": np.hstack([x, -x]),
    }[kind]
    task = tasks.Task(inputs, rng.normal(size=(2, inputs.shape[1])))
    network, step = network_of(task, 6), 0.005
    weights, times = network.init(KEY, 0.1), step * np.arange(1000)
    flow = dynamics.relu_flow(network, weights, task, times, step=step)
    run = training.train(network, weights, task, step, len(times))
    assert flow.residual <= 1e-10
    assert deviation(flow.losses, run.losses, learned=None) < 0.01
    assert (flow.states[:, :, (inputs == 0).all(axis=0)] == -1).all()


# Networks ---------------------------------------------------------------------------------------


def test_neurons_between_events_are_gated_linear_with_a_projection(watched):
    first, second = watched.observed
    inputs, P, checked = np.asarray(CONTEXTS.inputs), CONTEXTS.num_samples, 0
    residuals = np.asarray(CONTEXTS.targets) - second @ np.maximum(first @ inputs, 0)
    for neuron in range(first.shape[1]):
        states = watched.states[:, neuron]
        ends = np.flatnonzero((np.diff(states, axis=0) != 0).any(axis=1))
        for begin, end in zip(ends[:-1] + 2, ends[1:], strict=True):
            if end - begin < 20 or not (states[begin] == 0).any():
                continue
            on, slides = states[begin] == 1, states[begin] == 0
            left, sizes, _ = np.linalg.svd(inputs[:, slides], full_matrices=False)
            left = left[:, sizes > 1e-9]
            project = np.eye(len(inputs)) - left @ left.T
            w, v = project @ first[begin, neuron], second[begin, :, neuron]
            for now in range(begin, end):
                push = residuals[now].T @ v / P
                v = v + STEP * residuals[now] @ (on * (w @ inputs)) / P
                w = w + STEP * project @ (inputs @ (on * push))
            close(w, first[end, neuron], rtol=0, atol=1e-9)
            close(v, second[end, :, neuron], rtol=0, atol=1e-9)
            checked += 1
    assert checked > 5


def test_events_lead_from_state_to_state():
    times = [0.0, 3, 3, 11, 30]
    flow = flow_of(times)
    found, now = flow.events, flow.states[0].copy()
    assert found["time"].is_monotonic_increasing and len(found) > 20
    for time, states in zip(times, flow.states, strict=True):
        here = found[found["time"] <= time + 1e-9]
        found = found[found["time"] > time + 1e-9]
        for _, neuron, sample, old, new in here.itertuples(index=False):
            assert now[neuron, sample] == old
            now[neuron, sample] = new
        assert (now == states).all()
    repeats = flow.events.diff()[["neuron", "sample"]].ne(0)
    assert repeats.any(axis=None)
