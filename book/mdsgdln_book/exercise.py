"""Exercises with a gap, which a reader fills in where the chapter runs."""

import numpy as np


def check(answer, expected: float, within: float = 0.02) -> None:
    """Say whether an answer is what the code next to it finds; of a gap still open, `...`, nothing.

    >>> check(..., 2.0), check(1.99, 2.0), check(3.0, 2.0)
    Right.
    Not yet.
    (None, None, None)
    """
    if answer is not ...:
        print("Right." if np.isclose(answer, expected, rtol=within, atol=0) else "Not yet.")
