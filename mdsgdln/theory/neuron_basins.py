"""Where the neurons of a small random network go: gates, rates, and how much weight each gets.

A small neuron (w, u) climbs its utility, ẇ = Σ_{i on} β_i x_i and u̇ = Σ_i relu(wᵀx_i) r_i/P with
β_i = uᵀr_i/P, until it grows as c e^{st} ẑ in one of few directions ẑ = (ŵ, û)/√2. The *mass* of a
basin is A = ⟨1_basin c²⟩/2 over unit Gaussian neurons, c = ẑᵀz e^{−st}. H neurons of scale σ begin
as a strength a₀ = Hσ²A of û relu(ŵᵀx).
"""

import warnings
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from mdsgdln import _checks as checks
from mdsgdln._checks import Numbers
from mdsgdln.tasks import Task
from mdsgdln.theory.neuron_settling import settle
from mdsgdln.theory.neuron_utility import FLAT, _data, _pattern, _steepest, drive, span

STEP, ROUND, MOST_ROUNDS = 0.05, 100, 100  # over the largest rate there may be; steps a round
# Change of ln growth from round to round, over this growth; share of neurons that may have more.
STEADY, BUSY = 1e-4, 1e-3
SLOW = 0.2  # ln growth in a round, of 5 at most; slower than this neurons flicker
COOLING = 200  # steps that shrink to 1e-4 of that: samples on a boundary stop chattering
ROUNDING = 1e3  # times the precision of numbers: |wᵀx| that is zero
LOST = 0.02  # share of the mass that may belong to no basin without a warning
ISOLATED = 3 / 16 + 1 / (8 * np.pi), 3 / 8  # mass and share of a sample that meets no other


