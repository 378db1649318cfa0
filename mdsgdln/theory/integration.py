"""One way to integrate every ordinary differential equation of the theory."""

from collections.abc import Callable

import diffrax
import jax.numpy as jnp
from jaxtyping import Array, Float, PyTree

from mdsgdln._checks import Scalar


def integrate(
    velocity: Callable[[PyTree], PyTree],
    start: PyTree,
    times: Float[Array, " T"],
    tolerance: Scalar,
    absolute: Scalar | None = None,
    output: Callable[[PyTree], PyTree] = lambda state: state,
) -> PyTree:
    """Return ``output`` of the state at ``times``, ẏ = velocity(y), y(0) = start.

    Tsitouras' explicit 5/4 method with adaptive steps (diffrax). In single precision no relative
    error below 1e-4 is asked for, and the absolute one grows by the same factor. Derivatives of the
    solution are taken forwards (``jax.jvp``): what the other direction needs would double the time
    that compilation takes.

    Args:
        velocity: of the state.
        start: the state at time 0.
        times: increasing from 0 on, shape (T,).
        tolerance: relative error of a step.
        absolute: absolute error of a step; ``tolerance`` if not given.
        output: what is kept of the state.
    """
    absolute = tolerance if absolute is None else absolute
    if times.dtype != jnp.float64:
        coarser = jnp.maximum(1e-4 / tolerance, 1.0)
        tolerance, absolute = coarser * tolerance, coarser * absolute
    solution = diffrax.diffeqsolve(
        diffrax.ODETerm(lambda _, state, __: velocity(state)),
        diffrax.Tsit5(),
        t0=0.0,
        t1=times[-1],
        dt0=None,
        y0=start,
        saveat=diffrax.SaveAt(ts=times, fn=lambda _, state, __: output(state)),
        stepsize_controller=diffrax.PIDController(rtol=tolerance, atol=absolute),  # type: ignore[arg-type]  # or NumPy's
        max_steps=1_000_000,
        adjoint=diffrax.ForwardMode(),
    )
    return solution.ys
