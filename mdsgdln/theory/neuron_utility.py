"""What a small ReLU neuron climbs: its utility, and when it has reached the top.

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

import numpy as np
from jaxtyping import Bool, Float

from mdsgdln import _checks as checks
from mdsgdln._checks import Numbers
from mdsgdln.tasks import Task

FLAT = 1e-9  # shorter than this, of length 1 once, a vector is zero
BOUNDARY = 1e-6  # |wᵀx| ≤ this ‖w‖‖x‖: the sample counts as on the boundary
MOST_UP = 12  # samples of B with β > 0 whose subsets are tried


def utility(
    task: Task, input_weights: Numbers, output_weights: Numbers, residual: Numbers | None = None
) -> Float[np.ndarray, " n"]:
    """Return U = (1/P) Σ_i uᵀr_i relu(wᵀx_i) of several neurons.

    Args:
        task: with inputs X.
        input_weights: w, shape (n, N_in), a neuron in each row.
        output_weights: u, shape (n, N_out).
        residual: R, shape (N_out, P); the targets if not given.

    Raises:
        ValueError: a wrong shape or a non-finite entry.
    """
    inputs, residual = _data(task, residual)
    w = _neurons("input_weights", input_weights, len(inputs))
    u = _neurons("output_weights", output_weights, len(residual))
    if len(w) != len(u):
        raise ValueError(f"output_weights: expected {len(w)} neurons, got {len(u)}")
    active = np.maximum(w @ inputs, 0)
    return np.sum((u @ residual) * active, axis=1) / inputs.shape[1]


def drive(
    task: Task, input_weights: Numbers, residual: Numbers | None = None
) -> Float[np.ndarray, " n"]:
    """Return f = ‖R relu(Xᵀw)‖ / (P‖w‖) of several neurons: twice the largest utility over u.

    Args:
        task: with inputs X.
        input_weights: w, shape (n, N_in), none of them zero.
        residual: R, shape (N_out, P); the targets if not given.

    Raises:
        ValueError: a wrong shape, a non-finite entry or a neuron without weights.
    """
    inputs, residual = _data(task, residual)
    w = _neurons("input_weights", input_weights, len(inputs))
    return np.linalg.norm(np.maximum(_unit(w) @ inputs, 0) @ residual.T, axis=1) / inputs.shape[1]


def climb(
    task: Task, input_weights: Numbers, residual: Numbers | None = None
) -> Float[np.ndarray, " n"]:
    """Return the largest slope of the drive, over all directions: 0 where condition (C) holds.

    max over ‖δ‖ ≤ 1 of cᵀδ + Σ_{i∈B} β_i relu(x_iᵀδ), which is the largest distance over sets A
    from c + Σ_{i∈A} β_i x_i to {Σ θ_i |β_i| x_i, 0 ≤ θ_i ≤ 1}, A among samples with β_i > 0 and θ
    of those with β_i < 0. B are the samples with |wᵀx| ≤ 1e-6 ‖w‖‖x‖.

    Args:
        task: with inputs X.
        input_weights: w, shape (n, N_in), with a drive above zero.
        residual: R, shape (N_out, P); the targets if not given.

    Raises:
        ValueError: a wrong shape, a drive of zero, or more than 12 samples of B with β_i > 0.
    """
    inputs, residual = _data(task, residual)
    w = _unit(_neurons("input_weights", input_weights, len(inputs)))
    slopes = np.array([_steepest(inputs, residual, neuron) for neuron in w])
    if np.isnan(slopes).any():
        raise ValueError(
            f"input_weights: expected at most {MOST_UP} samples on the boundary that push up"
        )
    return slopes


def _steepest(
    inputs: Float[np.ndarray, "N_in P"],
    residual: Float[np.ndarray, "N_out P"],
    w: Float[np.ndarray, " N_in"],
    off: Bool[np.ndarray, " P"] | None = None,
) -> float:
    """Return the largest slope of the drive at one w of length 1, NaN for too many to try.

    Only over directions that leave off what is ``off``, where this is given.
    """
    from scipy.optimize import lsq_linear  # here, as its import takes a while

    num_samples = inputs.shape[1]
    on, boundary = _pattern(inputs, w)
    answer = residual @ (on * (w @ inputs)) / num_samples
    s = np.linalg.norm(answer)
    if s == 0:
        raise ValueError("input_weights: expected a drive above 0, got a neuron with none")
    push = answer / s @ residual / num_samples  # β, (P,)
    slope = inputs @ (on * push) - s * w  # c
    used = boundary & (np.abs(push) > 1e-12 * np.abs(push).max()) & inputs.any(axis=0)
    parked = used & (push > 0) & (off if off is not None else False)
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


def _pattern(
    inputs: Float[np.ndarray, "N_in P"], w: Float[np.ndarray, "*n N_in"], tolerance=BOUNDARY
) -> tuple[Bool[np.ndarray, "*n P"], Bool[np.ndarray, "*n P"]]:
    """Return the samples that are on, and those on the boundary, for w of length 1."""
    activity, size = w @ inputs, tolerance * np.linalg.norm(inputs, axis=0)
    return activity > size, np.abs(activity) <= size


def _kernel(vectors: Float[np.ndarray, "N_in k"]) -> Float[np.ndarray, "N_in m"]:
    """Return an orthonormal basis of what is orthogonal to several vectors: the range of Ψ_B."""
    left, s, _ = np.linalg.svd(vectors) if vectors.size else (np.eye(len(vectors)), np.zeros(0), 0)
    rank = int(np.sum(s > FLAT * s.max(initial=0)))
    return left[:, rank:]


def span(vectors: Float[np.ndarray, "n k"]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the singular value decomposition U, s, Vᵀ of some columns, without what is zero.

    U, (n, rank), is an orthonormal basis of their span, and diag(s) Vᵀ are they in it.
    """
    left, s, right = np.linalg.svd(vectors, full_matrices=False)
    rank = int(np.sum(s > FLAT * s.max(initial=0)))
    return left[:, :rank], s[:rank], right[:rank]


def _data(
    task: Task, residual: Numbers | None
) -> tuple[Float[np.ndarray, "N_in P"], Float[np.ndarray, "N_out P"]]:
    """Return X and R in double precision, or raise ``ValueError``."""
    checks.instance("task", task, Task)
    checks.known("task", task)
    inputs = np.asarray(task.inputs, float)
    if residual is None:
        return inputs, np.asarray(task.targets, float)
    checks.known("residual", residual)
    residual = checks.finite_array("residual", residual, 2, "(N_out, P)")
    if residual.shape != task.targets.shape:
        raise ValueError(
            "residual: expected the shape of the targets (N_out, P), "
            f"{task.targets.shape}, got {residual.shape}"
        )
    return inputs, np.asarray(residual, float)


def _neurons(name: str, weights: Numbers, number: int) -> Float[np.ndarray, "n _"]:
    """Return the weights of several neurons in double precision, or raise ``ValueError``."""
    checks.known(name, weights)
    array = np.asarray(checks.finite_array(name, weights, 2, f"(n, {number})"), float)
    if array.shape[1] != number:
        raise ValueError(f"{name}: expected {number} weights per neuron, got {array.shape[1]}")
    return array


def _unit(w: Float[np.ndarray, "n N_in"]) -> Float[np.ndarray, "n N_in"]:
    """Return the weights at length 1, or raise ``ValueError``."""
    lengths = np.linalg.norm(w, axis=1, keepdims=True)
    if not lengths.all():
        raise ValueError("input_weights: expected neurons with weights, got one with none")
    return w / lengths
