"""Weights of other frameworks in this package's convention, (neurons of target, of source)."""

from typing import Literal

import jax.numpy as jnp
from jaxtyping import Array

from mdsgdln import _checks as checks
from mdsgdln._checks import Numbers
from mdsgdln.networks.layered import LinearNetwork, ReLUNetwork

TRANSPOSED = {"torch": False, "flax": True, "sklearn": True}  # stored as (in, out)
KINDS: dict[str, type[LinearNetwork] | type[ReLUNetwork]] = {
    "relu": ReLUNetwork,
    "linear": LinearNetwork,
}


def from_weights(
    W1: Numbers,
    W2: Numbers,
    b1: Numbers | None = None,
    convention: Literal["torch", "flax", "sklearn"] = "torch",
    activation: Literal["relu", "linear"] = "relu",
) -> tuple[LinearNetwork | ReLUNetwork, list[Array]]:
    """Return the network that has these two layers of weights, and the weights as it takes them.

    PyTorch's ``Linear.weight`` is (out, in), and so is that of Equinox (``"torch"``); a kernel of
    Flax is (in, out), and so are the ``coefs_`` of scikit-learn. A bias of the hidden layer becomes
    the last column of W₁, so that the inputs need a last row of ones: ``tasks.with_ones(task)``.
    Its gradient is that column's, so that both networks learn alike. A bias of the *outputs* is no
    part of these networks: switch it off there, or keep it at zero.

    The loss here is 1/2 the squared error, summed over outputs and averaged over samples. One that
    is a multiple c of it learns c times as fast, and time is t = c · learning rate · step:
    c = 2/N_out for PyTorch's ``MSELoss``, ``((y - z) ** 2).mean()`` and ``optax.squared_error``
    averaged over all entries, 1/N_out for ``optax.l2_loss`` averaged alike. scikit-learn's
    ``loss_`` has c = 1/N_out, but it descends the loss here, c = 1.

    Args:
        W1: the first layer, (H, N_in) or (N_in, H).
        W2: the second layer, (N_out, H) or (H, N_out).
        b1: bias of the hidden layer, (H,).
        convention: ``"torch"``, ``"flax"`` or ``"sklearn"``.
        activation: of the hidden layer, ``"relu"`` or ``"linear"``.

    Returns:
        the network and its weights [W₁, W₂], in which W₁ has a column more if there is a bias.

    Raises:
        ValueError: shapes that do not fit together, or an unknown convention or activation.
    """
    for name, value, known in (
        ("convention", convention, TRANSPOSED),
        ("activation", activation, KINDS),
    ):
        if value not in known:
            raise ValueError(f"{name}: expected one of {list(known)}, got {value!r:.80}")
    first = checks.finite_array("W1", W1, 2, "(neurons, neurons)")
    second = checks.finite_array("W2", W2, 2, "(neurons, neurons)")
    if TRANSPOSED[convention]:
        first, second = first.T, second.T
    if len(first) != second.shape[1]:
        raise ValueError(
            f"W2: expected weights from {len(first)} hidden neurons, as W1 has with the convention "
            f"{convention!r}, got {second.shape[1]}"
        )
    if b1 is not None:
        bias = checks.finite_array("b1", b1, 1, "(H,)")
        checks.of_shape("b1", bias, (len(first),))
        first = jnp.column_stack([first, bias])
    network = KINDS[activation]((first.shape[1], len(first), len(second)))
    return network, [first, second]
