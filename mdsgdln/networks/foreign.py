"""Weights of other frameworks in this package's convention, (neurons of target, of source)."""

from collections.abc import Sequence
from typing import Any, Literal

import jax.numpy as jnp
from jaxtyping import Array

from mdsgdln import _checks as checks
from mdsgdln.networks.layered import LinearNetwork, ReLUNetwork

TRANSPOSED = {"torch": False, "flax": True, "sklearn": True}  # stored as (in, out)
KINDS: dict[str, type[LinearNetwork] | type[ReLUNetwork]] = {
    "relu": ReLUNetwork,
    "linear": LinearNetwork,
}
SAME = 1e-4  # of the largest output: single precision is a hundred times finer


def from_weights(
    weights: Sequence[Any],
    biases: Sequence[Any] | None = None,
    *,
    convention: Literal["torch", "flax", "sklearn"] = "torch",
    activation: Literal["relu", "linear"] = "relu",
    check: tuple[Any, Any] | None = None,
) -> tuple[LinearNetwork | ReLUNetwork, list[Array]]:
    """Return the network that has these layers of weights, and the weights as it takes them.

    PyTorch's ``Linear.weight`` is (out, in), and so is that of Equinox (``"torch"``); a kernel of
    Flax is (in, out), and so are the ``coefs_`` of scikit-learn. A bias of the first layer becomes
    the last column of W₁, so that the inputs need a last row of ones: ``tasks.with_ones(task)``.
    Its gradient is that column's, so that both networks learn alike. A later bias, as of the
    *outputs*, is refused unless it is zero: switch it off, or keep it at zero. A hidden neuron that
    reads only the input of ones would give the same outputs, but not learn as a bias does.

    The weights do not tell which activation they were trained with. ``check`` does: this network's
    outputs have to be those of the framework.

    A loss that is c times 𝓛 of MHS Eq. 2 has the time t = c · learning rate · step: c = 2/N_out for
    a mean of squares, as PyTorch's ``MSELoss``, and 1/N_out for half of it, as ``optax.l2_loss``.
    scikit-learn reports ``loss_`` with c = 1/N_out, but descends 𝓛 itself, c = 1.

    Args:
        weights: of every layer, first to last, (N_{l+1}, N_l) or (N_l, N_{l+1}).
        biases: of every layer, (N_{l+1},), or None where it has none.
        convention: ``"torch"``, ``"flax"`` or ``"sklearn"``.
        activation: of the hidden layers, ``"relu"`` or ``"linear"``.
        check: inputs (P, N_in) and the framework's outputs for them, (P, N_out) or (P,).

    Returns:
        the network and its weights, in which W₁ has a column more if the first layer has a bias.

    Raises:
        ValueError: shapes that do not fit together, a later bias that is not zero, outputs other
            than those of ``check``, or an unknown convention or activation.
    """
    for name, value, known in (
        ("convention", convention, TRANSPOSED),
        ("activation", activation, KINDS),
    ):
        if value not in known:
            raise ValueError(f"{name}: expected one of {list(known)}, got {value!r:.80}")
    layers = _layers(weights, convention)
    first_bias = None if biases is None else _first_bias(biases, layers)
    if first_bias is not None:
        layers[0] = jnp.column_stack([layers[0], first_bias])
    network = KINDS[activation]((layers[0].shape[1], *map(len, layers)))
    if check is not None:
        _compare(network, layers, check, first_bias is not None)
    return network, layers


def _layers(weights: Sequence[Any], convention: str) -> list[Array]:
    """Return every layer as (neurons of target, of source), each fitting the one before."""
    checks.several("weights", weights)
    layers: list[Array] = []
    for index, weight in enumerate(weights):
        name = f"weights[{index}]"
        layer = checks.finite_array(name, checks.plain(weight), 2, "(neurons, neurons)")
        layer = layer.T if TRANSPOSED[convention] else layer
        if layers and layer.shape[1] != len(layers[-1]):
            raise ValueError(
                f"{name}: expected weights from {len(layers[-1])} neurons, as the layer before has "
                f"with the convention {convention!r}, got {layer.shape[1]}"
            )
        layers.append(layer)
    if not layers:
        raise ValueError("weights: expected one matrix per layer, got none")
    return layers


def _first_bias(biases: Sequence[Any], layers: list[Array]) -> Array | None:
    """Return the bias of the first layer, or raise ``ValueError`` if a later one is not zero."""
    checks.several("biases", biases, len(layers))
    found: list[Array | None] = []
    for index, (bias, layer) in enumerate(zip(biases, layers, strict=True)):
        name = f"biases[{index}]"
        if bias is not None:
            bias = checks.finite_array(name, checks.plain(bias), 1, "(neurons,)")
            checks.of_shape(name, bias, (len(layer),))
            if index and bias.any():
                raise ValueError(
                    f"{name}: expected zeros or None after the first layer, got up to "
                    f"{float(abs(bias).max()):.2g}; train without that bias, or keep it at zero. A "
                    "hidden neuron that reads only the input of ones gives the same outputs, but "
                    "does not learn as a bias does"
                )
        found.append(bias)
    return found[0]


def _compare(
    network: LinearNetwork | ReLUNetwork, weights: list[Array], check: tuple[Any, Any], ones: bool
) -> None:
    """Raise ``ValueError`` unless the network's outputs are those that the framework gave."""
    checks.several("check", check, 2)
    inputs = checks.finite_array("check[0]", checks.plain(check[0]), 2, "(P, N_in)")
    checks.of_shape("check[0]", inputs, (len(inputs), network.sizes[0] - ones))
    if ones:
        inputs = jnp.column_stack([inputs, jnp.ones(len(inputs))])
    found = network.apply(weights, inputs.T).T
    outputs = checks.real_array("check[1]", checks.plain(check[1]), "(P, N_out) or (P,)")
    outputs = outputs[:, None] if outputs.ndim == 1 else outputs
    checks.of_shape("check[1]", outputs, found.shape)
    checks.finite("check[1]", outputs)
    largest = float(jnp.abs(outputs).max())
    if not largest:
        raise ValueError("check[1]: expected an output that is not zero: zeros fit any activation")
    difference = float(jnp.abs(found - outputs).max()) / largest
    if difference > SAME:
        raise ValueError(
            f"check: expected the outputs of a {type(network).__name__} with these weights, got "
            f"others, by {difference:.2g} of the largest; likely causes: another activation (leaky "
            "ReLU, tanh), a bias that was not given, an output that is squashed, samples or inputs "
            "in another order, or a square layer in another convention"
        )
