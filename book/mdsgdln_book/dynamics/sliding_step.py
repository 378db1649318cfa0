"""One implicit step of a ReLU neuron's input weights, so that samples may slide along a boundary.

A neuron has ẇ = Σ θ_i β_i x_i with β_i = vᵀr_i/P and θ_i = 1 where wᵀx_i > 0, 0 where wᵀx_i < 0,
and between on the boundary (Filippov). Where β_i < 0, the implicit step (Acary and Brogliato) takes
θ at its end: with q what the step gives without these samples, λ = −hθβ is

    λ = argmin ½‖q − Xλ‖² over 0 ≤ λ_i ≤ b_i = −hβ_i,  w' = q − Xλ.

w' is unique, λ need not be. A change of λ_i by what makes w'ᵀx_i zero, cut off at the box, moves
w' by the *residual* of sample i; it is 0 for all samples at the solution, and only there.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

ENOUGH = 1e-10  # residual over ‖w‖ to which the problem is solved
RIDGE = 1e3 * np.finfo(float).eps  # times ‖x‖²: which λ, where x are dependent
AT_ONCE = 4  # neurons whose sliding samples change, that are solved together
ACTIVE_SETS, SWEEPS = 12, 5000  # tries: sets of sliding samples, then Gauss–Seidel sweeps


class Sliders(NamedTuple):
    """What neurons keep from step to step; the last axis is that of neurons.

    Attributes:
        theta: θ of the last step, shape (P, H).
        solve: L with λ_B = L q for the sliding samples B of a neuron alone, zeros elsewhere,
            L = (X_BᵀX_B + ridge)⁻¹X_Bᵀ, shape (P, N_in, H). It is constant between events.
    """

    theta: Float[Array, "P H"]
    solve: Float[Array, "P n H"]


def box_residuals(
    inputs: Float[Array, "n P"],
    w: Float[Array, "n H"],
    pushes: Float[Array, "P H"],
    most: Float[Array, "P H"],
) -> Float[Array, " H"]:
    """Return each neuron's largest residual over ‖w'‖, of pushes λ and their bounds b."""
    squares = _squares(inputs)[:, None]
    cut = jnp.clip(pushes + (inputs.T @ w) / squares, 0, most)
    moved = jnp.abs(pushes - cut) * jnp.sqrt(squares)
    length = jnp.linalg.norm(w, axis=0)
    return jnp.max(moved, axis=0) / jnp.where(length > 0, length, 1)


def implicit_step(
    inputs: Float[Array, "n P"],
    before: Float[Array, "n H"],
    most: Float[Array, "P H"],
    sliders: Sliders,
) -> tuple[Float[Array, "n H"], Sliders, Float[Array, " H"]]:
    """Return w' = q − Xλ, what to keep, and the residuals, of q and the bounds b.

    All neurons try the sliding samples of the last step; the few with others are then corrected.
    """
    pushes = sliders.theta * most
    w = before - inputs @ pushes
    change = jnp.sum(sliders.solve * w[None], axis=1)
    w, pushes = w - inputs @ change, pushes + change
    found = box_residuals(inputs, w, pushes, most)

    def correct(state):
        w, pushes, solve, found, todo = state
        (which,) = jnp.nonzero(todo, size=AT_ONCE, fill_value=todo.size)
        part = _solved(inputs, before[:, which], most[:, which], pushes[:, which])
        w, pushes, solve, found = (
            old.at[..., which].set(new, mode="drop")
            for old, new in zip((w, pushes, solve, found), part, strict=True)
        )
        return w, pushes, solve, found, todo.at[which].set(False, mode="drop")

    state = w, pushes, sliders.solve, found, found > ENOUGH  # not those that are NaN
    w, pushes, solve, found, _ = jax.lax.while_loop(lambda s: s[-1].any(), correct, state)
    theta = jnp.where(most > 0, pushes / jnp.where(most > 0, most, 1), 0)
    return w, Sliders(theta, solve), found


def _squares(inputs: Float[Array, "n P"]) -> Float[Array, " P"]:
    """Return ‖x‖², 1 for zeros, which push nothing."""
    squares = jnp.sum(inputs**2, axis=0)
    return jnp.where(squares > 0, squares, 1)


def _solved(inputs, before, most, pushes):
    """Return w', λ, L and residuals of a few neurons: try active sets, then sweeps."""
    pushes = jnp.clip(pushes, 0, most)
    slack = ENOUGH * jnp.sqrt(_squares(inputs))[:, None] * jnp.linalg.norm(before, axis=0)[None]

    def try_set(state):
        _, pushes, _, _, slide, top, tries = state
        fixed = jnp.where(slide, pushes, jnp.where(top, most, 0))
        w = before - inputs @ fixed
        solve = _solver(inputs, slide)
        change = jnp.sum(solve * w[None], axis=1)
        w, pushes = w - inputs @ change, fixed + change
        activity = inputs.T @ w
        inside = slide & (pushes >= 0) & (pushes <= most)
        begins = ~slide & jnp.where(top, activity < -slack, activity > slack) & (most > 0)
        above = jnp.where(slide, pushes > most, top & ~begins)
        found = box_residuals(inputs, w, pushes, most)
        done = (found <= ENOUGH)[None]  # such a neuron stays as it is
        slide, top = jnp.where(done, slide, inside | begins), jnp.where(done, top, above)
        return w, pushes, solve, found, slide, top, tries + 1

    def unsolved(state):
        return (state[3] > ENOUGH).any() & (state[-1] < ACTIVE_SETS)

    slide = (pushes > 0) & (pushes < most)
    top = (pushes >= most) & (most > 0)
    far = jnp.full(before.shape[1], jnp.inf)
    empty = jnp.zeros((inputs.shape[1], *before.shape), before.dtype)
    state = before, pushes, empty, far, slide, top, 0
    w, pushes, solve, found, *_ = jax.lax.while_loop(unsolved, try_set, state)
    good = found <= ENOUGH
    rest = jnp.where(good[None], pushes, jnp.clip(pushes, 0, most))
    return jax.lax.cond(
        (found > ENOUGH).any(),
        lambda: _swept(inputs, before, most, rest),
        lambda: (w, pushes, solve, found),
    )


