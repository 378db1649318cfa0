"""Comparing a ReLU network with the gated networks that imitate it."""

import numpy as np

from mdsgdln import checks
from mdsgdln.checks import Numbers


def deviation(losses: Numbers, reference: Numbers) -> float:
    """Return how far a loss curve is from a reference curve, Σ_t |L − L_ref| / Σ_t L_ref.

    Args:
        losses: L, shape (T,).
        reference: L_ref at the same times, shape (T,).

    Raises:
        ValueError: different lengths, a non-finite entry, or a reference that has not fallen below
            1 % of its start: before learning is over, the number says little.
    """
    losses = np.asarray(checks.finite_array("losses", losses, 1, "(T,)"))
    reference = np.asarray(checks.finite_array("reference", reference, 1, "(T,)"))
    if losses.shape != reference.shape:
        raise ValueError(f"losses: expected shape {reference.shape}, got {losses.shape}")
    if not reference.min() < 0.01 * reference[0]:
        raise ValueError(
            f"reference: expected a loss that falls below 1 % of its start, "
            f"got {reference.min() / reference[0]:.1%} at the lowest"
        )
    return float(np.abs(losses - reference).sum() / reference.sum())
