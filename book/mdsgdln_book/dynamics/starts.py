"""Initial weights of one draw: which part of them grows."""

from collections.abc import Mapping
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, ArrayLike, Float

from mdsgdln.networks import GatedNetwork
from mdsgdln.statistics import Modes, effective_dataset, modes
from mdsgdln.tasks import Task
from mdsgdln.theory import expected_initial_strength


def measured_initial_strength(
    first: ArrayLike, second: ArrayLike, modes: Modes
) -> Float[Array, "modes"]:
    """Return the effective initial strength a₀ = ‖(W₁v_α + W₂ᵀu_α)/2‖² of each mode of one draw.

    Args:
        first: W₁, shape (H, N_in).
        second: W₂, shape (N_out, H).
        modes: of the data.
    """
    grown = (first @ modes.right + second.T @ modes.left) / 2  # c_α, (H, modes)
    return jnp.sum(grown**2, axis=0)


def balanced_weights(network: GatedNetwork, task: Task, start: float | Mapping) -> dict[Any, Any]:
    """Return the balanced part of random initial weights, the only part that grows.

    W₁ = Σ c_α v_αᵀ and W₂ = Σ u_α c_αᵀ for every pathway, u and v the modes of its effective
    dataset. Given weights have c_α = (W₁v_α + W₂ᵀu_α)/2; from σ alone, c_α are orthogonal with
    ‖c_α‖² = H(σ₁² + σ₂²)/4.

    Args:
        network: every hidden node has one edge in and one edge out; gates one per sample.
        task: what it is trained on.
        start: σ of the initial weights, or the initial weights themselves.

    Returns:
        weights as from ``network.init``.
    """
    graph = network.graph
    weights: dict[Any, Any] = {}
    for path in graph.paths:
        into, out = graph.path_edges(path)
        found, number = modes(effective_dataset(network, task, path)), graph.neurons[path[1]]
        if isinstance(start, Mapping):
            grown = (start[into] @ found.right + start[out].T @ found.left) / 2  # c_α, (H, modes)
        else:
            strength = expected_initial_strength(number, start)
            grown = strength**0.5 * np.eye(number, len(found.singular_values))
        weights |= {into: grown @ found.right.T, out: found.left @ grown.T}
    return {edge: weights[edge] for edge in graph.edges}
