"""The loss of a ReLU network with two hidden layers: narrow networks, averaged in time.

As H → ∞ at fixed σ√H the loss no longer depends on H or on the draw: for W_l = w_l/√H,

    W₃ relu(W₂ relu(W₁x)) = (1/H) w₃ relu((1/√H) w₂ relu(w₁x)),   ẇ_l = −H ∂L/∂w_l.

Four networks of n < H neurons a layer and σ√(H/n), one draw with all signs of the middle and the
last matrix, are averaged: the curve passes each loss at the mean of the times at which they do.
"""

from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from mdsgdln._checks import Scalar
from mdsgdln.theory.neuron_merging import in_span

SIGNS = ((1, 1), (1, -1), (-1, 1), (-1, -1))  # of the middle and the last matrix
STEP = 0.8  # over the largest rate there may be
ROUND = 50  # steps of a compiled round
MOST_STEPS = 10_000  # 20 s with 256 neurons and 178 samples; 10 s with one hidden layer
LONGER = 1.25  # than asked for: a late network must have left the plateau that the mean has left


def narrow_widths(num_hidden: Sequence[int], num_neurons: int) -> list[int]:
    """Return the widths of each network, in proportion; all share the narrower one's number."""
    share = min(1.0, num_neurons // len(SIGNS) / min(num_hidden))
    return [round(share * width) for width in num_hidden]


def mean_curve(
    inputs: Float[np.ndarray, "n P"],
    targets: Float[np.ndarray, "m P"],
    num_hidden: Sequence[int],
    widths: Sequence[int],
    sigmas: Sequence[Scalar],
    times: Float[np.ndarray, " T"],
    key: Array,
) -> Float[np.ndarray, " T"]:
    """Return the loss of narrow networks at some times, averaged in time.

    A middle matrix is felt from both sides: where rounding of widths made the two differ, it takes
    their geometric mean.
    """
    first, last = (wide / few for wide, few in zip(num_hidden, widths, strict=True))
    factors = np.sqrt([first, np.sqrt(first * last), last])
    shapes = (widths[0], len(inputs)), (widths[1], widths[0]), (widths[1], len(targets))
    w, middle, v = (
        np.asarray(jax.random.normal(k, shape), float)
        for k, shape in zip(jax.random.split(key, 3), shapes, strict=True)
    )
    (w, x), (v, y) = in_span(w, inputs), in_span(v, targets)
    drawn = [f * s * w for f, s, w in zip(factors, sigmas, (w, middle, v.T), strict=True)]
    strength = (np.linalg.norm(y, 2) / np.linalg.norm(x, 2)) ** (1 / 3)
    largest = max(strength, *(np.linalg.norm(layer, 2) for layer in drawn))
    step = float(STEP * x.shape[1] / (3 * largest**4 * np.linalg.norm(x, 2) ** 2))
    check_steps(LONGER * times[-1], step)
    rounds = int(LONGER * times[-1] / step / ROUND) + 1
    curves = np.stack(
        [_descend([drawn[0], p * drawn[1], q * drawn[2]], x, y, step, rounds) for p, q in SIGNS]
    )
    return averaged_in_time(curves, step * np.arange(curves.shape[1]), times)


def check_steps(time: float, step: float) -> None:
    """Raise ``ValueError`` if a time is more steps away than can be waited for."""
    if time > MOST_STEPS * step:
        raise ValueError(
            f"times: the last is {time / step:.2g} steps of {step:.2g} away, expected at most "
            f"{MOST_STEPS:.0e}: take earlier times, or scale your inputs"
        )


def averaged_in_time(
    curves: Float[np.ndarray, "curves steps"],
    grid: Float[np.ndarray, " steps"],
    times: Float[np.ndarray, " T"],
) -> Float[np.ndarray, " T"]:
    """Return the curve that passes each loss at the mean of the times at which the curves do.

    Where one of them has not come so low yet it is their mean, as far as that is lower.
    """
    falling = np.minimum.accumulate(curves, axis=1)
    levels = np.unique(falling)[::-1]
    levels = levels[(levels <= falling[:, 0].min()) & (levels >= falling[:, -1].max())]
    if not len(levels):  # no loss that all of them pass
        return np.interp(times, grid, curves.mean(axis=0))
    passed = np.mean([np.interp(-levels, -curve, grid) for curve in falling], axis=0)
    later = np.minimum(np.interp(times, grid, falling.mean(axis=0)), levels[-1])
    return np.where(times > passed[-1], later, np.interp(times, passed, levels))


def _descend(layers: list, inputs: np.ndarray, targets: np.ndarray, step: float, rounds: int):
    """Return the loss of a network before each step of some rounds."""
    state, curve = tuple(map(jnp.asarray, layers)), []
    for _ in range(rounds):
        state, losses = _advance(state, inputs, targets, step)
        curve.append(np.asarray(losses, float))
    return np.concatenate(curve)


@jax.jit
def _advance(
    layers: tuple, inputs: Float[Array, "n P"], targets: Float[Array, "m P"], step: Scalar
) -> tuple:
    """Follow gradient flow for a round by Heun's rule; return weights and the loss before steps."""

    def loss(layers):
        first, middle, last = layers
        hidden = jax.nn.relu(middle @ jax.nn.relu(first @ inputs))
        return jnp.sum((targets - last @ hidden) ** 2) / (2 * inputs.shape[1])

    def one_step(layers, _):
        before, slope = jax.value_and_grad(loss)(layers)
        moved = jax.tree.map(lambda w, g: w - step * g, layers, slope)
        again = jax.grad(loss)(moved)
        end = jax.tree.map(lambda w, g, h: w - step / 2 * (g + h), layers, slope, again)
        return end, before

    return jax.lax.scan(one_step, layers, None, ROUND)
