"""Which maximum of the drive each neuron has come next to, and which of them are one basin."""

import numpy as np
from jaxtyping import Float, Int
from scipy.sparse.csgraph import connected_components

from mdsgdln_book.dynamics.maxima import BOUNDARY, drive_of, steepest_slope, top_space
from mdsgdln_book.dynamics.relu_neurons import gate_patterns

NEAR = 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 0.0  # |wᵀx| that may be a boundary's, one after the other
CLOSE, SAME_FACE = 0.97, 0.3  # cosine of a neuron and its maximum; less, if in one face with it
MOST_FACES = 20  # between a neuron and its maximum


def nearest_maxima(inputs, residual, w: Float[np.ndarray, "N n"], rounding: float) -> tuple:
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
        around = gate_patterns(w[left_over], inputs, near)
        faces, which = np.unique(around, axis=0, return_inverse=True)
        for number in range(len(faces)):
            members = left_over[which.ravel() == number]
            found = _top(inputs, residual, w[members[0]], near, rounding)
            if found is None:
                continue
            tops[members], flat[members], least = found
            for member in members if flat[members[0]] > 1 else ():  # each has its own
                own = _top(inputs, residual, w[member], near, rounding)
                tops[member] = (own or found)[0]
            settled[members] = np.sum(tops[members] * w[members], axis=1) > least
    group, flatness = _basins_of(inputs, residual, tops, flat, settled)
    missed = np.flatnonzero(~settled)
    for number in np.flatnonzero(np.array(flatness) == 1):  # on the way to a basin that is known
        direction = tops[group == number][0]
        near_it = missed[w[missed] @ direction > CLOSE]
        tops[near_it], group[near_it] = direction, number
    return tops, group, flatness


def _top(inputs, residual, w, near: float, rounding: float) -> tuple[np.ndarray, int, float] | None:
    """Return the maximum next to w, its flatness, and the least cosine that will do.

    The top vector of its face may lie on another face; that one's is then taken, until nothing
    changes. None if w is dead, if this goes in circles, or if it is no maximum, parked samples left
    off.
    """
    face = first = gate_patterns(w, inputs, near)
    parked = gate_patterns(w, inputs, rounding) < 1
    for _ in range(MOST_FACES):
        top = top_space(inputs, residual, face)
        if top is None or not (top.T @ w).any():
            return None
        w = top @ (top.T @ w)
        w = w / np.linalg.norm(w)
        before, face = face, gate_patterns(w, inputs, BOUNDARY)
        if np.array_equal(face, before):
            rises = steepest_slope(inputs, residual, w, parked) > 1e-6 * drive_of(
                inputs, residual, w
            )
            least = SAME_FACE if np.array_equal(face > 0, first > 0) else CLOSE
            return None if rises else (w, top.shape[1], least)
    return None


def _basins_of(inputs, residual, tops, flat, settled) -> tuple[Int[np.ndarray, " N"], list[int]]:
    """Return the basin of each neuron, −1 if there is none, and the flatness of every basin.

    Neurons of one gate and boundary are in one basin. A flat maximum may reach over several faces:
    all faces of one rate, none of which is on where another is off.
    """
    faces, which = np.unique(
        gate_patterns(tops[settled], inputs, BOUNDARY), axis=0, return_inverse=True
    )
    members = which.ravel() == np.arange(len(faces))[:, None]
    flatness = np.max(members * flat[settled], axis=1, initial=1)
    rate = members @ drive_of(inputs, residual, tops[settled]) / members.sum(axis=1)
    fits = (faces[:, None] * faces[None] >= 0).all(axis=2)
    flats = np.maximum(flatness[:, None], flatness[None]) > 1
    equal = np.isclose(rate[:, None], rate[None], rtol=1e-6, atol=0)
    number, basin = connected_components(fits & flats & equal, directed=False)
    group = np.full(len(tops), -1)
    group[settled] = basin[which.ravel()]
    return group, [int(flatness[basin == index].max()) for index in range(number)]
