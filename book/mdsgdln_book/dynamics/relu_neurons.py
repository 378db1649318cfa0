"""Neurons of a ReLU network with one hidden layer: how they move, and where they are on.

A neuron is a row z = (w, v) of input and output weights. In gradient flow, for a residual r,

    ẇ = Σ_{i on} β_i x_i,  v̇ = (1/P) Σ_i relu(wᵀx_i) r_i,  β_i = vᵀr_i/P.
"""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

FLAT = 1e-9  # shorter than this, of length 1 once, a vector is zero
NEAR = 0.02  # |cos(w, x)| up to which a sample is on the boundary


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


def gate_patterns(
    w: Float[np.ndarray, "*N n"], inputs: Float[np.ndarray, "n P"], near: float = NEAR
) -> Int[np.ndarray, "*N P"]:
    """Return 1 where a sample is on, −1 where it is off, 0 where |wᵀx| ≤ near ‖w‖‖x‖."""
    lengths = np.linalg.norm(w, axis=-1)[..., None] * np.linalg.norm(inputs, axis=0)
    activity = w @ inputs
    return np.where(np.abs(activity) <= near * lengths, 0, np.sign(activity)).astype(np.int8)
