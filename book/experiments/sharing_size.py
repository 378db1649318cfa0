"""The same for other numbers of domains and of neurons."""

from mdsgdln_book.experiments import sharing


def experiment(kind: str, scale: float, seed: int) -> dict:
    """Return what ``sharing.experiment`` returns."""
    return sharing.experiment(kind, scale, seed)
