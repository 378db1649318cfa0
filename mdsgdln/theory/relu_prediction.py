"""The loss of a ReLU network from its task alone: few designed neurons that stand for all.

With two hidden layers, as H → ∞ at fixed σ√H, the loss no longer depends on H or on the draw: for
W_l = w_l/√H,

    W₃ relu(W₂ relu(W₁x)) = (1/H) w₃ relu((1/√H) w₂ relu(w₁x)),   ẇ_l = −H ∂L/∂w_l.

Four networks of n < H neurons a layer and σ√(H/n), one draw with all signs of the middle and the
last matrix, are averaged: the curve passes each loss at the mean of the times at which they do.
"""

import warnings
from collections.abc import Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from mdsgdln import _checks as checks
from mdsgdln._checks import Numbers, Scalar
from mdsgdln.networks.network import _normal
from mdsgdln.tasks import Task
from mdsgdln.theory.relu_neurons import Merger, descend, heun, in_span, merge, patterns

STEP, DEEP_STEP = 0.1, 0.8  # over the largest rate there may be; with one, with two hidden layers
ROUND = 50  # steps between two mergers, and of what is compiled
MOST_STEPS = 10_000  # 20 s with two hidden layers, 256 neurons and 178 samples; 10 s with one
COMPILED = 16  # numbers of neurons that are compiled: 16, 32, 64, …
SIGNS = ((1, 1), (1, -1), (-1, 1), (-1, -1))  # of w and v; of the middle and the last matrix
LONGER = 1.25  # than asked for: a late network must have left the plateau that the mean has left


class Range(NamedTuple):
    """In which widths and weights the prediction was tested, and how far off it was there."""

    ratio: str  # the start over the end of a strength
    large: float  # the ratio from which on it warns of an error of ``off``
    largest: float  # the largest one tested
    off: str
    few: int  # neurons, with an error of ``scatter`` below
    scatter: str


SHALLOW = Range("H σ² ‖X‖/‖Y‖", 0.5, 4.0, "40 %", 64, "20 %")
DEEP = Range("σ √H (‖X‖/‖Y‖)^{1/3}", 0.2, 1.0, "19 %", 100, "40 %")
# The loss of the initial output, which the prediction lacks, over that of the targets:
OWN_LARGE, OWN_LARGEST = 0.05, 0.5  # it warns, it refuses


class ReLUPrediction(NamedTuple):
    """A loss curve, and the gates behind it. With two hidden layers no gates are kept: 0 of them.

    Attributes:
        losses: at the times asked for, shape (T,).
        gates: those of the neurons left at the last time, strongest first: 1 where a sample is on,
            0 where it is off, ½ on the boundary; shape (G, P).
        shares: of the squared weights, per gate, shape (G,).
        events: what was merged, and when.
        neurons: how many are left; with two hidden layers, all of the four networks.
    """

    losses: Float[Array, " T"]
    gates: Float[np.ndarray, "G P"]
    shares: Float[np.ndarray, " G"]
    events: list[Merger]
    neurons: int


