"""The loss of a gated network from its data and initial weights alone: nothing is fitted.

From σ alone the weights have the expected products of Gaussian ones: W₁ᵀW₁ = Hσ₁² 1,
W₂W₂ᵀ = Hσ₂² 1 and W₂W₁ = 0, so that c = (W₁v + W₂ᵀu)/2 of a mode has ‖c‖² = H(σ₁² + σ₂²)/4.
Directions without samples, or without drive Σ^yx, are left out.
"""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from mdsgdln import _checks as checks
from mdsgdln._checks import Numbers, Scalar
from mdsgdln.graphs import Graph
from mdsgdln.networks import GatedNetwork, LinearNetwork
from mdsgdln.statistics import effective_dataset, modes
from mdsgdln.tasks import Task
from mdsgdln.theory.conditions import _of_prediction, _pathways
from mdsgdln.theory.flow import ReducedNetwork
from mdsgdln.theory.reduction import (
    _as_graph,
    _check_two_layer,
    _is_given,
    _reduced,
    span,
    without_other_outputs,
)
from mdsgdln.theory.starts import balanced_weights


def predict_losses(
    network: GatedNetwork | LinearNetwork,
    task: Task,
    scale: Scalar | Mapping | Sequence,
    times: Numbers,
    learning_rate: Scalar = 0.0,
) -> Float[Array, " T"]:
    """Predict the loss of a gated (or linear) network trained by gradient descent.

    From given weights the prediction is exact up to the size of a step. From σ alone it is that of
    wide networks, and warns where ``applicability`` expects a draw to differ from it by more than
    5 %. It may be wrapped in ``jax.jit``, ``jax.vmap`` and ``jax.jvp``; nothing warns of a traced
    scale.

    Args:
        network: from σ alone, every hidden node has one edge in and one edge out, and gates are one
            per sample; from given weights, any graph.
        task: what it is trained on.
        scale: σ of the initial weights, one per edge (layer), or the initial weights themselves.
        times: t = learning rate · number of steps, increasing from 0 on, shape (T,).
        learning_rate: η of the descent that is predicted. 0 is gradient flow f = −∇L; with
            η > 0, ẇ = f − (η/2) f′f, which descent follows up to η².

    Raises:
        ValueError: bad numbers; from σ alone a network that is not two-layer, a gate per neuron,
            σ = 0, or too few neurons to say what is learned (``balanced_weights``).
    """
    times = checks.times(times)
    checks.non_negative("learning_rate", learning_rate)
    gated, by_edge = _as_graph(network, scale)
    gated = gated._reading(task)
    system = _reduced_network(gated, task, by_edge)
    if not _is_given(by_edge):
        _warn(gated, task, by_edge)
    if system is None:
        return jnp.full(len(times), jnp.sum(task.targets**2) / (2 * task.num_samples))
    return system.evolve(times, learning_rate)


def _reduced_network(network: GatedNetwork, task: Task, scale: Any) -> ReducedNetwork | None:
    """Return the small system that stands for a network; None where no pathway has a mode.

    From given weights it is that of ``exact_reduction``, where these are small without outputs
    that no target has. From σ alone, a single pathway with fewer neurons than modes learns those
    for which it has room, see ``balanced_weights``.
    """
    if _is_given(scale):
        network._check_weights(scale)
        return _reduced(network, without_other_outputs(network, scale, task), task)
    _check_two_layer(network)
    weights = _expected_weights(network, task, checks.initial_scales(scale, network.graph.edges))
    if weights is None:
        return None
    graph = network.graph
    neurons = {target: len(weight) for (_, target), weight in weights.items()}
    sizes = tuple((node, neurons.get(node, size)) for node, size in graph.sizes)
    return _reduced(network._on_graph(Graph(sizes, graph.edges, graph.rows)), weights, task)


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


def _expected_weights(network: GatedNetwork, task: Task, scales: list[Scalar]) -> dict | None:
    """Return weights with the expected products of Gaussian ones; None where nothing has a mode."""
    graph, by_edge = network.graph, dict(zip(network.graph.edges, scales, strict=True))
    data = {path: effective_dataset(network, task, path) for path in graph.paths}
    drives = {
        path: np.asarray(data[path].targets) @ np.asarray(data[path].inputs).T for path in data
    }
    if not any(drive.any() for drive in drives.values()):
        return None
    narrow = [
        path for path in data if len(modes(data[path]).singular_values) > graph.neurons[path[1]]
    ]
    weights = balanced_weights(network, task, by_edge) if narrow else {}
    for path in data:
        if path in narrow:
            continue
        into, out = graph.path_edges(path)
        inputs = span(np.asarray(data[path].inputs))
        outputs = span(np.hstack([drives[other] for other in data if other[-1] == path[-1]]))
        root = graph.neurons[path[1]] ** 0.5
        numbers = max(inputs.shape[1] + outputs.shape[1], 1)  # a node has a neuron
        weights[into] = by_edge[into] * root * np.eye(numbers, inputs.shape[1]) @ inputs.T
        second = outputs @ np.eye(outputs.shape[1], numbers, inputs.shape[1])
        weights[out] = by_edge[out] * root * second
    return weights
