"""Gradient flow of a ReLU network whose gates have three values: on, off and sliding."""

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
from jaxtyping import Array, ArrayLike, Float, Int8, PyTree

from mdsgdln.networks import ReLUNetwork
from mdsgdln.tasks import Task
from mdsgdln_book.dynamics.sliding_step import ENOUGH, Sliders, implicit_step

OFF, SLIDING, ON = -1, 0, 1


class ReLUFlow(NamedTuple):
    """The gradient flow of a ReLU network at given times.

    Attributes:
        losses: 𝓛, shape (T,).
        states: of each neuron on each sample, −1 off, 0 sliding, 1 on, shape (T, neurons, P). A
            pair slides if wᵀx is 0 and the sample, when on, pushes it down; a sample x = 0 is off.
        observed: what ``observe`` returned, stacked over times.
        weights: at the last time.
        events: all changes of state: time at the end of the step, neuron, sample, from, to.
        residual: largest residual of the box problem in any step, over ‖w‖.
    """

    losses: Float[np.ndarray, " T"]
    states: Int8[np.ndarray, "T neurons P"]
    observed: PyTree
    weights: list[Array]
    events: pd.DataFrame
    residual: float


def relu_flow(
    network: ReLUNetwork,
    weights: Sequence[ArrayLike],
    task: Task,
    times: ArrayLike,
    *,
    step: float,
    observe: Callable[[Any], Any] | None = None,
) -> ReLUFlow:
    """Follow the gradient flow of a ReLU network with one hidden layer, its sliding gates resolved.

    ẇ = Σ θ_i β_i x_i and v̇ = Σ relu(wᵀx_i) r_i/P for each neuron (w, v), with the residual
    r = y − ŷ, β_i = vᵀr_i/P, and θ_i = 1 on, 0 off and between on the boundary of a gate, by the
    implicit step of ``sliding_step``. The error is of the order of the step.

    Args:
        network: with one hidden layer.
        weights: its initial weights.
        task: what it is trained on.
        times: t of the losses and states, increasing from 0 on.
        step: longest step; the fastest rate is ‖X‖‖Y‖/P or, for large weights,
            (‖W₁‖² + ‖W₂‖²)‖X‖²/P.
        observe: a function of the weights, compiled; its values at each time are returned.
    """
    network.check(weights, task)
    first, second = (jnp.asarray(layer, float) for layer in weights)
    data = jnp.asarray(task.inputs, float), jnp.asarray(task.targets, float)
    sizes, marks = _steps(np.asarray(times, float), step)
    # After the last time one step more, which shows where samples on a boundary go.
    further = np.append(sizes, sizes[-1] if len(sizes) else step)
    last, after, records = _follow(first.T, second, *data, further, observe)
    losses, states, observed, residuals = jax.tree.map(np.asarray, records)
    path = np.concatenate([states[:1], states, np.asarray(after)[None]])
    # What slides at the end of a single step only crosses: it is where it goes next.
    landed = (path[1:-1] == SLIDING) & (path[:-2] != SLIDING) & (path[2:] != SLIDING)
    path[1:-1] = np.where(landed, path[2:], path[1:-1])
    index, sample, neuron = np.nonzero(path[1:-1] != path[:-2])
    events = {
        "time": np.append(0, np.cumsum(sizes))[index],
        "neuron": neuron,
        "sample": sample,
        "from": path[index, sample, neuron],
        "to": path[index + 1, sample, neuron],
    }
    if residuals.max() > ENOUGH:
        warnings.warn(
            f"relu_flow: the box problem of a step was solved to {residuals.max():.1g} of ‖w‖, "
            f"expected {ENOUGH:.1g}: some sliding samples may be taken for others",
            stacklevel=2,
        )
    return ReLUFlow(
        losses=losses[marks],
        states=path[1:-1][marks].swapaxes(1, 2),
        observed=jax.tree.map(lambda values: values[marks], observed),
        weights=last,
        events=pd.DataFrame(events),
        residual=float(residuals.max()),
    )


def _steps(times, longest: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the size of each step, and the number of steps before each time."""
    spans = np.diff(times, prepend=0.0)
    numbers = np.ceil(spans / longest - 1e-6).astype(int).clip(min=0)
    numbers[spans > 0] = numbers[spans > 0].clip(min=1)
    return np.repeat(spans / np.maximum(numbers, 1), numbers), np.cumsum(numbers)


@partial(jax.jit, static_argnames="observe")
def _follow(w, v, inputs, targets, sizes, observe) -> tuple:
    """Take all steps, from weights w (N_in, H) and v (N_out, H).

    Returns:
        the weights before the last step, the states after it, and of each step, before it is taken:
        loss, states (P, H), what is observed; and the largest residual of its box problems.
    """
    num_samples = inputs.shape[1]

    def weights_of(state):
        return [state[0].T, state[1]]

    def one(carry, size):
        (w, v, sliders, states), _ = carry
        hidden, residual, push = _forces(w, v, inputs, targets)
        most = jnp.where(push < 0, -size * push, 0)
        explicit = jnp.where((push >= 0) & (states == ON), size * push, 0)
        theta = jnp.where(states == SLIDING, sliders.theta, states == ON)
        new_w, sliders, found = implicit_step(
            inputs, w + inputs @ explicit, most, Sliders(theta, sliders.solve)
        )
        new_v = v + (size / num_samples) * (residual @ hidden)
        new = new_w, new_v, sliders, _states(inputs, new_w, push)
        loss = jnp.sum(residual**2) / (2 * num_samples)
        seen = observe([w.T, v]) if observe else None
        return (new, carry[0]), (loss, states, seen, found.max())

    states = _states(inputs, w, _forces(w, v, inputs, targets)[-1])
    sliders = Sliders((states == ON).astype(float), jnp.zeros((num_samples, *w.shape)))
    start = w, v, sliders, states
    (after, last), records = jax.lax.scan(one, (start, start), sizes)
    return weights_of(last), after[-1], records


def _forces(w, v, inputs, targets) -> tuple:
    """Return relu(wᵀx), (P, H), the residual, (N_out, P), and β, (P, H)."""
    hidden = jnp.maximum(inputs.T @ w, 0)
    residual = targets - v @ hidden.T
    return hidden, residual, residual.T @ v / inputs.shape[1]


def _states(inputs, w, push) -> Int8[Array, "P H"]:
    """Return −1, 0, 1 for samples that are off, sliding and on."""
    activity = inputs.T @ w
    sizes = jnp.linalg.norm(inputs, axis=0)[:, None]
    zero = jnp.abs(activity) <= 10 * ENOUGH * sizes * jnp.linalg.norm(w, axis=0)[None]
    slides = zero & (push < 0) & (sizes > 0)
    return jnp.where(slides, SLIDING, jnp.where(activity > 0, ON, OFF)).astype(jnp.int8)
