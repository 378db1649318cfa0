"""When a deep linear network of small random weights learns each mode.

While a mode waits, a network is the chain of scalar input and output W_L ⋯ W₁, W₁ = W₁v_α a column
and W_L = u_αᵀW_L a row. With F = W_L ⋯ W₁ its flow is

    Ẇ_l = (s − d F) (W_L ⋯ W_{l+1})ᵀ (W_{l−1} ⋯ W₁)ᵀ,

or Ẇ_l = (…)ᵀ(…)ᵀ in a time τ with dt = dτ/(s − dF). As widths grow, Gaussian matrices, W_l of
N_{l+1} × N_l entries N(0, σ_l²), become *free* (Voiculescu): every vector x of a layer has a new
direction x↑ in the next layer, every y one y↓ in the layer before, all orthonormal, and

    W_l x = σ_l √N_{l+1} x↑ (+ σ_l √N_l y where x = y↓),

and the transpose in the same way. The ends are σ₁√N₁ and σ_L√N_{L−1} times one more direction each.
So a wide network waits as a small deterministic one does, whose layers hold the words up to some
length.
"""

import warnings
from collections.abc import Sequence
from itertools import accumulate

import numpy as np
from jaxtyping import Float

from mdsgdln.networks import LinearNetwork
from mdsgdln.statistics import modes
from mdsgdln.tasks import Task

WORDS = 6  # longest word; a longer one changes no time by more than 1e-4
COUPLING, SMALL, APART = 0.1, 0.1, 0.1  # what the warnings allow, see drop_times
FEW = {2: 12, 3: 25, 4: 50}  # neurons, by the number of matrices: below, modes are 5 % late


def drop_times(
    task: Task, sizes: Sequence[int], scale: float | Sequence[float]
) -> Float[np.ndarray, " modes"]:
    """Return the expected half-learning time of each mode of a wide random linear network.

    T_α is when u_αᵀWv_α, W the product of all layers, is s_α/(2d_α): the solution of
    dT = dτ/(s_α − d_α F(τ)) up to F = s_α/(2d_α), where F is that of the chain of words (see the
    module). Mode α finds α − 1 directions of each hidden layer taken: its widths are N − α + 1.

    Warns, with the bounds, where Σ^x does not commute with the modes, weights are not small, a
    hidden layer has few neurons, or s of two neighbours is nearly the same.

    Args:
        task: what the network is trained on.
        sizes: (N_in, N₁, …, N_out), one to three hidden layers, widths unequal or not.
        scale: σ of the initial weights, or one per layer.

    Returns:
        times t = learning rate · steps, in the order of ``statistics.modes``.

    Raises:
        ValueError: sizes that do not fit the task, fewer than two or more than four matrices, a
            hidden layer with fewer neurons than modes, no mode at all, or weights so large that a
            mode is typically half learned at the start.
    """
    sizes = LinearNetwork(sizes).sizes
    if not 3 <= len(sizes) <= 5:
        raise ValueError(f"sizes: expected two to four weight matrices, got {len(sizes) - 1}")
    sigmas = np.broadcast_to(np.asarray(scale, float), len(sizes) - 1)
    found, widths = modes(task), np.array(sizes[1:-1])
    if not len(found.singular_values):
        raise ValueError("task: expected inputs and targets that are correlated, got none")
    if min(widths) < len(found.singular_values):
        raise ValueError(
            f"sizes: expected a neuron per mode, {len(found.singular_values)}, in every hidden "
            f"layer, got {min(widths)}: which modes it learns depends on the random seed"
        )
    _warn(found, widths, sigmas)
    times = []
    for taken, (s, d) in enumerate(zip(found.singular_values, found.input_variances, strict=True)):
        # uᵀWv of random weights has mean zero: its standard deviation says how much it is.
        initial = np.prod(sigmas) * np.sqrt(np.prod(widths - taken, dtype=float))
        if initial >= s / (2 * d):
            raise ValueError(
                f"scale: expected smaller weights, got a typical initial strength of {initial:.2g} "
                f"in mode {taken + 1}, which is half learned at {s / (2 * d):.2g}"
            )
        layers = _chain_of_words(widths - taken, sigmas)
        times.append(_half_time(layers, s, d))
    return np.array(times)


