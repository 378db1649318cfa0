"""Neurons of a ReLU network with one hidden layer: how they move, and many of one gate as few.

A neuron is a row z = (w, v) of input and output weights. In gradient flow, for a residual r,

    ẇ = Σ_{i on} β_i x_i,  v̇ = (1/P) Σ_i relu(wᵀx_i) r_i,  β_i = vᵀr_i/P.

Neurons that are on for the samples g obey ż = M_g z with M_g = [[0, C], [Cᵀ, 0]] and
C = (1/P) Σ_{i∈g} x_i r_iᵀ, and act on r through Σ v wᵀ alone. So S = Σ z zᵀ is all that matters:
Ṡ = M_g S + S M_g, or (1 + ηM_g) S (1 + ηM_g) after a step of descent. Neurons that slide along one
boundary are of one gate as well.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PyTree
from scipy.linalg import orth, polar

from mdsgdln._checks import Scalar

FLAT = 1e-9  # shorter than this, of length 1 once, a vector is zero
NEAR = 0.02  # |cos(w, x)| up to which a sample is on the boundary
SHRUNK = 0.1  # of its size at the start: a direction below is left out
ROUNDING = 1e-12  # of the largest direction


class Merger(NamedTuple):
    """Neurons of one gate that became fewer.

    Attributes:
        time: when.
        gate: samples that are on, shape (P,).
        boundary: those with wᵀx near 0, shape (P,).
        merged: how many neurons there were.
        into: how many are left.
    """

    time: float
    gate: Bool[np.ndarray, " P"]
    boundary: Bool[np.ndarray, " P"]
    merged: int
    into: int


def velocity(
    z: Float[Array | np.ndarray, "N k"],
    inputs: Float[Array | np.ndarray, "n P"],
    residual: Float[Array | np.ndarray, "m P"],
    least: Float[Array, "1 P"] | float = 0.0,
) -> Float[Array, "N k"]:
    """Return ż of neurons (w, v) for a residual R/P; a sample is on from wᵀx > ``least``."""
    w, v = jnp.split(z, [len(inputs)], axis=1)
    activity = w @ inputs
    on = activity > least
    push, activity = jnp.where(on, v @ residual, 0), jnp.where(on, activity, 0)
    return jnp.concatenate([push @ inputs.T, activity @ residual.T], axis=1)


def residual_of(
    z: Float[Array | np.ndarray, "N k"],
    inputs: Float[Array | np.ndarray, "n P"],
    targets: Float[Array | np.ndarray, "m P"],
) -> Float[Array, "m P"]:
    """Return what all neurons together do not explain, Y − Σ v relu(wᵀX)."""
    w, v = jnp.split(z, [len(inputs)], axis=1)
    return jnp.subtract(targets, v.T @ jnp.maximum(w @ inputs, 0))


def heun(flow: Callable[[PyTree], PyTree], state: PyTree, step: Scalar) -> PyTree:
    """Return a state after a step of Heun's rule: who crosses is pushed from both sides."""
    first = flow(state)
    second = flow(jax.tree.map(lambda z, slope: z + step * slope, state, first))
    return jax.tree.map(lambda z, a, b: z + step / 2 * (a + b), state, first, second)


@partial(jax.jit, static_argnames="num_steps")
def descend(
    z: Float[Array | np.ndarray, "N k"],
    inputs: Float[Array | np.ndarray, "n P"],
    targets: Float[Array | np.ndarray, "m P"],
    step: Scalar,
    num_steps: int,
) -> tuple[Float[Array, "N k"], Float[Array, " num_steps"]]:
    """Follow the gradient flow of a network; return its neurons then, and losses before steps."""
    num_samples = inputs.shape[1]

    def flow(z):
        return velocity(z, inputs, residual_of(z, inputs, targets) / num_samples)

    def one_step(z, _):
        loss = jnp.sum(residual_of(z, inputs, targets) ** 2) / (2 * num_samples)
        return heun(flow, z, step), loss

    return jax.lax.scan(one_step, jnp.asarray(z), None, num_steps)


