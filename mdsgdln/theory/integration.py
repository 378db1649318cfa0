"""Integration of ordinary differential equations: numbers by SciPy, what JAX traces by diffrax."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, PyTree
from scipy.integrate import DOP853

from mdsgdln._checks import Scalar

TOLERANCE = 1e-8  # relative, of a step of the flows of whole networks


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

    Explicit methods with adaptive steps: of order 8 for numbers, in double precision, of order 5
    for what is traced. Traced in single precision, no relative error below 1e-4 is asked for, and
    the absolute one grows by the same factor. Derivatives are taken forwards (``jax.jvp``).

    Args:
        velocity: of the parameters and the state, for arrays of NumPy as of JAX.
        parameters: all arrays that the velocity and the output depend on.
        start: the state at time 0.
        times: increasing from 0 on, shape (T,).
        tolerance: relative error of a step.
        absolute: absolute error of a step; ``tolerance`` if not given.
        output: what is kept, of the parameters and a state whose arrays may have one more axis in
            front, the times.

    Raises:
        ArithmeticError: the state grows without bound.
    """
    absolute = tolerance if absolute is None else absolute
    arguments = parameters, start, times, tolerance, absolute
    if any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves(arguments)):
        return _traced(velocity, output, *arguments)
    return _known(velocity, output, *jax.tree.map(_in_numpy, arguments))


def _in_numpy(leaf: Any) -> np.ndarray | np.number:
    """Return an array or number of NumPy, floating-point numbers in double precision."""
    array = np.asarray(leaf)
    return (array.astype(float) if np.issubdtype(array.dtype, np.floating) else array)[()]


def _known(velocity, output, parameters, start, times, tolerance, absolute) -> PyTree:
    """Integrate numbers; of every step the times that fall into it are kept."""
    leaves, tree = jax.tree.flatten(start)
    ends = np.cumsum([leaf.size for leaf in leaves])[:-1]

    def state(vector):  # (n,) or (times, n)
        parts = np.split(vector, ends, axis=-1)
        return jax.tree.unflatten(
            tree,
            (
                part.reshape((*part.shape[:-1], *leaf.shape))
                for part, leaf in zip(parts, leaves, strict=True)
            ),
        )

    def flat(state):
        return np.concatenate([leaf.ravel() for leaf in jax.tree.leaves(state)])

    def kept(vectors):
        return jax.tree.map(np.asarray, output(parameters, state(vectors)))

    def rate(_, vector):
        return flat(velocity(parameters, state(vector)))

    first, (done, num_times) = flat(start), np.searchsorted(times, [0.0, np.inf], side="right")
    found = [kept(np.tile(first, (done, 1)))]
    with np.errstate(over="ignore", invalid="ignore"):  # a trial step may be far too long
        solver = DOP853(rate, 0.0, first, times[-1], rtol=tolerance, atol=absolute)
        while done < num_times:
            solver.step()
            if solver.status == "failed":
                raise ArithmeticError("integration: the state grows without bound")
            upto = np.searchsorted(times, solver.t, side="right")
            if upto > done:
                found.append(kept(solver.dense_output()(times[done:upto]).T))
            done = upto
    return jax.tree.map(lambda *parts: jnp.asarray(np.concatenate(parts)), *found)


def _traced(velocity, output, parameters, start, times, tolerance, absolute) -> PyTree:
    """Integrate what JAX traces, as one vector: this compiles in less time than a tree."""
    import diffrax  # takes most of a second, and most programs integrate numbers only

    if times.dtype != jnp.float64:
        coarser = jnp.maximum(1e-4 / tolerance, 1.0)
        tolerance, absolute = coarser * tolerance, coarser * absolute
    parameters, start = jax.tree.map(jnp.asarray, (parameters, start))
    first, state = ravel_pytree(start)
    solution = diffrax.diffeqsolve(
        diffrax.ODETerm(lambda _, y, __: ravel_pytree(velocity(parameters, state(y)))[0]),
        diffrax.Tsit5(),
        t0=0.0,
        t1=times[-1],
        dt0=None,
        y0=first,
        saveat=diffrax.SaveAt(ts=times, fn=lambda _, y, __: output(parameters, state(y))),
        stepsize_controller=diffrax.PIDController(rtol=tolerance, atol=absolute),
        max_steps=1_000_000,
        adjoint=diffrax.ForwardMode(),
    )
    return solution.ys
