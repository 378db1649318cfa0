"""What every network has: two methods, so that one's own can take part; random weights; gates."""

import math
from collections.abc import Sequence
from functools import partial
from typing import Any, Protocol, runtime_checkable

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from mdsgdln import _checks as checks
from mdsgdln._checks import Numbers, Scalar

LEAST_NUMBERS = 8192  # that are drawn for a matrix, a power of two


@runtime_checkable
class Network(Protocol):
    """Whatever draws weights and applies them; weights are any pytree of arrays.

    A network that stores something for each sample, such as gates, also has ``take(columns)``,
    which returns the network of those samples alone; training in batches calls it with traced
    indices. A network that is a pytree is passed to compiled functions as one; any other object is
    a constant to them, so make a new one rather than change it.
    """

    def init(self, key: Array, scale: Any) -> Any:
        """Draw weights from a JAX random key; ``scale`` says how large they are."""

    def apply(self, weights: Any, inputs: Float[Array, "N_in P"]) -> Float[Array, "N_out P"]:
        """Return the outputs for ``inputs``."""


def _gaussian(
    key: Array, shapes: Sequence[tuple[int, ...]], scales: Sequence[Scalar]
) -> list[Float[Array, "..."]]:
    """Return ``scale * jax.random.normal(each, shape)``, the keys split from one."""
    drawn = _normal(jax.random.split(key, len(shapes)), shapes)
    if not any(isinstance(number, jax.core.Tracer) for number in (*drawn, *scales)):
        # The same products by NumPy, which compiles nothing, in the precision of what is drawn.
        scales = [np.asarray(scale, drawn[0].dtype) for scale in scales]
    return [jnp.asarray(scale * numbers) for scale, numbers in zip(scales, drawn, strict=True)]


def _normal(keys: Array, shapes: Sequence[tuple[int, ...]]) -> list:
    """Return ``jax.random.normal(key, shape)`` for each of several keys, by NumPy if known.

    That would be compiled for each shape, which takes a second. The first of many numbers that JAX
    draws are those that it draws when only they are asked for: so a power of two is drawn and cut.
    """
    longest = max(LEAST_NUMBERS, *map(math.prod, shapes))
    drawn = _drawn(keys, 1 << (longest - 1).bit_length())
    if not isinstance(drawn, jax.core.Tracer):
        drawn = np.asarray(drawn)
    return [
        numbers[: math.prod(shape)].reshape(shape)
        for numbers, shape in zip(drawn, shapes, strict=True)
    ]


@partial(jax.jit, static_argnames="number")
def _drawn(keys: Array, number: int) -> Float[Array, "keys N"]:
    return jax.vmap(lambda key: jax.random.normal(key, (number,)))(keys)


def _columns_by(gate: Array) -> Float[Array, "_ P"]:
    """Return a gate (P,) or (neurons, P) as a matrix that multiplies activity (neurons, P)."""
    return gate if gate.ndim == 2 else gate[None, :]


def _check_gate(name: str, gate: Numbers, neurons: int, num_samples: int | None = None) -> Array:
    """Return ``gate`` as an array (P,) or (neurons, P), or raise ``ValueError``."""
    gate = checks.finite_array(name, gate, max(np.ndim(gate), 1), "(P,) or (neurons, P)")
    if gate.shape[:-1] not in ((), (neurons,)) or num_samples not in (None, gate.shape[-1]):
        expected = "P" if num_samples is None else num_samples
        raise ValueError(
            f"{name}: expected shape ({expected},) or ({neurons}, {expected}), got {gate.shape}"
        )
    return gate
