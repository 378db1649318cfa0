"""The gradient as a sum over paths, each with its own effective dataset (NRR; MHS Eq. 3)."""

from collections.abc import Mapping
from functools import reduce
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from mdsgdln import _checks as checks
from mdsgdln.graphs import Edge, Path
from mdsgdln.networks import GatedNetwork
from mdsgdln.tasks import Task


def path_gradient(
    network: GatedNetwork, weights: Mapping[Edge, Array], task: Task
) -> dict[Edge, Float[Array, "_ _"]]:
    """Return the gradient flow dW_e/dt of every edge by the path sum (MHS Eq. 3).

    dW_e/dt = Σ_{p∈P(e)} W_{after}ᵀ 𝓔(p) W_{before}ᵀ with
    𝓔(p) = Σ^yx(p) − Σ_{j∈T(t(p))} W_j Σ^x(j, p), which is *minus* the gradient of the loss of
    MHS Eq. 2; W_before and W_after are the products of the weights along p before and after e.

    Args:
        network: a gated network with one gate per layer (or edge) and sample.
        weights: {edge: matrix}.
        task: inputs and targets.

    Raises:
        ValueError: weights or task that do not fit, or gates that differ between neurons.
    """
    checks.instance("network", network, GatedNetwork)
    network.check(weights, task)
    graph = network.graph
    gated_inputs = {  # g_p x_{s(p)}, (neurons of s(p), P)
        path: task.inputs[np.array(graph.node_rows[path[0]])]
        * network.path_gate(path, task.num_samples)[None, :]
        for path in graph.paths
    }
    flow = {edge: jnp.zeros_like(weights[edge]) for edge in graph.edges}
    for path in graph.paths:
        error = _path_error(network, weights, task, gated_inputs, path)
        edges = graph.path_edges(path)
        for position, edge in enumerate(edges):
            before = _path_product(weights, edges[:position])
            after = _path_product(weights, edges[position + 1 :])
            term = error if before is None else error @ before.T
            flow[edge] += term if after is None else after.T @ term
    return flow


def _path_product(weights: Mapping[Edge, Array], edges: tuple[Edge, ...]) -> Array | None:
    """Return W_p, the product of the weights along ``edges``; None for the empty product."""
    return (
        reduce(lambda product, edge: weights[edge] @ product, edges[1:], weights[edges[0]])
        if edges
        else None
    )


def _path_error(
    network: GatedNetwork,
    weights: Mapping[Edge, Array],
    task: Task,
    gated_inputs: Mapping[Path, Float[Array, "_ P"]],
    path: Path,
) -> Float[Array, "target source"]:
    """Return 𝓔(p) = Σ^yx(p) − Σ_j W_j Σ^x(j, p), j over the paths that end where p ends."""
    graph = network.graph
    targets = task.targets[np.array(graph.node_rows[path[-1]])]
    error = targets @ gated_inputs[path].T  # P Σ^yx(p)
    for other in graph.paths:
        if other[-1] == path[-1]:
            mapping: Any = _path_product(weights, graph.path_edges(other))  # no path is empty
            error -= mapping @ (gated_inputs[other] @ gated_inputs[path].T)  # P W_j Σ^x(j, p)
    return error / task.num_samples
