"""Chains of layers: linear and ReLU networks."""

from collections.abc import Sequence
from dataclasses import dataclass

import jax
import jax.numpy as jnp
from jaxtyping import Array, ArrayLike, Float

from mdsgdln import _checks as checks
from mdsgdln._checks import Numbers, Scalar
from mdsgdln.networks.drawing import _gaussian, _orthogonal
from mdsgdln.networks.gating import _check_gate, _columns_by
from mdsgdln.tasks import Task


@dataclass(frozen=True, repr=False)
class _Layered:
    """A chain of layers, all architecture; subclasses say what a layer does with its input."""

    sizes: Sequence[int]

    def __post_init__(self):
        checks.several("sizes", self.sizes)
        sizes = tuple(checks.positive_integer("sizes", size) for size in self.sizes)
        if len(sizes) < 2:
            raise ValueError(f"sizes: expected (N_in, H, ..., N_out), got {sizes!r:.80}")
        object.__setattr__(self, "sizes", sizes)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.sizes})"

    def init(self, key: Array, scale: Scalar | Sequence[Scalar]) -> list[Array]:
        """Draw Gaussian weights, one matrix (N_{l+1}, N_l) per layer.

        Args:
            key: a JAX random key.
            scale: σ, the standard deviation of an entry, or one per layer.
        """
        checks.random_key("key", key)
        layers = tuple(range(len(self.sizes) - 1))
        return _gaussian(key, self._shapes(), checks.scales(scale, layers))

    def init_orthogonal(self, key: Array, gain: Scalar) -> list[Array]:
        """Draw random weights whose singular values are all ``gain``, one matrix per layer.

        Args:
            key: a JAX random key.
            gain: σ₀, the singular value of every matrix.
        """
        checks.random_key("key", key)
        return _orthogonal(key, self._shapes(), checks.non_negative("gain", gain))

    def _shapes(self) -> list[tuple[int, int]]:
        return list(zip(self.sizes[1:], self.sizes[:-1], strict=True))

    def _check_weights(self, weights: Sequence[Numbers]) -> None:
        """Raise ``ValueError`` unless ``weights`` has one matrix of the right shape per layer."""
        if not isinstance(weights, Sequence) or len(weights) != len(self.sizes) - 1:
            raise ValueError(
                f"weights: expected {len(self.sizes) - 1} matrices, got {weights!r:.80}"
            )
        for layer, (weight, shape) in enumerate(zip(weights, self._shapes(), strict=True)):
            checks.weight(f"weights[{layer}]", weight, shape)

    def _reading(self, task: Task) -> "_Layered":
        """Return the network itself, if ``task`` has its numbers of inputs and outputs."""
        checks.instance("task", task, Task)
        checks.num_rows("inputs", len(task.inputs), self.sizes[0])
        checks.num_rows("targets", len(task.targets), self.sizes[-1])
        return self

    def take(self, columns: Numbers | slice) -> "_Layered":
        """Return the network itself: it stores no gates."""
        return self

    def activations(
        self,
        weights: Sequence[ArrayLike],
        inputs: Numbers,
        gates: Sequence[Numbers] | None = None,
    ) -> list[Float[Array, "_ P"]]:
        """Return the activity of every hidden layer, each (neurons, P); as for ``apply``."""
        inputs = checks.matrix("inputs", inputs)
        self._check_weights(weights)
        checks.num_rows("inputs", len(inputs), self.sizes[0])
        if gates is not None:
            checks.several("gates", gates, len(self.sizes) - 2)
            gates = [
                _check_gate(f"gates[{layer}]", gate, neurons, inputs.shape[1])
                for layer, (gate, neurons) in enumerate(zip(gates, self.sizes[1:-1], strict=True))
            ]
        layer, activity = inputs, []
        for index, weight in enumerate(weights[:-1]):
            gate = None if gates is None else gates[index]
            layer = self._activate(weight @ layer, gate)  # type: ignore[attr-defined]  # of a subclass
            activity.append(layer)
        return activity

    def apply(
        self,
        weights: Sequence[ArrayLike],
        inputs: Numbers,
        gates: Sequence[Numbers] | None = None,
    ) -> Float[Array, "N_out P"]:
        """Return the outputs for ``inputs`` (N_in, P).

        Args:
            weights: one matrix per layer, as from ``init``.
            inputs: X, shape (N_in, P).
            gates: one array (P,) or (neurons, P) per hidden layer, used in place of the layer's
                own activation.

        Raises:
            ValueError: wrong shapes of weights, inputs or gates.
        """
        hidden = self.activations(weights, inputs, gates)
        # A product with a weight of NumPy is an array of JAX, whatever NumPy's annotations say.
        return weights[-1] @ (hidden[-1] if hidden else jnp.asarray(inputs))  # type: ignore[return-value]


@jax.tree_util.register_static
class LinearNetwork(_Layered):
    """A linear network of any depth, ŷ = W_L ⋯ W_1 x; ``sizes`` is (N_in, H, ..., N_out)."""

    @staticmethod
    def _activate(preactivation, gate):
        return preactivation if gate is None else _columns_by(gate) * preactivation


@jax.tree_util.register_static
class ReLUNetwork(_Layered):
    """A bias-free ReLU network with linear outputs; ``sizes`` is (N_in, H, ..., N_out).

    A ReLU is a gate set by the neuron's own input, ``max(z, 0) = step(z) z`` (MHS §3): given
    ``gates`` in ``apply``, the same weights act as a gated linear network.
    """

    @staticmethod
    def _activate(preactivation, gate):
        return jax.nn.relu(preactivation) if gate is None else _columns_by(gate) * preactivation

    def gates(self, weights: Sequence[ArrayLike], inputs: Numbers) -> list[Float[Array, "_ P"]]:
        """Return the gates that the ReLUs set, 1 where on: one (neurons, P) per hidden layer."""
        return [(layer > 0).astype(layer.dtype) for layer in self.activations(weights, inputs)]
