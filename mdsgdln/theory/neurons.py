"""A few designed neurons that represent a wide layer of any activation.

Each of N neurons represents m = H/N, so that ŷ = m Σ_j v_j φ(w_jᵀx). If the wide network consisted
of m copies of each, a rule that treats all neurons equally would keep the copies equal, and the
small network would learn exactly as the wide one does. Independent draws are not copies. As H → ∞
the loss no longer depends on the seed (the mean-field limit), and N draws come close to it if their
moments are right: with (±w, ±v) of each draw the initial output is zero, as are all odd moments,
and if the rule commutes with rotations, Σ w wᵀ and Σ v vᵀ are made isotropic.

For positively homogeneous activations (ReLU, leaky ReLU) and such rules, m copies of (w, v) act as
one neuron √m (w, v).

With two hidden layers W_l = w_l/√H gives ŷ = (1/H) w₃ φ((1/√H) w₂ φ(w₁x)) and ẇ_l = −H ∂L/∂w_l: at
fixed σ√H the loss no longer depends on H or on the seed as H → ∞. A narrower network of random
weights of size σ√(H/N) represents the wide one.
"""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from scipy.linalg import orth, polar

from mdsgdln import _checks as checks
from mdsgdln._checks import Scalar
from mdsgdln.networks import Layered
from mdsgdln.networks.network import draw_gaussian
from mdsgdln.tasks import Task

SIGNS = ((1, 1), (1, -1), (-1, 1), (-1, -1))  # of w and v
HOMOGENEOUS = 1e-5  # relative difference of φ(2z) and 2 φ(z) that is rounding


@dataclass(frozen=True, repr=False)
class Repeated(Layered):
    """A network with one hidden layer in which each neuron represents several equal ones.

    Its gradient is that for one copy, so that any rule which treats neurons equally updates the
    copies as in the wide network.
    """

    copies: float = 1.0

    def apply(self, weights, inputs, gates=None) -> Float[Array, "N_out P"]:
        """Return m times the outputs of the neurons, with the gradient of one times these."""
        once = super().apply(weights, inputs, gates)
        return once + jax.lax.stop_gradient((self.copies - 1) * once)


class TestedRange(NamedTuple):
    """The widths and weights for which predictions were tested, and their errors."""

    ratio: str  # initial over final strength
    large: float  # the ratio above which it warns of an error of up to ``error``
    largest: float  # the largest one tested
    error: str
    few: int  # neurons below which the error is ``scatter`` and more
    scatter: str


SHALLOW = TestedRange("H σ² ‖X‖/‖Y‖", 0.5, 4.0, "40 %", 64, "20 %")
DEEP = TestedRange("σ √H (‖X‖/‖Y‖)^{1/3}", 0.2, 1.0, "19 %", 100, "40 %")
# Loss of the initial output, which the prediction omits, over that of the targets:
OUTPUT_LARGE, OUTPUT_LARGEST = 0.05, 0.5  # warned of, refused


def represent_layer(
    network: Layered,
    scales: Sequence[Scalar],
    task: Task,
    num_neurons: int,
    key: Array,
    *,
    can_rotate: bool,
    reduce_outputs: bool,
) -> tuple[Layered, list, Task]:
    """Return the network, weights and task of a few neurons that represent one hidden layer.

    Their number is a multiple of four, at most ``num_neurons`` and H. With ``can_rotate`` the
    learning rule commutes with rotations of inputs and hidden neurons; with ``reduce_outputs``
    targets are written in a basis of their span.
    """
    width = network.sizes[1]
    number = min(num_neurons, width) // len(SIGNS)
    name, value = ("network", width) if width < len(SIGNS) else ("num_neurons", num_neurons)
    checks.require(number, name, f"at least {len(SIGNS)} neurons", value)
    inputs, targets, ratio = _data_of(task)
    sigmas = [float(sigma) for sigma in scales]
    first, second = (sigma**2 for sigma in sigmas)
    power = len(targets) * width * first * second * np.sum(inputs**2)
    output = float(power / (2 * np.sum(targets**2)))
    _check_range(SHALLOW, width, width * (first + second) / 2 * ratio, output)
    drawn = draw_gaussian(key, [(number, len(inputs)), (number, len(targets))], [1.0, 1.0])
    w, v = (np.asarray(part, float) for part in drawn)
    if can_rotate:
        w, inputs = _isotropic(w, inputs)
        v, targets = _isotropic(v, targets if reduce_outputs else np.eye(len(targets)), targets)
    copies = width / (len(SIGNS) * number)
    merged = can_rotate and is_homogeneous(network.activation)
    size = np.sqrt(copies) if merged else 1.0
    w, v = size * sigmas[0] * w, size * sigmas[1] * v
    weights = [
        jnp.asarray(np.concatenate([p * w for p, _ in SIGNS])),
        jnp.asarray(np.concatenate([q * v for _, q in SIGNS]).T),
    ]
    sizes = len(inputs), len(SIGNS) * number, len(targets)
    activation = network.activation
    small = Layered(sizes, activation) if merged else Repeated(sizes, activation, copies=copies)
    return small, weights, Task.from_samples(inputs.T, targets.T)


