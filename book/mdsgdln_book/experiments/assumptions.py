"""Linear networks on tasks that violate an assumption of the linear theory by a set amount: Eq. 7.

In the coordinates of the modes, U = V = 1: for Gaussian initial weights this is no restriction, and
Σ^yx = S is diagonal.
"""

import jax
import jax.numpy as jnp
import numpy as np

from mdsgdln import networks, statistics, tasks, theory, training
from mdsgdln_book import sweeps
from mdsgdln_book.tables import Table

STRENGTHS = np.array([1.0, 0.85, 0.7, 0.55, 0.4])  # s
HIDDEN, SCALE = 200, 1e-3
LEARNED = 0.01  # a curve is compared until this share of the loss is left


def covariance_of_common_causes(spread: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return random variances D, and the covariances B that two random common causes add.

    D + ε B is the Σ^x of inputs that owe the share ε of their variances to the causes.
    """
    rng = np.random.default_rng(seed)
    variances = np.exp(spread * rng.normal(size=len(STRENGTHS)))
    causes = rng.normal(size=(2, len(STRENGTHS)))
    causes = causes / np.linalg.norm(causes, axis=0) * np.sqrt(variances)
    return np.diag(variances), causes.T @ causes - np.diag(variances)


def task_with_covariance(inputs: np.ndarray, strengths: np.ndarray = STRENGTHS) -> tasks.Task:
    """Return a linearly solvable task with input covariance ``inputs`` and Σ^yx = S."""
    samples = np.sqrt(len(inputs)) * np.linalg.cholesky(inputs)
    return tasks.Task(samples, np.diag(strengths) @ np.linalg.solve(inputs, samples))


def closed_form(task, times, start=None):
    """Return the loss that Eq. 7 predicts, whether or not its assumptions hold.

    The start follows from σ, if not given.
    """
    modes = statistics.modes(task)
    if start is None:
        start = theory.expected_initial_strength(HIDDEN, SCALE)
    strengths = theory.mode_trajectory(times, modes.singular_values, modes.input_variances, start)
    return theory.mode_losses(task, modes, strengths)


def relative_error(curve, losses):
    """Return the relative L¹ error of a curve, until 1 % of the loss is left."""
    kept = losses > LEARNED * losses[0]
    return jnp.sum(kept * jnp.abs(curve - losses)) / jnp.sum(kept * losses)


def train_linear(task, seed: int, rate: float, num_steps: int, scale=SCALE):
    """Train a linear network from random weights; return times and losses."""
    network = networks.LinearNetwork((len(task.inputs), HIDDEN, len(task.targets)))
    weights = network.init(jax.random.key(seed), scale)
    losses = training.train(network, weights, task, rate, num_steps).losses
    return rate * jnp.arange(num_steps), losses


# Experiments -------------------------------------------------------------------------------------


def correlated_inputs_experiment(variances: str, strength: float, seed: int) -> dict:
    """Train on correlated inputs; return the error of Eq. 7, and the loss at which it ends.

    With "nearly equal" variances ``strength`` is the off-diagonal norm. "unequal" ones owe this
    share of themselves to two common causes.
    """
    unequal = variances == "unequal"
    spread, rate, num_steps = (0.7, 0.002, 15_000) if unequal else (0.2, 0.01, 6000)
    diagonal, off_diagonal = covariance_of_common_causes(spread, seed)
    ratio = np.linalg.norm(diagonal) / np.linalg.norm(off_diagonal)
    share = strength if unequal else strength / np.sqrt(1 - strength**2) * ratio
    task = task_with_covariance(diagonal + share * off_diagonal)
    times, losses = train_linear(task, seed, rate, num_steps)
    modes = statistics.modes(task)
    learned = jnp.sum(modes.singular_values**2 / modes.input_variances) / 2
    return {
        "closed": relative_error(closed_form(task, times), losses),
        "end": (losses[0] - learned) / losses[0],  # where Eq. 7 ends
        "coupling": modes.coupling,
    }


def unbalanced_start_experiment(size: float, seed: int) -> dict:
    """Train on whitened inputs with Hσ² = ``size`` in the first layer, and zeros in the second."""
    task, rate = task_with_covariance(np.eye(len(STRENGTHS))), 0.005
    scale = [np.sqrt(size / HIDDEN), 0.0]
    times, losses = train_linear(task, seed, rate, 10_000, scale)
    start = theory.expected_initial_strength(HIDDEN, scale)
    return {"closed": relative_error(closed_form(task, times, start), losses)}


TABLES = {
    "assumptions_inputs": Table(
        correlated_inputs_experiment,
        sweeps.grid(
            variances=["nearly equal"],
            strength=[0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75],
            seed=range(20),
        )
        + sweeps.grid(
            variances=["unequal"],
            strength=[0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95],
            seed=range(20),
        ),
        repeated=(60, 260),
    ),
    "assumptions_starts": Table(
        unbalanced_start_experiment, sweeps.grid(size=[1e-3, 10.0], seed=range(10))
    ),
}
