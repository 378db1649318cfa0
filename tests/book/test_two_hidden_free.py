"""Gated networks with two hidden layers and nothing set by hand."""

import jax
import numpy as np
import pytest

from mdsgdln_book.experiments import two_hidden, two_hidden_free


@pytest.mark.parametrize("structures", two_hidden.TASKS)
def test_modules_halve_the_items_of_a_context(structures):
    rows = two_hidden_free.module_gates(structures, "nine").reshape(9, 3, 8)
    assert rows[:3].sum(axis=(1, 2)) == pytest.approx(16)
    for context, halves in enumerate(rows[3:].reshape(3, 2, 3, 8)):
        assert (halves.sum(axis=0)[context] == 1).all() and halves.sum() == 8
        assert (halves.sum(axis=2)[:, context] == 4).all()
        assert halves[0, context, 0] == 1  # whatever the sign of a singular vector is


def test_sliding_modules_see_nothing_along_the_mean():
    inputs = two_hidden.TASKS["trees"].inputs
    on = np.ones((two_hidden_free.NARROW, 24))
    network = two_hidden_free.Sliding(on, on, np.ones(two_hidden_free.NARROW))
    first, second, last = network.init(jax.random.key(0), 0.1)
    alike = np.outer(first[:, 0], np.ones(11))  # all samples have one activity
    assert network.apply([alike, second, last], inputs) == pytest.approx(0, abs=1e-12)
    without = two_hidden_free.Sliding(on, on, np.zeros(two_hidden_free.NARROW))
    outputs = last @ second @ first @ inputs
    assert without.apply([first, second, last], inputs) == pytest.approx(outputs)
