"""Chains of layers with any activation: linear, ReLU and others; weights of other frameworks."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import jax
import jax.numpy as jnp
from jaxtyping import Array, ArrayLike, Float

from mdsgdln import _checks as checks
from mdsgdln._checks import Numbers, Scalar
from mdsgdln.graphs import Node
from mdsgdln.networks.gated import GatedNetwork
from mdsgdln.networks.network import Network, apply_gate, checked_gate, draw_gaussian
from mdsgdln.tasks import Task

TRANSPOSED = {"torch": False, "flax": True, "sklearn": True}  # stored as (in, out)
LARGEST_DIFFERENCE = 1e-4  # of the largest output: single precision is a hundred times finer


def identity(activity: Any) -> Any:
    """Return the activity as it is: the activation of a linear network."""
    return activity


@dataclass(frozen=True, repr=False)
class Layered(Network):
    """A chain of layers without biases, ŷ = W_L φ(W_{L−1} … φ(W₁ x)).

    Weights are a list of one matrix (N_{l+1}, N_l) per layer.

    Args:
        sizes: (N_in, H, ..., N_out).
        activation: φ of every hidden layer, a function of an array. Two networks are equal, and
            share compiled programs, if it is the same object.

    Raises:
        ValueError: fewer than two sizes, sizes that are not positive, or no function.
    """

    sizes: Sequence[int]
    activation: Callable[[Array], Array] = field(default_factory=lambda: jax.nn.relu)

    def __post_init__(self):
        checks.several("sizes", self.sizes)
        sizes = tuple(checks.positive_integer("sizes", size) for size in self.sizes)
        if len(sizes) < 2:
            raise ValueError(f"sizes: expected (N_in, H, ..., N_out), got {sizes!r:.80}")
        checks.function("activation", self.activation)
        object.__setattr__(self, "sizes", sizes)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.sizes})"

    @property
    def shapes(self) -> list[tuple[int, int]]:
        """Shape of each layer's weights, (N_{l+1}, N_l)."""
        return list(zip(self.sizes[1:], self.sizes[:-1], strict=True))

    def init(self, key: Array, scale: Scalar | Sequence[Scalar]) -> list[Array]:
        """Draw Gaussian weights, one matrix (N_{l+1}, N_l) per layer.

        Args:
            key: a JAX random key.
            scale: σ, the standard deviation of an entry, or one per layer.
        """
        scales = checks.scales(scale, tuple(range(len(self.shapes))))
        return draw_gaussian(key, self.shapes, scales)

    def check(self, weights: Sequence[Numbers], task: Task) -> None:
        """Raise ``ValueError`` unless weights and task have the shapes of the layers."""
        checks.instance("task", task, Task)
        checks.num_rows("inputs", len(task.inputs), self.sizes[0])
        checks.num_rows("targets", len(task.targets), self.sizes[-1])
        if not isinstance(weights, Sequence) or len(weights) != len(self.shapes):
            raise ValueError(f"weights: expected {len(self.shapes)} matrices, got {weights!r:.80}")
        for layer, (weight, shape) in enumerate(zip(weights, self.shapes, strict=True)):
            checks.weight(f"weights[{layer}]", weight, shape)

    def activations(
        self,
        weights: Sequence[ArrayLike],
        inputs: Numbers,
        gates: Sequence[Numbers] | None = None,
    ) -> list[Float[Array, "_ P"]]:
        """Return the activity of every hidden layer, each (neurons, P); as for ``apply``."""
        if gates is not None:
            checks.several("gates", gates, len(self.sizes) - 2)
        activity = [jnp.asarray(inputs)]
        for index, weight in enumerate(weights[:-1]):
            arriving = jnp.asarray(weight) @ activity[-1]
            if gates is None:
                activity.append(self.activation(arriving))
            else:
                gate = checked_gate(f"gates[{index}]", gates[index], *arriving.shape)
                activity.append(apply_gate(gate, arriving))
        return activity[1:]

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
            gates: one array (P,) or (neurons, P) per hidden layer, used in place of the activation.

        Raises:
            ValueError: gates of the wrong shape.
        """
        hidden = self.activations(weights, inputs, gates)
        return weights[-1] @ (hidden[-1] if hidden else jnp.asarray(inputs))  # type: ignore[return-value]

    def gates(self, weights: Sequence[ArrayLike], inputs: Numbers) -> list[Float[Array, "_ P"]]:
        """Return 1 where a neuron is active, above 0: one (neurons, P) per hidden layer."""
        return [(layer > 0).astype(layer.dtype) for layer in self.activations(weights, inputs)]


class LinearNetwork(Layered):
    """A linear network of any depth, ŷ = W_L ⋯ W_1 x; ``sizes`` is (N_in, H, ..., N_out)."""

    def __init__(self, sizes: Sequence[int]):
        super().__init__(sizes, identity)

    def as_gated(self) -> GatedNetwork:
        """Return the same network as a graph without gates, its edges in the order of layers."""
        nodes: list[Node] = [f"layer {index}" for index in range(len(self.sizes))]
        sizes = dict(zip(nodes, self.sizes, strict=True))
        return GatedNetwork(sizes, list(zip(nodes[:-1], nodes[1:], strict=True)))


class ReLUNetwork(Layered):
    """A bias-free ReLU network with linear outputs; ``sizes`` is (N_in, H, ..., N_out).

    A ReLU is a gate set by the neuron's own input, ``max(z, 0) = step(z) z`` (MHS §3): given
    ``gates`` in ``apply``, the same weights act as a gated linear network.
    """

    def __init__(self, sizes: Sequence[int]):
        super().__init__(sizes, jax.nn.relu)


NAMED: dict[str, type[Layered]] = {"relu": ReLUNetwork, "linear": LinearNetwork}


def from_weights(
    weights: Sequence[Any],
    biases: Sequence[Any] | None = None,
    *,
    convention: Literal["torch", "flax", "sklearn"] = "torch",
    activation: Literal["relu", "linear"] | Callable[[Array], Array] = "relu",
    check: tuple[Any, Any] | None = None,
) -> tuple[Layered, list[Array]]:
    """Return the network that has these layers of weights, and the weights as it takes them.

    PyTorch's ``Linear.weight`` is (out, in), and so is that of Equinox (``"torch"``); a kernel of
    Flax is (in, out), and so are the ``coefs_`` of scikit-learn. A bias of the first layer becomes
    the last column of W₁, so that the inputs need a last row of ones: ``tasks.with_ones(task)``.
    A later bias, as of the *outputs*, is refused unless it is zero.

    The weights do not tell which activation they were trained with. ``check`` does: this network's
    outputs have to be those of the framework.

    A loss that is c times 𝓛 of MHS Eq. 2 has the time t = c · learning rate · step: c = 2/N_out for
    a mean of squares, as PyTorch's ``MSELoss``, and 1/N_out for half of it, as ``optax.l2_loss``.
    scikit-learn reports ``loss_`` with c = 1/N_out, but descends 𝓛 itself, c = 1.

    Args:
        weights: of every layer, first to last, (N_{l+1}, N_l) or (N_l, N_{l+1}).
        biases: of every layer, (N_{l+1},), or None where it has none.
        convention: ``"torch"``, ``"flax"`` or ``"sklearn"``.
        activation: of the hidden layers: ``"relu"``, ``"linear"`` or a function such as
            ``jax.numpy.tanh``.
        check: inputs (P, N_in) and the framework's outputs for them, (P, N_out) or (P,); where the
            framework adds a bias to the outputs, give None for it and the outputs less this bias.

    Returns:
        the network and its weights, in which W₁ has a column more if the first layer has a bias.

    Raises:
        ValueError: shapes that do not fit together, a later bias that is not zero, outputs other
            than those of ``check``, or an unknown convention or activation.
    """
    if convention not in TRANSPOSED:
        raise ValueError(f"convention: expected one of {[*TRANSPOSED]}, got {convention!r:.80}")
    checks.several("weights", weights)
    layers = [
        checks.finite_array(f"weights[{index}]", checks.plain(weight), 2, "(neurons, neurons)")
        for index, weight in enumerate(weights)
    ]
    if not layers:
        raise ValueError("weights: expected one matrix per layer, got none")
    if TRANSPOSED[convention]:
        layers = [layer.T for layer in layers]
    for index, (source, target) in enumerate(zip(layers[:-1], layers[1:], strict=True), 1):
        if target.shape[1] != len(source):
            raise ValueError(
                f"weights[{index}]: expected weights from {len(source)} neurons, as the layer "
                f"before has with the convention {convention!r}, got {target.shape[1]}"
            )
    bias = None if biases is None else _first_bias(biases, layers)
    if bias is not None:
        layers[0] = jnp.column_stack([layers[0], bias])
    sizes = layers[0].shape[1], *map(len, layers)
    network: Layered
    if isinstance(activation, str) and activation in NAMED:
        network = NAMED[activation](sizes)
    elif callable(activation):
        network = Layered(sizes, activation)
    else:
        raise ValueError(
            f"activation: expected one of {[*NAMED]} or a function, got {activation!r:.80}"
        )
    if check is not None:
        _compare(network, layers, check, bias is not None)
    return network, layers


def _first_bias(biases: Sequence[Any], layers: list[Array]) -> Array | None:
    """Return the bias of the first layer, or raise ``ValueError`` if a later one is not zero."""
    checks.several("biases", biases, len(layers))
    given = {index: bias for index, bias in enumerate(biases) if bias is not None}
    for index, bias in given.items():
        name = f"biases[{index}]"
        given[index] = bias = checks.finite_array(name, checks.plain(bias), 1, "(neurons,)")
        checks.of_shape(name, bias, (len(layers[index]),))
        if index and bias.any():
            raise ValueError(
                f"{name}: expected zeros or None after the first layer, got up to "
                f"{float(abs(bias).max()):.2g}; train without that bias, or keep it at zero. A "
                "hidden neuron that reads only the input of ones gives the same outputs, but "
                "does not learn as a bias does"
            )
    return given.get(0)


def _compare(network: Layered, weights: list[Array], check: tuple[Any, Any], ones: bool) -> None:
    """Raise ``ValueError`` unless the network's outputs are those that the framework gave."""
    checks.several("check", check, 2)
    inputs = checks.finite_array("check[0]", checks.plain(check[0]), 2, "(P, N_in)")
    checks.of_shape("check[0]", inputs, (len(inputs), network.sizes[0] - ones))
    if ones:
        inputs = jnp.column_stack([inputs, jnp.ones(len(inputs))])
    found = network.apply(weights, inputs.T).T
    outputs = checks.rows_of_samples("check[1]", check[1])
    checks.of_shape("check[1]", outputs, found.shape)
    largest = float(jnp.abs(outputs).max())
    if not largest:
        raise ValueError("check[1]: expected an output that is not zero: zeros fit any activation")
    difference = float(jnp.abs(found - outputs).max()) / largest
    if difference > LARGEST_DIFFERENCE:
        raise ValueError(
            f"check: expected the outputs of a {type(network).__name__} with these weights, got "
            f"others, by {difference:.2g} of the largest; likely causes: another activation (leaky "
            "ReLU, tanh), a bias that was not given, an output that is squashed, samples or inputs "
            "in another order, or a square layer in another convention"
        )
