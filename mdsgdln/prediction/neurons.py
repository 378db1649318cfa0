"""A few designed neurons that represent a wide layer of any activation.

Each of N neurons represents m = H/N, so that ŷ = m Σ_j v_j φ(w_jᵀx). If the wide network consisted
of m copies of each, it would learn exactly as they do. Independent draws are not copies. As H → ∞
the loss no longer depends on the seed (the mean-field limit), and N draws come close to it if their
moments are right. With (w, ±v) of each draw the initial output is zero, instead of √m times that of
the wide network; if the correlation of the two v is −(1 − 1/m), it is as large as there. If the
rule commutes with rotations, (±w, ±v) of each draw cancel all odd moments, and Σ w wᵀ and Σ v vᵀ
are made isotropic.

Two forms follow the copies. If the rule commutes with rotations, N neurons of size √m with the
activation z ↦ √m φ(z/√m), which is φ itself for a ReLU: the map to the copies preserves lengths. If
it treats each neuron by itself, neurons of the size of a copy, and the gradient of one copy.

With more hidden layers W_l = w_l/√H gives ŷ = (1/H) w₃ φ((1/√H) w₂ φ(w₁x)) and ẇ_l = −H ∂L/∂w_l: at
fixed σ√H the loss no longer depends on H or on the seed as H → ∞. A narrower network of random
weights of size σ√(H/N) represents the wide one.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from scipy.linalg import polar

from mdsgdln._checks import Scalar
from mdsgdln.networks import Layered
from mdsgdln.networks.network import draw_gaussian
from mdsgdln.prediction.reduction import span
from mdsgdln.tasks import Task

SIGNS = ((1, 1), (1, -1), (-1, 1), (-1, -1))  # of w and v; the first two are a pair
FACTORS = 10.0 ** np.arange(-6, 7, 2)  # at which homogeneity is tested
SHORT = 1e-3  # distance from zero, of which a slope is read
HOMOGENEOUS = 1e-5  # relative difference of φ(cz) and c φ(z) that is rounding


@dataclass(frozen=True)
class Enlarged:
    """z ↦ √m φ(z/√m): a neuron of size √m in place of m copies."""

    activation: Callable[[Array], Array]
    copies: float

    def __call__(self, arriving: Array) -> Array:
        """Return the activity."""
        root = self.copies**0.5
        return root * self.activation(arriving / root)


@dataclass(frozen=True, repr=False)
class Repeated(Layered):
    """A network with one hidden layer in which each neuron represents several equal ones.

    Its gradient is that for one copy, so that any rule which treats neurons equally updates the
    copies as in the wide network.
    """

    copies: float = 1.0

    def apply(self, weights, inputs, gates=None) -> Float[Array, "N_out P"]:
        """Return m times the outputs of the neurons, with the gradient of one times these."""
        outputs = super().apply(weights, inputs, gates)
        once = outputs - weights[-1][1][:, None] if self.biases[-1] else outputs
        return outputs + jax.lax.stop_gradient((self.copies - 1) * once)


def shrink_task(task: Task, reduce_outputs: bool) -> Task:
    """Return the inputs, and perhaps the targets, in a basis of their span.

    Weights on inputs that do not occur do not change.
    """
    inputs, targets = np.asarray(task.inputs, float), np.asarray(task.targets, float)
    inputs = _settled_basis(task.inputs).T @ inputs
    targets = _settled_basis(task.targets).T @ targets if reduce_outputs else targets
    return Task.from_samples(inputs.T, targets.T)


def _settled_basis(data: Float[Array, "n P"]) -> Float[np.ndarray, "n rank"]:
    """Return the orthonormal basis of the data that lies nearest to columns set once for all.

    B U with the polar factor U of BᵀG is the same for B and BR. Neurons are drawn in this basis, so
    that they do not depend on which singular vectors a processor's routine returns.
    """
    basis = span(data)
    basis = basis if basis.size else np.eye(len(basis), 1)  # of zeros: a task has a row
    columns = np.random.default_rng(0).standard_normal(basis.shape)
    return basis @ polar(basis.T @ columns)[0]


def represent_layer(
    network: Layered,
    scales: Sequence[tuple[Scalar, Scalar]],
    task: Task,
    number: int,
    key: Array,
    *,
    rotates: bool,
    designed: bool = True,
    with_outputs: bool = False,
) -> tuple[Layered, list]:
    """Return the network and weights of a few neurons that represent one hidden layer.

    Args:
        network: the wide network.
        scales: (σ_W, σ_b) of both layers.
        task: the stand-in's, which gives the numbers of inputs and outputs.
        number: N, of neurons; a multiple of four for designed ones, or of two for pairs.
        key: JAX random key of their weights.
        rotates: whether the learning rule commutes with rotations; else it keeps copies.
        designed: neurons (±w, ±v) with isotropic moments, or pairs (w, ±v) if the rule keeps
            copies; else independent ones.
        with_outputs: pairs (w, ±v) with initial outputs as large as the wide network's.
    """
    num_inputs, num_outputs = len(task.inputs), len(task.targets)
    bias, final_bias = network.biases
    number_of_signs = (4 if rotates else 2) if designed else 1
    signs = SIGNS[: 2 if with_outputs else number_of_signs]
    shapes = [(number // len(signs), num_inputs + bias), (number // len(signs), num_outputs)]
    w, v = (np.asarray(part, float) for part in draw_gaussian(key, shapes, [1.0, 1.0]))
    if rotates and designed:
        w, v = (np.sqrt(max(part.shape)) * polar(part)[0] for part in (w, v))
    copies = network.sizes[1] / number
    size = np.sqrt(copies) if rotates else 1.0
    (first, first_bias), (second, final) = ([float(sigma) for sigma in pair] for pair in scales)
    w = size * w * np.array([first] * num_inputs + [first_bias] * bias)
    w = np.concatenate([sign * w for sign, _ in signs])
    v = np.concatenate([sign * v for _, sign in signs])
    if with_outputs:  # of m copies of N neurons: m² 4σ²(N/2)/2m = Hσ², in units of ⟨φ²⟩
        (common,) = draw_gaussian(jax.random.fold_in(key, 1), [(number // 2, num_outputs)], [1.0])
        part = 1 / (2 * copies)
        v = np.sqrt(1 - part) * v + np.sqrt(part) * np.tile(np.asarray(common, float), (2, 1))
    v = size * second * v.T
    (outputs,) = draw_gaussian(jax.random.fold_in(key, 2), [(num_outputs,)], [final])
    weights = [
        (jnp.asarray(w[:, :-1]), jnp.asarray(w[:, -1])) if bias else jnp.asarray(w),
        (jnp.asarray(v), outputs) if final_bias else jnp.asarray(v),
    ]
    sizes = num_inputs, number, num_outputs
    small: Layered
    if rotates:
        small = Layered(sizes, Enlarged(network.activation, copies), network.biases)
    else:
        small = Repeated(sizes, network.activation, network.biases, copies=copies)
    return small, weights


def narrow_layers(
    network: Layered,
    scales: Sequence[tuple[Scalar, Scalar]],
    num_neurons: int,
    key: Array,
    as_forward: bool = False,
) -> tuple[Layered, list]:
    """Return the network and weights of narrower layers that represent several hidden ones.

    The activation is positively homogeneous. A hidden layer with m_l = H_l/N_l has m_l copies of
    a neuron, of size √m_l. Between layers l and l + 1 weights that are m_{l+1}^{1/2} times as large
    carry activity forward as in the wide network, and m_l^{1/2} times as large ones carry errors
    back: they are (m_l m_{l+1})^{1/4} times as large, or m_{l+1}^{1/2} times if ``as_forward``.
    The two differ where m_l is not the same in all layers, which no size does justice.
    """
    num_inputs, *widths, num_outputs = network.sizes
    few = [min(num_neurons, width) for width in widths]
    copies = [wide / narrow for wide, narrow in zip(widths, few, strict=True)]
    ends = [copies[0], *copies], [*copies, copies[-1]]
    larger = [
        other**0.5 if as_forward else (one * other) ** 0.25
        for one, other in zip(*ends, strict=True)
    ]
    of_bias = [copy**0.5 for copy in copies] + [1.0]
    each = [
        (float(weight) * factor, float(bias) * other)
        for (weight, bias), factor, other in zip(scales, larger, of_bias, strict=True)
    ]
    small = Layered((num_inputs, *few, num_outputs), network.activation, network.biases)
    return small, small.init(key, each)


def is_homogeneous(activation: Callable[[Array], Array]) -> bool:
    """Return whether φ(cz) = c φ(z) for c > 0, as for a ReLU, over twelve orders of magnitude."""
    with jax.ensure_compile_time_eval():  # concrete within vmap, too
        return bool(_scales(activation, np.linspace(-3.0, 3.0, 25)))


@partial(jax.jit, static_argnames="activation")
def _scales(activation: Callable[[Array], Array], arriving: Array) -> Array:
    """Return whether activities are proportional to the size of what arrives; compiled as one."""
    unit = activation(arriving)
    differences = [activation(factor * arriving) / factor - unit for factor in FACTORS]
    return jnp.abs(jnp.stack(differences)).max() <= HOMOGENEOUS * jnp.abs(unit).max()


def is_flat_at_zero(activation: Callable[[Array], Array]) -> bool:
    """Return whether the activation has no slope at zero on either side, as a squared ReLU."""
    near = jnp.array([[-SHORT, 0.0, SHORT]])  # three samples of one neuron, as in a layer
    with jax.ensure_compile_time_eval():
        left, middle, right = activation(near)[0]
        return bool(jnp.maximum(abs(left - middle), abs(right - middle)) < SHORT**1.5)


def treats_neurons_alike(activation: Callable[[Array], Array], width: int) -> bool:
    """Return whether activities of neurons in another order are the same, in that order."""
    arriving = np.linspace(-3.0, 3.0, width)[:, None]
    with jax.ensure_compile_time_eval():
        return bool(_moves_along(activation, arriving))


@partial(jax.jit, static_argnames="activation")
def _moves_along(activation: Callable[[Array], Array], arriving: Array) -> Array:
    """Return whether activities move by one neuron if what arrives does; compiled as one."""
    moved = activation(jnp.roll(arriving, 1, axis=0))
    return jnp.allclose(moved, jnp.roll(activation(arriving), 1, axis=0), rtol=1e-4)