class Basin(NamedTuple):
    """A direction that small neurons turn to.

    Attributes:
        gate: samples that are on there, shape (P,).
        boundary: those with ŵᵀx = 0, shape (P,).
        rate: s = 2U = ‖R relu(Xᵀŵ)‖/P, with which its weights grow.
        variance: d = ‖relu(Xᵀŵ)‖²/P, so that alone it stops at the strength s/d.
        mass: A; a linear pathway has ½.
        share: of all random neurons, how many end here; the rest die.
        mass_error: standard error of the mass, 0 where it is known in closed form, for t → ∞.
        climb: 0 at a maximum of the drive, above 0 where some samples on the boundary are parked:
            off for ever. NaN for more than 12 that push up.
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
    climb: float
    flatness: int
    input_weights: Float[np.ndarray, " N_in"]
    output_weights: Float[np.ndarray, " N_out"]
    activity: Float[np.ndarray, " P"]


def basins(
    task: Task, residual: Numbers | None = None, *, key: Array, num_neurons: int = 4096
) -> list[Basin]:
    """Return where the neurons of a small ReLU network with one hidden layer go, fastest first.

    Random neurons are followed; their last direction is replaced by the top vector of its face.
    The relative sampling error of a mass is about 2/√neurons; a basin that none finds is left out.
    The mass of a sample that is orthogonal to all others, in inputs and residual, is
    3/16 + 1/(8π), times 5/8 for each such sample that is faster, for t → ∞.

    Args:
        task: with inputs X; a bias is a row of ones.
        residual: R, shape (N_out, P), what is not explained yet; the targets if not given.
        key: JAX random key of the neurons.
        num_neurons: how many are followed.

    Raises:
        ValueError: a wrong shape, a bad key, a residual that drives no neuron, or so few neurons
            that all of them die.
    """
    inputs, residual = _data(task, residual)
    checks.random_key("key", key)
    checks.positive_integer("num_neurons", num_neurons)
    acts = _not_zero(inputs) & _not_zero(residual)  # the other samples push no neuron
    if not acts.any():
        raise ValueError("residual: expected one that drives some neuron, got zeros")
    # Directions that no input or residual has do not move: they are left out, after the draw, so
    # that no basis changes which neurons are drawn.
    (left, reduced), (left_out, answers) = (
        _reduced(vectors[:, acts]) for vectors in (inputs, residual)
    )
    drawn = jax.random.normal(key, (num_neurons, len(inputs) + len(residual)))
    w, u = np.split(np.asarray(drawn, float), [len(inputs)], axis=1)
    start = np.concatenate([w @ left, u @ left_out], axis=1)
    before, end, cold = _flow(*map(jnp.asarray, (start, reduced, answers)))
    w, u = np.split(np.asarray(cold, float), [len(reduced)], axis=1)
    tops, group, flatness = settle(reduced, answers, w, ROUNDING * float(jnp.finfo(cold.dtype).eps))
    _warn_of_lost(w, u, reduced, answers, group)
    # Of the length of z, what lies along the basin: ln c + ρt, ρ the growth in the unit of time.
    ahead = np.concatenate([tops, _outputs(reduced, answers, tops)], axis=1) / np.sqrt(2)
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
    if not found:
        _explain_death(task, residual, drawn[:, : len(inputs)])
    found = sorted(found, key=lambda basin: -basin.rate)
    return _closed(inputs, residual, found)


@jax.jit
def _flow(
    z: Float[Array, "N k"], inputs: Float[Array, "n P"], residual: Float[Array, "m P"]
) -> tuple:
    """Follow neurons z = (w, u), k = n + m, from their directions on, by Heun's rule.

    The slope at both ends of a step is used, so that none that leaves a gate is without effect.
    X and R have norm 1 here and time runs in units of P/(‖X‖‖R‖), so that no rate is above 1.
    Where only weak samples are on, no rate is above Σ_on ‖r_i‖‖x_i‖, and steps are longer.

    Returns:
        z = (w, u) of length 1, (N, n + m), ln of its growth and its time, (N, 1), before and after
        the last round; and z after further steps that shrink.
    """
    rows = len(inputs)
    # Parked samples have wᵀx → 0 from below, and rounding must not turn them on.
    least = ROUNDING * jnp.finfo(inputs.dtype).eps * jnp.linalg.norm(inputs, axis=0)

    def velocity(z):
        w, u = z[:, :rows], z[:, rows:]
        activity = w @ inputs
        on = activity > least[None, :]
        push, activity = jnp.where(on, u @ residual, 0), jnp.where(on, activity, 0)
        return jnp.concatenate([push @ inputs.T, activity @ residual.T], axis=1)

    def largest(z):
        return _largest_rate(z[:, :rows] @ inputs > least[None, :], inputs, residual)

    def step(state, size):
        z, growth, time = state
        first, most = velocity(z), largest(z)
        # A strong sample may turn on at the end of the step.
        most = jnp.maximum(most, largest(z + size / most * first))
        size = size / most
        new = z + size / 2 * (first + velocity(z + size * first))
        stretch = jnp.linalg.norm(new, axis=1, keepdims=True)
        return (new / stretch, growth + jnp.log(stretch), time + size), None

    zero = jnp.zeros((len(z), 1))
    state = z / jnp.linalg.norm(z, axis=1, keepdims=True), zero, zero

    def one_round(carry):
        _, state, grew, _, count = carry
        new, _ = jax.lax.scan(step, state, jnp.full(ROUND, STEP))
        grows = new[1] - state[1]
        least = STEADY * jnp.maximum(jnp.abs(grows), SLOW)
        busy = jnp.mean(jnp.abs(grows - grew) > least)
        return state, new, grows, busy, count + 1

    def goes_on(carry):
        _, _, _, busy, count = carry
        return (busy > BUSY) & (count < MOST_ROUNDS)

    carry = state, state, jnp.full_like(state[1], jnp.inf), 1.0, 0
    before, end, *_ = jax.lax.while_loop(goes_on, one_round, carry)
    (cold, _, _), _ = jax.lax.scan(step, end, STEP * jnp.logspace(0, -4, COOLING))
    return before, end, cold


def _largest_rate(on, inputs, residual) -> Float[Array, "N 1"]:
    """Return a bound of the rates of neurons that are on for some samples; X and R have norm 1."""
    sizes = jnp.linalg.norm(inputs, axis=0) * jnp.linalg.norm(residual, axis=0)
    bound = jnp.minimum(on @ sizes, 1.0)
    return jnp.where(bound > 0, bound, 1.0)[:, None]


def _not_zero(vectors: Float[np.ndarray, "n P"]) -> Bool[np.ndarray, " P"]:
    """Return which columns are not zero, up to rounding of the largest."""
    lengths = np.linalg.norm(vectors, axis=0)
    return lengths > FLAT * lengths.max()


def _along(ahead: Float[np.ndarray, "N k"], state: tuple) -> tuple:
    """Return ln of how far neurons have grown in a direction of length 1, and their times, (N,)."""
    z, growth, time = (np.asarray(part, float) for part in state)
    projected = np.sum(ahead * z, axis=1)
    return growth[:, 0] + np.log(np.maximum(projected, 1e-300)), time[:, 0]


def _explain_death(task: Task, residual: Float[np.ndarray, "m P"], drawn: Array) -> None:
    """Raise ``ValueError`` that says why no neuron grows."""
    w = np.concatenate([drawn, -drawn])
    size = np.linalg.norm(residual, 2) * np.linalg.norm(task.inputs, 2) / task.num_samples
    if (drive(task, w, residual) <= FLAT * size).all():
        raise ValueError(
            "residual: expected one that drives some neuron, got one that cancels for all "
            f"{len(w)} directions tried"
        )
    raise ValueError(
        f"num_neurons: expected enough for some to live, got {len(drawn)}, all of which died"
    )


def _reduced(
    vectors: Float[np.ndarray, "n P"],
) -> tuple[Float[np.ndarray, "n rank"], Float[np.ndarray, "rank P"]]:
    """Return a basis of the span of some columns, and these in it, scaled to norm 1."""
    left, s, right = span(vectors)
    return left, (s[:, None] / s[0]) * right


def _outputs(
    inputs: Float[np.ndarray, "n P"],
    residual: Float[np.ndarray, "m P"],
    w: Float[np.ndarray, "N n"],
) -> Float[np.ndarray, "N m"]:
    """Return the best u of length 1, along R relu(Xᵀw); zeros where there is none."""
    answer = np.maximum(w @ inputs, 0) @ residual.T
    length = np.linalg.norm(answer, axis=1, keepdims=True)
    return answer / np.where(length > 0, length, 1)


def _basin(inputs, residual, direction, weight, share: float, flatness: int) -> Basin:
    """Return the basin of a direction and of the c²/2 of all neurons, 0 for those of others."""
    num_samples = inputs.shape[1]
    gate, boundary = _pattern(inputs, direction)
    activity = np.where(gate, direction @ inputs, 0)
    answer = residual @ activity / num_samples
    rate = float(np.linalg.norm(answer))
    return Basin(
        gate=gate,
        boundary=boundary,
        rate=rate,
        variance=float(activity @ activity / num_samples),
        mass=float(weight.mean()),
        share=float(share),
        mass_error=float(weight.std() / np.sqrt(len(weight))),
        climb=_steepest(inputs, residual, direction),
        flatness=flatness,
        input_weights=direction,
        output_weights=answer / rate,
        activity=activity,
    )


def _closed(
    inputs: Float[np.ndarray, "N_in P"], residual: Float[np.ndarray, "N_out P"], found: list[Basin]
) -> list[Basin]:
    """Return the basins, with known masses for isolated samples that are faster than all else."""
    alone = _isolated(inputs) & _isolated(residual)
    share = 1.0
    for index, basin in enumerate(found):
        slower = found[index + 1].rate < basin.rate * (1 - 1e-6) if found[index + 1 :] else True
        if basin.gate.sum() != 1 or not alone[basin.gate][0] or basin.flatness > 1 or not slower:
            break
        mass, part = share * ISOLATED[0], share * ISOLATED[1]
        found[index] = basin._replace(mass=mass, share=part, mass_error=0.0)
        share -= part
    return found


def _isolated(vectors: Float[np.ndarray, "n P"]) -> Bool[np.ndarray, " P"]:
    """Return which columns are orthogonal to all others."""
    lengths = np.linalg.norm(vectors, axis=0)
    unit = vectors / np.where(lengths > 0, lengths, 1)
    return np.sum(np.abs(unit.T @ unit) > 1e-9, axis=0) <= 1


def _warn_of_lost(w, u, inputs, residual, group) -> None:
    """Warn if neurons that grow have not come near a maximum."""
    activity = np.maximum(w @ inputs, 0)
    most = np.asarray(_largest_rate(activity > 0, inputs, residual))[:, 0]
    # dead ones flicker at 1e-4
    growing = np.sum((u @ residual) * activity, axis=1) > 1e-3 * most
    lost = np.mean(growing & (group < 0))
    if lost > LOST:
        warnings.warn(
            f"basins: {lost:.1%} of the neurons grow and have not settled: directions are nearly "
            "as fast as each other, and the masses are that uncertain",
            stacklevel=3,
        )
