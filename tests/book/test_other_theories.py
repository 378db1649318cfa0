"""Other theories: the exact solution against integration, alternating flows where known."""

import jax
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from mdsgdln import tasks
from mdsgdln_book.experiments import other_theories


@pytest.fixture(autouse=True)
def double_precision():
    with jax.enable_x64(True):
        yield


@pytest.mark.parametrize("imbalance", [-2.0, 0.0, 0.5])
@pytest.mark.parametrize("scale", [0.01, 1.0])
def test_exact_map_is_that_of_integration(scale, imbalance):
    task = tasks.semantic("tree", 4)
    inputs, targets = np.asarray(task.inputs, float), np.asarray(task.targets, float)
    rng = np.random.default_rng(1)
    first, second = other_theories.balanced_start(rng, 4, task, scale, imbalance)
    np.testing.assert_allclose(
        first @ first.T - second.T @ second, imbalance * np.eye(4), atol=1e-12
    )
    times = np.linspace(0, 40, 9)

    def slope(_, z):
        w, u = z[:16].reshape(4, 4), z[16:].reshape(-1, 4)
        error = (targets - u @ w @ inputs) @ inputs.T / 4
        return np.concatenate([(u.T @ error).ravel(), (error @ w.T).ravel()])

    start = np.concatenate([first.ravel(), second.ravel()])
    solution = solve_ivp(slope, (0, 40), start, "DOP853", t_eval=times, rtol=1e-12, atol=1e-13)
    maps = [z[16:].reshape(-1, 4) @ z[:16].reshape(4, 4) for z in solution.y.T]
    exact = other_theories.exact_maps(task, first, second, times)
    np.testing.assert_allclose(exact, maps, atol=1e-8)


def test_alternating_flows_learn_samples_that_do_not_meet_one_by_one():
    """Aligned neurons of size √2 σ on two orthogonal samples: jumps at ln(1/√2σ)/s, s = 1 and ½."""
    task = tasks.Task(np.eye(2), np.diag([2.0, 1.0]))
    drawn = np.array([[1.0, 0, 1, 0], [0, 1, 0, 1]])
    step = 0.01
    times, losses = other_theories.alternating_flows(task, drawn, 1e-8, step, 100.0)
    expected = np.log(1e8 / np.sqrt(2)) / np.array([1, 0.5])
    np.testing.assert_allclose(times, expected, rtol=0, atol=step)
    np.testing.assert_allclose(losses, [0.25, 0], atol=1e-4)
