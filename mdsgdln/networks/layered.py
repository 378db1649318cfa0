"""Chains of layers with any activation: linear, ReLU and others; weights of other frameworks."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from mdsgdln import _checks as checks
from mdsgdln._checks import Numbers, Scalar
from mdsgdln.graphs import Node
from mdsgdln.networks.gated import GatedNetwork
from mdsgdln.networks.network import Network, checked_gate, draw_gaussian
from mdsgdln.tasks import Task

TRANSPOSED = {"torch": False, "flax": True, "sklearn": True}  # stored as (in, out)
Layer = Array | tuple[Array, Array]  # W, or (W, b)
LayerScales = Scalar | Sequence[Scalar | Sequence[Scalar]]
LARGEST_DIFFERENCE = 1e-4  # of the largest output: single precision is a hundred times finer


@dataclass(frozen=True, repr=False)
class Layered(Network):
    """A chain of layers, ŷ = W_L φ(W_{L−1} … φ(W₁ x)), perhaps with biases, W_l h + b_l for W_l h.

    Weights are a list of one matrix W_l (N_{l+1}, N_l) per layer, or, where a layer has a bias, of
    one pair (W_l, b_l), b_l (N_{l+1},).

    Args:
        sizes: (N_in, H, ..., N_out).
        activation: φ of every hidden layer, a function of an array. Networks of equal sizes share
            compiled programs if their activation is the same object.
        biases: whether every layer has a bias, the output's too; or one Boolean per layer.
    """

    sizes: Sequence[int]
    activation: Callable[[Array], Array] = field(default_factory=lambda: jax.nn.relu)
    biases: Any = False  # once checked, a tuple of Booleans, one per layer

    def __post_init__(self):
        checks.several("sizes", self.sizes)
        sizes = tuple(checks.positive_integer("sizes", size) for size in self.sizes)
        checks.require(len(sizes) > 1, "sizes", "(N_in, H, ..., N_out)", sizes)
        checks.function("activation", self.activation)
        object.__setattr__(self, "sizes", sizes)
        object.__setattr__(self, "biases", checks.booleans("biases", self.biases, len(sizes) - 1))

    def __repr__(self) -> str:
        biases = f", biases={self.biases}" if any(self.biases) else ""
        return f"{type(self).__name__}({self.sizes}{biases})"

    @property
    def shapes(self) -> list[tuple[int, int]]:
        """Shape of each layer's weights, (N_{l+1}, N_l)."""
        return list(zip(self.sizes[1:], self.sizes[:-1], strict=True))

    def scales(self, scale: LayerScales) -> list[tuple[Scalar, Scalar]]:
        """Return (σ_W, σ_b) of each layer from σ, or one σ or pair (σ_W, σ_b) per layer.

        One number is that of both: PyTorch, Equinox and scikit-learn draw them within one bound.
        """
        layers: list[Any] = list(scale) if checks.is_list(scale) else [scale] * len(self.shapes)
        fit = len(layers) == len(self.shapes)
        checks.require(fit, "scale", f"a number or {len(self.shapes)}", len(layers))
        pairs = [checks.scales(layer, ("W", "b")) for layer in layers]
        return [(weight, bias) for weight, bias in pairs]

    def init(self, key: Array, scale: LayerScales) -> list[Layer]:
        """Draw Gaussian weights of standard deviation ``scale``, and biases as their weights.

        Args:
            key: JAX random key.
            scale: σ, or one per layer; a pair (σ_W, σ_b) for a layer whose bias has another, such
                as (σ, 0.0) for biases that start at zero.
        """
        scales = self.scales(scale)
        biased = [layer for layer, bias in enumerate(self.biases) if bias]
        shapes = [*self.shapes, *((self.sizes[layer + 1],) for layer in biased)]
        each = [sigma for sigma, _ in scales] + [scales[layer][1] for layer in biased]
        layers: list[Any] = draw_gaussian(key, shapes, each)
        for layer, bias in zip(biased, layers[len(self.shapes) :], strict=True):
            layers[layer] = layers[layer], bias
        return layers[: len(self.shapes)]

    def check(self, weights: Sequence[Any], task: Task) -> None:
        """Raise ``ValueError`` unless weights and task have the shapes of the layers."""
        checks.instance("task", task, Task)
        checks.of_shape("inputs", task.inputs, (self.sizes[0], task.num_samples))
        checks.of_shape("targets", task.targets, (self.sizes[-1], task.num_samples))
        fit = isinstance(weights, Sequence) and len(weights) == len(self.shapes)
        checks.require(fit, "weights", f"{len(self.shapes)} layers", weights)
        for index, (layer, shape, biased) in enumerate(
            zip(weights, self.shapes, self.biases, strict=True)
        ):
            name = f"weights[{index}]"
            if biased:
                pair = isinstance(layer, Sequence) and len(layer) == 2
                checks.require(pair, name, "a pair (W, b), as this layer has a bias", layer)
                checks.weight(f"{name}[1]", layer[1], shape[:1])
                name, layer = f"{name}[0]", layer[0]
            checks.weight(name, layer, shape)

    def activations(
        self,
        weights: Sequence[Any],
        inputs: Numbers,
        gates: Sequence[Numbers] | None = None,
    ) -> list[Float[Array, "_ P"]]:
        """Return the activity of every hidden layer, (neurons, P); arguments as in ``apply``."""
        if gates is not None:
            checks.several("gates", gates, len(self.sizes) - 2)
        activity = [jnp.asarray(inputs)]
        for index, layer in enumerate(weights[:-1]):
            arriving = self._arriving(index, layer, activity[-1])
            if gates is None:
                activity.append(self.activation(arriving))
            else:
                gate = checked_gate(f"gates[{index}]", gates[index], *arriving.shape)
                activity.append(jnp.atleast_2d(gate) * arriving)
        return activity[1:]

    def apply(
        self,
        weights: Sequence[Any],
        inputs: Numbers,
        gates: Sequence[Numbers] | None = None,
    ) -> Float[Array, "N_out P"]:
        """Return the outputs for ``inputs`` (N_in, P).

        Args:
            weights: one matrix or pair (W, b) per layer, as from ``init``.
            gates: one array (P,) or (neurons, P) per hidden layer, used in place of the activation.
        """
        hidden = self.activations(weights, inputs, gates)
        return self._arriving(-1, weights[-1], hidden[-1] if hidden else jnp.asarray(inputs))

    def _arriving(self, index: int, layer: Any, activity: Array) -> Array:
        if not self.biases[index]:
            return jnp.asarray(layer) @ activity
        weight, bias = layer
        return jnp.asarray(weight) @ activity + jnp.asarray(bias)[:, None]

    def gates(self, weights: Sequence[Any], inputs: Numbers) -> list[Float[Array, "_ P"]]:
        """Return 1 where the activity of a neuron exceeds 0, else 0: (neurons, P) per layer."""
        return [(layer > 0).astype(layer.dtype) for layer in self.activations(weights, inputs)]


