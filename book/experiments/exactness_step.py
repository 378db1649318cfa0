"""Whether the step of the map changes what it shows."""

import jax
import jax.numpy as jnp

from mdsgdln import reln
from mdsgdln_book.experiments.exactness import setup, side_by_side


def experiment(case: str, sum_step: float, seed: int) -> dict:
    """Return deviation and signed difference at σ = 1e-5, 700 neurons, for a step."""
    task, relu, gated = setup(case, 700)
    keys = jax.random.split(jax.random.key(seed))
    pairs = [(net, net.init(key, 1e-5)) for net, key in zip((relu, gated), keys, strict=True)]
    (reference, losses), _, _ = side_by_side(pairs, task, 12_000, sum_step, longest=12_000)
    return {
        "deviation": jax.jit(reln.deviation)(losses, reference),
        "signed": jnp.sum(losses - reference) / jnp.sum(reference),
    }
