"""The exact reduction of a gated linear network: no node wider than what it touches.

Weights on a direction that no input has change nothing. Outputs stay in the space that the targets
and the incoming weights span. The columns of [W Vᵀ] of all edges into and out of a hidden layer
with one gate per sample stay in the space that they span at first. In an orthonormal basis R of
each such space a node has incoming weights RᵀW and outgoing weights VR, and the squared error is
the same at every step of every rule that commutes with R. Two layers of weights become at most
N_in + N_out hidden neurons. Hidden nodes between the same nodes then become one, in which each
neuron keeps its gate.

From σ alone, a pathway's weights are replaced by those that have the expected products of Gaussian
ones: W₁ᵀW₁ = Hσ₁² 1, W₂W₂ᵀ = Hσ₂² 1 and W₂W₁ = 0, so that c = (W₁v + W₂ᵀu)/2 of a mode has
‖c‖² = H(σ₁² + σ₂²)/4 (``expected_initial_strength``).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array
from scipy.linalg import orth

from mdsgdln._checks import Numbers, Scalar
from mdsgdln.graphs import Node
from mdsgdln.networks import GatedNetwork
from mdsgdln.statistics import effective_dataset, modes
from mdsgdln.tasks import Task

Reduced = tuple[GatedNetwork, dict[Any, Any], Task]


def reduce_exactly(
    network: GatedNetwork, weights: Mapping, task: Task, reduce_outputs: bool = True
) -> Reduced:
    """Return the smaller network, weights and task that learn exactly as given ones do.

    A layer whose gates differ between its neurons stays as it is, and so does what is not known
    when it is compiled.

    Args:
        network: a gated network on any graph.
        weights: its initial weights, {edge: matrix}.
        task: what it is trained on.
        reduce_outputs: write outputs in a basis of what they can be, which the squared error
            allows.
    """
    graph, by_edge = network.graph, dict(weights)
    sizes, rows = dict(graph.sizes), graph.node_rows
    inputs = {node: _rows(task.inputs, rows[node]) for node in graph.input_nodes}
    targets = {node: _rows(task.targets, rows[node]) for node in graph.output_nodes}
    hidden = [node for node in graph.order if node not in rows]
    ends = [*inputs, *targets] if reduce_outputs else [*inputs]
    for node in [*ends, *hidden]:  # what is known of the ends narrows what is between
        incoming = [edge for edge in graph.edges if edge[1] == node]
        outgoing = [edge for edge in graph.edges if edge[0] == node]
        pieces = [data[node] for data in (inputs, targets) if node in data]
        pieces += [by_edge[edge] for edge in incoming]
        if node in hidden:
            pieces += [by_edge[edge].T for edge in outgoing]
        basis = None if _gated_by_neuron(network, node) else _basis(pieces)
        if basis is None:
            continue
        sizes[node] = basis.shape[1]
        by_edge |= {edge: basis.T @ by_edge[edge] for edge in incoming}
        by_edge |= {edge: by_edge[edge] @ basis for edge in outgoing}
        for data in (inputs, targets):
            data |= {node: basis.T @ data[node]} if node in data else {}
    data = Task.from_samples(_joined(inputs.values()).T, _joined(targets.values()).T)
    return *_side_by_side(network, sizes, by_edge), data


def expected_weights(
    network: GatedNetwork, scales: Sequence[Scalar], task: Task, reduce_outputs: bool = True
) -> tuple[GatedNetwork, dict]:
    """Return a two-layer network with the expected products of Gaussian weights.

    Its pathways have a neuron per direction of their inputs and of the targets.

    Args:
        network: every hidden node has one edge in and one out.
        scales: σ, one per edge.
        task: what it is trained on.
        reduce_outputs: leave out directions that no target has.

    Raises:
        ValueError: another network, or a pathway with fewer neurons than modes.
    """
    check_two_layer(network)
    graph, by_edge = network.graph, dict(zip(network.graph.edges, scales, strict=True))
    weights: dict[Any, Any] = {}
    sizes = dict(graph.sizes)
    for path in graph.paths:
        into, out = graph.path_edges(path)
        data, num_hidden = effective_dataset(network, task, path), graph.neurons[path[1]]
        num_modes = len(modes(data).singular_values)
        if num_modes > num_hidden:
            raise ValueError(
                f"network: expected a neuron per mode, {num_modes}, got {num_hidden} in "
                f"{path[1]!r}: which modes it learns depends on the draw; give its initial weights "
                "in place of σ"
            )
        inputs = orth(np.asarray(data.inputs, float))
        wanted = np.asarray(task.targets, float)[np.array(graph.node_rows[path[2]])]
        outputs = orth(wanted) if reduce_outputs else np.eye(len(wanted))
        numbers = max(inputs.shape[1] + outputs.shape[1], 1)  # a node has a neuron
        root = num_hidden**0.5
        weights[into] = by_edge[into] * root * np.eye(numbers, inputs.shape[1]) @ inputs.T
        second = outputs @ np.eye(outputs.shape[1], numbers, inputs.shape[1])
        weights[out] = by_edge[out] * root * second
        sizes[path[1]] = numbers
    return _resized(network, sizes), weights


def check_two_layer(network: GatedNetwork) -> None:
    """Raise ``ValueError`` unless each hidden node has one edge in, one out, and none is beside."""
    graph = network.graph
    middle = set(graph.order) - {*graph.input_nodes, *graph.output_nodes}
    if len(graph.paths) != len(middle) or any(len(path) != 3 for path in graph.paths):
        raise ValueError(
            "network: expected hidden nodes with one edge in and one edge out and no other "
            f"edge, got {list(graph.edges)!r:.120}"
        )


def _resized(network: GatedNetwork, sizes: Mapping[Node, int]) -> GatedNetwork:
    """Return the network with other numbers of hidden neurons."""
    graph = network.graph
    gates = network.node_gates, network.edge_gates
    return GatedNetwork(sizes, graph.edges, *gates, dict(graph.rows))


def _side_by_side(
    network: GatedNetwork, sizes: dict[Node, int], weights: dict
) -> tuple[GatedNetwork, dict]:
    """Return the network in which hidden nodes between the same nodes are one, and its weights."""
    graph, gates = network.graph, dict(network.node_gates)
    between: dict[Any, list[Node]] = {}
    for node in sizes:
        sources = tuple(source for source, target in graph.edges if target == node)
        targets = tuple(target for source, target in graph.edges if source == node)
        plain = not any(node in edge for edge in network.edge_gates)
        if sources and targets and plain:
            between.setdefault((sources, targets), []).append(node)
    edges, merged = list(graph.edges), dict(weights)
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


def _basis(pieces: Sequence[Numbers]) -> Any:
    """Return an orthonormal basis of the columns of several matrices; None if it is everything."""
    if any(isinstance(piece, jax.core.Tracer) for piece in pieces):
        columns: Array = jnp.concatenate([jnp.asarray(piece) for piece in pieces], axis=1)
        return jnp.linalg.qr(columns)[0] if columns.shape[1] < len(columns) else None
    known = [np.asarray(piece, float) for piece in pieces]
    known = [piece / (np.linalg.norm(piece) or 1.0) for piece in known]  # weights may be tiny
    basis = orth(np.concatenate(known, axis=1))
    basis = basis if basis.size else np.eye(len(basis), 1)  # a node has a neuron
    return basis if basis.shape[1] < len(basis) else None