class LinearNetwork(Layered):
    """A linear network, ŷ = W_L ⋯ W_1 x; ``sizes`` is (N_in, H, ..., N_out)."""

    def __init__(self, sizes: Sequence[int], biases: bool | Sequence[bool] = False):
        super().__init__(sizes, jax.nn.identity, biases)

    def __reduce__(self):
        return LinearNetwork, (self.sizes, self.biases)  # functions of JAX cannot be pickled

    def as_gated(self) -> GatedNetwork:
        """Return the same network as a gated network without gates, edges in order of layers."""
        none = "a network without biases, as a gated network has none; see tasks.with_ones"
        checks.require(not any(self.biases), "network", none, self)
        nodes: list[Node] = [f"layer {index}" for index in range(len(self.sizes))]
        sizes = dict(zip(nodes, self.sizes, strict=True))
        return GatedNetwork(sizes, list(zip(nodes[:-1], nodes[1:], strict=True)))


class ReLUNetwork(Layered):
    """A ReLU network with linear outputs; ``sizes`` is (N_in, H, ..., N_out).

    A ReLU is a gate set by the neuron's own input, ``max(z, 0) = step(z) z`` (MHS §3): with
    ``gates`` passed to ``apply``, the same weights act as a gated linear network.
    """

    def __init__(self, sizes: Sequence[int], biases: bool | Sequence[bool] = False):
        super().__init__(sizes, jax.nn.relu, biases)

    def __reduce__(self):
        return ReLUNetwork, (self.sizes, self.biases)


NAMED: dict[str, Callable[..., Layered]] = {"relu": ReLUNetwork, "linear": LinearNetwork}


