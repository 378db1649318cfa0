"""Gradient flow of a ReLU network whose gates have three values: on, off and sliding."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
from jaxtyping import Array, ArrayLike, Float, Int8, PyTree

from mdsgdln.networks import ReLUNetwork
from mdsgdln.tasks import Task
from mdsgdln.training import DivergenceError
from mdsgdln_book.dynamics.sliding_step import Sliders, column_norms, implicit_step, tolerance

OFF, SLIDING, ON = -1, 0, 1
RESOLVED = 0.02  # a step over the time in which the fastest thing grows by e
AT_ONCE = 256  # steps between two looks at what they gave
MOST_STEPS = 10_000_000  # hours; a loss is kept for each
WORTH_A_WARNING = 0.1  # share of the weight near repulsive boundaries


@dataclass(frozen=True, eq=False, repr=False)
class ReLUFlow:
    """What the gradient flow of a ReLU network leaves.

    Attributes:
        times: those asked for, shape (T,).
        losses: 𝓛 at these times, shape (T,).
        states: of each neuron on each sample, −1 off, 0 sliding, 1 on, shape (T, neurons, P). A
            pair slides if wᵀx is 0 and the sample, when on, pushes it down; a sample x = 0 is off.
        weights: at the last time.
        observed: what ``observe`` returned, stacked over times.
        step: the longest step taken.
        residual: largest residual of the box problem in any step, over ‖w‖.
        repelled: share of the last weight, ‖w‖‖v‖, of neurons that came within a step of a
            boundary that repels on both sides, where the flow is not unique.
        changes: what ``events`` returns.
    """

    times: Float[np.ndarray, " T"]
    losses: Float[np.ndarray, " T"]
    states: Int8[np.ndarray, "T neurons P"]
    weights: list[Array]
    observed: PyTree
    step: float
    residual: float
    repelled: float
    changes: pd.DataFrame

    def __repr__(self) -> str:
        steps, neurons, samples = self.states.shape
        return f"ReLUFlow({steps} times, {neurons} neurons, {samples} samples)"

    def events(self) -> pd.DataFrame:
        """Return all changes of state: time at the end of the step, neuron, sample, from, to."""
        return self.changes.copy()


def relu_flow(
    network: ReLUNetwork,
    weights: Sequence[ArrayLike],
    task: Task,
    times: ArrayLike,
    *,
    step: float | None = None,
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
        step: longest step; if not given, 0.02 over the fastest rate, ‖X‖‖Y‖/P or, for large
            weights, (‖W₁‖² + ‖W₂‖²)‖X‖²/P.
        observe: a function of the weights, called at each time.

    Raises:
        ValueError: weights or task that do not fit the network, more than one hidden layer, bad
            times, more than ten million steps, or a step so long that the loss becomes infinite.
    """
    if len(network.sizes) != 3:
        raise ValueError(
            f"network: expected one hidden layer, got {len(network.sizes) - 2}: in a later layer "
            "boundaries move with the weights before them, and this does not follow them"
        )
    network.check(weights, task)
    times = np.asarray(times, float)
    first, second = (jnp.asarray(layer, float) for layer in weights)
    inputs, targets = jnp.asarray(task.inputs, float), jnp.asarray(task.targets, float)
    longest = _resolving(first, second, inputs, targets) if step is None else step
    longest = float(longest)
    if (needed := times[-1] / longest) > MOST_STEPS:
        raise ValueError(
            f"times: the last is {needed:.2g} steps of {longest:.2g} away; expected at most "
            f"{MOST_STEPS:.0e}: take earlier times, a longer step, or inputs of similar size"
        )
    sizes, marks = _steps(times, longest)

    # ẇ stays in the span of the inputs: with fewer samples than inputs, follow w in a basis of it.
    basis = jnp.linalg.qr(inputs)[0] if len(inputs) > inputs.shape[1] else jnp.eye(len(inputs))
    data = basis.T @ inputs, targets
    start = basis.T @ first.T

    def weights_of(state):
        return [first + (state.w - start).T @ basis.T, state.v]

    state = _begin(start, second, *data)
    seen, observed, done = _Seen(np.asarray(state.states), marks), {}, 0
    stops = {*range(AT_ONCE, len(sizes), AT_ONCE), len(sizes)}
    for stop in sorted(stops if observe is None else stops.union(marks.tolist())):
        state = seen.follow(state, *data, sizes[done:stop])
        done = stop
        if observe is not None and stop in marks:
            observed[stop] = observe(weights_of(state))
    further = sizes[-1:] if len(sizes) else np.array([longest])
    seen.follow(state, *data, further)  # its beginning is the last time
    last = weights_of(state)
    first, second = (np.asarray(layer, float) for layer in last)  # in single precision 1e-300 is 0
    strength = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=0)
    each = [observed[mark] for mark in marks.tolist()] if observed else []
    flow = ReLUFlow(
        times=times,
        losses=np.concatenate(seen.losses)[marks],
        states=np.stack([seen.states[mark] for mark in marks.tolist()]),
        weights=last,
        observed=jax.tree.map(lambda *values: np.stack(values), *each) if each else None,
        step=float(sizes.max(initial=0)),
        residual=seen.residual,
        repelled=float(strength @ np.asarray(state.repelled) / max(strength.sum(), 1e-300)),
        changes=seen.table(np.concatenate([[0], np.cumsum(sizes)])),
    )
    _warn(flow, tolerance(inputs.dtype))
    return flow


