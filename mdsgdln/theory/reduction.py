"""The exact reduction of a gated linear network: hidden layers no wider than what they touch.

A hidden layer with one gate a sample has incoming weights W and outgoing weights V. The columns of
[W Vᵀ] of all its edges never leave the space that they span at first. In an orthonormal basis R of
it the layer has weights RᵀW and VR, and the same outputs at every step. Two layers of weights
become min(H, N_in + N_out) hidden neurons; in a deeper network a layer shrinks only where it is
wider than its neighbours together.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from mdsgdln import _checks as checks
from mdsgdln._checks import Numbers
from mdsgdln.graphs import Graph, Node
from mdsgdln.networks import GatedNetwork, LinearNetwork


def exact_reduction(
    network: GatedNetwork | LinearNetwork, weights: Mapping | Sequence
) -> tuple[GatedNetwork | LinearNetwork, Any]:
    """Return the smaller network that learns exactly as a given one does, and its weights.

    A layer whose gates differ between its neurons stays as it is.

    Args:
        network: a gated network on any graph, or a linear one of any depth.
        weights: its initial weights, {edge: matrix} or one matrix per layer.

    Raises:
        ValueError: weights that do not fit the network.
    """
    gated, by_edge = _as_graph(network, weights)
    gated._check_weights(by_edge)
    graph, by_edge = gated.graph, dict(by_edge)
    sizes = dict(graph.sizes)
    for node in sizes:
        if node in graph.input_nodes + graph.output_nodes or _gated_by_neuron(gated, node):
            continue
        incoming = [edge for edge in graph.edges if edge[1] == node]
        outgoing = [edge for edge in graph.edges if edge[0] == node]
        basis = _basis(
            [by_edge[edge] for edge in incoming] + [by_edge[edge].T for edge in outgoing]
        )
        if basis is None:
            continue
        sizes[node] = basis.shape[1]
        by_edge |= {edge: basis.T @ by_edge[edge] for edge in incoming}
        by_edge |= {edge: by_edge[edge] @ basis for edge in outgoing}
    if isinstance(network, LinearNetwork):
        return LinearNetwork(tuple(sizes.values())), list(by_edge.values())
    return gated._on_graph(Graph(tuple(sizes.items()), graph.edges, graph.rows)), by_edge


def _as_graph(network: Any, values: Any) -> tuple[GatedNetwork, Any]:
    """Return a gated network and its list by edge; of a linear one, a graph without gates."""
    checks.instance("network", network, GatedNetwork | LinearNetwork)
    if isinstance(network, GatedNetwork):
        matrices = isinstance(values, Sequence) and any(np.ndim(value) == 2 for value in values)
        return network, network._by_edge(values) if matrices else values
    nodes = [f"layer {index}" for index in range(len(network.sizes))]
    edges = list(zip(nodes[:-1], nodes[1:], strict=True))
    if isinstance(values, Sequence):
        checks.several("scale", values, len(edges))
        values = dict(zip(edges, values, strict=True))
    return GatedNetwork(dict(zip(nodes, network.sizes, strict=True)), edges), values


def _is_given(scale: Any) -> bool:
    """Return whether a scale by edge holds the initial weights themselves."""
    return isinstance(scale, Mapping) and any(np.ndim(value) == 2 for value in scale.values())


def _is_two_layer(network: GatedNetwork) -> bool:
    """Return whether every hidden node has one edge in and one out, and no edge is beside them."""
    graph = network.graph
    middle = set(graph.order) - {*graph.input_nodes, *graph.output_nodes}
    return all(len(path) == 3 for path in graph.paths) and len(graph.paths) == len(middle)


def _check_two_layer(network: GatedNetwork) -> None:
    """Raise ``ValueError`` unless the network has two layers of weights."""
    if not _is_two_layer(network):
        raise ValueError(
            "network: expected hidden nodes with one edge in and one edge out and no other "
            f"edge, got {list(network.graph.edges)!r:.120}"
        )


def _gated_by_neuron(network: GatedNetwork, node: Node) -> bool:
    """Return whether neurons of a layer have gates of their own."""
    gates = [network.node_gates.get(node)]
    gates += [gate for edge, gate in network.edge_gates.items() if edge[1] == node]
    return any(gate is not None and gate.ndim > 1 for gate in gates)


def _basis(pieces: list[Numbers]) -> Any:
    """Return an orthonormal basis of the columns of several matrices; None if it is everything."""
    if any(isinstance(piece, jax.core.Tracer) for piece in pieces):
        columns: Array = jnp.concatenate([jnp.asarray(piece) for piece in pieces], axis=1)
        return jnp.linalg.qr(columns)[0] if columns.shape[1] < len(columns) else None
    known = np.concatenate([np.asarray(piece, float) for piece in pieces], axis=1)
    basis, values, _ = np.linalg.svd(known, full_matrices=False)
    negligible = max(known.shape) * np.finfo(float).eps * values[0]
    kept = max(int((values > negligible).sum()), 1)
    return basis[:, :kept] if kept < len(known) else None
