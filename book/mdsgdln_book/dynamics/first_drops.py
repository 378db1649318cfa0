"""When the loss of a small ReLU network first falls, from the basins of its task."""

import warnings
from collections.abc import Sequence

import numpy as np

from mdsgdln_book.dynamics.relu_basins import Basin

SMALL = 1e-3  # of a₀ d/s: the start over the end of a strength


def first_drop(
    basins: Sequence[Basin],
    num_hidden: int,
    scale: float,
    amount: float | None = None,
) -> float:
    """Return the time at which the loss has fallen by some amount, for the first time.

    All neurons of a basin are one strength a_b of the response û_b relu(ŵ_bᵀx). It starts at
    a₀ = H(σ₁² + σ₂²)A/2 and races against the others,
    ȧ_b = 2a_b (s_b − Σ_c K_bc a_c), K_bc = (û_bᵀû_c) ⟨relu(ŵ_bᵀx) relu(ŵ_cᵀx)⟩, K_bb = d_b;
    the loss falls by Σ s_b a_b − ½ Σ a_b K_bc a_c. A single one has half its strength at
    T½ = ln(s/(d a₀) − 1)/(2s). Later drops need directions that turn, and are not in this. Warns
    if the weights are not small: then the network is faster or slower by some per cent.

    Args:
        basins: of one task, from ``basins``.
        num_hidden: H, neurons of the hidden layer.
        scale: σ of both layers, standard deviation of the initial weights; one number.
        amount: how much the loss falls, on the scale of MHS Eq. 2. If not given, s²/(4d) of the
            basin with the earliest T½: half of the loss that it explains alone.
    """
    starts = num_hidden * scale**2 * np.array([basin.mass for basin in basins])
    s, d = (np.array([getattr(b, name) for b in basins]) for name in ("rate", "variance"))
    ratio = starts * d / s
    earliest = np.argmin(-np.log(ratio) / s)
    if ratio[earliest] > SMALL:
        warnings.warn(
            f"first_drop: the first basin starts at {ratio[earliest]:.1g} of its final strength, "
            f"expected at most {SMALL}: these weights are not small",
            stacklevel=2,
        )
    if amount is None:
        amount = s[earliest] ** 2 / (4 * d[earliest])
    return _time_of_drop(basins, s, starts, float(amount))


def _time_of_drop(basins: Sequence[Basin], s, starts, amount: float) -> float:
    from scipy.integrate import solve_ivp  # here, as its import takes a while

    answers, activity = (
        np.array([getattr(basin, name) for basin in basins])
        for name in ("output_weights", "activity")
    )
    coupling = (answers @ answers.T) * (activity @ activity.T) / activity.shape[1]  # K

    def growth(_, logarithm):
        return 2 * (s - coupling @ np.exp(np.minimum(logarithm, 50)))

    def missing(_, logarithm):
        a = np.exp(logarithm)
        return amount - s @ a + a @ coupling @ a / 2

    missing.terminal = True  # type: ignore[attr-defined]
    longest = np.max(np.abs(np.log(starts * np.diag(coupling) / s)) / s)  # twice the latest T½
    solution = solve_ivp(
        growth, (0, 2 * longest), np.log(starts), "DOP853", events=missing, rtol=1e-8, atol=1e-8
    )
    return float(solution.t_events[0][0])
