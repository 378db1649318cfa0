"""Gates: lonesum patterns against linear programming and against plain definitions."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_array_equal as equal

from mdsgdln import gates, tasks

COUNTS = {(2, 2): 14, (3, 2): 46, (3, 3): 230, (2, 5): 454, (4, 3): 1066}  # OEIS A099594


def all_patterns(num_items, num_contexts):
    """Every 0/1 matrix (n, C), shape (2^{nC}, n, C)."""
    bits = itertools.product((0, 1), repeat=num_items * num_contexts)
    return np.array(list(bits)).reshape(-1, num_items, num_contexts)


def has_permutation(pattern):
    """The definition: some 2 × 2 part is a permutation matrix."""
    for rows in itertools.combinations(pattern, 2):
        for columns in itertools.combinations(np.transpose(rows), 2):
            (a, b), (c, d) = columns
            if a == d != b == c:
                return True
    return False


@pytest.mark.parametrize("size", [(3, 2), (3, 3)])
def test_criterion_is_linear_programming_on_all_patterns(size):
    patterns, items = all_patterns(*size), np.eye(size[0])
    lonesum = np.array([gates.is_realisable(pattern) for pattern in patterns])
    inputs = tasks.contextual(size[1], size[0], [items] * size[1], items).inputs
    by_context = patterns.swapaxes(1, 2).reshape(len(patterns), -1)
    equal(lonesum, gates.are_realisable(by_context, inputs))  # by linear programming
    equal(lonesum, [not has_permutation(pattern) for pattern in patterns])
    assert lonesum.sum() == COUNTS[size] == gates.count_realisable(*size)


def test_counts():
    assert all(gates.count_realisable(*size) == count for size, count in COUNTS.items())
    assert gates.count_realisable(8, 3) == gates.count_realisable(3, 8) == 354106
    assert [gates.count_realisable(n, 1) for n in (1, 2, 60)] == [2, 4, 2**60]
    for n in range(1, 9):
        assert gates.count_realisable(n, 2) == 2 * 3**n - 2**n
    assert isinstance(gates.count_realisable(100, 100), int)


def test_count_on_general_inputs_is_cover_s():
    """P points in general position in N dimensions: 2 Σ_{k<N} C(P−1, k) dichotomies, and w = 0."""
    inputs = np.random.default_rng(1).normal(size=(3, 7)) * np.logspace(-9, 9, 7)  # of any length
    patterns = all_patterns(7, 1)[:, :, 0]
    assert gates.are_realisable(patterns, inputs).sum() == 2 * (1 + 6 + 15) + 1
    inputs = np.random.default_rng(1).normal(size=(3, 7)) * [[1e-9], [1], [1e9]]  # in any unit
    assert gates.are_realisable(patterns, inputs).sum() == 2 * (1 + 6 + 15) + 1


def test_off_includes_the_boundary():
    task = tasks.xor(0)
    one = [1, 0, 0, 0]  # w = (1, 1, 0) gives 2, −2, 0, 0
    assert gates.are_realisable([one], task.inputs)
    assert not gates.are_realisable([[0, 1, 1, 1]], task.inputs)
    assert gates.are_realisable([[1, 0, 1, 0]], task.inputs)
    assert not gates.are_realisable([[1, 1, 0, 0]], task.inputs)
    assert gates.are_realisable([[1, 1, 0, 0]], tasks.xor(0.1).inputs)


def test_a_bias_is_a_row_of_ones_and_a_zero_input_is_always_off():
    line = np.array([[1.0, 2.0, 3.0]])
    with_ones = np.vstack([line, np.ones(3)])
    assert not gates.are_realisable([[0, 0, 1]], line)
    assert gates.are_realisable([[0, 0, 1]], with_ones)
    assert not gates.are_realisable([[0, 1, 0]], with_ones)
    equal(gates.are_realisable([[1, 0], [1, 1], [0, 0]], [[1.0, 0.0]]), [True, False, True])
    late = np.arange(20) >= np.arange(20)[:, None]
    for days in (1e10 + np.arange(20), 1e-9 * np.arange(20), 1e9 * np.arange(20)):
        assert gates.are_realisable(late, [days, np.ones(20)]).all()
        assert not gates.are_realisable(late[[5]] ^ late[[9]], [days, np.ones(20)])
