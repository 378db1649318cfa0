"""Tasks that violate an assumption of the linear theory by a set amount, and what is asked of them.

In the coordinates of the modes, U = V = 1: for Gaussian initial weights this is no restriction, and
Σ^yx = S is diagonal.
"""

from concurrent.futures import ThreadPoolExecutor

import jax
import jax.numpy as jnp
import numpy as np

from mdsgdln import networks, statistics, tasks, theory, training

STRENGTHS = np.array([1.0, 0.85, 0.7, 0.55, 0.4])  # s
HIDDEN, SCALE = 200, 1e-3
LEARNED = 0.01  # a curve is compared until this share of the loss is left


def apart(function, *arguments):
    """Run outside of the compilation of a sweep: what is known is known, numpy may be used."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function, *arguments).result()


def correlated_inputs(norm: float, seed: int) -> np.ndarray:
    """Return Σ^x = D + ε B with the given off-diagonal norm; ε follows from it."""
    variances, off_diagonal = common_causes(0.2, seed)
    ratio = np.linalg.norm(variances) / np.linalg.norm(off_diagonal)
    return variances + norm / np.sqrt(1 - norm**2) * ratio * off_diagonal


def common_causes(spread: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return D and B: random variances, and what two random common causes of all of them add.

    D + ε B is the Σ^x of inputs that owe the share ε of their variances to the causes.
    """
    rng = np.random.default_rng(seed)
    variances = np.exp(spread * rng.normal(size=len(STRENGTHS)))
    causes = rng.normal(size=(2, len(STRENGTHS)))
    causes = causes / np.linalg.norm(causes, axis=0) * np.sqrt(variances)
    return np.diag(variances), causes.T @ causes - np.diag(variances)


def task_of(inputs: np.ndarray, strengths: np.ndarray = STRENGTHS) -> tasks.Task:
    """Return a task with Σ^x = ``inputs`` and Σ^yx = S that a linear map solves completely."""
    samples = np.sqrt(len(inputs)) * np.linalg.cholesky(inputs)
    return tasks.Task(samples, np.diag(strengths) @ np.linalg.solve(inputs, samples))


def network_of(task: tasks.Task, hidden: int = HIDDEN) -> networks.LinearNetwork:
    """Return the linear network with one hidden layer for a task."""
    return networks.LinearNetwork((len(task.inputs), hidden, len(task.targets)))


def closed_form(task, times, start):
    """Return the loss that Eq. 7 predicts, whether or not its assumptions hold."""
    modes = statistics.modes(task)
    strengths = theory.deep_mode(times, modes.singular_values, modes.input_variances, start)
    return theory.mode_losses(task, modes, strengths)


def deviation(curve, losses) -> float:
    """Return area between over area below, until hardly any of the loss is left."""
    kept = losses > LEARNED * losses[0]
    return jnp.sum(kept * jnp.abs(curve - losses)) / jnp.sum(kept * losses)


def run(task, seed: int, rate: float, num_steps: int, every: int = 5, scale=SCALE):
    """Train a linear network from random weights; record its map W₂W₁ every few steps.

    Returns the initial weights, the effective starts drawn with them, times, losses and maps.
    """
    network = network_of(task)
    weights = network.init(jax.random.key(seed), scale)
    trained = training.train(
        network, weights, task, rate, num_steps, observe=network_map, every=every
    )
    start = theory.measured_start(*weights, statistics.modes(task))
    return weights, start, rate * jnp.arange(num_steps), trained.losses, trained.observed


def network_map(weights):
    """Return W = W₂W₁."""
    return weights[1] @ weights[0]


def alignment(maps, modes, index: int):
    """Return how well W sends v_α to u_α and nothing else there, 1 for exactly, shape (T,)."""
    left, right = modes.left[:, index], modes.right[:, index]
    entering, leaving = maps @ right, jnp.einsum("o,toi->ti", left, maps)
    inner = entering @ left
    return inner**2 / jnp.linalg.norm(entering, axis=1) / jnp.linalg.norm(leaving, axis=1), inner