def _resolving(first, second, inputs, targets) -> float:
    with_data = jnp.linalg.norm(inputs, 2) / inputs.shape[1]
    curvature = jnp.linalg.norm(first, 2) ** 2 + jnp.linalg.norm(second, 2) ** 2
    early = with_data * jnp.linalg.norm(targets, 2)
    rate = float(jnp.maximum(early, with_data * jnp.linalg.norm(inputs, 2) * curvature))
    return RESOLVED / rate if rate > 0 else 1.0


def _steps(times, longest: float) -> tuple[np.ndarray, np.ndarray]:
    spans = np.diff(times, prepend=0.0)
    numbers = np.ceil(spans / longest - 1e-6).astype(int).clip(min=0)
    numbers[spans > 0] = numbers[spans > 0].clip(min=1)
    return np.repeat(spans / np.maximum(numbers, 1), numbers), np.cumsum(numbers)


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class _State:
    """A network between two steps; its axes are (N_in or P, H), and (N_out, H) of v."""

    w: Float[Array, "n H"]
    v: Float[Array, "m H"]
    sliders: Sliders
    states: Int8[Array, "P H"]
    nears: Float[Array, "P H"]  # by how much wᵀx came nearer to 0 in the last step
    repelled: Array


class _Seen:
    """Losses, events, and states at some steps, from the records of all steps."""

    def __init__(self, start: np.ndarray, marks: np.ndarray):
        self.latest = np.stack([start, start])  # states at the last two steps
        self.wanted = set(marks.tolist())
        self.losses: list[np.ndarray] = []
        self.states: dict[int, np.ndarray] = {}
        self.events: list[np.ndarray] = []  # rows of step, neuron, sample, from, to
        self.step, self.residual = 0, 0.0

    def follow(self, state: _State, inputs, targets, sizes: np.ndarray) -> _State:
        """Take up to ``AT_ONCE`` steps, keep what they give, and return the state."""
        part, number = np.pad(sizes, (0, AT_ONCE - len(sizes))), len(sizes)
        state, *records = _advance(state, inputs, targets, part, number)
        losses, states, residuals = (np.asarray(record)[:number] for record in records)
        if not np.isfinite(losses).all():
            raise DivergenceError(
                "step: the loss became non-finite; expected a shorter one, or smaller weights"
            )
        self.losses.append(losses)
        self.residual = max(self.residual, float(residuals.max(initial=0)))
        path = np.concatenate([self.latest, states])
        landed = (path[1:-1] == SLIDING) & (path[:-2] != SLIDING) & (path[2:] != SLIDING)
        path[1:-1] = np.where(landed, path[2:], path[1:-1])
        index, sample, neuron = np.nonzero(path[1:-1] != path[:-2])
        old, new = path[index, sample, neuron], path[index + 1, sample, neuron]
        self.events.append(np.stack([self.step + index, neuron, sample, old, new], axis=1))
        for offset in range(number):
            if self.step + offset in self.wanted:
                self.states[self.step + offset] = path[offset + 1].T.copy()
        self.latest = path[-2:]
        self.step += number
        return state

    def table(self, ends: np.ndarray) -> pd.DataFrame:
        """Return the events, with the times at which steps end."""
        events = np.concatenate(self.events)
        frame = pd.DataFrame(events, columns=["time", "neuron", "sample", "from", "to"])
        return frame.assign(time=ends[events[:, 0]])


