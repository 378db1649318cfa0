"""Other theories: alternating flows where they are known."""

import numpy as np

from mdsgdln import tasks
from mdsgdln_book.experiments import other_theories


def test_alternating_flows_learn_samples_that_do_not_meet_one_by_one():
    """Aligned neurons of size √2 σ on two orthogonal samples: jumps at ln(1/√2σ)/s, s = 1 and ½."""
    task = tasks.Task(np.eye(2), np.diag([2.0, 1.0]))
    drawn = np.array([[1.0, 0, 1, 0], [0, 1, 0, 1]])
    step = 0.01
    times, losses = other_theories.alternating_flows(task, drawn, 1e-8, step, 100.0)
    expected = np.log(1e8 / np.sqrt(2)) / np.array([1, 0.5])
    np.testing.assert_allclose(times, expected, rtol=0, atol=step)
    np.testing.assert_allclose(losses, [0.25, 0], atol=1e-4)
