"""The exact reduction of a gated linear network: no node wider than what it touches.

Weights on a direction that no input has never change anything. Outputs never leave the space that
the targets and the incoming weights span. The columns of [W Vᵀ] of all edges into and out of a
hidden layer with one gate a sample never leave the space that they span at first. In an orthonormal
basis R of each such space a node has incoming weights RᵀW and outgoing weights VR, and the loss is
the same at every step. Two layers of weights become at most N_in + N_out hidden neurons. Hidden
nodes between the same nodes then are one, in which each neuron keeps its gate.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from mdsgdln import _checks as checks
from mdsgdln._checks import Numbers
from mdsgdln.graphs import Graph, Node
from mdsgdln.networks import GatedNetwork, LinearNetwork
from mdsgdln.tasks import Task
from mdsgdln.theory.flow import ReducedNetwork

SMALL = 3e-4  # of the size of learned weights: it changes a loss curve by some 1e-7


def exact_reduction(
    network: GatedNetwork | LinearNetwork, weights: Mapping | Sequence, task: Task
) -> ReducedNetwork:
    """Return the smaller network, weights and task that learn exactly as given ones do.

    A layer whose gates differ between its neurons stays as it is, and so does what is not known
    when it is compiled.

    Args:
        network: a gated network on any graph, or a linear one of any depth.
        weights: its initial weights, {edge: matrix} or one matrix per layer.
        task: what it is trained on.

    Raises:
        ValueError: weights or a task that do not fit the network.
    """
    gated, by_edge = _as_graph(network, weights)
    gated = gated._reading(task)
    gated._check_weights(by_edge)
    return _reduced(gated, by_edge, task)


def _reduced(gated: GatedNetwork, weights: Mapping, task: Task) -> ReducedNetwork:
    """Return ``exact_reduction`` of what was checked."""
    graph, by_edge = gated.graph, dict(weights)
    sizes, rows = dict(graph.sizes), graph.node_rows
    inputs = {node: _rows(task.inputs, rows[node]) for node in graph.input_nodes}
    targets = {node: _rows(task.targets, rows[node]) for node in graph.output_nodes}
    hidden = [node for node in graph.order if node not in rows]
    for node in [*inputs, *targets, *hidden]:  # what is known of the ends narrows what is between
        incoming = [edge for edge in graph.edges if edge[1] == node]
        outgoing = [edge for edge in graph.edges if edge[0] == node]
        pieces = [data[node] for data in (inputs, targets) if node in data]
        pieces += [by_edge[edge] for edge in incoming]
        if node in hidden:
            pieces += [by_edge[edge].T for edge in outgoing]
        basis = None if _gated_by_neuron(gated, node) else _basis(pieces)
        if basis is None:
            continue
        sizes[node] = basis.shape[1]
        by_edge |= {edge: basis.T @ by_edge[edge] for edge in incoming}
        by_edge |= {edge: by_edge[edge] @ basis for edge in outgoing}
        for data in (inputs, targets):
            data |= {node: basis.T @ data[node]} if node in data else {}
    smaller = gated._on_graph(Graph(tuple(sizes.items()), graph.edges))
    data = Task.from_samples(_joined(inputs.values()).T, _joined(targets.values()).T)
    return ReducedNetwork(*_side_by_side(smaller, by_edge), data)


def without_other_outputs(network: GatedNetwork, weights: Mapping, task: Task) -> Mapping:
    """Return weights without outputs that no target has, if these are small in all output nodes.

    They only shrink, and act on the others in second order.
    """
    graph = network.graph
    entering = [edge for edge in graph.edges if edge[1] in graph.output_nodes]
    parts = [task.inputs, task.targets, *(weights[edge] for edge in entering)]
    neurons = any(_gated_by_neuron(network, node) for node in graph.output_nodes)
    if neurons or any(isinstance(part, jax.core.Tracer) for part in parts):
        return weights
    depth = max(map(len, graph.paths)) - 1
    wanted, given = (np.linalg.norm(np.asarray(a), 2) for a in (task.targets, task.inputs))
    learned = (wanted / given) ** (1 / depth)
    kept = {}
    for edge in entering:
        basis = span(np.asarray(task.targets)[np.array(graph.node_rows[edge[1]])])
        weight = np.asarray(weights[edge], float)
        kept[edge] = basis @ (basis.T @ weight)
        if np.linalg.norm(weight - kept[edge], 2) > SMALL * learned:
            return weights
    return {**weights, **kept}


def _side_by_side(network: GatedNetwork, weights: dict) -> tuple[GatedNetwork, dict]:
    """Return the network in which hidden nodes between the same nodes are one, and its weights."""
    graph, gates = network.graph, dict(network.node_gates)
    between: dict[Any, list[Node]] = {}
    for node, _ in graph.sizes:
        sources = tuple(source for source, target in graph.edges if target == node)
        targets = tuple(target for source, target in graph.edges if source == node)
        plain = not any(node in edge for edge in network.edge_gates)
        if sources and targets and plain:
            between.setdefault((sources, targets), []).append(node)
    sizes, edges, merged = dict(graph.sizes), list(graph.edges), dict(weights)
    for first, *others in between.values():
        if not others:
            continue
        nodes = first, *others
        if any(node in gates for node in nodes):
            gates[first] = _joined([_by_neuron(gates, node, sizes[node]) for node in nodes])
        for source in [source for source, target in edges if target == first]:
            merged[source, first] = _joined([merged.pop((source, node)) for node in nodes])
        for target in [target for source, target in edges if source == first]:
            outgoing = [merged.pop((node, target)).T for node in nodes]
            merged[first, target] = _joined(outgoing).T
        sizes[first] = sum(sizes[node] for node in nodes)
        edges = [edge for edge in edges if not set(edge) & set(others)]
        for node in others:
            del sizes[node]
            gates.pop(node, None)
    whole = GatedNetwork(sizes, edges, gates, network.edge_gates)
    return whole, {edge: merged[edge] for edge in edges}


def _by_neuron(gates: Mapping, node: Node, neurons: int) -> Any:
    """Return the gates of a node, shape (neurons, P)."""
    gate = gates.get(node, np.ones(next(iter(gates.values())).shape[-1]))
    return gate if gate.ndim == 2 else _joined([gate[None, :]] * neurons)


def _as_graph(network: Any, values: Any) -> tuple[GatedNetwork, Any]:
    """Return a gated network as it is, a linear one as a graph without gates."""
    checks.instance("network", network, GatedNetwork | LinearNetwork)
    if isinstance(network, GatedNetwork):
        return network, values
    nodes = [f"layer {index}" for index in range(len(network.sizes))]
    edges = list(zip(nodes[:-1], nodes[1:], strict=True))
    if isinstance(values, Sequence):
        checks.several("scale", values, len(edges))
        values = dict(zip(edges, values, strict=True))
    return GatedNetwork(dict(zip(nodes, network.sizes, strict=True)), edges), values


def _is_given(scale: Any) -> bool:
    """Return whether a scale by edge holds the initial weights themselves."""
    return isinstance(scale, Mapping) and any(np.ndim(value) == 2 for value in scale.values())


def _check_two_layer(network: GatedNetwork) -> None:
    """Raise ``ValueError`` unless each hidden node has one edge in, one out, and none is beside."""
    graph = network.graph
    middle = set(graph.order) - {*graph.input_nodes, *graph.output_nodes}
    if len(graph.paths) != len(middle) or any(len(path) != 3 for path in graph.paths):
        raise ValueError(
            "network: expected hidden nodes with one edge in and one edge out and no other "
            f"edge, got {list(graph.edges)!r:.120}"
        )


def _gated_by_neuron(network: GatedNetwork, node: Node) -> bool:
    """Return whether neurons of a layer have gates of their own."""
    gates = [network.node_gates.get(node)]
    gates += [gate for edge, gate in network.edge_gates.items() if edge[1] == node]
    return any(gate is not None and gate.ndim > 1 for gate in gates)


def _rows(data: Array, rows: Sequence[int]) -> Any:
    """Return rows of the data; of numbers, by NumPy, which compiles nothing."""
    return (data if isinstance(data, jax.core.Tracer) else np.asarray(data))[np.array(rows)]


def _joined(pieces: Iterable[Any]) -> Any:
    """Return matrices one below the other; of numbers, by NumPy, which compiles nothing."""
    pieces = list(pieces)
    traced = any(isinstance(piece, jax.core.Tracer) for piece in pieces)
    return (jnp if traced else np).concatenate(pieces)


def span(columns: Numbers) -> np.ndarray:
    """Return an orthonormal basis of what columns span, up to rounding."""
    known = np.asarray(columns, float)
    basis, values, _ = np.linalg.svd(known, full_matrices=False)
    negligible = max(known.shape) * np.finfo(float).eps * values.max(initial=0)
    return basis[:, values > negligible]


def _basis(pieces: Sequence[Numbers]) -> Any:
    """Return an orthonormal basis of the columns of several matrices; None if it is everything."""
    if any(isinstance(piece, jax.core.Tracer) for piece in pieces):
        columns: Array = jnp.concatenate([jnp.asarray(piece) for piece in pieces], axis=1)
        return jnp.linalg.qr(columns)[0] if columns.shape[1] < len(columns) else None
    known = [np.asarray(piece, float) for piece in pieces]
    known = [piece / (np.linalg.norm(piece) or 1.0) for piece in known]  # weights may be tiny
    basis = span(np.concatenate(known, axis=1))
    basis = basis if basis.size else np.eye(len(basis), 1)  # a node has a neuron
    return basis if basis.shape[1] < len(basis) else None
