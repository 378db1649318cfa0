"""Statistics: modes rebuild the correlations, effective datasets give Eq. 4."""

import numpy as np
import pytest
from numpy.testing import assert_allclose as close, assert_array_equal as equal

from mdsgdln import networks, statistics, tasks
from mdsgdln.tasks import Task
from mdsgdln_book import linear_maps


def test_equal_singular_values_are_turned_to_diagonalise_the_inputs():
    turn, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(4, 4)))
    variances = np.array([1.0, 2.0, 3.0, 4.0])
    inputs = turn * np.sqrt(variances)[None, :] @ turn.T * 2  # Σ^x = turn diag(variances) turnᵀ
    cross = np.linalg.qr(np.random.default_rng(1).normal(size=(5, 4)))[0]  # all s equal
    modes = statistics.modes(Task(inputs, 4 * cross @ np.linalg.inv(inputs).T))
    close(modes.singular_values, 1)
    close(sorted(modes.input_variances), variances)
    assert modes.coupling < 1e-12


def test_coupling_worked_out_by_hand():
    """Modes e₁ and e₂, Σ^x = (2 1; 1 2): √2 of the norm √10 is off the diagonal."""
    inputs = np.sqrt(2) * np.linalg.cholesky([[2.0, 1.0], [1.0, 2.0]])
    modes = statistics.modes(Task(inputs, 2 * np.diag([3.0, 1.0]) @ np.linalg.inv(inputs).T))
    close(modes.singular_values, [3, 1])
    close(modes.input_variances, [2, 2])
    assert modes.coupling == pytest.approx(np.sqrt(1 / 5))
    assert len(statistics.modes(Task(np.eye(3), np.zeros((2, 3)))).singular_values) == 0


def test_alignment_worked_out_by_hand():
    left, right = np.eye(3)[:, :1], np.eye(2)[:, :1]
    maps = np.zeros((4, 3, 2))
    maps[:, 0, 0] = 3, 3, 3, 0
    maps[1, 1, 0] = 4  # sends it elsewhere, too: 3²/(5·3)
    maps[2, 0, 1] = -4  # sends something else there, too
    maps[3, 0, 1] = maps[3, 2, 0] = 1  # all of it elsewhere
    close(linear_maps.alignment(maps, left, right), [1, 0.6, 0.6, 0])
    tiny = np.array([0.0, 1e-200])[:, None, None] * maps[0]
    close(linear_maps.alignment(tiny, left, right), [0, 1])


def test_alignment_does_not_depend_on_the_basis_of_equal_modes():
    rng = np.random.default_rng(0)
    turn = np.linalg.qr(rng.normal(size=(2, 2)))[0]
    left, right, maps = (rng.normal(size=shape) for shape in ((5, 2), (4, 2), (3, 5, 4)))
    turned = linear_maps.alignment(maps, left @ turn, right @ turn)
    close(turned, linear_maps.alignment(maps, left, right))


def test_no_linear_map_learns_of_the_residual():
    task = tasks.contextual(3, structures=["tree", "ring", "cross"])  # Σ^x has no inverse
    left = linear_maps.linear_residual(task)
    equal(left.inputs, task.inputs)
    close(left.targets @ left.inputs.T, 0, atol=1e-12)
    learned = np.asarray(task.targets - left.targets)
    fit = np.linalg.lstsq(np.asarray(task.inputs).T, learned.T)[0].T
    close(fit @ task.inputs, learned, atol=1e-12)


def test_effective_dataset_gives_the_gated_correlations():
    rng = np.random.default_rng(0)
    task = Task(rng.normal(size=(3, 6)), rng.normal(size=(2, 6)))
    gates = rng.normal(size=(2, 6))
    network = networks.pathways(task, gates, 4, np.array([[1, 1, 1], [0, 1, 1]]))
    path = ("input 1", "pathway 1", "output")
    dataset = statistics.effective_dataset(network, task, path)
    gated = gates[1] * np.asarray(task.inputs)[1:]
    close(dataset.targets @ dataset.inputs.T, np.asarray(task.targets) @ gated.T)
    close(dataset.inputs @ dataset.inputs.T, gated @ gated.T)
