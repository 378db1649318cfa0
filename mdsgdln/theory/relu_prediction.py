"""The loss of a ReLU network from its task alone: few designed neurons that stand for all."""

import warnings
from collections.abc import Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from mdsgdln import _checks as checks
from mdsgdln._checks import Numbers, Scalar
from mdsgdln.tasks import Task
from mdsgdln.theory.deep_prediction import SIGNS, check_steps, mean_curve, narrow_widths
from mdsgdln.theory.neuron_merging import Merger, in_span, merge, patterns

STEP = 0.1  # over the largest rate there may be
ROUND = 50  # steps between two mergers


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
COMPILED = 16  # numbers of neurons that are compiled: 16, 32, 64, …


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

    Warns below 64 neurons and for H σ² ‖X‖/‖Y‖ (spectral norms) above 0.5, refuses above 4. The
    initial output, zero here, adds a share of m H σ₁²σ₂²⟨‖x‖²⟩ / (2⟨‖y‖²⟩) to the initial loss, for
    m outputs: warns above 5 %, refuses above 50 %. Long plateaus may be off without a warning.

    *Two hidden layers*: four networks of N/4 neurons a layer (``theory.deep_prediction``). Nothing
    is merged, no gates are kept. Warns below 100 neurons and for σ √H (‖X‖/‖Y‖)^{1/3} above 0.2,
    refuses above 1.

    Args:
        task: what the network is trained on; a bias is a row of ones in the inputs.
        num_hidden: H, at least four; with two hidden layers (H₁, H₂).
        scale: σ of all layers, or one for each.
        times: t = learning rate · number of steps, increasing from 0 on, shape (T,).
        key: JAX random key of the draws.
        num_neurons: N, at least four; a multiple of four no larger than this and H is used. With
            two hidden layers, those of the narrower one in all four networks; one has H at most.
        cosine: neurons of a gate are merged from this cosine of (w, v) on; 1 merges none.

    Raises:
        ValueError: a bad number or key, a task without inputs or targets that are not zero, weights
            beyond the tested range, or times more than 10 000 steps away.
    """
    checks.instance("task", task, Task)
    layers: list = list(num_hidden) if checks.is_list(num_hidden) else [num_hidden]
    widths = [checks.positive_integer("num_hidden", width) for width in layers]
    if len(widths) not in (1, 2):
        raise ValueError(f"num_hidden: expected one or two hidden layers, got {len(widths)}")
    sigmas = checks.initial_scales(scale, tuple(range(len(widths) + 1)))
    times = np.asarray(checks.times(times), float)
    checks.random_key("key", key)
    wide = min(widths)
    number = min(checks.positive_integer("num_neurons", num_neurons), wide) // 4
    if not number:
        name, value = ("num_hidden", wide) if wide < 4 else ("num_neurons", num_neurons)
        raise ValueError(f"{name}: expected at least 4, got {value}")
    if checks.positive("cosine", cosine) > 1:
        raise ValueError(f"cosine: expected at most 1, got {cosine!r}")
    inputs, targets = np.asarray(task.inputs, float), np.asarray(task.targets, float)
    if not inputs.any() or not targets.any():
        raise ValueError("task: expected inputs and targets that are not all zero")
    strength, length = np.linalg.norm(targets, 2), np.linalg.norm(inputs, 2)
    if len(widths) == 2:
        start = float(max(sigmas)) * np.sqrt(max(widths)) * (length / strength) ** (1 / 3)
        _check_range(DEEP, wide, start)
        return _deep(inputs, targets, widths, sigmas, times, key, num_neurons)

    drawn = np.split(
        np.asarray(jax.random.normal(key, (number, len(inputs) + len(targets))), float),
        [len(inputs)],
        axis=1,
    )
    (w, inputs), (v, targets) = map(in_span, drawn, (inputs, targets))
    grown = np.sqrt(wide / (4 * number))
    w, v = (grown * float(s) * layer for s, layer in zip(sigmas, (w, v), strict=True))
    z = np.concatenate([np.hstack([p * w, q * v]) for p in (1, -1) for q in (1, -1)])
    size = float(grown * np.sqrt((sigmas[0] ** 2 + sigmas[1] ** 2) / 2))
    largest = max(strength * length, np.linalg.norm(z, 2) ** 2 * length**2) / task.num_samples
    step = float(STEP / largest)
    both = float(sigmas[0]) ** 2 * float(sigmas[1]) ** 2
    own = len(task.targets) * wide * both * np.sum(inputs**2) / (2 * np.sum(targets**2))
    start = float(size**2 * 4 * number * length / strength)
    _check_range(SHALLOW, wide, start, float(own))
    check_steps(times[-1], step)

    curve, events = [], []
    for count in range(int(times[-1] / step / ROUND) + 1):
        if cosine < 1 and count:
            z, mergers = merge(z, inputs, size, float(cosine), count * ROUND * step)
            events += mergers
        padded = np.zeros((_compiled(len(z)), z.shape[1]))  # a neuron of weight zero stays so
        padded[: len(z)] = z
        end, losses = _advance(jnp.asarray(padded), inputs, targets, step)
        z = np.asarray(end, float)[: len(z)]
        curve.append(np.asarray(losses, float))
    losses = np.concatenate(curve)
    at_times = np.interp(times, step * np.arange(len(losses)), losses)
    gates, shares = _gates(z, inputs)
    return ReLUPrediction(jnp.asarray(at_times), gates, shares, events, len(z))


def _deep(inputs, targets, widths, sigmas, times, key, num_neurons) -> ReLUPrediction:
    """Return the loss of two hidden layers. Gates differ between networks: none is kept."""
    few = narrow_widths(widths, num_neurons)
    losses = mean_curve(inputs, targets, widths, few, sigmas, times, key)
    nothing = np.zeros((0, inputs.shape[1])), np.zeros(0)
    return ReLUPrediction(jnp.asarray(losses), *nothing, [], len(SIGNS) * sum(few))


def _check_range(tested: Range, num_hidden: int, start: float, own: float = 0.0) -> None:
    """Refuse weights beyond the tested range; warn, with its size, where the error is large."""
    if not start <= tested.largest:
        raise ValueError(
            f"scale: {tested.ratio} is {start:.2g}, and was tested up to {tested.largest:g}: "
            "beyond, this is not a prediction; take smaller weights, or scale your inputs"
        )
    if own > OWN_LARGEST:
        raise ValueError(
            f"scale: the network's initial output adds {own:.0%} to its initial loss, expected at "
            f"most {OWN_LARGEST:.0%}: this is without it and not a prediction of such a network; "
            "take smaller weights, or scale your inputs"
        )
    if num_hidden < tested.few:
        warnings.warn(
            f"predict_relu: {num_hidden} neurons, expected at least {tested.few}: curves may be "
            f"off by {tested.scatter} and more, as draws of so narrow a network differ",
            stacklevel=3,
        )
    if start > tested.large:
        warnings.warn(
            f"predict_relu: {tested.ratio} is {start:.2g}, expected at most {tested.large}: up to "
            f"{tested.largest:g} curves were up to {tested.off} off",
            stacklevel=3,
        )
    if own > OWN_LARGE:
        warnings.warn(
            f"predict_relu: the network's initial output adds {own:.0%} to its initial loss, "
            f"expected at most {OWN_LARGE:.0%}: the curve starts that much too low",
            stacklevel=3,
        )


def _compiled(number: int) -> int:
    """Return the number of neurons of the compiled function for so many: a power of two."""
    return max(COMPILED, 1 << (number - 1).bit_length())


def _gates(z: Float[np.ndarray, "N k"], inputs: Float[np.ndarray, "n P"]) -> tuple:
    """Return the gates of neurons, strongest first, and their shares of the squared weights."""
    signs, group = np.unique(patterns(z[:, : len(inputs)], inputs), axis=0, return_inverse=True)
    weight = np.bincount(group.ravel(), np.sum(z**2, axis=1))
    order = np.argsort(-weight, kind="stable")
    return (signs[order] + 1) / 2, weight[order] / weight.sum()


@jax.jit
def _advance(
    z: Float[Array, "N k"],
    inputs: Float[Array, "n P"],
    targets: Float[Array, "m P"],
    step: Scalar,
) -> tuple:
    """Follow gradient flow for a round by Heun's rule; return z after it and the loss before steps.

    Both ends of a step count, so that a neuron that crosses a boundary is pushed from both sides.
    """
    rows, num_samples = inputs.shape

    def velocity(z):
        w, v = z[:, :rows], z[:, rows:]
        activity = w @ inputs
        active = jnp.maximum(activity, 0)
        residual = targets - v.T @ active
        push = jnp.where(activity > 0, v @ residual, 0)
        slope = jnp.concatenate([push @ inputs.T, active @ residual.T], axis=1) / num_samples
        return slope, jnp.sum(residual**2) / (2 * num_samples)

    def one_step(z, _):
        before, loss = velocity(z)
        after, _ = velocity(z + step * before)
        return z + step / 2 * (before + after), loss

    return jax.lax.scan(one_step, z, None, ROUND)
