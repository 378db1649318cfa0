"""Chains of layers with any activation: linear, ReLU and others."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from mdsgdln import _checks as checks
from mdsgdln._checks import Numbers, Scalar
from mdsgdln.graphs import Node
from mdsgdln.networks.gated import GatedNetwork
from mdsgdln.networks.network import Network, checked_gate, draw_gaussian
from mdsgdln.tasks import Task

Layer = Array | tuple[Array, Array]  # W, or (W, b)
LayerScales = Scalar | Sequence[Scalar | Sequence[Scalar]]


@dataclass(frozen=True, eq=False, repr=False)
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
        for width in sizes[1:-1]:
            _check_activation(self.activation, width)
        biases = checks.one_per_place("biases", self.biases, len(sizes) - 1)
        for bias in biases:
            checks.instance("biases", bias, bool | np.bool_)
        vars(self).update(sizes=sizes, biases=tuple(map(bool, biases)))

    def __repr__(self) -> str:
        biases = f", biases={self.biases}" if any(self.biases) else ""
        return f"{type(self).__name__}({self.sizes}{biases})"

    def __eq__(self, other: object) -> bool:
        """Equal networks share compiled programs, so attributes of a subclass count, too."""
        mine, others = vars(self), vars(other) if type(self) is type(other) else {}
        return mine.keys() == others.keys() and all(
            _same(mine[name], others[name]) for name in mine
        )

    def __hash__(self) -> int:
        return hash((type(self), self.sizes, self.activation, self.biases))

    def __getstate__(self) -> dict[str, Any]:
        """Pickle a function of JAX by its name, as JAX does not pickle it itself."""
        name = getattr(self.activation, "__name__", "")
        for module in (jnp, jax.nn):
            if getattr(module, name, None) is self.activation:
                return vars(self) | {"activation": (module.__name__, name)}
        return vars(self)

    def __setstate__(self, state: dict[str, Any]):
        vars(self).update(state)
        if isinstance(self.activation, tuple):
            module, name = self.activation
            vars(self)["activation"] = getattr(import_module(module), name)

    @property
    def shapes(self) -> list[tuple[int, int]]:
        """Shape of each layer's weights, (N_{l+1}, N_l)."""
        return list(zip(self.sizes[1:], self.sizes[:-1], strict=True))

    def scales(self, scale: LayerScales) -> list[tuple[Scalar, Scalar]]:
        """Return (σ_W, σ_b) of each layer from σ, or one σ or pair (σ_W, σ_b) per layer.

        One number is that of both: PyTorch, Equinox and scikit-learn draw them within one bound.
        """
        layers = checks.one_per_place("scale", scale, len(self.shapes))
        pairs = [checks.scales(layer, ("W", "b")) for layer in layers]
        return [(weight, bias) for weight, bias in pairs]

    def init(self, key: Array, scale: LayerScales) -> list[Any]:
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

    def check(self, weights: Sequence[Any] | None, task: Task) -> None:
        """Raise ``ValueError`` unless weights (if not None) and task fit the layers."""
        checks.instance("task", task, Task)
        checks.of_shape("inputs", task.inputs, (self.sizes[0], task.num_samples))
        checks.of_shape("targets", task.targets, (self.sizes[-1], task.num_samples))
        if weights is None:
            return
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
        checks.several("weights", weights, len(self.shapes))
        axes = f"({self.sizes[0]}, P)"
        activity = [checks.real_array("inputs", inputs, axes)]
        fits = activity[0].ndim == 2 and len(activity[0]) == self.sizes[0]
        checks.require(fits, "inputs", f"shape {axes}", activity[0].shape)
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
        last = hidden[-1] if hidden else checks.real_array("inputs", inputs, "(N_in, P)")
        return self._arriving(-1, weights[-1], last)

    def _arriving(self, index: int, layer: Any, activity: Array) -> Array:
        if not self.biases[index]:
            return jnp.asarray(layer) @ activity
        weight, bias = layer
        return jnp.asarray(weight) @ activity + jnp.asarray(bias)[:, None]

    def gates(self, weights: Sequence[Any], inputs: Numbers) -> list[Float[Array, "_ P"]]:
        """Return 1 where the activity of a neuron exceeds 0, else 0: (neurons, P) per layer."""
        return [(layer > 0).astype(layer.dtype) for layer in self.activations(weights, inputs)]


def _same(one: Any, other: Any) -> bool:
    """Return whether attributes are equal; arrays of several entries are where they are one."""
    try:
        return one is other or bool(one == other)
    except ValueError:  # as the truth value of an array is ambiguous
        return False


def _check_activation(activation: Any, width: int) -> None:
    checks.function("activation", activation)
    try:
        given = jax.eval_shape(activation, jax.ShapeDtypeStruct((width, 2), np.float32))
        shape = getattr(given, "shape", type(given))
    except Exception as error:  # whatever a function of another library raises
        raise ValueError(
            "activation: expected a function of a JAX array, such as jax.numpy.tanh, got "
            f"{activation!r:.80}, which raised {type(error).__name__}"
        ) from error
    number = "a function that returns one number for each, such as jax.numpy.tanh"
    checks.require(shape == (width, 2), "activation", number, activation)


class LinearNetwork(Layered):
    """A linear network, ŷ = W_L ⋯ W_1 x; ``sizes`` is (N_in, H, ..., N_out)."""

    def __init__(self, sizes: Sequence[int], biases: bool | Sequence[bool] = False):
        super().__init__(sizes, jax.nn.identity, biases)

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