@jax.jit  # one program instead of thirty small ones
def _begin(w, v, inputs, targets) -> _State:
    activity, _, _, push = _forces(w, v, inputs, targets)
    states = _states(inputs, w, activity, push)
    solve = jnp.zeros((inputs.shape[1], *w.shape), w.dtype)
    sliders = Sliders((states == ON).astype(w.dtype), solve)
    on_it = jnp.abs(activity) <= _rounding(inputs, w)  # has reached a boundary, if it repels
    nears = jnp.where(on_it, 2 * _rounding(inputs, w), 0)
    return _State(w, v, sliders, states, nears, jnp.zeros(w.shape[1], bool))


def _forces(w, v, inputs, targets) -> tuple:
    """Return wᵀx and relu(wᵀx), (P, H), the residual, (N_out, P), and β, (P, H)."""
    activity = inputs.T @ w
    hidden = jnp.maximum(activity, 0)
    residual = targets - v @ hidden.T
    return activity, hidden, residual, residual.T @ v / inputs.shape[1]


def _states(inputs, w, activity, push) -> Int8[Array, "P H"]:
    """Return −1, 0, 1 for samples that are off, sliding and on."""
    pushes_down = (push < 0) & (inputs != 0).any(axis=0)[:, None]
    at = pushes_down & (jnp.abs(activity) <= _rounding(inputs, w))
    return jnp.where(at, SLIDING, jnp.where(activity > 0, ON, OFF)).astype(jnp.int8)


def _rounding(inputs, w) -> Float[Array, "P H"]:
    return 10 * tolerance(w.dtype) * column_norms(inputs)[:, None] * column_norms(w)[None]


@jax.jit
def _advance(state: _State, inputs, targets, sizes, number) -> tuple:
    num_samples = inputs.shape[1]
    squares = jnp.sum(inputs**2, axis=0)[:, None]

    def one(index, carry):
        state, losses, states, residuals = carry
        size = sizes[index].astype(state.w.dtype)
        activity, hidden, residual, push = _forces(state.w, state.v, inputs, targets)
        most = jnp.where(push < 0, -size * push, 0)
        explicit = jnp.where((push >= 0) & (state.states == ON), size * push, 0)
        theta = jnp.where(state.states == SLIDING, state.sliders.theta, state.states == ON)
        before = state.w + inputs @ explicit
        w, pushes, sliders, found = implicit_step(
            inputs, before, most, Sliders(theta, state.sliders.solve)
        )
        now = inputs.T @ w
        # On the off side of its boundary a sample leaves others alone to push, on it joins them.
        without = now - activity - (explicit - pushes) * squares
        rounding = _rounding(inputs, w)  # of pairs that others hold at their boundary
        repulsive = (without < -rounding) & (without + size * push * squares > rounding)
        reached = (state.nears > rounding) & (jnp.abs(activity) <= state.nears)
        new = _State(
            w=w,
            v=state.v + (size / num_samples) * (residual @ hidden),
            sliders=sliders,
            states=_states(inputs, w, now, push),
            nears=jnp.abs(activity) - jnp.abs(now),
            repelled=state.repelled | (repulsive & reached).any(axis=0),
        )
        loss = jnp.sum(residual**2) / (2 * num_samples)
        return (
            new,
            losses.at[index].set(loss),
            states.at[index].set(new.states),
            residuals.at[index].set(found.max()),
        )

    empty = jnp.zeros(len(sizes), inputs.dtype)
    states = jnp.zeros((len(sizes), *state.states.shape), jnp.int8)
    return jax.lax.fori_loop(0, number, one, (state, empty, states, empty))


def _warn(flow: ReLUFlow, enough: float) -> None:
    if flow.residual > enough:
        warnings.warn(
            f"relu_flow: the box problem of a step was solved to {flow.residual:.1g} of ‖w‖, "
            f"expected {enough:.1g}: some sliding samples may be taken for others",
            stacklevel=3,
        )
    if flow.repelled > WORTH_A_WARNING:
        warnings.warn(
            f"relu_flow: neurons with {flow.repelled:.1%} of the weight came within a step of a "
            "boundary that repels on both sides: there the flow is not unique, and another step "
            "may take another side",
            stacklevel=3,
        )
