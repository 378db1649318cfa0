"""The deviation of loss curves, races between gatings."""

import numpy as np
import pytest
from bad_input import BAD_INPUT

from mdsgdln import networks, reln, tasks, theory

REFERENCE = np.array([1.0, 0.5, 0.2, 0.005])


def test_deviation_is_the_summed_difference_over_the_summed_reference():
    assert reln.deviation(REFERENCE, REFERENCE) == 0
    assert reln.deviation(1.1 * REFERENCE, REFERENCE) == pytest.approx(0.1)
    assert reln.deviation(REFERENCE + np.array([0, 0.1, -0.1, 0]), REFERENCE) == pytest.approx(
        0.2 / REFERENCE.sum()
    )


def test_the_reference_has_to_fall_as_far_as_asked_for():
    plateau = REFERENCE + 0.1
    with pytest.raises(ValueError, match=r"reference: .* below 0.01 of its start.*learned=None"):
        reln.deviation(plateau, plateau)
    with pytest.raises(ValueError, match=r"reference: .* below 0.05 of its start"):
        reln.deviation(plateau, plateau, learned=0.05)
    assert reln.deviation(1.1 * plateau, plateau, learned=0.1) == pytest.approx(0.1)
    assert reln.deviation(1.1 * plateau, plateau, learned=None) == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("losses", "reference", "name"),
    [
        (REFERENCE[:3], REFERENCE, "losses"),
        (REFERENCE, REFERENCE + 0.1, "reference"),
    ],
)
def test_bad_curves_are_named(losses, reference, name):
    with pytest.raises(BAD_INPUT, match=name):
        reln.deviation(losses, reference)


@pytest.mark.parametrize(("margin", "fastest"), [(0.5, "four"), (1.25, "two")])
def test_race_ranks_what_predict_losses_says(margin, fastest):
    task = tasks.xor(margin)
    times = np.linspace(0, 40, 81)
    candidates = {
        "two": networks.pathways(task, np.kron(np.eye(2), np.ones(2)), 64),
        "four": networks.pathways(task, np.eye(4), 32),
    }
    ranked = reln.rank_candidates(task, candidates, 2e-4, times)
    assert next(iter(ranked)) == fastest
    assert set(ranked) == set(candidates)
    for name, network in candidates.items():
        np.testing.assert_array_equal(
            ranked[name], theory.predict_losses(network, task, 2e-4, times)
        )


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"times": [0.0]}, "times"),
    ],
)
def test_bad_races_are_named(change, name):
    task = tasks.xor(1.0)
    arguments = {
        "task": task,
        "candidates": {"four": networks.pathways(task, np.eye(4), 2)},
        "scale": 1e-3,
        "times": [0.0, 1.0],
    }
    with pytest.raises(BAD_INPUT, match=name):
        reln.rank_candidates(**arguments | change)
