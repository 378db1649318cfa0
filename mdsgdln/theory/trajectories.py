"""Initial strengths of modes, and their trajectories in deep linear networks (MHS App. A.1)."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, ArrayLike, Float

from mdsgdln import _checks as checks
from mdsgdln._checks import Numbers, Scalar
from mdsgdln.statistics import Modes
from mdsgdln.tasks import Task
from mdsgdln.training import DivergenceError

LARGEST = 100.0  # logarithm of a strength
TOLERANCE = 1e-11  # of integration


class Race(NamedTuple):
    """The strength of every mode of every path (or edge) over time, and the loss.

    Attributes:
        strengths: {path: a(t)} or {edge: diagonal of B_e(t)}, shape (modes, T).
        losses: 𝓛(t), shape (T,).
    """

    strengths: dict[Any, Float[Array, "_ T"]]
    losses: Float[Array, " T"]


def expected_initial_strength(num_hidden: int, scale: Scalar | Sequence[Scalar]) -> Scalar:
    """Return the expected initial strength of every mode, a₀ = H (σ₁² + σ₂²) / 4.

    It is the mean of ‖(W₁v_α + W₂ᵀu_α)/2‖², the part of Gaussian weights that grows.

    Args:
        num_hidden: H, neurons of the hidden layer (of the pathway).
        scale: σ of both layers, or (σ₁, σ₂), standard deviations of the initial weights.
    """
    checks.positive_integer("num_hidden", num_hidden)
    first, second = checks.scales(scale, ("σ₁", "σ₂"))
    return num_hidden * (first**2 + second**2) / 4


def strengths_by_place(
    starts: Numbers | Mapping, num_modes: Mapping[Hashable, int]
) -> dict[Hashable, Float[Array, " modes"]]:
    """Return the start of every mode, {place: (modes,)}, from one number or one per place."""
    given = starts if isinstance(starts, Mapping) else dict.fromkeys(num_modes, starts)
    fit = set(given) == set(num_modes)
    checks.require(fit, "starts", f"one for each of {list(num_modes)}", list(given))
    strengths = {}
    for place, number in num_modes.items():
        array = checks.real_array("starts", given[place], f"() or ({number},)")
        expected = f"a number or shape ({number},) for {place!r}"
        checks.require(array.shape in ((), (number,)), "starts", expected, array.shape)
        checks.finite("starts", array)
        strengths[place] = jnp.broadcast_to(array, number)
    return strengths


def _columns(**arguments: Numbers) -> list[Float[Array, "modes 1"]]:
    arrays = []
    for name, value in arguments.items():
        array = checks.real_array(name, value, "() or (modes,)")
        checks.require(array.ndim < 2, name, "a number or shape (modes,)", array.shape)
        checks.finite(name, array)
        if not checks.is_traced(array):
            checks.require((np.asarray(array) >= 0).all(), name, "entries of at least 0", array)
        arrays.append(jnp.atleast_1d(array))
    try:
        return [array[:, None] for array in jnp.broadcast_arrays(*arrays)]
    except ValueError as error:
        numbers = list(map(len, arrays))
        raise ValueError(f"{', '.join(arguments)}: expected one length, got {numbers}") from error


def mode_trajectory(
    times: Numbers,
    singular_values: Numbers,
    input_variances: Numbers,
    starts: Numbers,
    depth: int = 2,
) -> Float[Array, "modes T"]:
    """Return a_α(t) of a balanced linear network, ȧ = L a^{2−2/L} (s − d a) (MHS App. A.1).

    One hidden layer, L = 2: a(t) = (s/d) / (1 − (1 − s/(d a₀)) e^{−2st}) (MHS Eqs. 7 and 18), or
    a(t) = a₀ / (e^{−2st} + a₀ d (1 − e^{−2st})/s), s = 0 included. None, L = 1:
    a(t) = s/d + (a₀ − s/d) e^{−dt}, and a₀ + s t for d = 0. L > 2 is integrated numerically.

    Args:
        times: t = learning rate · step, of at least 0, shape (T,); for L > 2 increasing.
        singular_values: s_α, shape (modes,) or a number.
        input_variances: d_α, likewise.
        starts: a₀, likewise; above 0 for L > 2. A mode with a₀ = 0 grows for L = 1, not for L = 2.
        depth: L, the number of weight layers.
    """
    depth = checks.positive_integer("depth", depth)
    times = checks.times(times, increasing=depth > 2)
    s, d, start = _columns(
        singular_values=singular_values, input_variances=input_variances, starts=starts
    )
    row = times[None, :]
    if depth == 1:
        return start * jnp.exp(-d * row) + s * _saturating(d, row)
    if depth == 2:
        left = jnp.exp(-2 * s * row) + 2 * start * d * _saturating(2 * s, row)
        return jnp.where(start > 0, start / jnp.where(start > 0, left, 1.0), 0.0)
    if not checks.is_traced(start):
        checks.require((np.asarray(start) > 0).all(), "starts", "entries above 0", start)
    return integrate_race(s[:, 0], jnp.diag(d[:, 0]), start[:, 0], times, depth)


def _saturating(
    rate: Float[Array, "modes 1"], times: Float[Array, "1 T"]
) -> Float[Array, "modes T"]:
    """Return (1 − e^{−rt})/r, for small x = rt by t (1 − x/2 + x²/6), as slopes would cancel."""
    exponent = rate * times
    small = exponent < jnp.finfo(exponent.dtype).eps ** 0.25
    series = times * (1 - exponent / 2 + exponent**2 / 6)
    return jnp.where(small, series, -jnp.expm1(-exponent) / jnp.where(small, 1.0, rate))


def integrate_race(
    drive: Float[ArrayLike, " modes"],
    coupling: Float[ArrayLike, "modes modes"],
    starts: Float[Array, " modes"],
    times: Float[Array, " T"],
    depth: int = 2,
) -> Float[Array, "modes T"]:
    """Return a(t) of ȧ = L a^{2−2/L} (s − D a), integrated in ln a."""
    checks.concrete("modes, starts or times", (drive, coupling, starts, times))
    s, coupled = np.asarray(drive, float), np.asarray(coupling, float)

    def velocity(logarithms):
        strengths = np.exp(np.minimum(logarithms, LARGEST))  # a trial step may be far too long
        return depth * strengths ** (1 - 2 / depth) * (s - coupled @ strengths)

    return jnp.exp(integrate(velocity, np.log(np.asarray(starts, float)), times).T)


def integrate(
    velocity: Callable[[np.ndarray], np.ndarray],
    start: Float[np.ndarray, " n"],
    times: Float[ArrayLike, " T"],
) -> Float[Array, "T n"]:
    """Return the solution of ẏ = velocity(y), y(0) = start, at increasing times of at least 0."""
    from scipy.integrate import solve_ivp  # here, as its import takes a while

    distinct, index = np.unique(np.asarray(times, float), return_inverse=True)
    if not len(start) or distinct[-1] == 0:
        return jnp.asarray(np.tile(start, (len(index), 1)))
    solved = solve_ivp(
        lambda _, state: velocity(state),
        (0.0, distinct[-1]),
        start,
        method="DOP853",
        t_eval=distinct,
        rtol=TOLERANCE,
        atol=TOLERANCE,
    )
    if not solved.success or not np.isfinite(solved.y).all():
        raise DivergenceError(
            "times: expected a bounded solution, got one that grows without bound"
        )
    return jnp.asarray(solved.y.T[index])


def mode_losses(task: Task, modes: Modes, strengths: Numbers) -> Float[Array, " T"]:
    """Return the loss of a linear map Σ_α a_α u_α v_αᵀ, 𝓛 = ½⟨‖y‖²⟩ − Σ_α (s_α a_α − ½ d_α a_α²).

    It is exact for the modes of the task; only ``mode_trajectory`` needs them uncoupled.
    ``strengths`` are a_α(t), shape (modes, T).
    """
    checks.instance("task", task, Task)
    checks.instance("modes", modes, Modes)
    strengths = checks.finite_array("strengths", strengths, 2, "(modes, T)", may_be_empty=True)
    checks.of_shape("strengths", strengths, (len(modes.singular_values), strengths.shape[1]))
    power = jnp.sum(task.targets**2) / (2 * task.num_samples)
    s, d = jnp.asarray(modes.singular_values)[:, None], jnp.asarray(modes.input_variances)[:, None]
    return power - jnp.sum(s * strengths - d * strengths**2 / 2, axis=0)
