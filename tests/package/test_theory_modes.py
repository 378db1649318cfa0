"""Mode trajectories against training, against one another, and at their limits."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose as close, assert_array_equal as equal

from mdsgdln import deviation, squared_error, statistics, tasks, theory, training
from mdsgdln.networks import LinearNetwork
from mdsgdln.theory.trajectories import integrate
from mdsgdln.training import DivergenceError

TASK = tasks.semantic(num_items=4)
MODES = statistics.modes(TASK)
END = 24.0  # the weakest mode is learned by then


def strength_that_grows(first, second, modes):
    """‖(W₁v_α + W₂ᵀu_α)/2‖² of each mode."""
    return np.sum(((first @ modes.right + second.T @ modes.left) / 2) ** 2, axis=0)


def aligned_weights(start, num_hidden=6):
    """Balanced weights along the modes: W₁ = √a₀ R Vᵀ, W₂ = √a₀ U Rᵀ with RᵀR = I."""
    turn, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(num_hidden, 4)))
    return [jnp.sqrt(start) * turn @ MODES.right.T, jnp.sqrt(start) * MODES.left @ turn.T]


def trained_strengths(learning_rate, start, until):
    """Strengths u_αᵀ W₂ W₁ v_α at the times 0, 1, 2, … of training from aligned weights."""
    left, right = jnp.asarray(MODES.left), jnp.asarray(MODES.right)
    every = round(1 / learning_rate)
    run = training.train(
        LinearNetwork((4, 6, 7)),
        aligned_weights(start),
        TASK,
        learning_rate,
        round(until / learning_rate),
        observe=lambda w: jnp.diag(left.T @ w[1] @ w[0] @ right),
        every=every,
    )
    return run.observed.T


def test_equation_seven_is_the_limit_of_small_steps():
    start = 0.01
    times = np.arange(END)
    exact = theory.mode_trajectory(times, MODES.singular_values, MODES.input_variances, start)
    errors = [trained_strengths(1 / steps, start, END) - exact for steps in (128, 256, 512)]
    sizes = [float(jnp.abs(error).max()) for error in errors]
    for coarse, fine in zip(sizes[:-1], sizes[1:], strict=True):
        assert coarse / fine == pytest.approx(2, rel=0.02)
    coarse, fine = (2 * half - whole for whole, half in zip(errors[:-1], errors[1:], strict=True))
    assert float(jnp.abs(4 * fine - coarse).max()) / 3 <= 1e-5


def test_measured_start_scatters_around_the_expected_one():
    network = LinearNetwork((4, 50, 7))
    starts = jnp.stack(
        [
            strength_that_grows(*network.init(jax.random.key(seed), [0.1, 0.3]), MODES)
            for seed in range(400)
        ]
    )
    expected = theory.expected_initial_strength(50, [0.1, 0.3])
    assert expected == pytest.approx(50 * (0.01 + 0.09) / 4)
    close(starts.mean(axis=0), expected, rtol=0.05)
    close(starts.std(axis=0) / expected, np.sqrt(2 / 50), rtol=0.1)


@pytest.mark.parametrize("depth", [1, 2])
def test_slopes_exist_where_a_rate_vanishes(depth):
    """d(0.3)/ds at s = 0 for two layers, d(0.3)/dd at d = 0 for one, by differences."""

    def strength(rate):
        s, d = (rate, 0.7) if depth == 2 else (0.5, rate)
        return theory.mode_trajectory([3.0], s, d, 0.2, depth)[0, 0]

    ends = [strength(step) for step in (0.0, 1e-4, 2e-4)]
    one_sided = (-3 * ends[0] + 4 * ends[1] - ends[2]) / 2e-4
    for rate in (0.0, 1e-12, 1e-8):
        close(jax.grad(strength)(rate), one_sided, rtol=1e-6)


def test_mode_losses_is_the_loss_of_the_map():
    strengths = jnp.array([[0.3], [0.7], [1.1], [0.2]])
    mapping = MODES.left * strengths.T @ MODES.right.T
    expected = squared_error(LinearNetwork((4, 7)), [mapping], TASK)
    close(theory.mode_losses(TASK, MODES, strengths)[0], expected)


@pytest.mark.parametrize(("depth", "start"), [(1, 0.0), (3, 0.05), (4, 0.05)])
def test_depth_formula_against_training(depth, start):
    layer, right, left = start ** (1 / depth), jnp.asarray(MODES.right.T), jnp.asarray(MODES.left)
    inner = [layer * jnp.eye(4)] * (depth - 2)
    weights = [layer * right, *inner, layer * left] if depth > 1 else [jnp.zeros((7, 4))]
    run = training.train(LinearNetwork((4,) * depth + (7,)), weights, TASK, 0.005, 8000)
    times = 0.005 * np.arange(8000)
    strengths = theory.mode_trajectory(
        times, MODES.singular_values, MODES.input_variances, start, depth
    )
    assert deviation(theory.mode_losses(TASK, MODES, strengths), run.losses) < 0.01


@pytest.mark.parametrize("s", [0.05, 1.0, 5.0])
@pytest.mark.parametrize(("d", "start"), [(0.05, 1e-8), (5.0, 1e-8), (0.7, 1e-2)])
def test_limits_and_the_published_form(s, d, start):
    times = np.array([0.0, 0.5 / s, 3.0 / s, 100.0 / s])
    strength = theory.mode_trajectory(times, s, d, start)[0]
    published = (s / d) / (1 - (1 - s / (d * start)) * np.exp(-2 * s * times))
    close(strength, published, rtol=1e-8)
    close(strength[0], start)
    close(strength[-1], s / d, rtol=1e-6)
    shallow = theory.mode_trajectory(np.array([0.0, 100 / d]), s, d, start, 1)[0]
    close(shallow, [start, s / d], rtol=1e-9)


def test_a_mode_without_strength_fades():
    times = np.array([0.0, 1.0, 4.0])
    close(theory.mode_trajectory(times, 0.0, 2.0, 0.5)[0], 0.5 / (1 + 2 * 2.0 * 0.5 * times))
    close(theory.mode_trajectory(times, 0.0, 0.0, 0.5)[0], 0.5)
    equal(theory.mode_trajectory([0.0, 1.0, 1e4], 2.0, 1.0, 0.0)[0], 0)
    close(theory.mode_trajectory(times, 2.0, 0.0, 0.5, 1)[0], 0.5 + 2 * times)
    assert theory.mode_trajectory(times, [], [], 0.1).shape == (0, 3)  # of no mode


def test_known_starts_are_checked_while_the_rest_is_traced():
    times = np.array([0.0, 1.0])
    compiled = jax.jit(lambda s: theory.mode_trajectory(times, s, 1.0, np.array([0.1])))
    close(compiled(2.0), theory.mode_trajectory(times, 2.0, 1.0, 0.1))
    with pytest.raises(ValueError, match="starts: expected"):
        jax.jit(lambda s: theory.mode_trajectory(times, s, 1.0, np.array([-0.1])))(2.0)


@pytest.mark.parametrize("times", [[0.0], [0.0, 0.0, 1.0, 1.0, 3.0], [0.5]])
def test_integration_returns_the_state_at_each_time(times):
    times = np.array(times)
    found = integrate(lambda state: np.array([-0.5, 2.0]) * state, np.array([3.0, 1.0]), times)
    close(found, np.stack([3 * np.exp(-times / 2), np.exp(2 * times)], axis=1), rtol=1e-9)


def test_what_grows_without_bound_is_refused():
    with pytest.raises(DivergenceError, match="without bound"):
        integrate(lambda state: state**2, np.ones(1), np.array([0.0, 2.0]))
