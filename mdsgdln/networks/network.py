"""What every network has: one method of its own, and defaults for the others."""

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

    Weights are any pytree of arrays. To compiled functions a network is a constant: make a new one
    rather than change it. With ``class Mine(Network, static=False)`` it is what you register it
    as, for example a pytree whose gates are leaves.
    """

    def __init_subclass__(cls, static: bool = True, **kwargs: Any):
        super().__init_subclass__(**kwargs)
        if static:
            jax.tree_util.register_static(cls)

    def apply(self, weights: PyTree, inputs: Float[Array, "N_in P"]) -> Float[Array, "N_out P"]:
        """Return the outputs for ``inputs``, one sample per column."""
        raise NotImplementedError(f"{type(self).__name__}.apply is not written")

    def init(self, key: Array, scale: Any) -> PyTree:
        """Draw weights from a JAX random key; ``scale`` says how large they are."""
        raise NotImplementedError(f"{type(self).__name__} draws no weights: give your own")

    def take(self, columns: Numbers | slice) -> "Network":
        """Return the network of the samples ``columns``: itself, unless it stores some of each."""
        return self

    def check(self, weights: PyTree, task: Task) -> None:
        """Raise ``ValueError`` unless weights and task fit the network; traces ``apply`` once."""
        checks.instance("task", task, Task)
        outputs = jax.eval_shape(self.apply, weights, task.inputs)
        shape = getattr(outputs, "shape", None)
        if shape != task.targets.shape:
            raise ValueError(
                f"network: expected outputs of shape {task.targets.shape}, as the targets have, "
                f"got {type(outputs).__name__ if shape is None else shape}"
            )


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
    if not any(isinstance(number, jax.core.Tracer) for number in (drawn, *scales)):
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
    gate = checks.finite_array(name, gate, max(np.ndim(gate), 1), "(P,) or (neurons, P)")
    if gate.shape[:-1] not in ((), (neurons,)) or num_samples not in (None, gate.shape[-1]):
        expected = "P" if num_samples is None else num_samples
        raise ValueError(
            f"{name}: expected shape ({expected},) or ({neurons}, {expected}), got {gate.shape}"
        )
    return gate


def apply_gate(gate: Array, activity: Float[Array, "neurons P"]) -> Float[Array, "neurons P"]:
    """Return the product of a gate, (P,) or (neurons, P), and activity."""
    return (gate if gate.ndim == 2 else gate[None, :]) * activity
