"""How far a loss curve is from another one."""

import warnings

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from mdsgdln import _checks as checks
from mdsgdln._checks import Numbers


def deviation(
    losses: Numbers, reference: Numbers, learned: float | None = 0.01
) -> float | Float[Array, ""]:
    """Return the relative error of a loss curve, Σ_t |𝓛 − 𝓛_ref| / Σ_t 𝓛_ref.

    Warns if the reference has hardly fallen: all curves that stay up are alike. Inside a compiled
    function this is not checked.

    Args:
        losses: 𝓛, shape (T,).
        reference: 𝓛_ref at the same times, shape (T,).
        learned: the share of its start below which the reference should fall; None asks for
            nothing.

    Raises:
        ValueError: different lengths, or an entry that is not finite.
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
        warnings.warn(
            f"deviation: the reference falls to {reference.min() / reference[0]:.3g} of its start, "
            f"expected below {learned:.3g}; another share, or learned=None, allows that",
            stacklevel=2,
        )
    with np.errstate(divide="ignore", invalid="ignore"):  # NaN if the reference is zero
        return float(np.sum(np.abs(losses - reference)) / np.sum(reference))
