"""The measurements of ``assumptions_data`` on inputs of unequal variances."""

from mdsgdln_book.experiments import assumptions, assumptions_data

SPREAD, RATE, NUM_STEPS = 0.7, 0.002, 15_000


def experiment(share: float, seed: int) -> dict:
    """Train on inputs that owe ``share`` of their variances to two common causes."""
    variances, off_diagonal = assumptions.common_causes(SPREAD, seed)
    inputs = variances + share * off_diagonal
    return assumptions.apart(assumptions_data.measure, inputs, seed, RATE, NUM_STEPS)
