"""The loss of a gated network from its data and initial weights alone: nothing is fitted."""

import warnings
from collections.abc import Mapping, Sequence

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from mdsgdln import _checks as checks
from mdsgdln._checks import Numbers, Scalar
from mdsgdln.networks import GatedNetwork, LinearNetwork
from mdsgdln.tasks import Task
from mdsgdln.theory.conditions import _of_prediction, _pathways
from mdsgdln.theory.graph_flow import losses_on_graph
from mdsgdln.theory.reduced_network import ReducedNetwork
from mdsgdln.theory.reduction import (
    _as_graph,
    _gated_by_neuron,
    _is_given,
    _is_two_layer,
)


def predict_losses(
    network: GatedNetwork | LinearNetwork,
    task: Task,
    scale: Scalar | Mapping | Sequence,
    times: Numbers,
    step: Scalar = 0.0,
) -> Float[Array, " T"]:
    """Predict the loss of a gated (or linear) network trained by gradient descent.

    From given weights the prediction is exact up to the size of a step. From σ alone it is that of
    wide networks with two layers of weights, and warns where one draw is expected to differ from
    it by more than 5 %: see ``applicability``.

    It may be wrapped in ``jax.jit``, ``jax.vmap`` and ``jax.jvp``; nothing warns of a traced scale.

    Args:
        network: from σ alone, every hidden node has one edge in and one edge out, and gates are one
            per sample; from given weights, any graph.
        task: what it is trained on.
        scale: σ of the initial weights, one per edge (layer), or the initial weights themselves.
        times: t = learning rate · number of steps, increasing from 0 on, shape (T,).
        step: learning rate η of the descent that is predicted. 0 is gradient flow f = −∇L; with
            η > 0, ẇ = f − (η/2) f′f, which descent follows up to η².

    Returns:
        the loss at those times, shape (T,).

    Raises:
        ValueError: bad numbers; from σ alone a network that is not two-layer, a gate per neuron,
            σ = 0, or too few neurons to say what is learned (``balanced_weights``).
    """
    times = checks.times(times)
    checks.non_negative("step", step)
    gated, by_edge = _as_graph(network, scale)
    gated = gated._reading(task)
    if _is_given(by_edge):
        gated._check_weights(by_edge)
        neurons = any(_gated_by_neuron(gated, node) for node in gated.graph.order)
        if neurons or not _is_two_layer(gated):
            return losses_on_graph(gated, task, by_edge, times, step)
    system = ReducedNetwork.of(gated, task, by_edge)
    if not _is_given(by_edge):
        _warn(gated, task, by_edge)
    if system is None:
        return jnp.full(len(times), jnp.sum(task.targets**2) / (2 * task.num_samples))
    return system.evolve(times, step)


def _warn(network: GatedNetwork, task: Task, scale: Scalar | Mapping | Sequence) -> None:
    """Warn of what puts a prediction from σ alone off by more than 5 %."""
    if any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves((scale, task, network))):
        return
    broken = [row for row in _of_prediction(_pathways(network, task, scale), task) if not row.holds]
    if broken:
        found = (
            f"{row.name}: {row.value:.2g}, expected {row.bound}; {row.beyond}" for row in broken
        )
        warnings.warn("predict_losses: " + ". ".join(found), stacklevel=3)
