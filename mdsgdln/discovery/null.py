"""Surrogates without kinds: thresholded Gaussians of the same covariance, of any rank."""

from collections.abc import Iterator

import numpy as np
from jaxtyping import Float
from scipy.stats import norm

from mdsgdln.discovery.density import States

RANKS = (1, 2, 3, 5, None)  # of the Gaussians; None: all of the covariance, as in the ePAIRS test
NODES, NODE_WEIGHTS = np.polynomial.legendre.leggauss(20)
ALL_BUT_ONE = 0.998  # a correlation that is not told from one
HALVINGS = 20  # of the interval in which a correlation lies


def surrogates(patterns: States, each: int, seed: int) -> Iterator[States]:
    """Yield patterns of neurons that are thresholded Gaussians, ``each`` of every rank.

    They are active as often in every condition and, at full rank, in every pair of conditions. Of
    lower rank they have the leading factors, and independent noise for what these leave.
    """
    rng, known = np.random.default_rng(seed), patterns.on + patterns.off
    correlations, thresholds = tetrachoric(patterns)
    values, vectors = np.linalg.eigh(correlations)
    factors = vectors * np.sqrt(np.maximum(values, 0))
    for rank in RANKS * each:
        some = factors[:, -rank:] if rank else factors
        length = np.linalg.norm(some, axis=1, keepdims=True)
        some = some / (np.maximum(length, 1) if rank else length)
        noise = np.sqrt(np.maximum(1 - (some**2).sum(axis=1), 0))
        drawn = rng.standard_normal((len(known), some.shape[1])) @ some.T
        on = drawn + noise * rng.standard_normal(known.shape) < thresholds
        yield States(known * on, known * ~on)


def tetrachoric(patterns: States) -> tuple[Float[np.ndarray, "P P"], Float[np.ndarray, " P"]]:
    """Return the correlations and thresholds of Gaussians that are on as often, and together."""
    on, known = patterns.on, patterns.on + patterns.off
    number = np.maximum(known.sum(axis=0), 1)
    thresholds = norm.ppf(np.clip(on.sum(axis=0) / number, 0.5 / number, 1 - 0.5 / number))
    row, column = np.triu_indices(on.shape[1], 1)
    together = ((on.T @ on) / np.maximum(known.T @ known, 1))[row, column]
    low, high = np.full(len(row), -0.999), np.full(len(row), 0.999)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        fewer = _both_below(thresholds[row], thresholds[column], middle) < together
        low, high = np.where(fewer, middle, low), np.where(fewer, high, middle)
    correlations = np.eye(on.shape[1])
    middle = (low + high) / 2
    middle = np.where(np.abs(middle) > ALL_BUT_ONE, np.sign(middle), middle)
    correlations[row, column] = correlations[column, row] = middle
    return correlations, thresholds


def _both_below(first: np.ndarray, second: np.ndarray, correlation: np.ndarray) -> np.ndarray:
    """Return P(x < first, y < second) of standard normals (Drezner and Wesolowsky 1990)."""
    angles = np.arcsin(correlation)
    sines = np.sin((NODES + 1) / 2 * angles[:, None])
    first, second = first[:, None], second[:, None]
    exponent = (first**2 + second**2 - 2 * first * second * sines) / (2 * (1 - sines**2))
    integral = np.exp(-exponent) @ NODE_WEIGHTS * angles / 2
    return (norm.cdf(first) * norm.cdf(second))[:, 0] + integral / (2 * np.pi)
