"""What a small ReLU neuron climbs: its utility, and all gates at which it can have reached the top.

A neuron (w, u) has the *utility* U(w, u) = (1/P) Σ_i uᵀr_i relu(wᵀx_i), r_i what is not explained
of sample i. With u along R relu(Xᵀw), the best one, and ‖w‖² = ‖u‖² = ½, 2U is the *drive*
f(w) = ‖R relu(Xᵀw)‖ / (P‖w‖).

Let g be the samples with wᵀx > 0, B those with wᵀx = 0, Ψ_B the projection that removes the inputs
of B, and Σ^yx(g) = (1/P) Σ_{i∈g} r_i x_iᵀ. All weights with one gate and boundary are a *face*.

1. At a local maximum of f above 0, w is a top right singular vector of Σ^yx(g) Ψ_B, and f(w) = s
   its singular value.
2. There, with ‖w‖ = 1, u = Σ^yx(g) w/s, β_i = uᵀr_i/P and c = Σ^yx(g)ᵀu − s w, condition (C)
   holds: the slope cᵀδ + Σ_{i∈B} β_i relu(x_iᵀδ) of f is above 0 in no direction δ.
3. Gradient flow ends at such maxima, or next to a sample i that is *parked*: off for ever, its
   wᵀx_i → 0 from below, although f would rise if it were on. (C) then holds for δ with x_iᵀδ ≤ 0.
"""

from itertools import chain, combinations
from typing import NamedTuple

import numpy as np
from jaxtyping import ArrayLike, Bool, Float, Int
from scipy.linalg import null_space

from mdsgdln.tasks import Task
from mdsgdln_book.dynamics.relu_neurons import FLAT, gate_patterns

SAME = 1e-7  # singular values this close, relative to the largest, are equal
BOUNDARY = 1e-6  # |wᵀx| ≤ this ‖w‖‖x‖: the sample counts as on the boundary
MOST_UP = 12  # samples of B with β > 0 whose subsets are tried


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


def drive(task: Task, input_weights: ArrayLike) -> Float[np.ndarray, " n"]:
    """Return the drive ‖Y relu(Xᵀw)‖ / (P‖w‖) of neurons with input weights w, (n, N_in)."""
    w = np.asarray(input_weights, float)
    lengths = np.linalg.norm(w, axis=1, keepdims=True)
    return drive_of(np.asarray(task.inputs), np.asarray(task.targets), w / lengths)


def candidates(task: Task) -> list[Candidate]:
    """Return all faces that contain their own fastest direction, the fastest first.

    A local maximum whose top space has one dimension is among those with climb 0. The number of
    faces grows fast with the number of samples: with more than ten it takes minutes.
    """
    inputs, residual, found = np.asarray(task.inputs), np.asarray(task.targets), []
    for face in list_faces(inputs):
        top = top_space(inputs, residual, face)
        if top is None:
            continue
        w = _inside(inputs, face, top)
        if w is not None:
            rate, slope = float(drive_of(inputs, residual, w)), steepest_slope(inputs, residual, w)
            found.append(Candidate(face > 0, face == 0, rate, top.shape[1], slope, w))
    return sorted(found, key=lambda candidate: -candidate.rate)


def list_faces(inputs: Float[np.ndarray, "N_in P"]) -> Int[np.ndarray, "F P"]:
    """Return every face of the weights of a ReLU neuron without a bias.

    A row for each, an entry for each sample: 1 on, −1 off, 0 on the boundary.
    """
    faces: list[tuple] = [()]
    for number in range(1, inputs.shape[1] + 1):
        longer = [(*face, sign) for face in faces for sign in (-1, 0, 1)]
        faces = [face for face in longer if _has_weights(inputs[:, :number], np.array(face))]
    return np.array(faces, np.int8)


def _has_weights(inputs, face) -> bool:
    """Return whether linear programming finds weights in a face."""
    from scipy.optimize import linprog  # here, as its import takes a while

    sides, boundary = (face * inputs)[:, face != 0].T, inputs[:, face == 0].T
    margins, zeros = np.ones(len(sides)), np.zeros(len(boundary))
    nothing = np.zeros(len(inputs))  # to minimise
    program = linprog(nothing, -sides, -margins, boundary, zeros, bounds=(None, None))
    return program.status == 0


