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

from collections.abc import Sequence
from itertools import accumulate

import numpy as np
from jaxtyping import Float

from mdsgdln.statistics import modes
from mdsgdln.tasks import Task

WORDS = 6  # longest word; a longer one changes no time by more than 1e-4


def drop_times(
    task: Task, sizes: Sequence[int], scale: float | Sequence[float]
) -> Float[np.ndarray, " modes"]:
    """Return the expected half-learning time of each mode of a wide random linear network.

    T_α is when u_αᵀWv_α, W the product of all layers, is s_α/(2d_α): the solution of
    dT = dτ/(s_α − d_α F(τ)) up to F = s_α/(2d_α), where F is that of the chain of words (see the
    module). Mode α finds α − 1 directions of each hidden layer taken: its widths are N − α + 1.

    The times hold where Σ^x nearly commutes with the modes, weights are small (σ√N ≤ 0.1), hidden
    layers have some 25 neurons or more, and s of two modes differ by a tenth.

    Args:
        task: what the network is trained on.
        sizes: (N_in, N₁, …, N_out), one to three hidden layers, widths unequal or not.
        scale: σ of the initial weights, or one per layer.

    Returns:
        times t = learning rate · steps, in the order of ``statistics.modes``.
    """
    sigmas = np.broadcast_to(np.asarray(scale, float), len(sizes) - 1)
    found, widths = modes(task), np.array(sizes[1:-1])
    strengths = zip(found.singular_values, found.input_variances, strict=True)
    return np.array(
        [
            _half_time(_chain_of_words(widths - taken, sigmas), s, d)
            for taken, (s, d) in enumerate(strengths)
        ]
    )


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
