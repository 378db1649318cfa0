"""Random weights: orthogonal ones, and Gaussian ones without a compilation for each shape."""

import math
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from mdsgdln._checks import Scalar

LEAST_NUMBERS, LEAST_KEYS = 8192, 2  # powers of two


def _gaussian(
    key: Array, shapes: Sequence[tuple[int, ...]], scales: Iterable[Scalar]
) -> list[Float[Array, "..."]]:
    """Return Gaussian arrays of the given shapes and standard deviations.

    They are ``scale * jax.random.normal(key, shape)``, each with a key of
    ``jax.random.split(key, len(shapes))``. The first of many numbers that JAX draws are those that
    it draws when only they are asked for: so a power of two is drawn and cut, and little compiled.

    Args:
        key: a JAX random key.
        shapes: of the arrays.
        scales: σ of each array.
    """
    scales = list(scales)
    longest = max(map(math.prod, shapes), default=1)
    num_keys = _power_of_two(len(shapes), LEAST_KEYS)
    drawn = _drawn(key, num_keys, _power_of_two(longest, LEAST_NUMBERS))
    if any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves((drawn, scales))):
        return _cut(drawn, scales, shapes)
    # The same products by NumPy, which compiles nothing, in the precision of what is drawn.
    numbers = np.asarray(drawn)
    scales = [np.asarray(scale, numbers.dtype) for scale in scales]
    return [jnp.asarray(array) for array in _cut(numbers, scales, shapes)]


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


@partial(jax.jit, static_argnames=("num_keys", "number"))
def _drawn(key: Array, num_keys: int, number: int) -> Float[Array, "keys N"]:
    keys = jax.random.split(key, num_keys)
    return jax.vmap(lambda key: jax.random.normal(key, (number,)))(keys)


def _cut(
    drawn: Float[Array | np.ndarray, "keys N"],
    scales: Sequence[Any],
    shapes: Sequence[tuple[int, ...]],
) -> list[Any]:
    """Return the first numbers of each row as an array of the given shape, times its scale."""
    return [
        scale * numbers[: math.prod(shape)].reshape(shape)
        for numbers, scale, shape in zip(drawn, scales, shapes, strict=False)
    ]
