"""How strong a mode starts in a random network: no constant to fit."""

from collections.abc import Sequence

import jax.numpy as jnp
from jaxtyping import Array, Float

from mdsgdln import checks
from mdsgdln.checks import Scalar
from mdsgdln.statistics import Modes


def expected_start(num_hidden: int, scale: Scalar | Sequence[Scalar]) -> Scalar:
    """Return the expected effective balanced start a₀ = H (σ₁² + σ₂²) / 4 of every mode.

    While a mode is small, gradient flow grows c = (W₁v + W₂ᵀu)/2 as e^{st} and lets the difference
    die as e^{−st}; a balanced mode that starts at a₀ = ‖c‖² is indistinguishable soon after. One
    draw scatters around the expectation by a factor 1 ± √(2/H).

    Args:
        num_hidden: H, neurons of the hidden layer (of the pathway).
        scale: σ of both layers, or (σ₁, σ₂), standard deviations of the initial weights.
    """
    checks.positive_integer("num_hidden", num_hidden)
    scales = list(scale) if checks.is_list(scale) else [scale, scale]
    if len(scales) != 2:
        raise ValueError(f"scale: expected σ or (σ₁, σ₂), got {scale!r:.80}")
    first, second = (checks.non_negative("scale", sigma) for sigma in scales)
    return num_hidden * (first**2 + second**2) / 4


def measured_start(
    first: Float[Array, "H N_in"], second: Float[Array, "N_out H"], modes: Modes
) -> Float[Array, "modes"]:
    """Return the effective balanced start a₀ = ‖(W₁v_α + W₂ᵀu_α)/2‖² of each mode of one draw."""
    grown = (first @ modes.right + second.T @ modes.left) / 2  # c_α, (H, modes)
    return jnp.sum(grown**2, axis=0)
