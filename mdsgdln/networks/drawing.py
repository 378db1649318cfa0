"""Random weights: orthogonal ones, and Gaussian ones without a compilation for each shape."""

import math
from collections.abc import Iterable, Sequence
from functools import partial

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from mdsgdln._checks import Scalar

LEAST_DRAWN, LEAST_KEYS = 1024, 8  # powers of two


def _gaussian(
    key: Array, shapes: Sequence[tuple[int, ...]], scales: Iterable[Scalar]
) -> list[Float[Array, "..."]]:
    """Return Gaussian arrays of the given shapes and standard deviations.

    They are ``scale * jax.random.normal(key, shape)``, each with a key of
    ``jax.random.split(key, len(shapes))``. JAX's default generator counts the numbers that it
    draws, so that the first ones of many are those that are drawn when only they are asked for.
    Outside of a compiled function a power of two of numbers is therefore drawn and cut: drawing is
    compiled for a few lengths, not for every shape, which in double precision takes half a second.

    Args:
        key: a JAX random key.
        shapes: of the arrays.
        scales: σ of each array.
    """
    compiled = isinstance(key, jax.core.Tracer)
    number = len(shapes) if compiled else _power_of_two(len(shapes), LEAST_KEYS)
    keys = list(jax.random.split(key, number))[: len(shapes)]
    if compiled:
        drawn = [jax.random.normal(each, shape) for each, shape in zip(keys, shapes, strict=True)]
        return [sigma * array for sigma, array in zip(scales, drawn, strict=True)]
    return [
        _scaled(_drawn(each, _power_of_two(math.prod(shape), LEAST_DRAWN)), sigma, shape)
        for each, shape, sigma in zip(keys, shapes, scales, strict=True)
    ]


def _orthogonal(
    key: Array, shapes: Sequence[tuple[int, ...]], gain: Scalar
) -> list[Float[Array, "..."]]:
    """Return random matrices of the given shapes whose singular values are all ``gain``.

    Args:
        key: a JAX random key.
        shapes: of the matrices.
        gain: σ₀.
    """
    tall = [(max(shape), min(shape)) for shape in shapes]
    found = []
    for shape, gaussian in zip(shapes, _gaussian(key, tall, [1.0] * len(shapes)), strict=True):
        columns, triangle = jnp.linalg.qr(gaussian)
        # with this sign all orthonormal columns are equally likely
        columns *= jnp.sign(jnp.diagonal(triangle))[None, :]
        found.append(gain * (columns if columns.shape == shape else columns.T))
    return found


def _power_of_two(number: int, least: int) -> int:
    return max(least, 1 << (number - 1).bit_length())


@partial(jax.jit, static_argnames="number")
def _drawn(key: Array, number: int) -> Float[Array, " N"]:
    return jax.random.normal(key, (number,))


@partial(jax.jit, static_argnames="shape")
def _scaled(drawn: Float[Array, " N"], sigma: Scalar, shape: tuple[int, ...]) -> Array:
    return sigma * drawn[: math.prod(shape)].reshape(shape)
