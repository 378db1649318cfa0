"""Where the neurons of a small random network go: gates, rates, and how much weight each gets.

A small neuron z = (w, u) climbs its utility until it grows as c e^{st} ẑ in one of few directions
ẑ = (ŵ, û)/√2. The *mass* of a basin is A = ⟨1_basin c²⟩/2 over unit Gaussian neurons,
c = ẑᵀz e^{−st}. H neurons of scale σ begin as a strength a₀ = Hσ²A of û relu(ŵᵀx).
"""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float
from scipy.linalg import orth

from mdsgdln.tasks import Task
from mdsgdln_book.dynamics.maxima import BOUNDARY
from mdsgdln_book.dynamics.relu_neurons import FLAT, gate_patterns, velocity
from mdsgdln_book.dynamics.settling import nearest_maxima

STEP, ROUND, MOST_ROUNDS = 0.05, 100, 100  # over the largest rate there may be; steps a round
# Change of ln growth from round to round, over this growth; share of neurons that may have more.
STEADY, BUSY = 1e-4, 1e-3
SLOW = 0.2  # ln growth in a round, of 5 at most; slower than this neurons flicker
COOLING = 200  # steps that shrink to 1e-4 of that: samples on a boundary stop chattering
ROUNDING = 1e3  # times the precision of numbers: |wᵀx| that is zero


class Basin(NamedTuple):
    """A direction that small neurons turn to.

    Attributes:
        gate: samples that are on there, shape (P,).
        boundary: those with ŵᵀx = 0, shape (P,).
        rate: s = 2U = ‖R relu(Xᵀŵ)‖/P, with which its weights grow.
        variance: d = ‖relu(Xᵀŵ)‖²/P, so that alone it stops at the strength s/d.
        mass: A; a linear pathway has ½.
        share: of all random neurons, how many end here; the rest die.
        mass_error: standard error of the mass.
        flatness: dimension of the directions with this gate that are equally fast; above 1, ŵ is
            the mean of those reached.
        input_weights: ŵ of length 1, shape (N_in,).
        output_weights: û of length 1, shape (N_out,).
        activity: relu(Xᵀŵ), shape (P,).
    """

    gate: Bool[np.ndarray, " P"]
    boundary: Bool[np.ndarray, " P"]
    rate: float
    variance: float
    mass: float
    share: float
    mass_error: float
    flatness: int
    input_weights: Float[np.ndarray, " N_in"]
    output_weights: Float[np.ndarray, " N_out"]
    activity: Float[np.ndarray, " P"]


def basins(task: Task, *, key: Array, num_neurons: int = 4096) -> list[Basin]:
    """Return the directions that neurons of a small ReLU network turn to, the fastest first.

    Random neurons are followed; their last direction is replaced by the top vector of its face.
    The relative sampling error of a mass is about 2/√neurons; a basin that none finds is left out.

    Args:
        task: a bias is a row of ones in its inputs.
        key: JAX random key of the neurons.
        num_neurons: how many are followed.
    """
    inputs, residual = np.asarray(task.inputs), np.asarray(task.targets)
    acts = _not_zero(inputs) & _not_zero(residual)  # the other samples push no neuron
    # Directions that no input or residual has do not move: they are left out, after the draw, so
    # that no basis changes which neurons are drawn. What is left has norm 1.
    left, left_out = (orth(vectors[:, acts], FLAT) for vectors in (inputs, residual))
    reduced, answers = left.T @ inputs[:, acts], left_out.T @ residual[:, acts]
    reduced, answers = (vectors / np.linalg.norm(vectors, 2) for vectors in (reduced, answers))
    drawn = jax.random.normal(key, (num_neurons, len(inputs) + len(residual)))
    w, u = np.split(np.asarray(drawn, float), [len(inputs)], axis=1)
    start = np.concatenate([w @ left, u @ left_out], axis=1)
    before, end, cold = _flow(*map(jnp.asarray, (start, reduced, answers)))
    w = np.asarray(cold)[:, : len(reduced)]
    rounding = ROUNDING * float(jnp.finfo(cold.dtype).eps)
    tops, group, flatness = nearest_maxima(reduced, answers, w, rounding)
    # Of the length of z, what lies along the basin: ln c + ρt, ρ the growth in the unit of time.
    outputs = np.maximum(tops @ reduced, 0) @ answers.T
    lengths = np.linalg.norm(outputs, axis=1, keepdims=True)
    ahead = np.hstack([tops, outputs / np.where(lengths > 0, lengths, 1)]) / np.sqrt(2)
    (early, start_time), (late, time) = (_along(ahead, state) for state in (before, end))
    found = []
    for number in range(len(flatness)):
        members = group == number
        rate = np.median(((late - early) / (time - start_time))[members])
        grown = late - rate * time  # ln c
        # Directions stand for Gaussian z, ⟨‖z‖²⟩ = N_in + N_out, and c² is as large as ‖z‖².
        part = np.where(members, np.exp(2 * np.where(members, grown, 0)), 0) * ahead.shape[1] / 2
        if not part.any():  # all its neurons still shrink: their u points away
            continue
        mean = part @ tops
        direction = left @ (mean / np.linalg.norm(mean))
        found.append(_basin(inputs, residual, direction, part, members.mean(), flatness[number]))
    return sorted(found, key=lambda basin: -basin.rate)


