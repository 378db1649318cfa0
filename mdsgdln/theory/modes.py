"""Closed-form trajectories of the modes of deep linear networks (MHS App. A.1)."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from mdsgdln import checks
from mdsgdln.checks import Numbers, Scalar
from mdsgdln.statistics import Modes
from mdsgdln.tasks import Task
from mdsgdln.theory.integration import integrate


def _columns(singular_values: Numbers, input_variances: Numbers, starts: Numbers):
    """Return s, d and a₀ as columns (modes, 1) of one common length, checked."""
    arrays = {
        "singular_values": singular_values,
        "input_variances": input_variances,
        "starts": starts,
    }
    arrays = {
        name: jnp.atleast_1d(checks.finite_array(name, value, np.ndim(value), "(modes,)", True))
        for name, value in arrays.items()
    }
    num_modes = max((len(array) for array in arrays.values() if len(array) != 1), default=1)
    if any(len(array) == 0 for array in arrays.values()):
        num_modes = 0
    for name, array in arrays.items():
        if array.ndim != 1 or len(array) not in (1, num_modes):
            raise ValueError(f"{name}: expected shape ({num_modes},), got {array.shape}")
        if not isinstance(array, jax.core.Tracer) and (array < 0).any():
            raise ValueError(f"{name}: expected entries of at least 0, got {array.min()}")
    return (jnp.broadcast_to(array, num_modes)[:, None] for array in arrays.values())


def _times(times: Numbers) -> Float[Array, "1 T"]:
    return checks.finite_array("times", times, 1, "(T,)")[None, :]


def deep_mode(
    times: Numbers, singular_values: Numbers, input_variances: Numbers, starts: Numbers
) -> Float[Array, "modes T"]:
    """Return a_α(t) of a balanced network with one hidden layer, ȧ = 2a(s − d a).

    a(t) = (s/d) / (1 − (1 − s/(d a₀)) e^{−2st}) (MHS Eqs. 7 and 18), written so that it holds for
    s = 0 as well: a(t) = a₀ / (e^{−2st} + a₀ d (1 − e^{−2st})/s).

    Args:
        times: t = learning rate · step, shape (T,).
        singular_values: s_α, shape (modes,) or a number.
        input_variances: d_α, likewise.
        starts: a₀ > 0, likewise.
    """
    times = _times(times)
    s, d, start = _columns(singular_values, input_variances, starts)
    safe = jnp.where(s > 0, s, 1.0)
    filled = jnp.where(s > 0, -jnp.expm1(-2 * s * times) / safe, 2 * times)  # (1 − e^{−2st})/s
    return start / (jnp.exp(-2 * s * times) + start * d * filled)


def shallow_mode(
    times: Numbers,
    singular_values: Numbers,
    input_variances: Numbers,
    starts: Numbers = 0.0,
) -> Float[Array, "modes T"]:
    """Return b_α(t) of a network without a hidden layer, ḃ = s − d b (MHS App. A.1).

    b(t) = s/d + (b₀ − s/d) e^{−dt}: every mode relaxes at the rate d, whatever its strength s.
    Arguments as in ``deep_mode``; d = 0 is the linear limit b₀ + s t.
    """
    times = _times(times)
    s, d, start = _columns(singular_values, input_variances, starts)
    safe = jnp.where(d > 0, d, 1.0)
    filled = jnp.where(d > 0, -jnp.expm1(-d * times) / safe, times)  # (1 − e^{−dt})/d
    return start * jnp.exp(-d * times) + s * filled


def depth_mode(
    times: Numbers,
    singular_values: Numbers,
    input_variances: Numbers,
    starts: Numbers,
    depth: int,
) -> Float[Array, "modes T"]:
    """Return a_α(t) of a balanced network with ``depth`` L weight layers.

    ȧ = L a^{2−2/L} (s − d a), integrated by diffrax in ln a; L = 2 is ``deep_mode`` and L = 1
    ``shallow_mode``. Arguments as in ``deep_mode``, starts above 0, times increasing from 0 on.
    """
    checks.positive_integer("depth", depth)
    times = checks.times(times)
    s, d, start = _columns(singular_values, input_variances, starts)
    if not isinstance(start, jax.core.Tracer) and (start <= 0).any():
        raise ValueError(f"starts: expected entries above 0, got {start.min()}")
    return _integrate(times, s[:, 0], d[:, 0], start[:, 0], float(depth))


@jax.jit
def _integrate(
    times: Float[Array, " T"],
    s: Float[Array, " modes"],
    d: Float[Array, " modes"],
    start: Float[Array, " modes"],
    depth: Scalar,
) -> Float[Array, "modes T"]:
    """Integrate ȧ = L a^{2−2/L} (s − d a) in ln a; compiled once for all depths."""

    def growth(log_strength):
        strength = jnp.exp(jnp.minimum(log_strength, 100.0))  # a trial step may be far too long
        return depth * strength ** (1 - 2 / depth) * (s - d * strength)

    return jnp.exp(integrate(growth, jnp.log(start), times, tolerance=1e-9).T)


def mode_losses(task: Task, modes: Modes, strengths: Numbers) -> Float[Array, " T"]:
    """Return the loss of a linear map Σ_α a_α u_α v_αᵀ, L = ½⟨‖y‖²⟩ − Σ_α (s_α a_α − ½ d_α a_α²).

    Exact where the modes diagonalise Σ^x (``modes.coupling`` is 0).
    """
    checks.instance("task", task, Task)
    checks.instance("modes", modes, Modes)
    strengths = checks.finite_array("strengths", strengths, 2, "(modes, T)", may_be_empty=True)
    if len(strengths) != len(modes.singular_values):
        raise ValueError(
            f"strengths: expected {len(modes.singular_values)} rows, got {len(strengths)}"
        )
    power = jnp.sum(task.targets**2) / (2 * task.num_samples)
    s, d = jnp.asarray(modes.singular_values)[:, None], jnp.asarray(modes.input_variances)[:, None]
    return power - jnp.sum(s * strengths - d * strengths**2 / 2, axis=0)
