"""From the last directions of followed neurons to the maxima that they have come next to."""

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.sparse.csgraph import connected_components

from mdsgdln.theory.neuron_utility import FLAT, _kernel, _pattern, _steepest

NEAR = 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 0.0  # |wᵀx| that may be a boundary's, one after the other
CLOSE, SAME_FACE = 0.97, 0.3  # cosine of a neuron and its maximum; less, if in one face with it


def settle(
    inputs: Float[np.ndarray, "n P"],
    residual: Float[np.ndarray, "m P"],
    w: Float[np.ndarray, "N n"],
    rounding: float = 1e-11,
) -> tuple:
    """Return the maximum that each neuron has come next to.

    A sample with |wᵀx| below ``rounding`` counts as parked if it would push up.

    Returns:
        tops: its direction, (N, n).
        group: which basin, (N,), −1 if there is none.
        flatness: of every basin.
    """
    lengths = np.linalg.norm(w, axis=1, keepdims=True)
    w = w / np.where(lengths > 0, lengths, 1)
    tops, flat, settled = np.zeros_like(w), np.ones(len(w), int), np.zeros(len(w), bool)
    for near in NEAR:
        left_over = np.flatnonzero(~settled)
        on, boundary = _pattern(inputs, w[left_over], near)
        patterns, which = np.unique(2 * on + boundary, axis=0, return_inverse=True)
        for number in range(len(patterns)):
            members = left_over[which.ravel() == number]
            found = _top(inputs, residual, w[members[0]], near, rounding)
            if found is None:
                continue
            top, flat[members], least = found
            tops[members] = top
            if flat[members[0]] > 1:
                own = [
                    _top(inputs, residual, w[member], near, rounding) or found for member in members
                ]
                tops[members] = [each[0] for each in own]
            settled[members] = np.sum(tops[members] * w[members], axis=1) > least
    rates = np.linalg.norm(np.maximum(tops @ inputs, 0) @ residual.T, axis=1)
    group, flatness = _groups(inputs, tops, rates, flat, settled)
    missed = np.flatnonzero(~settled)
    for number in range(len(flatness)):  # not there yet, but on the way to a basin that is known
        members = group == number
        direction = tops[members][0]
        if flatness[number] == 1:
            near_it = missed[w[missed] @ direction > CLOSE]
            tops[near_it], rates[near_it], group[near_it] = direction, rates[members][0], number
    return tops, group, flatness


def _top(inputs, residual, w, near: float, rounding: float) -> tuple[np.ndarray, int, float] | None:
    """Return the maximum of the face next to w, its flatness, and the least cosine that will do.

    None if the face has no maximum, parked samples left off.
    """
    on, boundary = _pattern(inputs, w, near)
    found = _settled(inputs, residual, w, boundary)
    if found is None:
        return None
    slope = _steepest(inputs, residual, found[0], off=~_pattern(inputs, w, rounding)[0])
    s = np.linalg.norm(np.maximum(found[0] @ inputs, 0) @ residual.T) / inputs.shape[1]
    same_face = (_pattern(inputs, found[0])[0] == on).all()
    return None if slope > 1e-6 * s else (*found, SAME_FACE if same_face else CLOSE)


def _groups(
    inputs: Float[np.ndarray, "n P"],
    tops: Float[np.ndarray, "N n"],
    rates: Float[np.ndarray, " N"],
    flat: Int[np.ndarray, " N"],
    settled: Bool[np.ndarray, " N"],
) -> tuple[Int[np.ndarray, " N"], list[int]]:
    """Return the basin of each neuron, −1 if there is none, and the flatness of every basin.

    Neurons of one gate and boundary are in one basin. A flat maximum may reach over several faces:
    those of one rate, none of which is on where another is off.
    """
    group = np.full(len(tops), -1)
    on, boundary = _pattern(inputs, tops)
    signs = np.where(on, 1, np.where(boundary, 0, -1))
    signs[~settled] = 2
    patterns, which = np.unique(signs, axis=0, return_inverse=True)
    kept = (patterns != 2).all(axis=1)
    if not kept.any():
        return group, []
    patterns, flatness, rate = patterns[kept], np.ones(kept.sum(), int), np.zeros(kept.sum())
    for number, old in enumerate(np.flatnonzero(kept)):
        members = which.ravel() == old
        group[members] = number
        flatness[number], rate[number] = flat[members].max(), rates[members].mean()
    fits = (patterns[:, None] * patterns[None] >= 0).all(axis=2)
    flats = np.maximum(flatness[:, None], flatness[None]) > 1
    equal = np.isclose(rate[:, None], rate[None], rtol=1e-6, atol=0)
    number, basin = connected_components(fits & flats & equal, directed=False)
    group = np.where(group < 0, -1, basin[group])
    return group, [int(flatness[basin == index].max()) for index in range(number)]


def _settled(
    inputs: Float[np.ndarray, "N_in P"],
    residual: Float[np.ndarray, "N_out P"],
    w: Float[np.ndarray, " N_in"],
    boundary: Bool[np.ndarray, " P"],
) -> tuple[Float[np.ndarray, " N_in"], int] | None:
    """Return the top vector next to w of a face, and the dimension of its top space.

    The face is that of w, ``boundary`` added. Its top vector may lie on another face; that one's is
    then taken, until nothing changes. None if w is dead, or if this goes in circles.
    """
    size = np.linalg.norm(residual, 2) * np.linalg.norm(inputs, 2)
    on = (w @ inputs > 0) & ~boundary
    for _ in range(20):
        basis = _kernel(inputs[:, boundary])
        _, s, right = np.linalg.svd((residual * on) @ inputs.T @ basis)
        if not s.size or s[0] <= FLAT * size:  # what cancels is a rounding error, not 0
            return None
        multiplicity = int(np.sum(s > s[0] * (1 - 1e-7)))
        top = basis @ right[:multiplicity].T
        w = top @ (top.T @ w)
        if not (length := np.linalg.norm(w)):
            return None
        w = w / length
        found_on, found_boundary = _pattern(inputs, w)
        if (found_on == on).all() and (found_boundary == boundary).all():
            return w, multiplicity
        on, boundary = found_on, found_boundary
    return None
