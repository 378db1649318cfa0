"""What a network is to those who train it: two methods, so that one's own can take part."""

from typing import Any, Protocol, runtime_checkable

from jaxtyping import Array, Float


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
