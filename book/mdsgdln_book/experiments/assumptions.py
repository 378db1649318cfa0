"""Linear networks on tasks that violate an assumption of the linear theory by a set amount: Eq. 7.

In the coordinates of the modes, U = V = 1: for Gaussian initial weights this is no restriction, and
Σ^yx = S is diagonal.
"""

import jax
import jax.numpy as jnp
import numpy as np

from mdsgdln import networks, statistics, tasks, theory, training
from mdsgdln_book import dynamics, sweeps
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


def linear_network(task: tasks.Task) -> networks.LinearNetwork:
    """Return the linear network with one hidden layer that fits a task."""
    return networks.LinearNetwork((len(task.inputs), HIDDEN, len(task.targets)))


def closed_form(task, times, start=None):
    """Return the loss that Eq. 7 predicts, whether or not its assumptions hold.

    The start follows from σ, if not given.
    """
    modes = statistics.modes(task)
    if start is None:
        start = theory.expected_initial_strength(HIDDEN, SCALE)
    strengths = theory.mode_trajectory(times, modes.singular_values, modes.input_variances, start)
    return theory.mode_losses(task, modes, strengths)


def relative_error_above_floor(curve, losses, floor=0.0):
    """Return the relative L¹ error of a curve, after subtracting ``floor`` from the reference."""
    above = losses - floor
    kept = above > LEARNED * above[0]
    return jnp.sum(kept * jnp.abs(curve - losses)) / jnp.sum(kept * above)


def train_and_record(task, seed: int, rate: float, num_steps: int, every: int = 5, scale=SCALE):
    """Train a linear network from random weights and record its map W₂W₁ every few steps.

    Returns the initial weights, the effective starts drawn with them, times, losses and maps.
    """
    network = linear_network(task)
    weights = network.init(jax.random.key(seed), scale)
    trained = training.train(
        network, weights, task, rate, num_steps, observe=network_map, every=every
    )
    start = dynamics.measured_initial_strength(*weights, statistics.modes(task))
    return weights, start, rate * jnp.arange(num_steps), trained.losses, trained.observed


@jax.jit
def network_map(weights):
    """Return W = W₂W₁."""
    return weights[1] @ weights[0]


# Experiments -------------------------------------------------------------------------------------


def correlated_inputs_experiment(variances: str, strength: float, seed: int) -> dict:
    """Train on correlated inputs; return the errors of Eq. 7 and of the reduced network.

    With "nearly equal" variances ``strength`` is the off-diagonal norm. "unequal" ones owe this
    share of themselves to two common causes.
    """
    unequal, every = variances == "unequal", 2
    spread, rate, num_steps = (0.7, 0.002, 15_000) if unequal else (0.2, 0.01, 6000)
    diagonal, off_diagonal = covariance_of_common_causes(spread, seed)
    ratio = np.linalg.norm(diagonal) / np.linalg.norm(off_diagonal)
    share = strength if unequal else strength / np.sqrt(1 - strength**2) * ratio
    task = task_with_covariance(diagonal + share * off_diagonal)
    _, start, times, losses, maps = train_and_record(task, seed, rate, num_steps, every)
    network, modes = linear_network(task), statistics.modes(task)
    s, d = modes.singular_values, modes.input_variances
    grown = jnp.einsum("o,toi,i->t", modes.left[:, 0], maps, modes.right[:, 0])
    tenth = jnp.argmax(grown >= 0.1 * s[0] / d[0])
    expected = jnp.log((s[0] / (d[0] * start[0]) - 1) / 9) / (2 * s[0])
    balanced = dynamics.balanced_weights(network, task, SCALE)
    free = theory.predict(network, balanced, task, rate, len(times)).losses
    return {
        "closed": relative_error_above_floor(closed_form(task, times), losses),
        "free": relative_error_above_floor(free, losses),
        "end": (losses[0] - jnp.sum(s**2 / d) / 2) / losses[0],  # where Eq. 7 ends
        "tenth": times[tenth * every] / expected,
        "coupling": modes.coupling,
    }


