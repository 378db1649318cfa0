"""When linear networks of small Gaussian weights learn their modes, derived and measured.

Ten tasks within the limits of ``theory.drop_times``: random modes of Σ^yx that are eigenvectors of
Σ^x, each at most three quarters as strong as the one before.
"""

from collections.abc import Callable, Sequence

import numpy as np
from scipy.integrate import RK45
from scipy.optimize import brentq

from mdsgdln import statistics, sweeps, tasks, theory
from mdsgdln_book.tables import Table

TASKS, DRAWS, LEARNED = 10, 20, 3
HIDDEN = ["200", "840", "200 200", "400 200", "200 200 200"]


def task_of(seed: int) -> tasks.Task:
    """Return a task of random modes: s from 1.5 down, d between ½ and 2."""
    rng = np.random.default_rng([seed, 29])
    num_inputs, num_outputs = rng.integers(4, 8), rng.integers(3, 9)
    number = min(num_inputs, num_outputs)
    s = 1.5 * np.cumprod([1, *rng.uniform(0.35, 0.75, number - 1)])
    d = rng.uniform(0.5, 2, num_inputs)
    right, left, samples = (
        np.linalg.qr(rng.normal(size=(size, size)))[0]
        for size in (num_inputs, num_outputs, 2 * num_inputs)
    )
    inputs = right * np.sqrt(d * 2 * num_inputs) @ samples[:num_inputs]
    targets = left[:, :number] * (s / d[:number]) @ right[:, :number].T @ inputs
    return tasks.Task(inputs, targets)


def waits(hidden: str, seed: int) -> dict:
    """Return predicted half times of the first modes, and those of networks of random weights.

    σ√N is drawn for each task, N the largest width: between 0.05 and 0.1, and 0.1 with four
    matrices, which wait for 1/(σ√N)².

    Results:
        size: σ√N.
        predicted: by ``theory.drop_times``, (modes,).
        measured: mean over draws, (modes,).
        spread: standard deviation over draws, over their mean, (modes,).
    """
    widths = [int(width) for width in hidden.split()]
    task, found = task_of(seed), statistics.modes(task_of(seed))
    rng = np.random.default_rng([seed, *widths])
    depth = len(widths) + 1
    size = np.exp(rng.uniform(np.log(0.05), np.log(0.1))) if depth < 4 else 0.1
    sigma = size / np.sqrt(max(widths))
    sizes = (len(task.inputs), *widths, len(task.targets))
    predicted = theory.drop_times(task, sizes, sigma)[:LEARNED]
    times = np.array([trained(task, found, sizes, sigma, rng) for _ in range(DRAWS)])
    mean = times.mean(axis=0)
    return {
        "size": size,
        "predicted": predicted,
        "measured": mean,
        "spread": times.std(axis=0, ddof=1) / mean,
    }


def flat_layers(sizes: Sequence[int]) -> tuple[int, Callable[[np.ndarray], list[np.ndarray]]]:
    """Return how many weights a network has, and what makes of so many numbers its layers."""
    shapes = list(zip(sizes[1:], sizes[:-1], strict=True))
    *ends, number = np.cumsum([rows * columns for rows, columns in shapes]).tolist()

    def split(flat):
        parts = np.split(flat, ends)
        return [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]

    return number, split


def trained(task, found: statistics.Modes, sizes, sigma: float, rng) -> np.ndarray:
    """Return the half times of the first modes of one draw under gradient flow."""
    cross, variance = map(np.asarray, statistics.correlations(task))
    left, right = found.left[:, :LEARNED], found.right[:, :LEARNED]
    halves = (found.singular_values / (2 * found.input_variances))[:LEARNED]
    number, split = flat_layers(sizes)

    def descent(_, flat):
        layers, slope = split(flat), np.empty_like(flat)
        forward = [np.eye(sizes[0])]
        for layer in layers:
            forward.append(layer @ forward[-1])
        back = cross - forward[-1] @ variance
        for place, layer, before in zip(
            split(slope)[::-1], layers[::-1], forward[-2::-1], strict=True
        ):
            place[...] = back @ before.T
            back = layer.T @ back
        return slope

    def strengths(flat):
        product = right
        for layer in split(flat):
            product = layer @ product
        return np.sum(left * product, axis=0)

    start = sigma * rng.normal(size=number)
    flow = RK45(descent, 0, start, np.inf, rtol=1e-5, atol=1e-3 * sigma)
    times = np.full(LEARNED, np.nan)
    while np.isnan(times).any():
        with np.errstate(over="ignore", invalid="ignore"):  # of trial steps, which are rejected
            flow.step()
        for mode in np.flatnonzero(np.isnan(times) & (strengths(flow.y) >= halves)):
            within = flow.dense_output()
            times[mode] = brentq(
                lambda t, mode=mode, within=within: strengths(within(t))[mode] - halves[mode],
                flow.t_old,
                flow.t,
            )
    return times


TABLES = {
    "drop_times": Table(waits, sweeps.grid(hidden=HIDDEN, seed=range(TASKS)), row=8),
}
