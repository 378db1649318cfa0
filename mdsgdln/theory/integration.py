"""Ordinary differential equations, by one program for each velocity and shape.

Dormand and Prince's steps of order 5 with an error of order 4, and values between them; their
coefficients are SciPy's. A loop over stages holds the velocity once, as to compile it takes longer
than to run it.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, PyTree
from scipy.integrate import RK45

from mdsgdln._checks import Scalar

TOLERANCE = 1e-7  # relative, of a step of the flows of whole networks
SINGLE = 3e-5  # the least relative error asked for in single precision
STAGES = np.zeros((7, 7))  # slopes of which each stage is made; the last one is the step itself
STAGES[:6, :5], STAGES[6, :6] = RK45.A, RK45.B
ORDER = 5


class _Step(NamedTuple):
    """The step taken last, and how long the next one should be.

    Attributes:
        begin, end: its times.
        before, after: states at these, shape (n,).
        slopes: velocities at its stages, the last one at its end, shape (7, n).
        length: of the next step.
    """

    begin: Float[Array, ""]
    end: Float[Array, ""]
    before: Float[Array, " n"]
    after: Float[Array, " n"]
    slopes: Float[Array, "7 n"]
    length: Float[Array, ""]


def integrate(
    velocity: Callable[[PyTree, PyTree], PyTree],
    parameters: PyTree,
    start: PyTree,
    times: Float[Array | np.ndarray, " T"],
    tolerance: Scalar,
    absolute: Scalar | None = None,
    output: Callable[[PyTree, PyTree], PyTree] = lambda parameters, state: state,
) -> PyTree:
    """Return ``output`` of the state y at ``times``, ẏ = velocity(parameters, y), y(0) = start.

    Numbers are integrated in double precision. Traced in single precision, no relative error below
    3e-5 is asked for, and the absolute one grows by the same factor. Derivatives are taken forwards
    (``jax.jvp``). What is compiled is kept for the same functions ``velocity`` and ``output``: let
    them stand in a module.

    Args:
        velocity: of the parameters and the state.
        parameters: all arrays that the velocity and the output depend on.
        start: the state at time 0.
        times: increasing from 0 on, shape (T,).
        tolerance: relative error of a step.
        absolute: absolute error of a step; ``tolerance`` if not given.
        output: what is kept, of the parameters and a state.

    Raises:
        ArithmeticError: the state grows without bound.
    """
    absolute = tolerance if absolute is None else absolute
    arguments = parameters, start, times, tolerance, absolute
    if any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves(arguments)):
        return _integrate(velocity, output, *jax.tree.map(jnp.asarray, arguments))
    with jax.enable_x64(True):
        found = _integrate(velocity, output, *jax.tree.map(_in_double, arguments))
        found = jax.tree.map(np.asarray, found)
    if not all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(found)):
        raise ArithmeticError("integration: the state grows without bound")
    return jax.tree.map(jnp.asarray, found)


def _in_double(leaf: Any) -> np.ndarray:
    """Return an array of NumPy, floating-point numbers in double precision."""
    array = np.asarray(leaf)
    return array.astype(float) if np.issubdtype(array.dtype, np.floating) else array


@partial(jax.jit, static_argnames=("velocity", "output"))
def _integrate(velocity, output, parameters, start, times, tolerance, absolute) -> PyTree:
    first, state = ravel_pytree(start)
    stages, errors, shares = (jnp.asarray(table, first.dtype) for table in (STAGES, RK45.E, RK45.P))
    times, tolerance, absolute = (a.astype(first.dtype) for a in (times, tolerance, absolute))
    if first.dtype != jnp.float64:
        coarser = jnp.maximum(SINGLE / tolerance, 1.0)
        tolerance, absolute = coarser * tolerance, coarser * absolute

    def slope(vector):
        return ravel_pytree(velocity(parameters, state(vector)))[0]

    def advance(step: _Step) -> _Step:
        """Take the next step, or find out that it has to be shorter."""

        def stage(number, slopes):
            vector = step.after + step.length * (stages[number] @ slopes)
            return slopes.at[number].set(slope(vector))

        at_the_start = step.end == step.begin  # else the first stage is the last one before
        slopes = step.slopes.at[0].set(step.slopes[-1])
        slopes = jax.lax.fori_loop(jnp.where(at_the_start, 0, 1), 7, stage, slopes)
        after = step.after + step.length * (stages[-1] @ slopes)
        allowed = absolute + tolerance * jnp.maximum(abs(step.after), abs(after))
        error = jnp.sqrt(jnp.mean((step.length * (errors @ slopes) / allowed) ** 2))
        factor = jnp.clip(0.9 * error ** (-1 / ORDER), 0.2, 10.0)
        length = step.length * jnp.where(jnp.isfinite(error), factor, 0.2)
        taken = _Step(step.end, step.end + step.length, step.after, after, slopes, length)
        same = step._replace(length=length)
        return jax.tree.map(partial(jnp.where, error <= 1), taken, same)

    def upto(step: _Step, time):
        """Advance until a time is reached, or no step is short enough; return what is kept."""
        shortest = 4 * jnp.finfo(first.dtype).eps

        def goes_on(step):
            return (step.end < time) & (step.length > shortest * step.end)

        step = jax.lax.while_loop(goes_on, advance, step)
        length = step.end - step.begin
        passed = jnp.where(length > 0, (time - step.begin) / jnp.where(length > 0, length, 1), 0)
        share = shares @ passed ** jnp.arange(1, 5)
        between = step.before + length * (share @ step.slopes)
        between = jnp.where(step.end < time, jnp.nan, between)
        return step, output(parameters, state(between))

    zero = jnp.zeros((), times.dtype)
    begin = _Step(
        zero, zero, first, first, jnp.zeros((7, first.size), first.dtype), times[-1] / 100
    )
    return jax.lax.scan(upto, begin, times)[1]
