"""Statistics of tasks and maps that only chapters use."""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, ArrayLike, Float

from mdsgdln.tasks import Task


def condense(task: Task) -> Task:
    """Return a task of at most N_in + N_out samples with the same second moments, and no labels."""
    rows = np.vstack([task.inputs, task.targets])
    if rows.shape[1] <= len(rows):
        return Task(task.inputs, task.targets)
    # With mode "r" NumPy returns an array, which its annotations overlook.
    mixed = np.linalg.qr(rows.T, mode="r").T * np.sqrt(len(rows) / task.num_samples)  # type: ignore[attr-defined]
    num_inputs = len(task.inputs)
    return Task.from_samples(mixed[:num_inputs].T, mixed[num_inputs:].T)


def linear_residual(task: Task) -> Task:
    """Return the task that is left of the best linear map: its targets are Y − Y X⁺ X."""
    inputs, targets = np.asarray(task.inputs, float), np.asarray(task.targets, float)
    left_over = targets - targets @ np.linalg.pinv(inputs) @ inputs
    return Task(task.inputs, left_over, task.labels)


def linear_part(task: Task) -> Task:
    """Return the task of which the best linear map leaves nothing: its targets are Y X⁺ X."""
    left_over = linear_residual(task).targets
    return Task(task.inputs, np.asarray(task.targets, float) - np.asarray(left_over), task.labels)


def alignment(maps: ArrayLike, left: ArrayLike, right: ArrayLike) -> Float[Array, " T"]:
    """Return how well linear maps W send some input modes to their output modes, 0 to 1.

    ‖UᵀWV‖² / (‖WV‖ ‖UᵀW‖) in the Frobenius norm; 0 if WV or UᵀW is zero.

    Args:
        maps: W at several times, shape (T, N_out, N_in).
        left: U, columns of ``Modes.left``, shape (N_out, k).
        right: V, the same columns of ``Modes.right``, shape (N_in, k).
    """
    maps, left, right = map(jnp.asarray, (maps, left, right))
    largest = jnp.abs(maps).max(axis=(1, 2), keepdims=True)
    maps = maps / jnp.where(largest > 0, largest, 1.0)  # squares of tiny weights would vanish
    entering, leaving = maps @ right, left.T @ maps
    inner, entering, leaving = (
        jnp.linalg.norm(part, axis=(1, 2)) for part in (left.T @ entering, entering, leaving)
    )
    some = entering * leaving > 0
    return jnp.where(some, inner**2 / jnp.where(some, entering * leaving, 1.0), 0.0)
