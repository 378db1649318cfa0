"""Many neurons of one gate as few that learn alike.

Neurons z = (w, v) of a ReLU network that are on for the samples g obey ż = M_g z with
M_g = [[0, C], [Cᵀ, 0]], C = (1/P) Σ_{i∈g} x_i r_iᵀ, and act on the residual r through Σ v wᵀ alone.
So S = Σ z zᵀ is all that matters: Ṡ = M_g S + S M_g, or (1 + ηM_g) S (1 + ηM_g) after a step of
descent. Neurons that slide along one boundary are of one gate as well.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from mdsgdln.theory.neuron_utility import span

NEAR = 0.02  # |cos(w, x)| up to which a sample is on the boundary
SHRUNK = 0.1  # of its size at the start: a direction below is left out
ROUNDING = 1e-12  # of the largest direction


class Merger(NamedTuple):
    """Neurons of one gate that became fewer.

    Attributes:
        time: when.
        gate: samples that are on, shape (P,).
        boundary: those with wᵀx near 0, shape (P,).
        merged: how many neurons there were.
        into: how many are left.
    """

    time: float
    gate: Bool[np.ndarray, " P"]
    boundary: Bool[np.ndarray, " P"]
    merged: int
    into: int


def patterns(
    w: Float[np.ndarray, "N n"], inputs: Float[np.ndarray, "n P"]
) -> Int[np.ndarray, "N P"]:
    """Return 1 where a sample is on, −1 where it is off, 0 on the boundary."""
    activity = w @ inputs
    near = NEAR * np.linalg.norm(w, axis=1)[:, None] * np.linalg.norm(inputs, axis=0)
    return np.where(np.abs(activity) <= near, 0, np.sign(activity)).astype(np.int8)


def merge(
    z: Float[np.ndarray, "N k"],
    inputs: Float[np.ndarray, "n P"],
    size: float,
    cosine: float,
    time: float = 0.0,
) -> tuple[Float[np.ndarray, "M k"], list[Merger]]:
    """Return fewer neurons that learn alike, and what was merged.

    Args:
        z: neurons (w, v).
        inputs: X.
        size: standard deviation of an entry of z at the start. A direction in which the neurons
            have less than a tenth of it is left out; 0 leaves out rounding alone.
        cosine: neurons of a gate are merged if z is at most this far from that of the largest.
        time: that of the mergers.
    """
    rows = len(inputs)
    signs = patterns(z[:, :rows], inputs)
    _, group = np.unique(signs, axis=0, return_inverse=True)
    group = group.ravel()
    merged, events = [], []
    for number in np.flatnonzero(np.bincount(group) > 1):
        members = np.flatnonzero(group == number)
        sign = signs[members[0]]
        for near in _clusters(z[members], cosine):
            few = _fewer(z[members[near]], size)
            changed = patterns(few[:, :rows], inputs) != sign
            if len(few) == len(near) or changed[:, sign != 0].any():
                continue
            events.append(Merger(time, sign > 0, sign == 0, len(near), len(few)))
            merged.append(few)
            group[members[near]] = -1
    return np.concatenate([z[group >= 0], *merged]), events


def _clusters(z: Float[np.ndarray, "m k"], cosine: float) -> list[Int[np.ndarray, " c"]]:
    """Return those near the largest, those near the largest of the rest, …: two or more each."""
    length = np.linalg.norm(z, axis=1)
    alike = z @ z.T >= cosine * np.outer(length, length)
    left, found = np.argsort(-length, kind="stable"), []
    while len(left) > 1:
        near = alike[left[0], left]
        near[0] = True
        if near.sum() > 1:
            found.append(left[near])
        left = left[~near]
    return found


def _fewer(z: Float[np.ndarray, "m k"], size: float) -> Float[np.ndarray, "r k"]:
    """Return twice as many neurons as directions are kept (one for one), with Σ z zᵀ of those.

    z = A diag(s) Bᵀ becomes A' diag(s) Bᵀ with orthonormal columns in A'. The first is constant;
    the others are mixtures of old neurons, each with its mirror image, so that odd moments
    vanish.
    """
    left, s, right = np.linalg.svd(z, full_matrices=False)
    least = max(SHRUNK * size * np.sqrt(len(z)), ROUNDING * s[0])
    rank = int(np.sum(s > least))
    number = 2 * rank if rank > 1 else rank
    if number >= len(z) or not number:
        return z[:number]
    sign = np.sign(left[:, 0].sum())
    main = np.full((number, 1), sign / np.sqrt(number))
    mixtures = np.random.default_rng(len(z)).normal(size=(rank, len(z))) @ left[:, 1:rank]
    rest = polar(mixtures) / np.sqrt(2)
    mixing = np.concatenate([main, np.concatenate([rest, -rest])[:number]], axis=1)
    return mixing @ (s[:rank, None] * right[:rank])


def polar(matrix: Float[np.ndarray, "m n"]) -> Float[np.ndarray, "m n"]:
    """Return the nearest matrix whose columns, or rows if they are fewer, are orthonormal."""
    left, _, right = np.linalg.svd(matrix, full_matrices=False)
    return left @ right


def in_span(drawn: Float[np.ndarray, "m n"], columns: Float[np.ndarray, "n P"]) -> tuple:
    """Return draws, isotropic in the span of some columns, and these, in one basis of the span.

    Weights outside of it do not move (inputs), or are of order σ² in the outputs.
    """
    left, s, right = span(columns)
    inside = drawn @ left
    return np.sqrt(max(inside.shape)) * polar(inside), s[:, None] * right
