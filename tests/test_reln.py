"""The deviation of loss curves."""

import numpy as np
import pytest
from bad_input import BAD_INPUT

from mdsgdln import reln

REFERENCE = np.array([1.0, 0.5, 0.2, 0.005])


def test_deviation_is_the_summed_difference_over_the_summed_reference():
    assert reln.deviation(REFERENCE, REFERENCE) == 0
    assert reln.deviation(1.1 * REFERENCE, REFERENCE) == pytest.approx(0.1)
    assert reln.deviation(REFERENCE + np.array([0, 0.1, -0.1, 0]), REFERENCE) == pytest.approx(
        0.2 / REFERENCE.sum()
    )


@pytest.mark.parametrize(
    ("losses", "reference", "name"),
    [
        (REFERENCE[:3], REFERENCE, "losses"),
        (REFERENCE[None], REFERENCE[None], "losses"),
        (REFERENCE, REFERENCE + 0.1, "reference"),
        (REFERENCE * np.nan, REFERENCE, "losses"),
        (REFERENCE, REFERENCE * np.inf, "reference"),
        ([], [], "losses"),
    ],
)
def test_bad_curves_are_named(losses, reference, name):
    with pytest.raises(BAD_INPUT, match=name):
        reln.deviation(losses, reference)
