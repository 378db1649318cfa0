"""Losses, means over samples, and how far one loss curve is from another."""

import warnings
from collections.abc import Callable
from typing import Any, TypeAlias

import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, PyTree

from mdsgdln import _checks as checks
from mdsgdln._checks import Numbers
from mdsgdln.networks import Network
from mdsgdln.tasks import Task

__all__ = ["Loss", "check_targets", "cross_entropy", "deviation", "logistic", "squared_error"]
__dir__ = __all__.copy  # what completion shows


SUM = 1e-3  # how far the probabilities of a sample may be from summing to 1
Loss: TypeAlias = Callable[[Any, PyTree, Task], Float[Array, ""]]


def squared_error(network: Network, weights: PyTree, task: Task) -> Float[Array, ""]:
    """Return 𝓛 = 1/(2P) Σ_i ‖y_i − ŷ_i‖² (MHS Eq. 2)."""
    outputs = _outputs(network, weights, task)
    return jnp.sum((task.targets - outputs) ** 2) / (2 * task.num_samples)


def cross_entropy(network: Network, weights: PyTree, task: Task) -> Float[Array, ""]:
    """Return −1/P Σ_i Σ_k y_ki ln softmax(ŷ_i)_k; the targets of a sample are probabilities."""
    outputs = _outputs(network, weights, task)
    return jnp.mean(optax.softmax_cross_entropy(outputs.T, task.targets.T))


def logistic(network: Network, weights: PyTree, task: Task) -> Float[Array, ""]:
    """Return 1/P Σ_i Σ_k [ln(1 + exp ŷ_ki) − y_ki ŷ_ki]; targets are between 0 and 1."""
    outputs = _outputs(network, weights, task)
    return jnp.sum(optax.sigmoid_binary_cross_entropy(outputs, task.targets)) / task.num_samples


def _outputs(network: Network, weights: PyTree, task: Task) -> Float[Array, "N_out P"]:
    """Return outputs in the shape of the targets, over which one output would broadcast."""
    outputs = network.apply(weights, task.inputs)
    checks.of_shape("targets", task.targets, outputs.shape)
    return outputs


def check_targets(loss: Loss, task: Task) -> None:
    """Raise ``ValueError`` unless the targets are in the range of the loss; traced ones pass."""
    checks.instance("task", task, Task)
    if loss not in (cross_entropy, logistic) or checks.is_traced(task.targets):
        return
    targets = np.asarray(task.targets)
    if loss is cross_entropy and len(targets) == 1:
        number = int(max(targets.max(), 1)) + 1
        one_hot = f"one row per class, as Task.from_samples(X, numpy.eye({number})[labels])"
        checks.require((targets == 1).all(), "task", one_hot, targets)
    inside = ((targets >= 0) & (targets <= 1)).all()
    checks.require(inside, "task", "targets between 0 and 1 for this loss", targets)
    if loss is cross_entropy:
        sums = targets.sum(axis=0)
        classes = "targets that sum to 1 in each sample, one row per class"
        checks.require(np.abs(sums - 1).max() <= SUM, "task", classes, sums)


def deviation(
    losses: Numbers, reference: Numbers, learned: float | None = 0.01
) -> float | Float[Array, ""]:
    """Return the relative error of a loss curve over all times, Σ_t |𝓛 − 𝓛_ref| / Σ_t |𝓛_ref|.

    Warns if the reference has hardly fallen, as all flat curves agree. Inside a compiled function
    this is not checked.

    Args:
        losses: 𝓛, shape (T,).
        reference: 𝓛_ref at the same times, shape (T,).
        learned: warn unless the reference falls below this share of its start; None for no warning.
    """
    losses = checks.finite_array("losses", losses, 1, "(T,)")
    reference = checks.finite_array("reference", reference, 1, "(T,)")
    checks.of_shape("losses", losses, reference.shape)
    if learned is not None:
        checks.positive("learned", learned)
    if checks.is_traced(losses, reference):
        return jnp.sum(jnp.abs(losses - reference)) / jnp.sum(jnp.abs(reference))
    losses, reference = np.asarray(losses), np.asarray(reference)  # NumPy compiles nothing
    with np.errstate(divide="ignore", invalid="ignore"):  # NaN if the reference is zero
        left = reference.min() / reference[0]
        error = float(np.sum(np.abs(losses - reference)) / np.sum(np.abs(reference)))
    if learned and not left < learned:
        warnings.warn(
            f"deviation: the reference falls to {left:.3g} of its start, "
            f"expected below {learned:.3g}; another share, or learned=None, allows that",
            stacklevel=2,
        )
    return error
