"""Weights of networks that other frameworks have."""

from collections.abc import Callable, Sequence
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from mdsgdln import _checks as checks
from mdsgdln.networks.layered import Layer, Layered, LinearNetwork, ReLUNetwork

TRANSPOSED = {"torch": False, "flax": True, "sklearn": True}  # stored as (in, out)
PROBES, ACTIVE = 64, 3.0  # random inputs, and the size of what then arrives at a neuron
LARGEST_DIFFERENCE = 1e-4  # of the largest output: single precision is a hundred times finer
NAMED: dict[str, Callable[..., Layered]] = {"relu": ReLUNetwork, "linear": LinearNetwork}


def from_weights(
    weights: Sequence[Any],
    biases: Sequence[Any] | None = None,
    *,
    convention: Literal["torch", "flax", "sklearn"] = "torch",
    activation: Literal["relu", "linear"] | Callable[[Array], Array] = "relu",
    check: Callable[[Any], Any] | tuple[Any, Any] | None = None,
) -> tuple[Layered, list[Layer]]:
    """Return the network with these layers of weights, and the weights in the form it takes.

    ``Linear.weight`` of PyTorch and Equinox is (out, in) (``"torch"``); a kernel of Flax and the
    ``coefs_`` of scikit-learn are (in, out). A layer whose bias is given has a bias.

    The weights do not show which activation they were trained with. ``check`` does: this network
    has to give the framework's outputs, and one with another activation must not.

    A loss that is c times 𝓛 of MHS Eq. 2 has the time t = c · learning rate · step: c = 2/N_out for
    a mean of squares, as PyTorch's ``MSELoss``, and 1/N_out for half of it, as ``optax.l2_loss``.
    scikit-learn reports ``loss_`` with c = 1/N_out, but descends 𝓛 itself, c = 1.

    Args:
        weights: of every layer, first to last, (N_{l+1}, N_l) or (N_l, N_{l+1}).
        biases: of every layer, (N_{l+1},), or None where it has none.
        convention: ``"torch"``, ``"flax"`` or ``"sklearn"``.
        activation: of the hidden layers: ``"relu"``, ``"linear"`` or a function such as
            ``jax.numpy.tanh``.
        check: the framework's function of inputs (P, N_in), NumPy's in single precision, that
            returns its outputs, (P, N_out) or (P,), or a pair of such inputs and outputs.
    """
    checks.require(convention in [*TRANSPOSED], "convention", f"one of {[*TRANSPOSED]}", convention)
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
    if callable(activation):
        network = Layered(sizes, activation, biased)
    else:
        expected = f"one of {[*NAMED]} or a function"
        checks.require(activation in [*NAMED], "activation", expected, activation)
        network = NAMED[activation](sizes, biased)
    if check is not None:
        _compare(network, layers, check)
    return network, layers


def _compare(network: Layered, weights: list[Layer], check: Any) -> None:
    """Raise ``ValueError`` unless these are the outputs of this activation and of no rival."""
    pairs = [check]
    if callable(check):
        pairs = [(inputs, check(inputs)) for inputs in _probes(network, weights[0])]
    decided = len(weights) == 1
    for pair in pairs:
        checks.several("check", pair, 2)
        inputs = checks.finite_array("check[0]", pair[0], 2, "(P, N_in)")
        checks.of_shape("check[0]", inputs, (len(inputs), network.sizes[0]))
        outputs = checks.rows_of_samples("check[1]", pair[1])
        checks.of_shape("check[1]", outputs, (len(inputs), network.sizes[-1]))
        own, *others = (
            _difference(
                Layered(network.sizes, activation, network.biases), weights, inputs, outputs
            )
            for activation in (network.activation, *_rivals(network))
        )
        if own > LARGEST_DIFFERENCE:
            raise ValueError(
                f"check: expected the outputs of a {type(network).__name__} with these weights, "
                f"got outputs that differ by {own:.2g} of the largest; likely causes: another "
                "activation (leaky ReLU, tanh), a missing bias, a squashed output, samples or "
                "inputs in another order, or a square layer in another convention"
            )
        decided |= min(others) > LARGEST_DIFFERENCE
    if not decided:
        raise ValueError(
            "check: expected outputs that no other activation gives, got ones that another gives "
            "as well; give those of inputs 100 times as large, or the framework's function"
        )


def _difference(network: Layered, weights: list[Layer], inputs: Array, outputs: Array) -> float:
    largest = float(jnp.abs(outputs).max())
    nonzero = "an output that is not zero, as zeros fit any activation"
    checks.require(largest, "check[1]", nonzero, largest)
    return float(jnp.abs(network.apply(weights, inputs.T).T - outputs).max()) / largest


def _rivals(network: Layered) -> list[Callable[[Array], Array]]:
    """Return activations that agree where neurons are hardly active, or all of them are."""
    if isinstance(network, LinearNetwork):
        return [jnp.tanh, jax.nn.relu]

    def tangent(z):
        return sum(jax.jvp(network.activation, (jnp.zeros_like(z),), (z,)))

    return [tangent, jax.nn.identity]


def _probes(network: Layered, first: Any) -> list[np.ndarray]:
    """Return inputs of size 1, and of the size at which the first layer's neurons are active."""
    matrix = np.asarray(first[0] if network.biases[0] else first)
    inputs = np.random.default_rng(0).standard_normal((PROBES, network.sizes[0]))
    active = ACTIVE / (np.std(inputs @ matrix.T) or 1.0)
    return [inputs.astype(np.float32), (active * inputs).astype(np.float32)]