def from_weights(
    weights: Sequence[Any],
    biases: Sequence[Any] | None = None,
    *,
    convention: Literal["torch", "flax", "sklearn"] = "torch",
    activation: Literal["relu", "linear"] | Callable[[Array], Array] = "relu",
    check: tuple[Any, Any] | None = None,
) -> tuple[Layered, list[Layer]]:
    """Return the network with these layers of weights, and the weights in the form it takes.

    ``Linear.weight`` of PyTorch and Equinox is (out, in) (``"torch"``); a kernel of Flax and the
    ``coefs_`` of scikit-learn are (in, out). A layer whose bias is given has a bias.

    The weights do not show which activation they were trained with. ``check`` does: this network
    has to give the framework's outputs.

    A loss that is c times 𝓛 of MHS Eq. 2 has the time t = c · learning rate · step: c = 2/N_out for
    a mean of squares, as PyTorch's ``MSELoss``, and 1/N_out for half of it, as ``optax.l2_loss``.
    scikit-learn reports ``loss_`` with c = 1/N_out, but descends 𝓛 itself, c = 1.

    Args:
        weights: of every layer, first to last, (N_{l+1}, N_l) or (N_l, N_{l+1}).
        biases: of every layer, (N_{l+1},), or None where it has none.
        convention: ``"torch"``, ``"flax"`` or ``"sklearn"``.
        activation: of the hidden layers: ``"relu"``, ``"linear"`` or a function such as
            ``jax.numpy.tanh``.
        check: inputs (P, N_in) and the framework's outputs for them, (P, N_out) or (P,).
    """
    checks.require(convention in TRANSPOSED, "convention", f"one of {[*TRANSPOSED]}", convention)
    checks.several("weights", weights)
    layers: list[Any] = [
        checks.finite_array(f"weights[{index}]", weight, 2, "(neurons, neurons)")
        for index, weight in enumerate(weights)
    ]
    checks.require(layers, "weights", "one matrix per layer", layers)
    if TRANSPOSED[convention]:
        layers = [layer.T for layer in layers]
    for index, (source, target) in enumerate(zip(layers[:-1], layers[1:], strict=True), 1):
        number = len(source)
        expected = f"weights from {number} neurons, of the layer before by the {convention!r} rule"
        checks.require(target.shape[1] == number, f"weights[{index}]", expected, target.shape[1])
    sizes = layers[0].shape[1], *map(len, layers)
    given = [None] * len(layers) if biases is None else biases
    checks.several("biases", given, len(layers))
    biased = [bias is not None for bias in given]
    for index, bias in enumerate(given):
        if bias is not None:
            name = f"biases[{index}]"
            bias = checks.finite_array(name, bias, 1, "(neurons,)")
            checks.of_shape(name, bias, (len(layers[index]),))
            layers[index] = layers[index], bias
    if isinstance(activation, str) and activation in NAMED:
        network: Layered = NAMED[activation](sizes, biased)
    else:
        expected = f"one of {[*NAMED]} or a function"
        checks.require(callable(activation), "activation", expected, activation)
        network = Layered(sizes, activation, biased)  # type: ignore[arg-type]  # checked above
    if check is not None:
        _compare(network, layers, check)
    return network, layers


def _compare(network: Layered, weights: list[Layer], check: tuple[Any, Any]) -> None:
    checks.several("check", check, 2)
    inputs = checks.finite_array("check[0]", check[0], 2, "(P, N_in)")
    checks.of_shape("check[0]", inputs, (len(inputs), network.sizes[0]))
    outputs = network.apply(weights, inputs.T).T
    expected = checks.rows_of_samples("check[1]", check[1])
    checks.of_shape("check[1]", expected, outputs.shape)
    largest = float(jnp.abs(expected).max())
    nonzero = "an output that is not zero, as zeros fit any activation"
    checks.require(largest, "check[1]", nonzero, largest)
    difference = float(jnp.abs(outputs - expected).max()) / largest
    if difference > LARGEST_DIFFERENCE:
        raise ValueError(
            f"check: expected the outputs of a {type(network).__name__} with these weights, got "
            f"outputs that differ by {difference:.2g} of the largest; likely causes: another "
            "activation (leaky ReLU, tanh), a missing bias, a squashed output, samples or inputs "
            "in another order, or a square layer in another convention"
        )
