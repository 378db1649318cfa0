"""Gradient flow of ReLU networks with sliding gates, against laws that do not know its steps."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose as close, assert_array_equal as equal
from scipy.integrate import solve_ivp
from scipy.optimize import lsq_linear

from mdsgdln import networks, reln, tasks, theory, training
from mdsgdln.theory import sliding_step

KEY = jax.random.key(0)
CONTEXTS = tasks.contextual(2, 4)
SLIDE = tasks.Task([[1.0, 0.6], [0.0, 0.8]], [[1.0, -2.0]])  # the first lifts, the second pushes
ONE = networks.ReLUNetwork((2, 1, 1))
ALONG = np.array([0.8, -0.6])  # the boundary of the second sample


def network_of(task, width):
    return networks.ReLUNetwork((len(task.inputs), width, len(task.targets)))


def flow_of(task, width, scale, times, seed=0, **options):
    network = network_of(task, width)
    weights = network.init(jax.random.key(seed), scale)
    return network, weights, theory.relu_flow(network, weights, task, times, **options)


# The box problem --------------------------------------------------------------------------------


def bounded_least_squares(inputs, before, most):
    """q − Xλ of SciPy; samples with an empty box are left out, with which it does not converge."""
    inputs, most = inputs[:, most > 0], most[most > 0]
    if not most.size:
        return before
    pushes = lsq_linear(inputs, before, (0, most), "bvls", tol=1e-14, max_iter=500).x
    return before - inputs @ pushes


def check_box(inputs, before, most, theta, rounds):
    """Hold a step, begun from some sliders and again from what it found, against SciPy."""
    inputs, before, most = map(jnp.asarray, (inputs, before, most))
    empty = jnp.zeros((inputs.shape[1], *before.shape))
    sliders = sliding_step.Sliders(jnp.asarray(theta), empty)
    best = [bounded_least_squares(*map(np.asarray, (inputs, before[:, n], most[:, n])))
            for n in range(before.shape[1])]  # fmt: skip
    for _ in range(rounds):
        w, pushes, sliders, found = sliding_step.implicit(inputs, before, most, sliders)
        assert found.max() <= 1e-10
        close(w.T, best, atol=1e-8)
        close(w, before - inputs @ pushes, atol=1e-12)


@pytest.mark.parametrize("kind", ["gaussian", "opposite", "repeated"])
def test_step_solves_the_problem_of_bounded_least_squares(kind):
    rng = np.random.default_rng(0)
    inputs = {
        "gaussian": rng.normal(size=(3, 6)),
        "opposite": np.concatenate([np.eye(3), -np.eye(3)], axis=1),
        "repeated": np.repeat(rng.normal(size=(3, 3)) * [[1], [1], [0]], 2, axis=1),
    }[kind]
    before = rng.normal(size=(3, 20))
    most = np.maximum(rng.normal(size=(6, 20)), 0)
    for theta in (np.zeros_like(most), rng.uniform(size=most.shape)):
        check_box(inputs, before, most, theta, 2)


def test_sweeps_solve_what_active_sets_do_not(monkeypatch):
    monkeypatch.setattr(sliding_step, "ACTIVE_SETS", 1)
    rng = np.random.default_rng(1)
    inputs, before = rng.normal(size=(3, 6)), rng.normal(size=(3, 10))
    check_box(inputs, before, rng.uniform(size=(6, 10)), np.zeros((6, 10)), 1)


# One neuron -------------------------------------------------------------------------------------


def test_sliding_neuron_is_a_linear_one_with_a_projection():
    # Along the boundary the neuron is one mode with κ = x₁ᵀp: s = κ y₁/P, d = κ²/P.
    weights = [0.1 * ALONG[None], np.array([[0.1]])]
    times, errors = np.linspace(0, 30, 61), []
    strength = theory.mode_trajectory(times, 0.8 / 2, 0.64 / 2, 0.01)[0]
    exact = ((1 - 0.8 * strength) ** 2 + 4) / 4
    for step in (0.04, 0.02, 0.01):
        flow = theory.relu_flow(ONE, weights, SLIDE, times, step=step)
        assert (flow.states[:, 0] == [1, 0]).all() and flow.events().empty
        errors.append(reln.deviation(flow.losses - 1, exact - 1))
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
        flow = theory.relu_flow(ONE, [start[None, :2], start[2:, None]], SLIDE, [20], step=step)
        (event,) = flow.events().to_dict("records")
        assert (event["neuron"], event["sample"], event["from"], event["to"]) == (0, 1, -1, 0)
        assert abs(event["time"] - hit) < 3 * step
        last = np.concatenate([np.ravel(layer) for layer in flow.weights])
        gaps.append(np.abs(last - rest.y[:, -1]).max())
    assert gaps[1] < 0.6 * gaps[0] < 0.01


def test_neuron_leaves_a_boundary_when_the_push_wins():
    # The first target is so large that it lifts the neuron over the boundary of the second.
    task = tasks.Task(SLIDE.inputs, [[20.0, -2.0]])
    flow = theory.relu_flow(ONE, [np.array([[0.1, -0.2]]), np.array([[0.2]])], task, [0, 5])
    found = flow.events()
    assert (found["from"].iloc[0], found["to"].iloc[0]) == (-1, 1)  # crosses without a rest


GRAZED = np.array([[1.0, 0.0, 0.6], [0.5, 1.0, 0.8], [1.0, 0.0, 0.0]])  # lifts, repels, lowers
GRAZES = tasks.Task(GRAZED, [[1.2, 1.0, -0.8]])


def one_neuron(w, task, times, **options):
    network = networks.ReLUNetwork((len(w), 1, 1))
    return theory.relu_flow(network, [np.array([w]), np.ones((1, 1))], task, times, **options)


def test_a_boundary_that_repels_is_warned_of():
    # The first sample lifts the neuron towards the boundary of the second. A step before it is
    # reached the third turns on, which lowers it by more. On, the second would lift itself.
    height = np.array([-0.0075, -0.0135])  # of the second and third sample
    start = [(height[1] - 0.8 * height[0]) / 0.6, height[0], 0.2]
    with pytest.warns(UserWarning, match="100.0% of the weight.*boundary that repels"):
        flow = one_neuron(start, GRAZES, [0, 0.3], step=0.01)
    assert flow.repelled == 1
    assert flow.states[:, 0].tolist() == [[1, -1, -1], [1, -1, 1]]

    start = [0.2, 0.0, 0.2]  # on the boundary of the second, and on for the others
    with pytest.warns(UserWarning, match="boundary that repels"):
        one_neuron(start, GRAZES, [0, 0.1], step=0.01)
    lifted = tasks.Task(GRAZED, [[9.0, 1.0, -0.8]])  # now the first wins: a crossing
    assert one_neuron(start, lifted, [0, 0.1], step=0.01).repelled == 0
    _, _, flow = flow_of(CONTEXTS, 40, 1e-4, [60.0])
    assert flow.repelled < 0.05  # trees keep away: no warning, which would be an error here


# Bad data ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kind", ["dependent", "line", "repeated", "nearly repeated", "opposite", "zero", "one sample"]
)
@pytest.mark.filterwarnings("ignore:.*boundary that repels")
def test_flow_follows_descent_on_awkward_inputs(kind):
    rng = np.random.default_rng(3)
    x, zero = rng.normal(size=(3, 6)), np.zeros((3, 6))
    inputs = {
        "dependent": np.hstack([x, x @ rng.normal(size=(6, 6))]),
        "line": np.outer([1.0, 2, 3], rng.normal(size=12)),
        "repeated": np.repeat(x, 2, axis=1),
        "nearly repeated": np.hstack([x, x + 1e-9 * rng.normal(size=x.shape)]),
        "opposite": np.hstack([x, -x]),
        "zero": np.hstack([x, zero]),
        "one sample": x[:, :1],
    }[kind]
    task = tasks.Task(inputs, rng.normal(size=(2, inputs.shape[1])))
    network, step = network_of(task, 6), 0.005
    weights, times = network.init(KEY, 0.1), step * np.arange(1000)
    flow = theory.relu_flow(network, weights, task, times, step=step)
    run = training.train(network, weights, task, step, len(times))
    assert flow.residual <= 1e-10
    assert reln.deviation(flow.losses, run.losses, learned=None) < 0.01
    assert (flow.states[:, :, (inputs == 0).all(axis=0)] == -1).all()


def test_tiny_weights_have_the_gates_of_small_ones():
    # Their squares are 0 in double precision; as long as both are small, only ratios matter.
    task, times = CONTEXTS, np.linspace(0, 10, 11)
    network = network_of(task, 10)
    weights = network.init(KEY, 1e-20)
    small, tiny = (
        theory.relu_flow(network, [factor * w for w in weights], task, times)
        for factor in (1.0, 1e-180)
    )
    equal(tiny.states, small.states)
    assert len(tiny.events()) == len(small.events())


def test_single_precision_follows_double():
    task, times = CONTEXTS, np.linspace(0, 30, 31)
    network = network_of(task, 8)
    weights = network.init(KEY, 0.01)
    double = theory.relu_flow(network, weights, task, times, step=0.02)
    with jax.enable_x64(False):
        single = theory.relu_flow(network, list(map(np.asarray, weights)), task, times, step=0.02)
        dead = one_neuron([-1.0], tasks.Task([[1.0]], [[1.0]]), [1.0])
        nothing = networks.ReLUNetwork((1, 1, 1))
        zeros = [np.zeros((1, 1)), np.zeros((1, 1))]
        none = theory.relu_flow(nothing, zeros, tasks.Task([[1.0]], [[1.0]]), [1.0])
    assert single.weights[0].dtype == np.float32
    close(single.losses, double.losses, rtol=1e-2)
    assert (single.states == double.states).mean() > 0.97
    assert dead.repelled == none.repelled == 0


# Networks ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("task", [tasks.xor(0.5), CONTEXTS], ids=["xor", "contexts"])
def test_flow_is_the_limit_of_descent(task):
    network = network_of(task, 24)
    weights, errors = network.init(KEY, 0.01), []
    for step in (0.04, 0.01):
        times = step * np.arange(round(24 / step))
        flow = theory.relu_flow(network, weights, task, times, step=step)
        run = training.train(network, weights, task, step, len(times))
        assert flow.residual <= 1e-10 and flow.step == pytest.approx(step)
        errors.append(reln.deviation(flow.losses, run.losses, learned=None))
    assert errors[1] < 0.6 * errors[0] and errors[1] < 2e-3


def test_neurons_between_events_are_gated_linear_with_a_projection():
    task, step = CONTEXTS, 0.02
    times = step * np.arange(2500)
    network, _, flow = flow_of(task, 8, 0.01, times, step=step, observe=lambda weights: weights)
    first, second = flow.observed
    inputs, P, checked = np.asarray(task.inputs), task.num_samples, 0
    outputs = np.stack([network.apply([a, b], inputs) for a, b in zip(first, second, strict=True)])
    residuals = np.asarray(task.targets) - outputs
    for neuron in range(8):
        states = flow.states[:, neuron]
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
                v = v + step * residuals[now] @ (on * (w @ inputs)) / P
                w = w + step * project @ (inputs @ (on * push))
            close(w, first[end, neuron], rtol=0, atol=1e-9)
            close(v, second[end, :, neuron], rtol=0, atol=1e-9)
            checked += 1
    assert checked > 5


def test_gate_is_held_by_the_running_maximum_of_its_item_weights():
    task, step = tasks.contextual(3, 4), 0.03
    times = step * np.arange(2000)
    _, _, flow = flow_of(task, 20, 1e-3, times, step=step, observe=lambda weights: weights[0])
    kept = 0
    for context in range(3):
        off = (flow.states[:, :, 4 * context : 4 * context + 4] < 1).all(axis=2)
        for neuron in np.flatnonzero(off[-1]):
            since = len(times) - np.argmin(off[::-1, neuron]) if not off[:, neuron].all() else 0
            w = flow.observed[since:, neuron]
            highest = np.maximum.accumulate(w[:, :4].max(axis=1))
            law = -np.maximum(-w[0, 4 + context], highest)
            close(w[:, 4 + context], law, atol=1e-8)
            kept += len(w) > 500
    assert kept > 3


def test_nothing_slides_for_exclusive_or_with_a_large_margin():
    for margin, slides in ((1.5, False), (0.0, True)):
        _, _, flow = flow_of(tasks.xor(margin), 30, 1e-3, np.linspace(0, 30, 40))
        assert (flow.states == 0).any() == slides


def test_flow_goes_on_from_its_own_weights():
    task, times = CONTEXTS, np.linspace(0, 30, 31)
    network, _, whole = flow_of(task, 12, 0.01, times, step=0.02)
    _, _, half = flow_of(task, 12, 0.01, times[:21], step=0.02)
    rest = theory.relu_flow(network, half.weights, task, times[:11], step=0.02)
    close(rest.losses, whole.losses[20:], rtol=1e-6)
    assert (rest.states[0] == whole.states[20]).all()
    assert (rest.states[-1] == whole.states[-1]).mean() > 0.99


def test_events_lead_from_state_to_state():
    network, _, flow = flow_of(CONTEXTS, 12, 0.01, [0.0, 3, 3, 11, 30], step=0.02)
    found, now = flow.events(), flow.states[0].copy()
    assert found["time"].is_monotonic_increasing and len(found) > 20
    for time, states in zip(flow.times, flow.states, strict=True):
        here = found[found["time"] <= time + 1e-9]
        found = found[found["time"] > time + 1e-9]
        for _, neuron, sample, old, new in here.itertuples(index=False):
            assert now[neuron, sample] == old
            now[neuron, sample] = new
        assert (now == states).all()
    repeats = flow.events().diff()[["neuron", "sample"]].ne(0)
    assert repeats.any(axis=None)


def test_turned_inputs_with_more_of_them_than_samples_change_nothing():
    task, times = CONTEXTS, np.linspace(0, 20, 21)
    turned = np.linalg.qr(np.random.default_rng(0).normal(size=(9, 9)))[0][:, :6]
    network = network_of(task, 10)
    first, second = network.init(KEY, 0.01)
    flow = theory.relu_flow(network, [first, second], task, times, step=0.02)
    wide = tasks.Task(turned @ task.inputs, task.targets)
    outside = np.random.default_rng(1).normal(size=(10, 9)) * 0.01
    outside -= outside @ turned @ turned.T
    weights = [first @ turned.T + outside, second]
    again = theory.relu_flow(network_of(wide, 10), weights, wide, times, step=0.02)
    close(again.losses, flow.losses, rtol=1e-8)
    close(again.weights[0] - outside, flow.weights[0] @ turned.T, atol=1e-8)


def test_default_step_resolves_small_and_large_weights():
    task = tasks.xor(1.0)
    network = network_of(task, 20)
    small = theory.relu_flow(network, network.init(KEY, 1e-3), task, [5.0])
    large = theory.relu_flow(network, network.init(KEY, 2.0), task, [5.0])
    assert large.step < 0.1 * small.step < 0.01 and large.losses[0] < 1e-3
    assert theory.relu_flow(network, network.init(KEY, 1e-3), task, [0.0]).losses[0] > 0.49


def test_what_is_traced_is_refused():
    network = network_of(CONTEXTS, 5)
    with pytest.raises(ValueError, match="traces"):
        jax.jit(lambda w: theory.relu_flow(network, w, CONTEXTS, [1.0]).losses)(
            network.init(KEY, 0.1)
        )
