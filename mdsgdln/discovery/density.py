"""Kinds as modes of density: patterns that many neurons share, with empty gaps between them."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from scipy.sparse.csgraph import connected_components
from scipy.special import bdtr, bdtrc

SMALLEST = 5  # neurons of a kind
STEPS = 8  # of refinement
LEAST, MOST, RAREST = 1e-3, 0.3, 0.02  # rates of flips in the mixture; share of the background
PRIOR = 9.0  # entries with a kind's mean rate of flips that are added to those of each state
LEVEL = 0.01  # of single tests
ORDERS = 4  # of neurons, in which they are clustered
UNEQUAL = 1e-8  # less than distances differ by, where they do
APART = 3  # conditions between kinds, at least: a continuum changes in one or two at a time


class States(NamedTuple):
    """Where neurons are on and off, shapes (neurons, P); neither where not recorded."""

    on: Float[np.ndarray, "neurons P"]
    off: Float[np.ndarray, "neurons P"]

    @classmethod
    def of(cls, activity: np.ndarray) -> "States":
        """Return the patterns of activity, on above zero, unknown where NaN."""
        return cls((activity > 0).astype(float), (activity <= 0).astype(float))

    @property
    def known(self) -> Float[np.ndarray, "neurons P"]:
        """Where neurons were recorded."""
        return self.on + self.off

    def take(self, neurons: np.ndarray) -> "States":
        """Return the patterns of some neurons."""
        return States(self.on[neurons], self.off[neurons])

    def majorities(self, kind: np.ndarray) -> Float[np.ndarray, "K P"]:
        """Return the majority of each kind in each condition; −1 is no kind."""
        members = (kind == np.arange(kind.max(initial=-1) + 1)[:, None]).astype(float)
        return (members @ self.on > members @ self.off).astype(float)

    def misfit(self, gates: np.ndarray) -> Float[np.ndarray, "neurons K"]:
        """Return the share of a neuron's recorded conditions that differ from each gate."""
        known = self.known.sum(axis=1, keepdims=True)
        return (self.on @ (1 - gates).T + self.off @ gates.T) / np.maximum(known, 1)

    def wrong(self, gate: np.ndarray) -> Int[np.ndarray, "neurons P"]:
        """Return whether each neuron differs from a gate in each condition."""
        return np.where(gate > 0, self.off, self.on).astype(int)


class Mixture(NamedTuple):
    """Kinds as a Bernoulli mixture, beside a background of neurons without a kind.

    Attributes:
        gates: 0 or 1, shape (K, P).
        flips: rates of wrong entries where the gate is off, and where it is on, shape (K, 2).
        shares: of all neurons, shape (K,).
        background: share of all neurons that are on in each condition, shape (P,).
    """

    gates: Float[np.ndarray, "K P"]
    flips: Float[np.ndarray, "K 2"]
    shares: Float[np.ndarray, " K"]
    background: Float[np.ndarray, " P"]

    def kind(self, patterns: States) -> Int[np.ndarray, " neurons"]:
        """Return the likeliest kind of each neuron; −1 if the background is likelier."""
        (on, off), gates, flips = patterns, self.gates, self.flips
        on_rates = np.where(gates > 0, 1 - flips[:, 1:], flips[:, :1])  # (K, P)
        rates = np.vstack([self.background, on_rates])
        shares = np.append(max(1 - self.shares.sum(), RAREST), self.shares)
        likelihood = on @ np.log(rates).T + off @ np.log(1 - rates).T + np.log(shares)
        return likelihood.argmax(axis=1) - 1

    def only(self, chosen: np.ndarray) -> "Mixture":
        """Return some of the kinds."""
        return self._replace(
            gates=self.gates[chosen], flips=self.flips[chosen], shares=self.shares[chosen]
        )


def mixture(patterns: States, share: float, least: int = SMALLEST) -> Mixture:
    """Return a mixture of kinds, each of a share or ``least`` neurons or more, and of no kind.

    Leaves of its tree, with Hamming distances and three minimal sizes, propose gates; from there
    the mixture is fitted, each neuron to one kind or none. Neurons of none propose again, until
    there are no more kinds: beside dense kinds the tree does not see a noisy one.
    """
    size, left = _smallest(patterns, share, least), patterns
    gates = np.empty((0, patterns.on.shape[1]))
    while True:
        proposed = _proposed(left, [size, 2 * size, 4 * size])
        found = _refined(patterns, np.unique(np.concatenate([gates, proposed]), axis=0), size)
        if len(found.gates) <= len(gates):
            return found
        gates, left = found.gates, patterns.take(found.kind(patterns) < 0)


def density_modes(patterns: States, share: float) -> tuple[Mixture, int]:
    """Return the modes of density: the mixture, in which kinds without a gap between are one.

    Kinds that differ in fewer than ``APART`` conditions are one, too, as these leave no room for a
    gap. With the modes comes the number of parts of the mixture if such kinds were not joined.
    """
    size, found = _smallest(patterns, share, SMALLEST), mixture(patterns, share)
    kind, number = found.kind(patterns), len(found.gates)
    separate = 0
    while number > 1:
        near = (found.gates[:, None] != found.gates[None]).sum(axis=2) < APART
        touch = np.zeros((number, number), bool)
        none = patterns.take(kind < 0)
        others = none, _shuffled(none)
        for one, other in np.argwhere(np.triu(~near)):
            own = patterns.take((kind == one) | (kind == other))
            touch[one, other] = _touch(found.gates[one], found.gates[other], own, *others)
        separate = separate or connected_components(touch, directed=False)[0]
        parts, part = connected_components(touch | near, directed=False)
        if parts == number:
            break
        merged = np.where(kind >= 0, part[kind], -1)
        found = _refined(patterns, _fitted(patterns, merged, size).gates, size)
        kind, number = found.kind(patterns), len(found.gates)
    return found, separate


