"""The base class of all networks: one method to write, and defaults for the others."""

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PyTree

from mdsgdln import _checks as checks
from mdsgdln._checks import Numbers, Scalar
from mdsgdln.tasks import Task

LEAST_NUMBERS = 8192  # drawn for a matrix at least; a power of two


class Network:
    """A map from weights and inputs to outputs. Subclass it and write ``apply``.

    Weights are any pytree of arrays. Compiled functions treat a network as a constant, so an
    attribute is set once: make a new network to change it. A class that registers itself as a
    pytree, for example with gates as leaves, is declared ``class Mine(Network, static=False)``.
    """

    def __init_subclass__(cls, static: bool = True, **kwargs: Any):
        super().__init_subclass__(**kwargs)
        if static:
            jax.tree_util.register_static(cls)

    def __setattr__(self, name: str, value: Any):
        if name in vars(self):
            raise AttributeError(
                f"{name}: expected an attribute that is set once, as compiled functions treat a "
                f"network as a constant, got another value, {value!r:.80}: make a new network"
            )
        super().__setattr__(name, value)

    def apply(self, weights: PyTree, inputs: Float[Array, "N_in P"]) -> Float[Array, "N_out P"]:
        """Return the outputs for ``inputs``, one sample per column."""
        raise ValueError(f"network: expected a method apply, got a {type(self).__name__} without")

    def init(self, key: Array, scale: Any) -> PyTree:
        """Draw initial weights of size ``scale`` from a JAX random key."""
        raise ValueError(f"network: expected a method init, got a {type(self).__name__} without")

    def take(self, columns: Numbers | slice) -> "Network":
        """Return the network for the samples ``columns``: itself, unless it stores gates."""
        return self

    def check(self, weights: PyTree, task: Task) -> None:
        """Raise ``ValueError`` unless weights and task fit the network; traces ``apply`` once."""
        checks.instance("task", task, Task)
        outputs = jax.eval_shape(self.apply, weights, task.inputs)
        shape = getattr(outputs, "shape", type(outputs))
        expected = f"outputs of shape {task.targets.shape}, as the targets have"
        checks.require(shape == task.targets.shape, "network", expected, shape)


def draw_gaussian(
    key: Array, shapes: Sequence[tuple[int, ...]], scales: Sequence[Scalar]
) -> list[Float[Array, "..."]]:
    """Return ``scale * jax.random.normal(each, shape)``, with keys split from one.

    JAX would compile a program for each shape, which takes a second. The first of many numbers that
    it draws are those that it draws when asked for them alone: so a power of two is drawn and cut.
    """
    checks.random_key("key", key)
    longest = max(LEAST_NUMBERS, *map(math.prod, shapes))
    keys = jax.random.split(key, len(shapes))
    drawn = _draw(keys, 1 << (longest - 1).bit_length())
    if not checks.is_traced(drawn, scales):
        # The same products by NumPy, which compiles nothing, in the precision of the draws.
        drawn = np.asarray(drawn)
        scales = [np.asarray(scale, drawn.dtype) for scale in scales]
    return [
        jnp.asarray(scale * numbers[: math.prod(shape)].reshape(shape), drawn.dtype)
        for scale, numbers, shape in zip(scales, drawn, shapes, strict=True)
    ]


@partial(jax.jit, static_argnames="number")
def _draw(keys: Array, number: int) -> Float[Array, "keys N"]:
    return jax.vmap(lambda key: jax.random.normal(key, (number,)))(keys)


def checked_gate(
    name: str, gate: Numbers, neurons: int, num_samples: int | None = None
) -> Float[Array, "*neurons P"]:
    """Return ``gate`` as an array (P,) or (neurons, P), or raise ``ValueError``."""
    gate = checks.real_array(name, gate, "(P,) or (neurons, P)")
    gate = checks.finite_array(name, gate, max(gate.ndim, 1), "(P,) or (neurons, P)")
    samples = "P" if num_samples is None else num_samples
    fits = gate.shape[:-1] in ((), (neurons,)) and num_samples in (None, gate.shape[-1])
    checks.require(fits, name, f"shape ({samples},) or ({neurons}, {samples})", gate.shape)
    return gate
