"""Further ways to fix gates in two hidden layers, tried before any was judged."""

from mdsgdln_book.experiments import two_hidden


def experiment(network: str, seed: str) -> dict:
    """Return the thinned loss of one of ``two_hidden.NETWORKS``."""
    return {"losses": two_hidden.experiment(network, seed)["losses"]}
