"""Gated networks that may imitate a ReLU network: candidates, and how far a curve is off."""

from collections.abc import Mapping

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from mdsgdln import _checks as checks
from mdsgdln._checks import Numbers, Scalar
from mdsgdln.networks import GatedNetwork
from mdsgdln.tasks import Task
from mdsgdln.theory import predict_losses

__all__ = ["deviation", "rank_candidates"]
__dir__ = __all__.copy  # what completion shows


def deviation(
    losses: Numbers, reference: Numbers, learned: float | None = 0.01
) -> float | Float[Array, ""]:
    """Return the relative error of a loss curve, Σ_t |𝓛 − 𝓛_ref| / Σ_t 𝓛_ref.

    Inside a compiled function it is not checked whether the reference has fallen.

    Args:
        losses: 𝓛, shape (T,).
        reference: 𝓛_ref at the same times, shape (T,).
        learned: the share of its start below which the reference has to fall; None asks for
            nothing.

    Raises:
        ValueError: different lengths, a non-finite entry, or a reference that does not fall that
            far.
    """
    losses = checks.finite_array("losses", losses, 1, "(T,)")
    reference = checks.finite_array("reference", reference, 1, "(T,)")
    if losses.shape != reference.shape:
        raise ValueError(f"losses: expected shape {reference.shape}, got {losses.shape}")
    if learned is not None:
        checks.positive("learned", learned)
    if any(isinstance(curve, jax.core.Tracer) for curve in (losses, reference)):
        return jnp.sum(jnp.abs(losses - reference)) / jnp.sum(reference)
    losses, reference = np.asarray(losses), np.asarray(reference)  # NumPy compiles nothing
    if learned is not None and not reference.min() < learned * reference[0]:
        raise ValueError(
            f"reference: expected a loss that falls below {learned:.3g} of its start, got "
            f"{reference.min() / reference[0]:.3g}; another share, or learned=None, allows that"
        )
    with np.errstate(divide="ignore", invalid="ignore"):  # NaN if the reference is zero
        return float(np.sum(np.abs(losses - reference)) / np.sum(reference))


def rank_candidates(
    task: Task, candidates: Mapping[str, GatedNetwork], scale: Scalar, times: Numbers
) -> dict[str, Float[Array, " T"]]:
    """Predict the loss of every candidate, from its data and σ alone, and rank them.

    The faster of two is the one whose loss sums to less over the given times.

    Args:
        task: what they would be trained on.
        candidates: {name: two-layer gated network}.
        scale: σ of all initial weights.
        times: t = learning rate · number of steps, increasing, shape (T,).

    Returns:
        {name: loss at those times, shape (T,)}, the fastest first.

    Raises:
        ValueError: no candidate, one that is not two-layer, or bad numbers.
    """
    checks.instance("candidates", candidates, Mapping)
    if not candidates:
        raise ValueError("candidates: expected {name: gated network}, got none")
    for network in candidates.values():
        checks.instance("candidates", network, GatedNetwork)
    if len(checks.times(times)) < 2:
        raise ValueError("times: expected at least two times, got one")
    losses = {
        name: predict_losses(network, task, scale, times) for name, network in candidates.items()
    }
    return dict(sorted(losses.items(), key=lambda item: float(np.trapezoid(item[1], times))))