def predict_relu(
    task: Task,
    num_hidden: int | Sequence[int],
    scale: Scalar | Sequence[Scalar],
    times: Numbers,
    *,
    key: Array,
    num_neurons: int = 256,
    cosine: Scalar = 0.8,
) -> ReLUPrediction:
    """Predict the loss of a ReLU network with one or two hidden layers.

    *One hidden layer*: N neurons of size σ √(H/N) stand for all H: each sign combination (±w, ±v)
    of N/4 draws, with Σ w wᵀ and Σ v vᵀ made isotropic. They follow gradient flow,
    ẇ = (1/P) Σ_{i on} vᵀr_i x_i and v̇ = (1/P) Σ_i relu(wᵀx_i) r_i. Those of one gate that point
    alike become the few that keep Σ (w, v)(w, v)ᵀ, which is exact while they keep the gate. The
    null, never merged: ``predict_relu(..., num_neurons=prediction.neurons, cosine=1)``.

    The initial output, zero here, adds a share of m H σ₁²σ₂²⟨‖x‖²⟩ / (2⟨‖y‖²⟩) to the initial loss,
    for m outputs.

    *Two hidden layers*: the mean in time of four networks of N/4 neurons a layer. Nothing is
    merged, no gates are kept.

    Warns, with the size of the error, of few neurons and large weights, and refuses weights beyond
    those with which it was tested. Long plateaus may be off without a warning.

    Args:
        task: what the network is trained on; a bias is a row of ones in the inputs.
        num_hidden: H, at least four; with two hidden layers (H₁, H₂).
        scale: σ of all layers, or one for each.
        times: t = learning rate · number of steps, increasing from 0 on, shape (T,).
        key: JAX random key of the draws.
        num_neurons: N, at least four; a multiple of four no larger than this and H is used. With
            two hidden layers, those of the narrower one in all four networks; one has H at most.
        cosine: neurons of a gate are merged from this cosine of (w, v) on; 1 merges none.

    Returns:
        the curve as ``losses``, beside the gates over time.

    Raises:
        ValueError: a bad number or key, a task without inputs or targets that are not zero, weights
            beyond the tested range, or times more than 10 000 steps away.
    """
    checks.instance("task", task, Task)
    layers: list = list(num_hidden) if checks.is_list(num_hidden) else [num_hidden]
    widths = [checks.positive_integer("num_hidden", width) for width in layers]
    if len(widths) not in (1, 2):
        raise ValueError(f"num_hidden: expected one or two hidden layers, got {len(widths)}")
    sigmas = [float(s) for s in checks.initial_scales(scale, tuple(range(len(widths) + 1)))]
    times = np.asarray(checks.times(times), float)
    checks.random_key("key", key)
    narrow = min(widths)
    number = min(checks.positive_integer("num_neurons", num_neurons), narrow) // 4
    if not number:
        name, value = ("num_hidden", narrow) if narrow < 4 else ("num_neurons", num_neurons)
        raise ValueError(f"{name}: expected at least 4, got {value}")
    if checks.positive("cosine", cosine) > 1:
        raise ValueError(f"cosine: expected at most 1, got {cosine!r}")
    inputs, targets = np.asarray(task.inputs, float), np.asarray(task.targets, float)
    if not inputs.any() or not targets.any():
        raise ValueError("task: expected inputs and targets that are not all zero")
    ratio = float(np.linalg.norm(inputs, 2) / np.linalg.norm(targets, 2))
    if len(widths) == 2:
        _check_range(DEEP, narrow, max(sigmas) * np.sqrt(max(widths)) * ratio ** (1 / 3))
        return _two_layers(inputs, targets, widths, sigmas, times, key, num_neurons)
    first, second = sigmas[0] ** 2, sigmas[1] ** 2
    _check_range(
        SHALLOW,
        narrow,
        start=narrow * (first + second) / 2 * ratio,
        own=len(targets) * narrow * first * second * np.sum(inputs**2) / (2 * np.sum(targets**2)),
    )
    return _one_layer(inputs, targets, narrow, number, sigmas, times, key, float(cosine))


def _one_layer(inputs, targets, width: int, number: int, sigmas, times, key, cosine: float):
    """Return the prediction for one hidden layer, from so many draws."""
    (drawn,) = _normal(key[None], [(number, len(inputs) + len(targets))])
    draws = np.split(np.asarray(drawn, float), [len(inputs)], axis=1)
    grown = np.sqrt(width / (4 * number))
    size = float(grown * np.sqrt((sigmas[0] ** 2 + sigmas[1] ** 2) / 2))
    (w, inputs), (v, targets) = map(in_span, draws, (inputs, targets))
    w, v = grown * sigmas[0] * w, grown * sigmas[1] * v
    z = np.concatenate([np.hstack([p * w, q * v]) for p, q in SIGNS])
    strength, length = np.linalg.norm(targets, 2), np.linalg.norm(inputs, 2)
    largest = max(strength * length, np.linalg.norm(z, 2) ** 2 * length**2) / inputs.shape[1]
    step = float(STEP / largest)
    curve, events = [], []
    for count in range(_rounds(times[-1], step)):
        if cosine < 1 and count:
            z, mergers = merge(z, inputs, size, cosine, count * ROUND * step)
            events += mergers
        compiled = max(COMPILED, 1 << (len(z) - 1).bit_length())  # a power of two
        padded = np.zeros((compiled, z.shape[1]))  # a neuron of weight zero stays so
        padded[: len(z)] = z
        end, losses = descend(jnp.asarray(padded), inputs, targets, step, ROUND)
        z = np.asarray(end, float)[: len(z)]
        curve.append(np.asarray(losses, float))
    losses = np.concatenate(curve)
    at_times = np.interp(times, step * np.arange(len(losses)), losses)
    # Gates of the neurons, strongest first, and their shares of the squared weights.
    signs, group = np.unique(patterns(z[:, : len(inputs)], inputs), axis=0, return_inverse=True)
    weight = np.bincount(group.ravel(), np.sum(z**2, axis=1))
    order = np.argsort(-weight, kind="stable")
    gates, shares = (signs[order] + 1) / 2, weight[order] / weight.sum()
    return ReLUPrediction(jnp.asarray(at_times), gates, shares, events, len(z))


