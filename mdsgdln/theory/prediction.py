"""The loss of a two-layer gated network from its data and initial scale alone: nothing is fitted.

The gradient flow of the ``ReducedNetwork`` is integrated. Its singular vectors are free to turn, so
what one pathway learns while another still dominates is part of the prediction.
"""

from collections.abc import Mapping, Sequence

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from mdsgdln import _checks as checks
from mdsgdln._checks import Numbers, Scalar
from mdsgdln.networks import GatedNetwork, LinearNetwork, pathways
from mdsgdln.tasks import Task
from mdsgdln.theory.reduced_network import ReducedNetwork


def predict_losses(
    network: GatedNetwork | LinearNetwork,
    task: Task,
    scale: Scalar | Mapping | Sequence,
    times: Numbers,
    step: Scalar = 0.0,
) -> Float[Array, " T"]:
    """Predict the loss of a two-layer gated (or linear) network trained by gradient descent.

    Takes some tenths of a second and compiles next to nothing. For many calls on one network and
    task, or for a derivative by the scale, it may be wrapped in ``jax.jit``, ``jax.vmap`` and
    ``jax.jvp``: ``jax.vmap(lambda scale: predict_losses(network, task, scale, times))(scales)``.

    Args:
        network: every hidden node has one edge in and one edge out; gates are one per sample.
        task: what it is trained on.
        scale: σ of the initial weights, one per edge (layer), or the initial weights themselves:
            then each mode starts from the hidden direction c = (W₁v + W₂ᵀu)/2 that they give it.
        times: t = learning rate · number of steps, increasing from 0 on, shape (T,).
        step: learning rate η of the descent that is predicted. 0 is gradient flow; with η > 0 the
            flow is corrected to first order, ẇ = f − (η/2) f′f for f = −∇L, which is what a descent
            with steps of that size follows up to η².

    Returns:
        the loss at those times, shape (T,).

    Raises:
        ValueError: a network that is not two-layer, a gate per neuron, or bad numbers.
    """
    checks.instance("network", network, GatedNetwork | LinearNetwork)
    times = checks.times(times)
    checks.non_negative("step", step)
    if isinstance(network, LinearNetwork):
        network, scale = _as_gated(network, task, scale)
    system = ReducedNetwork.of(network, task, scale)
    if system is None:
        return jnp.full(len(times), jnp.sum(task.targets**2) / (2 * task.num_samples))
    return system.evolve(times, step)


def _as_gated(network: LinearNetwork, task: Task, scale):
    """Return a linear network as one pathway that is always on, and its scale by edge."""
    if len(network.sizes) != 3:
        raise ValueError(f"network: expected two layers of weights, got sizes {network.sizes}")
    gated = pathways(task, np.ones((1, task.num_samples)), network.sizes[1])
    if isinstance(scale, Sequence):
        scale = dict(zip(gated.graph.edges, scale, strict=True))
    return gated, scale
