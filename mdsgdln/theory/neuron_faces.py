"""Every gate with a boundary that a neuron can have, and the winner of the race among them."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from mdsgdln import _checks as checks
from mdsgdln._checks import Numbers
from mdsgdln.tasks import Task
from mdsgdln.theory.neuron_utility import FLAT, _data, _kernel, _pattern, _steepest, span

MOST_SAMPLES = 16


class Candidate(NamedTuple):
    """A face whose fastest direction lies in it: what a neuron may end at.

    Attributes:
        gate: the samples that are on, shape (P,).
        boundary: those with wᵀx = 0, shape (P,).
        rate: s, the largest singular value of Σ^yx(g) Ψ_B; it is the drive f(w).
        flatness: dimension of its top space. From 2 on w is one of a family.
        climb: slope with which f still rises at ``input_weights``; where it is above 0 these are no
            local maximum. NaN where more than 12 samples on the boundary push up.
        input_weights: w of length 1, shape (N_in,); one of many where flatness is 2 or more.
    """

    gate: Bool[np.ndarray, " P"]
    boundary: Bool[np.ndarray, " P"]
    rate: float
    flatness: int
    climb: float
    input_weights: Float[np.ndarray, " N_in"]


def faces(inputs: Numbers) -> Int[np.ndarray, "F P"]:
    """Return every face of the weights of a ReLU neuron without a bias.

    A row for each, an entry for each sample: 1 on, −1 off, 0 on the boundary.

    Args:
        inputs: X, shape (N_in, P), at most 16 samples.

    Raises:
        ValueError: a wrong shape, or too many samples.
    """
    checks.known("inputs", inputs)
    checks.finite_array("inputs", inputs, 2, "(N_in, P)")
    inputs = np.asarray(inputs, float)  # not by way of JAX: rounded, dependent inputs are not so
    if inputs.shape[1] > MOST_SAMPLES:
        raise ValueError(f"inputs: expected at most {MOST_SAMPLES} samples, got {inputs.shape[1]}")
    basis = span(inputs)[0]  # the rest of w meets no input
    return _faces((basis.T @ inputs).T)[0]


def candidates(task: Task, residual: Numbers | None = None) -> list[Candidate]:
    """Return all faces with a fastest direction of their own, the fastest first: the *winner*.

    A local maximum whose top space has one dimension is among those with climb 0. Where the top
    space is larger, climb is that of the returned w alone. Inputs that are dependent before
    rounding to single precision may count as independent.

    Args:
        task: at most 16 samples.
        residual: R, shape (N_out, P); the targets if not given.

    Raises:
        ValueError: a wrong shape, or too many samples.
    """
    inputs, residual = _data(task, residual)
    signs = faces(inputs)
    found: list[Candidate] = []
    size = np.linalg.norm(residual, 2) * np.linalg.norm(inputs, 2) / inputs.shape[1]
    boundaries, which = np.unique(signs == 0, axis=0, return_inverse=True)
    for number, boundary in enumerate(boundaries):
        basis = _kernel(inputs[:, boundary])
        gates = signs[which.ravel() == number] > 0
        if not basis.size or not len(residual):
            continue
        maps = np.einsum("op,fp,np->fon", residual, gates, basis.T @ inputs) / inputs.shape[1]
        _, values, right = np.linalg.svd(maps)
        for gate, s, vectors in zip(gates, values, right, strict=True):
            if s[0] <= FLAT * size:
                continue
            flatness = int(np.sum(s > s[0] * (1 - 1e-7)))
            w = _inside(inputs, gate, boundary, basis @ vectors[:flatness].T)
            if w is not None:
                slope = _steepest(inputs, residual, w)
                found.append(Candidate(gate, boundary, float(s[0]), flatness, slope, w))
    return sorted(found, key=lambda candidate: -candidate.rate)


def _inside(
    inputs: Float[np.ndarray, "N_in P"],
    gate: Bool[np.ndarray, " P"],
    boundary: Bool[np.ndarray, " P"],
    top: Float[np.ndarray, "N_in k"],
) -> Float[np.ndarray, " N_in"] | None:
    """Return a vector of length 1 in the span of ``top`` that lies in a face, or None."""
    from scipy.optimize import linprog  # here, as its import takes a while

    if top.shape[1] == 1:
        tries = [top[:, 0], -top[:, 0]]
    else:  # the farthest from all boundaries, of those in a box
        side = np.where(gate, -1.0, 1.0)[~boundary]
        rows = side[:, None] * (inputs[:, ~boundary].T @ top)
        program = linprog(
            np.append(np.zeros(top.shape[1]), -1),
            np.column_stack([rows, np.ones(len(rows))]),
            np.zeros(len(rows)),
            bounds=[(-1, 1)] * top.shape[1] + [(0, 1)],
        )
        w = top @ program.x[:-1] if program.status == 0 else np.zeros(len(top))
        tries = [w / np.linalg.norm(w)] if w.any() else []
    for w in tries:
        on, at = _pattern(inputs, w)
        if (on == gate).all() and (at == boundary).all():
            return w
    return None


def _faces(
    vectors: Float[np.ndarray, "P n"],
) -> tuple[Int[np.ndarray, "F P"], Float[np.ndarray, "F n"]]:
    """Return the faces that some hyperplanes cut a space into, and a point in each."""
    number, dimension = vectors.shape
    if not number:
        return np.zeros((1, 0), np.int8), np.zeros((1, dimension))
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors = np.where(lengths > FLAT, vectors / np.where(lengths > FLAT, lengths, 1), 0)
    rest, last = vectors[:-1], vectors[-1]
    signs, points = _faces(rest)
    if not last.any():
        return np.column_stack([signs, np.zeros(len(signs), np.int8)]), points
    inside = np.linalg.qr(last[:, None], mode="complete")[0][:, 1:]  # of the hyperplane
    cut_signs, cut_points = _faces(rest @ inside)
    place = {row.tobytes(): index for index, row in enumerate(cut_signs)}
    cut = np.array([place.get(row.tobytes(), -1) for row in signs])
    whole, cut_faces = cut < 0, np.flatnonzero(cut >= 0)
    side = np.sign(points[whole] @ last).astype(np.int8)
    parts = [(np.column_stack([signs[whole], side]), points[whole])]
    middle = cut_points[cut[cut_faces]] @ inside.T
    on_it = np.zeros(len(middle), np.int8)
    parts.append((np.column_stack([signs[cut_faces], on_it]), middle))
    away = points[cut_faces]  # leaves the hyperplane inside the face, unless the face lies in it
    for row in np.flatnonzero(np.abs(away @ last) < 1e-6):
        basis = _kernel(rest[signs[cut_faces[row]] == 0].T)
        away[row] = basis @ (basis.T @ last)
    leaves = np.abs(away @ last) > FLAT
    middle, away, old = middle[leaves], away[leaves], signs[cut_faces][leaves]
    away = away * np.sign(away @ last)[:, None]
    gap, speed = np.abs(middle @ rest.T), np.abs(away @ rest.T)
    with np.errstate(divide="ignore", invalid="ignore"):
        room = np.where((old != 0) & (speed > 0), gap / speed, np.inf).min(axis=1, initial=2.0) / 2
    for sign in (1, -1):
        new = middle + sign * room[:, None] * away
        new = new / np.linalg.norm(new, axis=1, keepdims=True)
        parts.append((np.column_stack([old, np.full(len(old), sign, np.int8)]), new))
    return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])
