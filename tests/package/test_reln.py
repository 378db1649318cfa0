"""The deviation of loss curves, races between gatings."""

import numpy as np
import pytest
from bad_input import refused
from numpy.testing import assert_array_equal as equal

from mdsgdln import networks, reln, tasks, theory

REFERENCE = np.array([1.0, 0.5, 0.2, 0.005])


def test_deviation_is_the_summed_difference_over_the_summed_reference():
    assert reln.deviation(REFERENCE, REFERENCE) == 0
    assert reln.deviation(1.1 * REFERENCE, REFERENCE) == pytest.approx(0.1)
    found = reln.deviation(REFERENCE + np.array([0, 0.1, -0.1, 0]), REFERENCE)
    assert found == pytest.approx(0.2 / REFERENCE.sum())


def test_the_reference_has_to_fall_as_far_as_asked_for():
    plateau = REFERENCE + 0.1
    with refused(r"reference: .* below 0.05 of its start.*learned=None"):
        reln.deviation(plateau, plateau, learned=0.05)
    for learned in (0.1, None):
        assert reln.deviation(1.1 * plateau, plateau, learned=learned) == pytest.approx(0.1)


@pytest.mark.parametrize(("margin", "fastest"), [(0.5, "four"), (1.25, "two")])
def test_race_ranks_what_predict_losses_says(margin, fastest):
    task, times = tasks.xor(margin), np.linspace(0, 40, 81)
    candidates = {
        "two": networks.pathways(task, np.kron(np.eye(2), np.ones(2)), 64),
        "four": networks.pathways(task, np.eye(4), 32),
    }
    ranked = reln.rank_candidates(task, candidates, 2e-4, times)
    assert next(iter(ranked)) == fastest and set(ranked) == set(candidates)
    for name, network in candidates.items():
        equal(ranked[name], theory.predict_losses(network, task, 2e-4, times))