def _two_layers(inputs, targets, widths, sigmas, times, key, num_neurons: int):
    """Return the prediction for two hidden layers."""
    few = narrow_widths(widths, num_neurons)
    first, last = (wide / narrow for wide, narrow in zip(widths, few, strict=True))
    factors = np.sqrt([first, np.sqrt(first * last), last])  # the middle one is felt from both
    shapes = (few[0], len(inputs)), (few[1], few[0]), (few[1], len(targets))
    drawn = _normal(jax.random.split(key, 3), shapes)
    w, middle, v = (np.asarray(numbers, float) for numbers in drawn)
    (w, x), (v, y) = in_span(w, inputs), in_span(v, targets)
    drawn = [f * s * w for f, s, w in zip(factors, sigmas, (w, middle, v.T), strict=True)]
    strength = (np.linalg.norm(y, 2) / np.linalg.norm(x, 2)) ** (1 / 3)
    largest = max(strength, *(np.linalg.norm(layer, 2) for layer in drawn))
    step = float(DEEP_STEP * x.shape[1] / (3 * largest**4 * np.linalg.norm(x, 2) ** 2))
    rounds, curves = _rounds(LONGER * times[-1], step), []
    for p, q in SIGNS:
        state, curve = (drawn[0], p * drawn[1], q * drawn[2]), []
        for _ in range(rounds):
            state, losses = _descend(state, x, y, step)
            curve.append(np.asarray(losses, float))
        curves.append(np.concatenate(curve))
    grid = step * np.arange(len(curves[0]))
    at_times = jnp.asarray(averaged_in_time(np.stack(curves), grid, times))
    no_gates = np.zeros((0, inputs.shape[1])), np.zeros(0)
    return ReLUPrediction(at_times, *no_gates, [], len(SIGNS) * sum(few))


def narrow_widths(num_hidden: Sequence[int], num_neurons: int) -> list[int]:
    """Return the widths of each network, in proportion; all share the narrower one's number."""
    share = min(1.0, num_neurons // len(SIGNS) / min(num_hidden))
    return [round(share * width) for width in num_hidden]


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


@jax.jit
def _descend(layers: tuple, inputs, targets, step: Scalar) -> tuple:
    """Follow gradient flow for a round; return weights and the loss before steps."""

    def loss(layers):
        first, middle, last = layers
        hidden = jax.nn.relu(middle @ jax.nn.relu(first @ inputs))
        return jnp.sum((targets - last @ hidden) ** 2) / (2 * inputs.shape[1])

    def flow(layers):
        return jax.tree.map(jnp.negative, jax.grad(loss)(layers))

    return jax.lax.scan(
        lambda state, _: (heun(flow, state, step), loss(state)), layers, None, ROUND
    )


def _rounds(time: float, step: float) -> int:
    """Return in how many rounds a time is reached, or raise ``ValueError`` if it is far away."""
    if time > MOST_STEPS * step:
        raise ValueError(
            f"times: the last is {time / step:.2g} steps of {step:.2g} away, expected at most "
            f"{MOST_STEPS:.0e}: take earlier times, or scale your inputs"
        )
    return int(time / step / ROUND) + 1


def _check_range(tested: Range, num_hidden: int, start: float, own: float = 0.0) -> None:
    """Refuse weights beyond the tested range; warn, with its size, where the error is large."""
    if not start <= tested.largest:
        raise ValueError(
            f"scale: {tested.ratio} is {start:.2g}, and was tested up to {tested.largest:g}: "
            "beyond, this is not a prediction; take smaller weights, or scale your inputs"
        )
    added = f"the network's initial output adds {own:.0%} to its initial loss, expected at most "
    if own > OWN_LARGEST:
        raise ValueError(
            f"scale: {added}{OWN_LARGEST:.0%}: this is without it and not a prediction of such a "
            "network; take smaller weights, or scale your inputs"
        )
    few = (
        f"{num_hidden} neurons, expected at least {tested.few}: curves may be off by "
        f"{tested.scatter} and more, as draws of so narrow a network differ"
    )
    large = (
        f"{tested.ratio} is {start:.2g}, expected at most {tested.large}: up to "
        f"{tested.largest:g} curves were up to {tested.off} off"
    )
    doubts = [
        (num_hidden < tested.few, few),
        (start > tested.large, large),
        (own > OWN_LARGE, f"{added}{OWN_LARGE:.0%}: the curve starts that much too low"),
    ]
    for holds, words in doubts:
        if holds:
            warnings.warn(f"predict_relu: {words}", stacklevel=3)