def represent_two_layers(
    network: Layered, scales: Sequence[Scalar], task: Task, num_neurons: int, key: Array
) -> tuple[Layered, list, Task]:
    """Return the network, weights and task of narrower layers that represent two hidden ones.

    The activation is positively homogeneous.
    """
    *_, ratio = _data_of(task)
    num_inputs, *widths, num_outputs = network.sizes
    sigmas = [float(sigma) for sigma in scales]
    start = max(sigmas) * np.sqrt(max(widths)) * ratio ** (1 / 3)
    _check_range(DEEP, min(widths), start)
    few = [min(num_neurons, width) for width in widths]
    first, last = (wide / narrow for wide, narrow in zip(widths, few, strict=True))
    larger = np.sqrt([first, np.sqrt(first * last), last])  # the middle layer touches both
    small = Layered((num_inputs, *few, num_outputs), network.activation)
    return small, small.init(key, list(larger * sigmas)), task


def _data_of(
    task: Task,
) -> tuple[Float[np.ndarray, "N_in P"], Float[np.ndarray, "N_out P"], float]:
    """Return X, Y and ‖X‖/‖Y‖ in double precision."""
    inputs, targets = np.asarray(task.inputs, float), np.asarray(task.targets, float)
    nonzero = inputs.any() and targets.any()
    checks.require(nonzero, "task", "inputs and targets that are not all zero", task)
    return inputs, targets, float(np.linalg.norm(inputs, 2) / np.linalg.norm(targets, 2))


def is_homogeneous(activation: Callable) -> bool:
    """Return whether φ(cz) = c φ(z) for c > 0, as for a ReLU, at some numbers."""
    z, compiled = np.linspace(-3.0, 3.0, 25), jax.jit(activation)  # concrete within vmap, too
    twice, doubled = np.asarray(compiled(2 * z)), 2 * np.asarray(compiled(z))
    return bool(np.abs(twice - doubled).max() <= HOMOGENEOUS * np.abs(doubled).max())


def _isotropic(
    drawn: Float[np.ndarray, "m n"],
    columns: Float[np.ndarray, "n P"],
    data: Float[np.ndarray, "n Q"] | None = None,
) -> tuple[Float[np.ndarray, "m k"], Float[np.ndarray, "k Q"]]:
    """Return draws that are isotropic in the span of some columns, and data, in one basis.

    Weights outside the span do not change (inputs), or are of order σ² in the outputs.
    """
    basis = orth(columns)
    inside = drawn @ basis
    data = columns if data is None else data
    return np.sqrt(max(inside.shape)) * polar(inside)[0], basis.T @ data


def _check_range(tested: TestedRange, width: int, start: float, output: float = 0.0) -> None:
    ratio = f"{tested.ratio} is {start:.2g}, expected at most"
    added = f"the initial output adds {output:.0%} to the initial loss, expected at most"
    advice = "use smaller weights, or scale your inputs"
    if not start <= tested.largest:
        raise ValueError(f"scale: {ratio} {tested.largest:g}, the largest value tested; {advice}")
    if output > OUTPUT_LARGEST:
        raise ValueError(f"scale: {added} {OUTPUT_LARGEST:.0%}: predictions omit it; {advice}")
    doubts = []
    if width < tested.few:
        doubts.append(
            f"{width} neurons, expected at least {tested.few}: loss curves may be off by "
            f"{tested.scatter} and more, as draws of so narrow a network differ"
        )
    if start > tested.large:
        doubts.append(
            f"{ratio} {tested.large}: up to {tested.largest:g} loss curves were up to "
            f"{tested.error} off"
        )
    if output > OUTPUT_LARGE:
        doubts.append(f"{added} {OUTPUT_LARGE:.0%}: the loss curve starts that much too low")
    for doubt in doubts:
        warnings.warn(f"predict: {doubt}", stacklevel=5)