def large_initialisation_experiment(layers: str, size: float, seed: int) -> dict:
    """Train on whitened inputs from large weights, with Hσ² = ``size`` in one or both layers."""
    task, rate = task_with_covariance(np.eye(len(STRENGTHS))), 0.005
    sigma = np.sqrt(size / HIDDEN)
    scale = [sigma, sigma if layers == "both" else 0.0]
    weights, _, times, losses, _ = train_and_record(task, seed, rate, num_steps=10_000, scale=scale)
    start = theory.expected_initial_strength(HIDDEN, scale)
    imbalance = jnp.sum(weights[0] ** 2, axis=0) - jnp.sum(weights[1] ** 2, axis=1)
    strengths = unbalanced_mode_strength(times, STRENGTHS, 1.0, jnp.abs(imbalance))
    loss = jnp.sum(STRENGTHS**2) / 2 - jnp.sum(
        STRENGTHS[:, None] * strengths - strengths**2 / 2, axis=0
    )
    network = linear_network(task)
    grown = dynamics.balanced_weights(network, task, weights)
    free = theory.predict(network, grown, task, rate, len(times)).losses
    return {
        "closed": relative_error_above_floor(closed_form(task, times, start), losses),
        "unbalanced": relative_error_above_floor(loss, losses),
        "free": relative_error_above_floor(free, losses),
    }


def unbalanced_mode_strength(times, s, d, imbalance):
    """Return a(t) of aligned modes with conserved imbalance c = p² − q² > 0 that start at q = 0.

    z = q/p obeys ż = s − d c z − s z², and a = p q = c z / (1 − z²). Shape (modes, T).
    """
    s, c = s[:, None], imbalance[:, None]
    rate = jnp.sqrt(4 * s**2 + (d * c) ** 2)
    upper, lower = (rate - d * c) / (2 * s), -(rate + d * c) / (2 * s)  # roots of ż
    decayed = upper / lower * jnp.exp(-rate * times[None, :])  # (z − z₊)/(z − z₋)
    ratio = (upper - lower * decayed) / (1 - decayed)
    return c * ratio / (1 - ratio**2)


# Noisy targets ----------------------------------------------------------------------------------

NOISY_SAMPLES = 32
SIGNAL = np.diag([1.0, 0.8, 0.6, 0, 0, 0, 0, 0])  # W*


def noisy_task(noise: float, seed: int) -> tasks.Task:
    """Return 32 samples with exactly white inputs and noisy targets."""
    rng = np.random.default_rng(seed)
    basis, _ = np.linalg.qr(rng.normal(size=(NOISY_SAMPLES, len(SIGNAL))))
    inputs = np.sqrt(NOISY_SAMPLES) * basis.T
    errors = rng.normal(size=(len(SIGNAL), NOISY_SAMPLES))
    return tasks.Task(inputs, SIGNAL @ inputs + noise * errors)


def compare_on_noisy_targets(noise: float, seed: int) -> dict:
    """Train on noisy targets; return the error of Eq. 7 and the test loss at its predicted stop."""
    task, every = noisy_task(noise, seed), 10
    _, start, times, losses, maps = train_and_record(task, seed, 0.02, 6000, every)
    modes = statistics.modes(task)
    floor = losses[0] - jnp.sum(modes.singular_values**2 / modes.input_variances) / 2
    expected = theory.expected_initial_strength(HIDDEN, SCALE)
    measured = losses_on_new_inputs(maps)
    predicted = losses_on_new_inputs(predicted_maps(modes, times[::every], expected))
    best = jnp.argmin(predicted)
    return {
        "closed_drawn": relative_error_above_floor(closed_form(task, times, start), losses, floor),
        "stop_loss": measured[best] / measured.min(),
    }


def predicted_maps(modes, times, start):
    """Return W(t) = Σ_α a_α(t) u_α v_αᵀ, shape (T, N_out, N_in)."""
    strengths = theory.mode_trajectory(times, modes.singular_values, modes.input_variances, start)
    return jnp.einsum("oa,at,ia->toi", modes.left, strengths, modes.right)


def losses_on_new_inputs(maps):
    """Return the loss on new white inputs with noiseless targets, ‖W − W*‖²/2."""
    return jnp.sum((maps - SIGNAL) ** 2, axis=(1, 2)) / 2


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
        large_initialisation_experiment,
        sweeps.grid(
            layers=["first", "both"],
            size=[1e-4, 1e-3, 1e-2, 0.1, 0.3, 1.0, 3.0, 10.0],
            seed=range(10),
        ),
        repeated=(145,),
    ),
    "assumptions_noise": Table(
        compare_on_noisy_targets,
        sweeps.grid(noise=[0.0, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0], seed=range(20)),
        repeated=(120,),
    ),
}
