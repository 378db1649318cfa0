"""Linear networks on inputs whose variances differ between modes, uncorrelated: Eq. 7."""

import jax.numpy as jnp
import numpy as np

from mdsgdln import statistics, theory
from mdsgdln_book.experiments import assumptions
from mdsgdln_book.experiments.assumptions import HIDDEN, SCALE, STRENGTHS, deviation

RATE, NUM_STEPS, EVERY = 0.003, 10_000, 5


def experiment(condition: float, seed: int) -> dict:
    """Train on variances from 1 to 1/condition in random order; return how Eq. 7 does."""
    return assumptions.apart(_measure, condition, seed)


def _measure(condition, seed):
    variances = np.geomspace(1, 1 / condition, len(STRENGTHS))
    variances = np.random.default_rng(seed).permutation(variances)
    task = assumptions.task_of(np.diag(variances))
    _, start, times, losses, maps = assumptions.run(task, seed, RATE, NUM_STEPS, EVERY)
    modes = statistics.modes(task)
    final = modes.singular_values / modes.input_variances
    alignments = []
    for mode in range(len(STRENGTHS)):
        aligned, strength = assumptions.alignment(maps, modes, mode)
        alignments.append(aligned[jnp.argmax(strength >= 0.1 * final[mode])])
    expected = theory.expected_start(HIDDEN, SCALE)
    return {
        "closed": deviation(assumptions.closed_form(task, times, expected), losses),
        "closed_drawn": deviation(assumptions.closed_form(task, times, start), losses),
        "alignment": jnp.stack(alignments),
        "left": losses[-1] / losses[0],
    }