def _warn(found, widths, sigmas) -> None:
    s = found.singular_values
    around = np.maximum(np.r_[0, widths], np.r_[widths, 0])  # larger hidden width at each matrix
    size = np.max(sigmas * np.sqrt(around))
    apart = np.append(1 - s[1:] / s[:-1], 1.0)  # of a mode and the next; the last has none
    pair, nearest = int(np.argmin(apart)) + 1, np.min(apart)
    few = FEW[len(sigmas)]
    broken = [
        (found.coupling > COUPLING, f"Σ^x couples modes: {found.coupling:.2g}, expected at most "
         f"{COUPLING}; their singular vectors turn, and slower modes are early or late"),
        (size > SMALL, f"σ√N is {size:.2g}, expected at most {SMALL}; the weights are not small"),
        (min(widths) < few, f"a hidden layer has {min(widths)} neurons, expected at least {few}; "
         "fewer learn later than many, and differ more between draws"),
        (nearest < APART, f"modes {pair} and {pair + 1} differ by {nearest:.1%} in s, expected at "
         f"least {APART:.0%}; which is learned first, and when, depends on the random seed"),
    ]  # fmt: skip
    if any(bad for bad, _ in broken):
        words = ". ".join(text for bad, text in broken if bad)
        warnings.warn(f"drop_times: {words}", stacklevel=3)


def _chain_of_words(widths, sigmas) -> list[np.ndarray]:
    """Return the small network that waits as a wide one does, W₁ … W_L.

    A layer has a neuron per word: a layer and a number, prolonged by each step, up and down.
    """
    last = len(widths) - 1
    counts = [0] * len(widths)

    def new(layer: int) -> tuple[int, int]:
        counts[layer] += 1
        return layer, counts[layer] - 1

    ends = new(0), new(last)
    words, joined = list(ends), []
    for _ in range(WORDS):
        longer = [
            (word, new(layer))
            for word in words
            for layer in (word[0] + 1, word[0] - 1)
            if 0 <= layer <= last
        ]
        joined += longer
        words = [word for _, word in longer]
    sizes = [1, *counts, 1]
    layers = [np.zeros(shape) for shape in zip(sizes[1:], sizes[:-1], strict=True)]
    layers[0][ends[0][1], 0] = sigmas[0] * np.sqrt(widths[0])
    layers[-1][0, ends[1][1]] = sigmas[-1] * np.sqrt(widths[last])
    for (layer, number), (next_layer, next_number) in joined:
        upper = max(layer, next_layer)
        place = (next_number, number) if next_layer == upper else (number, next_number)
        layers[upper][place] = sigmas[upper] * np.sqrt(widths[next_layer])
    return layers


def _half_time(layers: list[np.ndarray], s: float, d: float) -> float:
    """Integrate the flow of a network of scalar input and output until it is at s/(2d)."""
    from scipy.integrate import solve_ivp  # here, as its import takes a while

    ends = np.cumsum([layer.size for layer in layers])[:-1]
    # In units of the largest layer a word's strengths and the time are of order one.
    unit = max(np.linalg.norm(layer, 2) for layer in layers)
    half = s / (2 * d * unit ** len(layers))

    def split(flat):
        parts = np.split(flat, ends)
        return [part.reshape(layer.shape) for part, layer in zip(parts, layers, strict=True)]

    def forward(flat):
        return list(accumulate(split(flat), lambda x, layer: layer @ x, initial=np.ones(1)))

    def reached(_, flat):
        return forward(flat)[-1][0] - half

    def flow(_, flat):
        arriving = forward(flat)
        later = split(flat)[:0:-1]
        leaving = list(accumulate(later, lambda y, layer: y @ layer, initial=np.ones(1)))[::-1]
        outer = [np.outer(y, x).ravel() for y, x in zip(leaving, arriving[:-1], strict=True)]
        return (1 - arriving[-1][0] / (2 * half)) * np.concatenate(outer)

    reached.terminal = True  # type: ignore[attr-defined]
    start = np.concatenate([layer.ravel() for layer in layers]) / unit
    solution = solve_ivp(flow, (0, np.inf), start, "DOP853", events=reached, rtol=1e-7, atol=1e-9)
    return float(solution.t_events[0][0] / (s * unit ** (len(layers) - 2)))
