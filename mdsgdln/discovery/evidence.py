"""Whether modes of density are kinds, or what a continuum would have, too."""

import numpy as np
from jaxtyping import Int

from mdsgdln.discovery.density import Mixture, States

MARGIN = 0.05  # of the silhouette above all surrogates; with few kinds, of what is left to one
UNDECIDED = 0.3  # share of the neurons in kinds whose gates are not decided
MANY_GROUPS, FAR = 6, 3  # groups of conditions; in which neighbouring kinds differ


def sizes(found: Mixture, patterns: States) -> Int[np.ndarray, " K"]:
    """Return the number of neurons in each mode."""
    kind = found.kind(patterns)
    return np.bincount(kind[kind >= 0], minlength=len(found.gates))


def silhouette(found: Mixture, patterns: States, most: int) -> float:
    """Return the mean over neurons of 1 − a/b, a the distance to its gate and b to the next.

    Neurons that are not in one of the ``most`` largest modes count as zero.
    """
    if len(found.gates) < 2:
        return 0.0
    kind, misfit = found.kind(patterns), patterns.misfit(found.gates)
    largest = np.argsort(-sizes(found, patterns))[:most]
    own = misfit[np.arange(len(kind)), kind]
    misfit[np.arange(len(kind)), kind] = np.inf
    fit = 1 - own / np.maximum(misfit.min(axis=1), 1e-12)
    return float(np.where(np.isin(kind, largest), np.maximum(fit, 0), 0).mean())


def _groups(gates: np.ndarray) -> tuple[int, int]:
    """Return the number of groups of conditions, and of those in which neighbours differ.

    In a group all gates are the same, or the opposite. Of all kinds, the one whose nearest
    neighbour is farthest counts.
    """
    columns = gates.T[gates.any(axis=0) & ~gates.all(axis=0)]
    groups = np.unique(np.where(columns[:, :1] > 0, 1 - columns, columns), axis=0).T
    differing = (groups[:, None] != groups[None]).sum(axis=2) + len(columns) * np.eye(len(groups))
    return groups.shape[1], int(differing.min(axis=1).max())


def continuum(members: np.ndarray, clear: np.ndarray) -> str:
    """Return why modes are no kinds, if they are not."""
    if len(members) < 2:
        return "neurons have one mode of density: no empty gap divides their patterns"
    undecided = members[~clear].sum() / members.sum()
    if undecided > UNDECIDED or clear.sum() < 2:
        return (
            f"{undecided:.0%} of the neurons are in modes whose gates are not decided, as in "
            "stretches of a continuum"
        )
    return ""


def verdict(found: Mixture, apart: float, null: float) -> tuple[str, list[str]]:
    """Return why there are no kinds, or an empty reason and caveats."""
    number, (groups, steps) = len(found.gates), _groups(found.gates)
    many = number > groups + 1
    needed = null + MARGIN * (1 if many else 1 - null)
    if many and apart <= needed:
        return (
            f"patterns are no farther apart than without kinds: in {number} groups the silhouette "
            f"is {apart:.2f}, and has to exceed {needed:.2f}"
        ), []
    few = number == 2 or apart <= needed or steps < FAR and (many or groups >= MANY_GROUPS)
    plural = "s" * (groups > 1)
    return "", [
        f"The {number} kinds differ in {groups} group{plural} of conditions, neighbours in {steps}:"
        " a continuum that is sampled so coarsely could look the same."
    ] * few
