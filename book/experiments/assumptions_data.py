"""Linear networks on inputs that are correlated between modes: Eq. 7 and the free reduction."""

import jax.numpy as jnp
import numpy as np

from mdsgdln import statistics, theory
from mdsgdln_book.experiments import assumptions
from mdsgdln_book.experiments.assumptions import HIDDEN, SCALE, deviation

RATE, NUM_STEPS, EVERY = 0.01, 6000, 2


def experiment(norm: float, seed: int) -> dict:
    """Train on one random task; return deviations, and how the strongest mode fares."""
    inputs = assumptions.correlated_inputs(norm, seed)
    return assumptions.apart(measure, inputs, seed, RATE, NUM_STEPS)


def measure(inputs: np.ndarray, seed: int, rate: float, num_steps: int) -> dict:
    """Train on the task with Σ^x = ``inputs``; return how Eq. 7 and the free reduction do."""
    task = assumptions.task_of(inputs)
    weights, start, times, losses, maps = assumptions.run(task, seed, rate, num_steps, EVERY)
    network, modes = assumptions.network_of(task), statistics.modes(task)
    s, d = modes.singular_values, modes.input_variances
    aligned, strength = assumptions.alignment(maps, modes, 0)
    tenth = jnp.argmax(strength >= 0.1 * s[0] / d[0])
    expected = jnp.log((s[0] / (d[0] * start[0]) - 1) / 9) / (2 * s[0])
    learned = jnp.argmax(losses <= assumptions.LEARNED * losses[0]) // EVERY
    from_scale = assumptions.closed_form(task, times, theory.expected_start(HIDDEN, SCALE))
    free = theory.predict_losses(network, task, SCALE, times, step=rate)
    free_drawn = theory.predict_losses(network, task, weights, times, step=rate)
    return {
        "closed": deviation(from_scale, losses),
        "closed_drawn": deviation(assumptions.closed_form(task, times, start), losses),
        "free": deviation(free, losses),
        "free_drawn": deviation(free_drawn, losses),
        "end": (losses[0] - jnp.sum(s**2 / d) / 2) / losses[0],  # where Eq. 7 ends
        "half": _half(from_scale, times) / _half(losses, times),
        "tenth": times[tenth * EVERY] / expected,
        "tenth_alignment": aligned[tenth],
        "end_alignment": aligned[learned],
        "left": losses[-1] / losses[0],
        "coupling": modes.coupling,
    }


def _half(losses, times) -> float:
    """Return when half of what a curve loses is lost."""
    return times[np.argmax(losses <= (losses[0] + losses[-1]) / 2)]
