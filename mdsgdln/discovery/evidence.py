"""Whether modes of density are kinds, or what a population without kinds would have, too.

Surrogates without kinds are thresholded Gaussians of the same covariance, of any rank.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float
from scipy.special import bdtrc, ndtr, ndtri

from mdsgdln.discovery.density import LEVEL, Mixture, States, density_modes, mixture

SHARES = 0.02, 0.05, 0.1  # of all neurons, that a mode has at least: the first that gives kinds
SURROGATES = 4  # of every rank
FEWER_NEURONS, FEWER_CONDITIONS = 300, 100  # of surrogates
NOISIEST, AMBIGUOUS = 0.2, 0.3  # rates of flips: in all conditions of a kind, and in one of them
UNDECIDED = 0.3  # share of the neurons in kinds whose gates are not decided
MARGIN = 0.05  # of the silhouette above all surrogates; with few kinds, of what is left to one
RANKS = (1, 2, 3, 5, None)  # of the Gaussians; None: all of the covariance, as in the ePAIRS test
NODES, NODE_WEIGHTS = np.polynomial.legendre.leggauss(20)
ALL_BUT_ONE = 0.998  # a correlation that is not told from one
HALVINGS = 20  # of the interval in which a correlation lies


class Tested(NamedTuple):
    """Modes of density, and whether they are kinds.

    Attributes:
        modes: the mixture.
        share: of all neurons, that each has at least.
        clear: whether the gate of each is decided, shape (K,).
        reason: why they are no kinds; empty if they are.
        close: patterns that would be modes if one that differs from another in one or two
            conditions counted; 0 where there are two modes or more without that.
        apart: their silhouette; NaN where it does not decide.
        null: the same of each surrogate.
    """

    modes: Mixture
    share: float
    clear: Bool[np.ndarray, " K"]
    reason: str
    close: int = 0
    apart: float = np.nan
    null: tuple[float, ...] = (np.nan,)


def tested_modes(patterns: States, rng, seed: int) -> Tested:
    """Return the kinds of the first share that gives some, or modes that are none.

    These are of the last share with two or more, whose reason says most.
    """
    tests: list[Tested] = []
    for share in SHARES:  # a noisy kind has many small modes of its own
        tests.append(_test(patterns, share, rng, seed))
        if not tests[-1].reason:
            return tests[-1]
    several = [each for each in tests if len(each.modes.gates) > 1]
    return several[-1] if several else tests[0]._replace(close=max(each.close for each in tests))


def _test(patterns: States, share: float, rng, seed: int) -> Tested:
    modes, separate = density_modes(patterns, share)
    number = len(modes.gates)
    reason, clear = continuum(modes, patterns)
    if reason:
        return Tested(modes, share, clear, reason, separate * (number < 2))
    small = _small(patterns, rng)
    apart = silhouette(density_modes(small, share)[0], small, number)
    others = surrogates(small, SURROGATES, seed)
    null = [silhouette(mixture(other, share), other, number) for other in others]
    reason = verdict(modes.gates, apart, max(null))
    return Tested(modes, share, clear, reason, 0, apart, tuple(null))


def _small(patterns: States, rng) -> States:
    """Return a part of neurons and conditions, of which surrogates are drawn in seconds."""
    neurons, conditions = (rng.permutation(number) for number in patterns.on.shape)
    part = np.ix_(np.sort(neurons[:FEWER_NEURONS]), np.sort(conditions[:FEWER_CONDITIONS]))
    part = States(patterns.on[part], patterns.off[part])
    return part.take(np.flatnonzero(part.on.any(axis=1)))


def continuum(found: Mixture, patterns: States) -> tuple[str, Bool[np.ndarray, " K"]]:
    """Return why modes are no kinds, if they are not, and which modes have *decided* gates.

    The neurons of these agree on every condition. They may flip, as often in one condition as in
    another. Those of a stretch of a continuum do not agree on the conditions at its ends.
    """
    kind = found.kind(patterns)
    members = [patterns.take(kind == number) for number in range(len(found.gates))]
    sizes = np.array([len(each.on) for each in members])
    pairs = zip(members, found.gates, strict=True)
    clear = np.array([_is_decided(*pair) for pair in pairs], bool)
    if len(members) < 2:
        return "no two modes of density are left with an empty gap between them", clear
    undecided = sizes[~clear].sum() / sizes.sum()
    if undecided > UNDECIDED or clear.sum() < 2:
        return (
            f"{undecided:.0%} of the neurons are in modes whose gates are not decided, as in "
            "stretches of a continuum, or kinds that differ in one or two conditions"
        ), clear
    return "", clear


def _is_decided(members: States, gate: np.ndarray) -> bool:
    wrong = members.wrong(gate).sum(axis=0)
    known = np.maximum(members.known.sum(axis=0), 1).astype(int)
    mean = wrong.sum() / known.sum()
    unlikely = bdtrc(wrong - 1, known, mean) < LEVEL / len(gate)
    return bool(mean < NOISIEST and not (unlikely & (wrong > AMBIGUOUS * known)).any())


def silhouette(found: Mixture, patterns: States, most: int) -> float:
    """Return the mean over neurons of 1 − a/b, a the distance to its gate and b to the next.

    Neurons that are not in one of the ``most`` largest modes count as zero.
    """
    if len(found.gates) < 2:
        return 0.0
    kind, misfit = found.kind(patterns), patterns.misfit(found.gates)
    sizes = np.bincount(kind[kind >= 0], minlength=len(found.gates))
    largest = np.argsort(-sizes, kind="stable")[:most]
    own = misfit[np.arange(len(kind)), kind]
    misfit[np.arange(len(kind)), kind] = np.inf
    fit = 1 - own / np.maximum(misfit.min(axis=1), 1e-12)
    return float(np.where(np.isin(kind, largest), np.maximum(fit, 0), 0).mean())


def verdict(gates: np.ndarray, apart: float, null: float) -> str:
    """Return why modes are no kinds; empty if they are."""
    if not are_many(gates) or is_clear(gates, apart, null):
        return ""
    return (
        f"patterns are no farther apart than without kinds: in {len(gates)} groups the silhouette "
        f"is {apart:.2f}, in surrogates up to {null:.2f}"
    )


def are_many(gates: np.ndarray) -> bool:
    """Return whether there are as many as independent responses in groups of conditions have."""
    return len(gates) > groups_of(gates)[0] + 1


def is_clear(gates: np.ndarray, apart: float, null: float) -> bool:
    """Return whether kinds are farther apart than in surrogates, by the silhouette."""
    return apart > null + MARGIN * (1 if are_many(gates) else 1 - null)


def groups_of(gates: np.ndarray) -> tuple[int, int]:
    """Return the number of groups of conditions, and of those in which neighbours differ.

    In a group all gates are the same, or the opposite. Of all kinds, the one whose nearest
    neighbour is farthest counts.
    """
    columns = gates.T[gates.any(axis=0) & ~gates.all(axis=0)]
    groups = np.unique(np.where(columns[:, :1] > 0, 1 - columns, columns), axis=0).T
    differing = (groups[:, None] != groups[None]).sum(axis=2) + len(columns) * np.eye(len(groups))
    return groups.shape[1], int(differing.min(axis=1).max())


def surrogates(patterns: States, each: int, seed: int) -> Iterator[States]:
    """Yield patterns of neurons that are thresholded Gaussians, ``each`` of every rank.

    They are active as often in every condition and, at full rank, in every pair of conditions. Of
    lower rank they have the leading factors, and independent noise for what these leave.
    """
    rng, known = np.random.default_rng(seed), patterns.known
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
    on, known = patterns.on, patterns.known
    number = np.maximum(known.sum(axis=0), 1)
    thresholds = ndtri(np.clip(on.sum(axis=0) / number, 0.5 / number, 1 - 0.5 / number))
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
    return (ndtr(first) * ndtr(second))[:, 0] + integral / (2 * np.pi)