def top_space(
    inputs, residual, face: Int[np.ndarray, " P"]
) -> Float[np.ndarray, "N_in flatness"] | None:
    """Return a basis of the top right singular vectors of Σ^yx(g) Ψ_B, or None if it is zero."""
    basis = null_space(inputs[:, face == 0].T, FLAT)
    _, s, right = np.linalg.svd((residual * (face > 0)) @ inputs.T @ basis)
    size = np.linalg.norm(residual) * np.linalg.norm(inputs)
    if not s.size or s[0] <= FLAT * size:  # what cancels is a rounding error, not 0
        return None
    return basis @ right[: np.sum(s > s[0] * (1 - SAME))].T


def _inside(inputs, face, top) -> Float[np.ndarray, " N_in"] | None:
    """Return a vector of length 1 in the span of ``top`` that lies in a face, or None."""
    from scipy.optimize import linprog  # here, as its import takes a while

    if top.shape[1] == 1:
        tries = [top[:, 0], -top[:, 0]]
    else:  # the farthest from all boundaries, of those in a box
        rows = -face[face != 0][:, None] * (inputs[:, face != 0].T @ top)
        program = linprog(
            np.append(np.zeros(top.shape[1]), -1),
            np.column_stack([rows, np.ones(len(rows))]),
            np.zeros(len(rows)),
            bounds=[(-1, 1)] * top.shape[1] + [(0, 1)],
        )
        w = top @ program.x[:-1] if program.status == 0 else np.zeros(len(top))
        tries = [w / np.linalg.norm(w)] if w.any() else []
    return next(
        (w for w in tries if np.array_equal(gate_patterns(w, inputs, BOUNDARY), face)), None
    )


def drive_of(inputs, residual, w):
    """Return the drive of w of length 1, one or several in rows."""
    answers = np.maximum(w @ inputs, 0) @ residual.T
    return np.linalg.norm(answers, axis=-1) / inputs.shape[1]


def steepest_slope(
    inputs, residual, w: Float[np.ndarray, " N_in"], off: Bool[np.ndarray, " P"] | bool = False
) -> float:
    """Return the largest directional derivative of the drive at a unit vector w, or NaN.

    max over ‖δ‖ ≤ 1 of cᵀδ + Σ_{i∈B} β_i relu(x_iᵀδ), which is the largest distance over sets A
    from c + Σ_{i∈A} β_i x_i to {Σ θ_i |β_i| x_i, 0 ≤ θ_i ≤ 1}, A among samples with β_i > 0 and θ
    of those with β_i < 0. Only over directions that leave off what is ``off``.
    """
    from scipy.optimize import lsq_linear  # here, as its import takes a while

    num_samples = inputs.shape[1]
    face = gate_patterns(w, inputs, BOUNDARY)
    on, boundary = face > 0, face == 0
    answer = residual @ (on * (w @ inputs)) / num_samples
    s = np.linalg.norm(answer)
    push = answer / s @ residual / num_samples  # β, (P,)
    slope = inputs @ (on * push) - s * w  # c
    used = boundary & (np.abs(push) > 1e-12 * np.abs(push).max()) & inputs.any(axis=0)
    parked = used & (push > 0) & off
    up, down = np.flatnonzero(used & (push > 0) & ~parked), np.flatnonzero(used & (push < 0))
    if len(up) > MOST_UP:
        return np.nan
    # What a boundary can hold back: θ |β_i| x_i with θ up to 1, any length of a parked x_i.
    held = np.column_stack([-inputs[:, down] * push[down], inputs[:, parked]])
    most = np.append(np.ones(len(down)), np.full(parked.sum(), np.inf))
    largest = 0.0
    for chosen in chain.from_iterable(combinations(up, size) for size in range(len(up) + 1)):
        pull = slope + inputs[:, list(chosen)] @ push[list(chosen)]
        if len(most):
            theta = lsq_linear(held, pull, (0, most), method="bvls", tol=1e-14).x
            pull = pull - held @ theta
        largest = max(largest, float(np.linalg.norm(pull)))
    return largest