@jax.jit
def _flow(z: Array, inputs: Array, residual: Array) -> tuple:
    """Follow neurons z = (w, u), k = n + m, from their directions on, by Heun's rule.

    It averages the gradients on both sides of a boundary.
    X and R have norm 1 here and time runs in units of P/(‖X‖‖R‖), so that no rate is above 1.
    Where only weak samples are on, no rate is above Σ_on ‖r_i‖‖x_i‖, and steps are longer.

    Returns:
        z = (w, u) of length 1, (N, n + m), ln of its growth and its time, (N, 1), before and after
        the last round; and z after further steps that shrink.
    """
    # Parked samples have wᵀx → 0 from below, and rounding must not turn them on.
    least = ROUNDING * jnp.finfo(inputs.dtype).eps * jnp.linalg.norm(inputs, axis=0)[None]
    flow = partial(velocity, inputs=inputs, residual=residual, least=least)

    def largest(z):
        return _largest_rate(z[:, : len(inputs)] @ inputs > least, inputs, residual)

    def step(state, size):
        z, growth, time = state
        most = largest(z)
        slope = flow(z)
        # A strong sample may turn on at the end of the step.
        size = size / jnp.maximum(most, largest(z + size / most * slope))
        new = z + size / 2 * (slope + flow(z + size * slope))
        stretch = jnp.linalg.norm(new, axis=1, keepdims=True)
        return (new / stretch, growth + jnp.log(stretch), time + size), None

    def one_round(carry):
        _, state, grew, _, count = carry
        new, _ = jax.lax.scan(step, state, jnp.full(ROUND, STEP))
        grows = new[1] - state[1]
        steady = STEADY * jnp.maximum(jnp.abs(grows), SLOW)
        return state, new, grows, jnp.mean(jnp.abs(grows - grew) > steady), count + 1

    def goes_on(carry):
        _, _, _, busy, count = carry
        return (busy > BUSY) & (count < MOST_ROUNDS)

    zero = jnp.zeros((len(z), 1))
    state = z / jnp.linalg.norm(z, axis=1, keepdims=True), zero, zero
    carry = state, state, jnp.full_like(zero, jnp.inf), 1.0, 0
    before, end, *_ = jax.lax.while_loop(goes_on, one_round, carry)
    (cold, _, _), _ = jax.lax.scan(step, end, STEP * jnp.logspace(0, -4, COOLING))
    return before, end, cold


def _largest_rate(on, inputs, residual) -> Float[Array, "N 1"]:
    sizes = jnp.linalg.norm(inputs, axis=0) * jnp.linalg.norm(residual, axis=0)
    bound = jnp.minimum(on @ sizes, 1.0)
    return jnp.where(bound > 0, bound, 1.0)[:, None]


def _not_zero(vectors: Float[np.ndarray, "n P"]) -> Bool[np.ndarray, " P"]:
    lengths = np.linalg.norm(vectors, axis=0)
    return lengths > FLAT * lengths.max()


def _along(ahead: Float[np.ndarray, "N k"], state: tuple) -> tuple:
    """Return ln of how far neurons have grown in a direction of length 1, and their times, (N,)."""
    z, growth, time = (np.asarray(part, float) for part in state)
    projected = np.sum(ahead * z, axis=1)
    return growth[:, 0] + np.log(np.maximum(projected, 1e-300)), time[:, 0]


def _basin(inputs, residual, direction, weight, share: float, flatness: int) -> Basin:
    """Return the basin of a direction and of the c²/2 of all neurons, 0 for those of others."""
    num_samples = inputs.shape[1]
    face = gate_patterns(direction, inputs, BOUNDARY)
    activity = np.where(face > 0, direction @ inputs, 0)
    answer = residual @ activity / num_samples
    rate = float(np.linalg.norm(answer))
    return Basin(
        gate=face > 0,
        boundary=face == 0,
        rate=rate,
        variance=float(activity @ activity / num_samples),
        mass=float(weight.mean()),
        share=float(share),
        mass_error=float(weight.std() / np.sqrt(len(weight))),
        flatness=flatness,
        input_weights=direction,
        output_weights=answer / rate,
        activity=activity,
    )
