"""Linear networks on noisy targets: which modes they learn, and when they should stop."""

import jax.numpy as jnp
import numpy as np

from mdsgdln import statistics, tasks, theory
from mdsgdln_book import sweeps
from mdsgdln_book.experiments.assumptions import (
    HIDDEN,
    SCALE,
    closed_form,
    relative_error_above_floor,
    train_and_record,
)
from mdsgdln_book.tables import Table

NUM_INPUTS, NUM_SAMPLES = 8, 32
SIGNAL = np.diag([1.0, 0.8, 0.6, 0, 0, 0, 0, 0])  # W*
RATE, NUM_STEPS, EVERY = 0.02, 6000, 10


def noisy_task(noise: float, seed: int) -> tasks.Task:
    """Return 32 samples with exactly white inputs and noisy targets."""
    rng = np.random.default_rng(seed)
    basis, _ = np.linalg.qr(rng.normal(size=(NUM_SAMPLES, NUM_INPUTS)))
    inputs = np.sqrt(NUM_SAMPLES) * basis.T
    errors = rng.normal(size=(NUM_INPUTS, NUM_SAMPLES))
    return tasks.Task(inputs, SIGNAL @ inputs + noise * errors)


def compare_on_noisy_targets(noise: float, seed: int) -> dict:
    """Train on noisy targets; return the error of Eq. 7 and the test loss at its predicted stop."""
    task = noisy_task(noise, seed)
    _, start, times, losses, maps = train_and_record(task, seed, RATE, NUM_STEPS, EVERY)
    modes = statistics.modes(task)
    floor = losses[0] - jnp.sum(modes.singular_values**2 / modes.input_variances) / 2
    expected = theory.expected_initial_strength(HIDDEN, SCALE)
    measured = test_losses(maps)
    predicted = test_losses(predicted_maps(modes, times[::EVERY], expected))
    best = jnp.argmin(predicted)
    return {
        "closed_drawn": relative_error_above_floor(closed_form(task, times, start), losses, floor),
        "stop_loss": measured[best] / measured.min(),
    }


def predicted_maps(modes, times, start):
    """Return W(t) = Σ_α a_α(t) u_α v_αᵀ, shape (T, N_out, N_in)."""
    strengths = theory.mode_trajectory(times, modes.singular_values, modes.input_variances, start)
    return jnp.einsum("oa,at,ia->toi", modes.left, strengths, modes.right)


def test_losses(maps):
    """Return the loss on new white inputs with noiseless targets, ‖W − W*‖²/2."""
    return jnp.sum((maps - SIGNAL) ** 2, axis=(1, 2)) / 2


TABLES = {
    "assumptions_noise": Table(
        compare_on_noisy_targets,
        sweeps.grid(noise=[0.0, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0], seed=range(20)),
        repeated=(120,),
    )
}
