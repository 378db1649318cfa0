"""How strong a mode starts in a random network: no constant to fit."""

from collections.abc import Hashable, Mapping, Sequence

import jax.numpy as jnp
from jaxtyping import Array, Float

from mdsgdln import _checks as checks
from mdsgdln._checks import Numbers, Scalar
from mdsgdln.statistics import Modes


def expected_initial_strength(num_hidden: int, scale: Scalar | Sequence[Scalar]) -> Scalar:
    """Return the expected effective balanced start a₀ = H (σ₁² + σ₂²) / 4 of every mode.

    While a mode is small, gradient flow grows c = (W₁v + W₂ᵀu)/2 as e^{st} and lets the difference
    die as e^{−st}; a balanced mode that starts at a₀ = ‖c‖² is indistinguishable soon after. One
    draw scatters around the expectation by a factor 1 ± √(2/H).

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


def _starts_of(
    starts: Numbers | Mapping, num_modes: Mapping[Hashable, int]
) -> dict[Hashable, Float[Array, " modes"]]:
    """Return the start of every mode, {place: (modes,)}, a place being a path or an edge.

    Args:
        starts: a number, or {place: number or (modes,)}.
        num_modes: {place: modes}.

    Raises:
        ValueError: a place too many or too few, a wrong shape, or a non-finite number.
    """
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


def measured_initial_strength(
    first: Numbers, second: Numbers, modes: Modes
) -> Float[Array, "modes"]:
    """Return the effective balanced start a₀ = ‖(W₁v_α + W₂ᵀu_α)/2‖² of each mode of one draw.

    Args:
        first: W₁, shape (H, N_in).
        second: W₂, shape (N_out, H).
        modes: of the data.
    """
    checks.instance("modes", modes, Modes)
    first = checks.finite_array("first", first, 2, "(H, N_in)")
    second = checks.finite_array("second", second, 2, "(N_out, H)")
    checks.of_shape("first", first, (len(first), len(modes.right)))
    checks.of_shape("second", second, (len(modes.left), len(first)))
    grown = (first @ modes.right + second.T @ modes.left) / 2  # c_α, (H, modes)
    return jnp.sum(grown**2, axis=0)