def in_span(drawn: Float[np.ndarray, "m n"], columns: Float[np.ndarray, "n P"]) -> tuple:
    """Return draws, isotropic in the span of some columns, and these, in one basis of the span.

    Weights outside of it do not move (inputs), or are of order σ² in the outputs.
    """
    basis = orth(columns, FLAT)
    inside = drawn @ basis
    return np.sqrt(max(inside.shape)) * polar(inside)[0], basis.T @ columns


def patterns(
    w: Float[np.ndarray, "*N n"], inputs: Float[np.ndarray, "n P"], near: float = NEAR
) -> Int[np.ndarray, "*N P"]:
    """Return 1 where a sample is on, −1 where it is off, 0 where |wᵀx| ≤ near ‖w‖‖x‖."""
    lengths = np.linalg.norm(w, axis=-1)[..., None] * np.linalg.norm(inputs, axis=0)
    activity = w @ inputs
    return np.where(np.abs(activity) <= near * lengths, 0, np.sign(activity)).astype(np.int8)


def merge(
    z: Float[np.ndarray, "N k"],
    inputs: Float[np.ndarray, "n P"],
    size: float,
    cosine: float,
    time: float = 0.0,
) -> tuple[Float[np.ndarray, "M k"], list[Merger]]:
    """Return fewer neurons that learn alike, and what was merged.

    Args:
        z: neurons (w, v).
        inputs: X.
        size: standard deviation of an entry of z at the start; directions with less than a tenth
            of it are left out.
        cosine: neurons of a gate are merged if z is at most this far from that of the largest.
        time: that of the mergers.
    """
    rows = len(inputs)
    signs = patterns(z[:, :rows], inputs)
    _, group = np.unique(signs, axis=0, return_inverse=True)
    group = group.ravel()
    merged, events = [], []
    for number in np.flatnonzero(np.bincount(group) > 1):
        members = np.flatnonzero(group == number)
        sign = signs[members[0]]
        for near in _clusters(z[members], cosine):
            few = _fewer(z[members[near]], size)
            changed = patterns(few[:, :rows], inputs) != sign
            if len(few) == len(near) or changed[:, sign != 0].any():
                continue
            events.append(Merger(time, sign > 0, sign == 0, len(near), len(few)))
            merged.append(few)
            group[members[near]] = -1
    return np.concatenate([z[group >= 0], *merged]), events


def _clusters(z: Float[np.ndarray, "m k"], cosine: float) -> list[Int[np.ndarray, " c"]]:
    """Return those near the largest, those near the largest of the rest, …: two or more each."""
    length = np.linalg.norm(z, axis=1)
    alike = z @ z.T >= cosine * np.outer(length, length)
    left, found = np.argsort(-length, kind="stable"), []
    while len(left) > 1:
        near = alike[left[0], left]
        near[0] = True
        if near.sum() > 1:
            found.append(left[near])
        left = left[~near]
    return found


def _fewer(z: Float[np.ndarray, "m k"], size: float) -> Float[np.ndarray, "r k"]:
    """Return twice as many neurons as directions are kept (one for one), with Σ z zᵀ of those.

    z = A diag(s) Bᵀ becomes A' diag(s) Bᵀ with orthonormal columns in A'. The first is constant;
    the others are mixtures of old neurons, each with its mirror image, so that odd moments
    vanish.
    """
    left, s, right = np.linalg.svd(z, full_matrices=False)
    rank = int(np.sum(s > max(SHRUNK * size * np.sqrt(len(z)), ROUNDING * s[0])))
    number = 2 * rank if rank > 1 else rank
    if number >= len(z) or not number:
        return z[:number]
    sign = np.sign(left[:, 0].sum())
    main = np.full((number, 1), sign / np.sqrt(number))
    mixtures = np.random.default_rng(len(z)).normal(size=(rank, len(z))) @ left[:, 1:rank]
    rest = polar(mixtures)[0] / np.sqrt(2)
    mixing = np.concatenate([main, np.concatenate([rest, -rest])[:number]], axis=1)
    return mixing @ (s[:rank, None] * right[:rank])
