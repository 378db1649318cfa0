"""The experiment of ``assumptions_sgd`` with half the step."""

from mdsgdln_book.experiments import assumptions_sgd


def experiment(batch: int, draws: str, seed: int) -> dict:
    """See ``assumptions_sgd.experiment``."""
    return assumptions_sgd.experiment(batch, draws, seed)
