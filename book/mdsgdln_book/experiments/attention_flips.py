"""Where attention and look-up table change places, trained and predicted."""

from functools import cache

import numpy as np
from scipy import optimize

from mdsgdln_book.experiments import attention_race
from mdsgdln_book.experiments.attention import network
from mdsgdln_book.tables import Table


def tie_probability(D: int, K: int, N: int, B: int, seed: int) -> dict:
    """Return the p at which both pathways learn a quarter together, trained and predicted."""
    sequences, model = attention_race.draw_sequences(D, K, N, B, seed), network(D, N, K)
    middle = attention_race.tie_probability_of_copies(D, K, N, B)

    @cache
    def leading(p, which):
        run = attention_race.predict_race(
            model, sequences, round(float(p), 3), seed, 1.75, train=which == "trained"
        )
        return attention_race.attention_lead(run[f"{which}_drops"])

    ends = max(middle - 0.3, 0.02), min(middle + 0.3, 0.98)
    found = optimize.brentq(leading, *ends, args=("predicted",), xtol=0.002)
    # Any place will do to begin at: what is looked for is of trained networks.
    near = {"x0": found, "x1": found - 0.02, "tol": 0.002}
    return {"predicted": found, "trained": optimize.newton(leading, args=("trained",), **near)}


def draw_settings(number: int, seed: int) -> list[tuple]:
    """Return random settings (D, K, N, B) for which copies alone predict p* between .2 and .85."""
    generator, found = np.random.default_rng(seed), []
    while len(found) < number:
        sizes = [int(generator.integers(*ends)) for ends in ((6, 13), (8, 25), (6, 13), (1, 4))]
        sizes[1] *= 2  # classes: half of the labels are 1
        if 0.2 <= attention_race.tie_probability_of_copies(*sizes) <= 0.85:
            found.append(tuple(sizes))
    return found


SETTINGS = [dict(zip("DKNB", sizes, strict=True)) for sizes in draw_settings(6, 20261125)]
TABLES = {
    "attention_flips": Table(
        tie_probability,
        [some | {"seed": seed} for some in SETTINGS for seed in attention_race.SEEDS],
    ),
}