def _smallest(patterns: States, share: float, least: int) -> int:
    return max(least, round(share * len(patterns.on)))


def _proposed(patterns: States, sizes: list[int]) -> np.ndarray:
    """Return the majorities of leaf clusters of several minimal sizes.

    The tree is that of the mutual reachability, the largest of a distance and of both neurons'
    distances to their neighbour at half the size. Most are equal to others, and scikit-learn sorts
    equal ones as the processor does; so they are made a little unequal. Of equal ones that of the
    earlier neurons comes first, so that one cluster grows, not many that meet. As clusters depend
    on what comes first, neurons are taken in several orders.
    """
    from sklearn.cluster import HDBSCAN  # half a second, and most programs cluster nothing

    on, off = (part.astype(np.float32) for part in patterns)
    differing, shared = on @ off.T, (on + off) @ (on + off).T
    distances = ((differing + differing.T) / np.maximum(shared, 1)).astype(float)
    gates, rng = [on[:0]], np.random.default_rng(0)
    for size in [size for size in sizes if size <= len(on)]:
        near = np.partition(distances, size // 2, axis=1)[:, [size // 2]]
        reached = np.maximum(distances, np.maximum(near, near.T))
        for _ in range(ORDERS):
            place = rng.permutation(len(on))
            later, earlier = np.maximum.outer(place, place), np.minimum.outer(place, place)
            unequal = reached + UNEQUAL * (later + earlier / len(on)) / len(on)
            np.fill_diagonal(unequal, 0)
            tree = HDBSCAN(
                min_cluster_size=size,
                min_samples=1,
                metric="precomputed",
                cluster_selection_method="leaf",
                allow_single_cluster=True,
                copy=False,
            )
            majorities = patterns.majorities(tree.fit(unequal).labels_)
            gates.append(majorities[majorities.any(axis=1)])
    return np.concatenate(gates)


def _refined(patterns: States, gates: np.ndarray, size: int) -> Mixture:
    none = np.full(len(patterns.on), -1)
    flips, shares = np.full((len(gates), 2), 0.05), np.full(len(gates), 0.8 / max(len(gates), 1))
    found = _fitted(patterns, none, size)._replace(gates=gates, flips=flips, shares=shares)
    for _ in range(STEPS):
        found = _fitted(patterns, found.kind(patterns), size)
    return found


def _fitted(patterns: States, kind: np.ndarray, size: int) -> Mixture:
    """Return the mixture of given kinds; without the small ones, each gate once."""
    num_neurons, num_conditions = patterns.on.shape
    rows: dict[tuple, tuple] = {}
    for number, gate in enumerate(patterns.majorities(kind)):
        members = patterns.take(kind == number)
        if len(members.on) >= size and gate.any() and tuple(gate) not in rows:
            wrong = members.wrong(gate).sum(axis=0)
            known = members.known.sum(axis=0)
            mean = wrong.sum() / known.sum()
            flips = [
                (wrong[state].sum() + PRIOR * mean) / (known[state].sum() + PRIOR)
                for state in (gate == 0, gate == 1)
            ]
            rows[tuple(gate)] = np.clip(flips, LEAST, MOST), len(members.on) / num_neurons
    known = np.maximum(patterns.known.sum(axis=0), 1)
    rate = np.clip(patterns.on.sum(axis=0) / known, 0.5 / num_neurons, 1 - 0.5 / num_neurons)
    flips, shares = zip(*rows.values(), strict=True) if rows else ((), ())
    gates = np.array([*rows]).reshape(-1, num_conditions)
    return Mixture(gates, np.reshape(flips, (-1, 2)), np.array(shares, float), rate)


def _shuffled(patterns: States) -> States:
    """Return patterns in which each condition is shuffled over the neurons."""
    state = np.random.default_rng(0).permuted(patterns.on - patterns.off, axis=0)
    return States((state > 0).astype(float), (state < 0).astype(float))


def _touch(
    gate: np.ndarray, other: np.ndarray, own: States, none: States, shuffled: States
) -> bool:
    """Return whether neurons lie between two kinds, no fewer than along a continuum.

    Counted are the neurons that fit both gates where these agree, the kinds' own and those of none.
    Where they differ, a kind's neurons have one gate or the other; evenly spread ones would lie
    halfway as often as anywhere. As many are taken off as there are among shuffled ones.
    """
    gap = gate != other
    width, agreeing = int(gap.sum()), int((~gap).sum())
    usual = (np.median(_count_wrong(own, gate, ~gap)) + 0.5) / (agreeing + 1)
    steps = np.arange(width + 1)
    halfway = (steps > width / 4) & (steps < 3 * width / 4)
    counts = []
    for some in (own, none, shuffled):
        known = some.known[:, gap].sum(axis=1)
        as_many = bdtrc(np.ceil(_count_wrong(some, gate, ~gap)) - 1, agreeing, usual)
        near = (as_many > LEVEL) & (known >= APART)  # their probability, or that of more
        wrong = np.rint(_count_wrong(some, gate, gap)[near]).astype(int)
        counts.append(np.bincount(wrong, minlength=width + 1))
    beside = np.maximum(counts[1] - counts[2], 0) + counts[0]
    return bool(bdtr(beside[halfway].sum(), beside.sum(), halfway.mean()) > LEVEL)


def _count_wrong(patterns: States, gate: np.ndarray, where: np.ndarray) -> np.ndarray:
    """Return in how many conditions each neuron differs from a gate, as if all were recorded."""
    known = patterns.known[:, where].sum(axis=1)
    return patterns.wrong(gate)[:, where].sum(axis=1) * where.sum() / np.maximum(known, 1)