def _swept(inputs, before, most, pushes):
    """Return the results of ``_solved`` by Gauss–Seidel sweeps from pushes within their bounds."""

    def one(i, both):
        w, pushes = both
        x = inputs[:, i]
        new = jnp.clip(pushes[i] + (x @ w) / _squares(inputs)[i], 0, most[i])
        return w - x[:, None] * (new - pushes[i])[None], pushes.at[i].set(new)

    def sweep(state):
        w, pushes = jax.lax.fori_loop(0, inputs.shape[1], one, state[:2])
        return w, pushes, box_residuals(inputs, w, pushes, most), state[-1] + 1

    def unsolved(state):
        return (state[2] > ENOUGH).any() & (state[-1] < SWEEPS)

    far = jnp.full(before.shape[1], jnp.inf)
    state = before - inputs @ pushes, pushes, far, 0
    w, pushes, found, _ = jax.lax.while_loop(unsolved, sweep, state)
    return w, pushes, _solver(inputs, (pushes > 0) & (pushes < most)), found


def _solver(inputs: Float[Array, "n P"], slide: Bool[Array, "P m"]) -> Float[Array, "P n m"]:
    products, squares = inputs.T @ inputs, _squares(inputs)

    def one(on):
        both = jnp.where(on[:, None] & on[None], products, 0)
        root = jax.scipy.linalg.cho_factor(both + jnp.diag(jnp.where(on, RIDGE * squares, 1)))
        return jax.scipy.linalg.cho_solve(root, jnp.where(on[:, None], inputs.T, 0))

    return jnp.moveaxis(jax.vmap(one, in_axes=1)(slide), 0, 2)
