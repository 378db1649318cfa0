"""Where attention and look-up table change places: trained, predicted, and with no hypothesis."""

from functools import cache

import numpy as np
from scipy import optimize

from mdsgdln import sweeps
from mdsgdln_book.experiments.attention import SCALE, network
from mdsgdln_book.experiments.attention_race import (
    SEEDS,
    TENTHS,
    draw,
    formula,
    lead,
    moments,
    raced,
    rates,
)
from mdsgdln_book.tables import Table


def predicted_flip(D: int, K: int, N: int, B: int, seed: int, scale: float) -> dict:
    """Return the p at which two pathways make a quarter of their drop at once.

    ``equal`` is the p at which the rates of these very sequences are equal.
    """
    sequences, model, middle = draw(D, K, N, B, seed), network(D, N, K), formula(D, K, N, B)

    def leading(p):
        run = raced(model, sequences, round(p, 3), seed, 1.75, train=False, scale=scale)
        return lead(run["predicted_drops"])

    def difference(p):
        return float(np.subtract(*rates(model, moments(model, sequences.task(p)))))

    ends = max(middle - 0.3, 0.02), min(middle + 0.3, 0.98)
    return {
        "predicted": optimize.brentq(leading, *ends, xtol=0.002),
        "equal": optimize.brentq(difference, *ends, xtol=0.002),
    }


def flip(D: int, K: int, N: int, B: int, seed: int) -> dict:
    """Return the p at which both make a quarter of their drop at once: trained, and predicted."""
    sequences, model = draw(D, K, N, B, seed), network(D, N, K)
    found = predicted_flip(D, K, N, B, seed, SCALE)

    @cache
    def leading(p):
        return lead(raced(model, sequences, round(float(p), 3), seed, 1.75)["trained_drops"])

    start = found["predicted"]  # any place will do: what is looked for is of trained networks
    return found | {"trained": optimize.newton(leading, start, x1=start - 0.02, tol=0.002)}


def unbalanced(p: float, seed: int) -> dict:
    """Return the lead of attention at D = N = 8, K = 32, B = 2, if Σ y x is not zero."""
    sequences = draw(8, 32, 8, 2, seed, free=True)
    return {"lead": lead(raced(network(8, 8, 32), sequences, p, seed, 1.75)["trained_drops"])}


def drawn(number: int, seed: int) -> list[tuple]:
    """Return settings (D, K, N, B) at random, p* between .2 and .85."""
    generator, found = np.random.default_rng(seed), []
    while len(found) < number:
        sizes = [int(generator.integers(*ends)) for ends in ((6, 13), (8, 25), (6, 13), (1, 4))]
        sizes[1] *= 2  # classes: half of the labels are 1
        if 0.2 <= formula(*sizes) <= 0.85:
            found.append(tuple(sizes))
    return found


KNOWN = [(8, 32, 8, 2), (12, 24, 8, 2), (8, 16, 8, 2), (8, 32, 8, 1)]
DRAWN = drawn(6, 20261125)
FLIPS = [dict(zip("DKNB", setting, strict=True)) for setting in [*KNOWN, *DRAWN]]
TABLES = {
    "attention_flips": Table(flip, [some | {"seed": seed} for some in FLIPS for seed in SEEDS]),
    "attention_small": Table(
        predicted_flip, [some | {"seed": seed, "scale": 1e-6} for some in FLIPS for seed in SEEDS]
    ),
    "attention_unbalanced": Table(
        unbalanced, sweeps.grid(p=[0.02, *TENTHS[:5]], seed=SEEDS), row=1
    ),
}
