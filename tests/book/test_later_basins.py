"""Basins of later residuals: the first ones are those of the task."""

import jax
import numpy as np
import pytest

from mdsgdln_book.experiments import later_basins


@pytest.fixture(autouse=True)
def double_precision():
    with jax.enable_x64(True):
        yield


def test_seeds_are_the_basins_with_their_masses():
    x, y = np.eye(2), np.diag([2.0, 1.0])  # samples that do not meet, as theory.basins knows them
    small = 1e-3 * np.random.default_rng(0).normal(size=(2048, 4))
    fast, slow = later_basins.seeds(small, x, y, y)
    isolated = 3 / 16 + 1 / (8 * np.pi)
    np.testing.assert_allclose(fast**2 / 2048e-6, [isolated, 0, isolated, 0], atol=0.02)
    np.testing.assert_allclose(slow**2 / 2048e-6, [0, 5 / 8 * isolated] * 2, atol=0.02)


def test_neurons_that_grew_are_as_strong_as_the_one_that_stood_for_them():
    members = np.array([[1.0, 0.1], [1.0, -0.2], [0.0, 3.0]])
    large = np.array([[5.0, 0.0], [0.0, 7.0], [-2.0, 0.0]])
    found = later_basins.shared(large, members)
    np.testing.assert_allclose(found[:2, 0] @ found[:2, 0], 25)
    np.testing.assert_allclose(found[:2, 1] / found[:2, 0], [0.1, -0.2])
    np.testing.assert_allclose(found[2:], [[0, 7], [-2, 0]])
