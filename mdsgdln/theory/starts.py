"""Initial strengths of modes: those of random weights, with no constant to fit."""

from collections.abc import Hashable, Mapping, Sequence

import jax.numpy as jnp
from jaxtyping import Array, Float

from mdsgdln import _checks as checks
from mdsgdln._checks import Numbers, Scalar


def expected_initial_strength(num_hidden: int, scale: Scalar | Sequence[Scalar]) -> Scalar:
    """Return the expected initial strength of every mode, a₀ = H (σ₁² + σ₂²) / 4.

    It is the mean of ‖(W₁v_α + W₂ᵀu_α)/2‖² over Gaussian weights: the part of them that grows.

    Args:
        num_hidden: H, neurons of the hidden layer (of the pathway).
        scale: σ of both layers, or (σ₁, σ₂), standard deviations of the initial weights.
    """
    checks.positive_integer("num_hidden", num_hidden)
    scales: list = list(scale) if checks.is_list(scale) else [scale, scale]
    if len(scales) != 2:
        raise ValueError(f"scale: expected σ or (σ₁, σ₂), got {scale!r:.80}")
    first, second = (checks.non_negative("scale", sigma) for sigma in scales)
    return num_hidden * (first**2 + second**2) / 4


def strengths_by_place(
    starts: Numbers | Mapping, num_modes: Mapping[Hashable, int]
) -> dict[Hashable, Float[Array, " modes"]]:
    """Return the start of every mode, {place: (modes,)}, from a number or one for each place."""
    given = starts if isinstance(starts, Mapping) else dict.fromkeys(num_modes, starts)
    if set(given) != set(num_modes):
        raise ValueError(f"starts: expected one for each of {list(num_modes)}, got {list(given)}")
    found = {}
    for place, number in num_modes.items():
        array = checks.real_array("starts", given[place], f"() or ({number},)")
        if array.shape not in ((), (number,)):
            raise ValueError(
                f"starts: expected a number or ({number},) for {place!r}, got shape {array.shape}"
            )
        checks.finite("starts", array)
        found[place] = jnp.broadcast_to(array, number)
    return found
