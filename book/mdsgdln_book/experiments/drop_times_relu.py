"""First and second drop of ReLU networks with two hidden layers, from σ and width alone.

Until the first drop the error is that of outputs zero. With it fixed, the flow of three layers is
homogeneous: the scale of the weights only sets the unit of time. So its blow-up time and the share
of neurons that are active for all samples by then are numbers of the task, the same at every σ and,
up to the random seed, every width. The survivors wait for the second drop as a linear network.
"""

from functools import cache

import jax
import numpy as np
from scipy.integrate import RK23

from mdsgdln import networks, statistics, training
from mdsgdln_book.experiments import two_hidden
from mdsgdln_book.experiments.first_drop import crossing_step
from mdsgdln_book.tables import Table

SEEDS, GROWN = 5, 8  # GROWN: how far weights have grown over their start when neurons are counted
SCALES = {100: (6e-5, 6e-4, 6e-3), 420: (6e-4, 6e-3)}


def follow_to_blow_up(structures: str, layers: list[np.ndarray]) -> tuple[float, list[np.ndarray]]:
    """Follow weights under the error of zero outputs until they have grown ``GROWN``-fold.

    Time is in units of 1/s of the first mode. Where all layers have the strength w, it is infinite
    1/w later.

    Returns:
        when, and the weights then.
    """
    task = two_hidden.TASKS[structures]
    inputs, targets = np.asarray(task.inputs), np.asarray(task.targets)
    unit = task.num_samples * statistics.modes(task).singular_values[0]
    ends = np.cumsum([layer.size for layer in layers])[:-1]

    def split(flat):
        parts = np.split(flat, ends)
        return [part.reshape(layer.shape) for part, layer in zip(parts, layers, strict=True)]

    def flow(_, flat):
        first, second, last = split(flat)
        early = first @ inputs
        late = second @ np.maximum(early, 0)
        error = (last.T @ targets) * (late > 0)
        slopes = [
            (second.T @ error) * (early > 0) @ inputs.T,
            error @ np.maximum(early, 0).T,
            targets @ np.maximum(late, 0).T,
        ]
        return np.concatenate([slope.ravel() for slope in slopes]) / unit

    start = np.concatenate([layer.ravel() for layer in layers])
    growth = RK23(flow, 0, start, np.inf, rtol=1e-4, atol=1e-5)
    while np.linalg.norm(growth.y) < GROWN * np.linalg.norm(start):
        growth.step()
    return growth.t, split(growth.y)


@cache
def always_active_shares(structures: str) -> tuple[float, float, float]:
    """Return blow-up time and shares of always-active neurons under the error of zero outputs.

    The time is over 1/(s σ √H); the shares are those of the first and of the second layer.
    """
    task, width, found = two_hidden.TASKS[structures], two_hidden.HIDDEN, []
    shapes = (width, len(task.inputs)), (width, width), (len(task.targets), width)
    for seed in range(SEEDS):
        rng = np.random.default_rng([seed, 31])
        start = [rng.normal(size=shape) / np.sqrt(width) for shape in shapes]
        time, layers = follow_to_blow_up(structures, start)
        early = layers[0] @ np.asarray(task.inputs)
        late = layers[1] @ np.maximum(early, 0)
        strength = np.mean([np.linalg.norm(layer, 2) for layer in layers])
        shares = ((on > 0).all(axis=1).mean() for on in (early, late))
        found.append((time + 1 / strength, *shares))
    return tuple(np.mean(found, axis=0).tolist())


def half_strength_losses(structures: str) -> tuple[float, float]:
    """Return the losses at which the first and the second mode have half their strength.

    At half its strength a mode has taken three quarters of s²/(2d). Modes as fast as the second
    count with it.
    """
    task = two_hidden.TASKS[structures]
    found = statistics.modes(task)
    s, d = found.singular_values, found.input_variances
    gains = s**2 / (2 * d)
    second = gains[np.isclose(s, s[1])].sum()
    loss = np.sum(np.asarray(task.targets) ** 2) / (2 * task.num_samples)
    return loss - 0.75 * gains[0], loss - gains[0] - 0.75 * second


def measure_drop_times(structures: str, num_hidden: int, scale: float) -> dict:
    """Train ReLU networks; return the times of their first and second drop, (seeds,) each."""
    task = two_hidden.TASKS[structures]
    network = networks.ReLUNetwork((11, num_hidden, num_hidden, 60))
    coarser = int(np.clip(8 * two_hidden.SCALE / scale, 1, 8))
    step = two_hidden.PUBLISHED_RATE * coarser
    longest = 1.45 * 1.168 / (0.456 * scale * np.sqrt(0.69 * num_hidden))  # of the second drop
    times = {"first": [], "second": []}
    for seed in range(SEEDS):
        weights = network.init(jax.random.key(seed), scale)
        run = training.train(network, weights, task, step, int(longest / step))
        losses = np.asarray(run.losses)
        for name, level in zip(times, half_strength_losses(structures), strict=True):
            times[name].append(step * crossing_step(losses, level))
    return times


TABLES = {
    "drop_times_relu": Table(
        measure_drop_times,
        [
            {"structures": structures, "num_hidden": width, "scale": scale}
            for structures in two_hidden.TASKS
            for width, scales in SCALES.items()
            for scale in scales
        ],
        repeated=(7,),
    ),
}
