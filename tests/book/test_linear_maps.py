"""Linear maps: alignment with modes, and what no linear map learns."""

import numpy as np
from numpy.testing import assert_allclose as close, assert_array_equal as equal

from mdsgdln import tasks
from mdsgdln_book import linear_maps


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


def test_the_linear_part_is_the_fit_of_least_squares():
    task = tasks.contextual(3, structures=["tree", "ring", "cross"])
    inputs, targets = np.asarray(task.inputs), np.asarray(task.targets)
    fit = np.linalg.lstsq(inputs.T, targets.T)[0].T
    part = linear_maps.linear_part(task)
    equal(part.inputs, task.inputs)
    close(part.targets, fit @ inputs, atol=1e-12)
