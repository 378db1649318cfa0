"""Functions and objects as arguments of compiled functions: what equals them compiles nothing."""

from collections.abc import Callable, Sequence
from typing import Any

import jax
from jaxtyping import PyTree

HIDDEN_ADDRESS = "at 0xXXXX"  # JAX prints functions of Python without their address


class Jaxpr:
    """What a program does and how its results are nested, told apart by its text.

    One that calls functions of Python, as ``jax.pure_callback`` does, equals only itself: the text
    does not say what these do.
    """

    def __init__(self, jaxpr: Any, structure: Any):
        self.jaxpr, self.structure, self.text = jaxpr, structure, str(jaxpr)

    def __eq__(self, other: object) -> bool:
        if self is other or not isinstance(other, Jaxpr) or HIDDEN_ADDRESS in self.text:
            return self is other
        return self.text == other.text and self.structure == other.structure

    def __hash__(self) -> int:
        return hash(self.text)


@jax.tree_util.register_pytree_node_class
class Program:
    """A function of the weights as JAX has traced it: equal to any that computes the same.

    The arrays that it closes over are leaves, so that other ones of their shape compile nothing.
    """

    def __init__(self, constants: Sequence[Any], jaxpr: Jaxpr):
        self.constants, self.jaxpr = constants, jaxpr

    @classmethod
    def of(cls, function: Callable[[Any], Any], weights: PyTree) -> "Program":
        """Trace a function of the weights."""
        traced, shape = jax.make_jaxpr(function, return_shape=True)(weights)
        return cls(traced.consts, Jaxpr(traced.jaxpr, jax.tree.structure(shape)))

    def __call__(self, weights: PyTree) -> PyTree:
        leaves = jax.core.eval_jaxpr(self.jaxpr.jaxpr, self.constants, *jax.tree.leaves(weights))
        return jax.tree.unflatten(self.jaxpr.structure, leaves)

    def tree_flatten(self):
        return self.constants, self.jaxpr

    @classmethod
    def tree_unflatten(cls, jaxpr, constants):
        return cls(constants, jaxpr)


@jax.tree_util.register_static
class Constant:
    """What a compiled function takes as it is: equal if it holds the very same object."""

    def __init__(self, value: object):
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Constant) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)
