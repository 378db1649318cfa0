"""A ReLU network beside the gated networks that equal it (MHS Def. 3.1) or imitate it."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from mdsgdln import _checks as checks
from mdsgdln._checks import Numbers, Scalar
from mdsgdln.networks import GatedNetwork, LinearNetwork, ReLUNetwork
from mdsgdln.tasks import Task
from mdsgdln.theory import predict_losses
from mdsgdln.training import _check_finite, _mean_squared

__all__ = ["SideBySide", "deviation", "rank_candidates", "train_side_by_side"]


def __dir__() -> list[str]:
    return __all__


class SideBySide(NamedTuple):
    """A ReLU network and its exact ReLN, trained side by side.

    Attributes:
        losses: of the ReLU network before each update, shape (num_steps,).
        gated_losses: of the gated network, shape (num_steps,).
        differences: largest |ŷ_ReLU − ŷ_gated| over samples and outputs, shape (num_steps,).
        weights: of the ReLU network after the last update.
        gated_weights: of the gated network.
    """

    losses: Float[Array, " num_steps"]
    gated_losses: Float[Array, " num_steps"]
    differences: Float[Array, " num_steps"]
    weights: list[Array]
    gated_weights: list[Array]


def train_side_by_side(
    network: ReLUNetwork,
    weights: Sequence[Numbers],
    task: Task,
    learning_rate: Scalar,
    num_steps: int,
    freeze_at: Scalar | None = None,
) -> SideBySide:
    """Train a ReLU network and the gated network that has its activity as gates (MHS Def. 3.1).

    Both start from ``weights`` and go down their own gradient. Gates are step(z), z the input of
    the ReLU network's neuron; no gradient passes through them.

    Args:
        network: the ReLU network, with one hidden layer or more.
        weights: initial weights of both.
        task: what they are trained on, all samples at each update.
        learning_rate: step size on the mean loss.
        num_steps: number of updates.
        freeze_at: step, traced or not, from which on the gated network keeps its gates; never if
            not given.

    Raises:
        ValueError: weights or task that do not fit the network, or a bad number.
        DivergenceError: a loss became non-finite.
    """
    checks.instance("network", network, ReLUNetwork)
    checks.positive("learning_rate", learning_rate)
    checks.positive_integer("num_steps", num_steps)
    freeze_at = num_steps if freeze_at is None else checks.non_negative("freeze_at", freeze_at)
    network = network._reading(task)
    network._check_weights(weights)
    weights = [jnp.asarray(weight, float) for weight in weights]
    result = _side_by_side(network, weights, task, learning_rate, freeze_at, num_steps=num_steps)
    _check_finite(result.losses, result.weights, learning_rate)
    _check_finite(result.gated_losses, result.gated_weights, learning_rate)
    return result


@partial(jax.jit, static_argnames="num_steps")
def _side_by_side(network, weights, task, learning_rate, freeze_at, *, num_steps) -> SideBySide:
    linear = LinearNetwork(network.sizes)

    def loss(weights, network, gates=None):
        outputs = network.apply(weights, task.inputs, gates)
        return _mean_squared(task, outputs), outputs

    value_and_gradient = jax.value_and_grad(loss, has_aux=True)

    def descend(weights, gradient):
        return jax.tree.map(lambda w, g: w - learning_rate * g, weights, gradient)

    def step(state, index):
        weights, gated_weights, gates = state
        now = network.gates(weights, task.inputs)
        gates = jax.tree.map(lambda g, kept: jnp.where(index <= freeze_at, g, kept), now, gates)
        (value, outputs), gradient = value_and_gradient(weights, network)
        (gated_value, gated_outputs), gated_gradient = value_and_gradient(
            gated_weights, linear, gates
        )
        state = descend(weights, gradient), descend(gated_weights, gated_gradient), gates
        return state, (value, gated_value, jnp.abs(outputs - gated_outputs).max())

    records: tuple[Array, Array, Array]
    state = weights, weights, network.gates(weights, task.inputs)
    (weights, gated_weights, _), records = jax.lax.scan(step, state, jnp.arange(num_steps))
    return SideBySide(*records, weights, gated_weights)


def deviation(
    losses: Numbers, reference: Numbers, learned: float | None = 0.01
) -> float | Float[Array, ""]:
    """Return the relative error of a loss curve, Σ_t |𝓛 − 𝓛_ref| / Σ_t 𝓛_ref.

    Inside a compiled function it is not checked whether the reference has fallen.

    Args:
        losses: 𝓛, shape (T,).
        reference: 𝓛_ref at the same times, shape (T,).
        learned: the share of its start below which the reference has to fall; None asks for
            nothing.

    Raises:
        ValueError: different lengths, a non-finite entry, or a reference that does not fall that
            far.
    """
    losses = checks.finite_array("losses", losses, 1, "(T,)")
    reference = checks.finite_array("reference", reference, 1, "(T,)")
    if losses.shape != reference.shape:
        raise ValueError(f"losses: expected shape {reference.shape}, got {losses.shape}")
    if learned is not None:
        checks.positive("learned", learned)
    if any(isinstance(curve, jax.core.Tracer) for curve in (losses, reference)):
        return jnp.sum(jnp.abs(losses - reference)) / jnp.sum(reference)
    losses, reference = np.asarray(losses), np.asarray(reference)  # NumPy compiles nothing
    if learned is not None and not reference.min() < learned * reference[0]:
        raise ValueError(
            f"reference: expected a loss that falls below {learned:.3g} of its start, got "
            f"{reference.min() / reference[0]:.3g}; another share, or learned=None, allows that"
        )
    with np.errstate(divide="ignore", invalid="ignore"):  # NaN if the reference is zero
        return float(np.sum(np.abs(losses - reference)) / np.sum(reference))


def rank_candidates(
    task: Task, candidates: Mapping[str, GatedNetwork], scale: Scalar, times: Numbers
) -> dict[str, Float[Array, " T"]]:
    """Predict the loss of every candidate, from its data and σ alone, and rank them.

    The faster of two is the one whose loss sums to less over the given times.

    Args:
        task: what they would be trained on.
        candidates: {name: two-layer gated network}.
        scale: σ of all initial weights.
        times: t = learning rate · number of steps, increasing, shape (T,).

    Returns:
        {name: loss at those times, shape (T,)}, the fastest first.

    Raises:
        ValueError: no candidate, one that is not two-layer, or bad numbers.
    """
    checks.instance("candidates", candidates, Mapping)
    if not candidates:
        raise ValueError("candidates: expected {name: gated network}, got none")
    for network in candidates.values():
        checks.instance("candidates", network, GatedNetwork)
    if len(checks.times(times)) < 2:
        raise ValueError("times: expected at least two times, got one")
    losses = {
        name: predict_losses(network, task, scale, times) for name, network in candidates.items()
    }
    return dict(sorted(losses.items(), key=lambda item: float(np.trapezoid(item[1], times))))
