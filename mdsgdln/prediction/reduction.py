"""The exact reduction of a gated linear network: no node is wider than its data and neighbours.

Weights on a direction without input change nothing. Outputs stay in the span of the targets and the
incoming weights. The columns of [W Vᵀ] of all edges into and out of a hidden layer with one gate
per sample stay in their initial span. In an orthonormal basis R of each span a node has incoming
weights RᵀW and outgoing weights VR, and the squared error is the same at every step of every rule
that commutes with R. Two layers of weights become at most N_in + N_out hidden neurons. Hidden nodes
between the same nodes are then merged into one, in which each neuron has its own gate.

From σ alone, a pathway's weights are replaced by matrices with the expected products of Gaussian
ones: W₁ᵀW₁ = Hσ₁² 1, W₂W₂ᵀ = Hσ₂² 1 and W₂W₁ = 0, so that c = (W₁v + W₂ᵀu)/2 of a mode has
‖c‖² = H(σ₁² + σ₂²)/4 (``expected_initial_strength``).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from mdsgdln import _checks as checks
from mdsgdln._checks import Numbers, Scalar
from mdsgdln.graphs import Node
from mdsgdln.networks import GatedNetwork
from mdsgdln.statistics import effective_dataset, modes
from mdsgdln.tasks import Task

MANY = 4  # columns a row, from which a matrix is multiplied with its transpose
CLEAR = 1e-6  # of the largest eigenvalue: well above rounding
ROUNDINGS = 1000  # that one direction may gather


def reduce_exactly(
    network: GatedNetwork, weights: Mapping, task: Task, reduce_outputs: bool
) -> tuple[GatedNetwork, dict[Any, Any], Task]:
    """Return a smaller network, weights and task with the same losses at every step.

    A layer whose gates differ between its neurons is not reduced. ``reduce_outputs`` writes outputs
    in a basis of their span, as the squared error allows.
    """
    graph, by_edge = network.graph, dict(weights)
    sizes, rows = dict(graph.sizes), graph.node_rows
    inputs = {node: _rows(task.inputs, rows[node]) for node in graph.input_nodes}
    targets = {node: _rows(task.targets, rows[node]) for node in graph.output_nodes}
    hidden = [node for node in graph.order if node not in rows]
    ends = [*inputs, *targets] if reduce_outputs else [*inputs]
    for node in [*ends, *hidden]:  # the bases of the ends narrow the layers between them
        if _is_gated_by_neuron(network, node):
            continue
        spanning = [data[node] for data in (inputs, targets) if node in data]
        spanning += [by_edge[edge] for edge in graph.incoming[node]]
        if node in hidden:
            spanning += [by_edge[edge].T for edge in graph.outgoing[node]]
        basis = _basis(spanning)
        if basis is None:
            continue
        sizes[node] = basis.shape[1]
        by_edge |= {edge: basis.T @ by_edge[edge] for edge in graph.incoming[node]}
        by_edge |= {edge: by_edge[edge] @ basis for edge in graph.outgoing[node]}
        for data in (inputs, targets):
            data |= {node: basis.T @ data[node]} if node in data else {}
    kept = {} if reduce_outputs else {node: rows[node] for node in targets}
    outputs = _joined(targets.values()) if reduce_outputs else task.targets
    data = Task.from_samples(_joined(inputs.values()).T, outputs.T)
    return *_merge_parallel(network, sizes, by_edge, kept), data


def expected_weights(
    network: GatedNetwork,
    scales: Sequence[Scalar],
    task: Task,
    learned: Task,
    reduce_outputs: bool,
) -> tuple[GatedNetwork, dict]:
    """Return a small two-layer network and weights, with the mean W₁ᵀW₁ and W₂W₂ᵀ of random ones.

    Its pathways have a neuron per direction of their inputs and of the targets. The wide ones need
    a neuron per mode of what is learned, as the task may have other samples as well. The network
    has passed ``check_two_layer``.
    """
    graph, by_edge = network.graph, dict(zip(network.graph.edges, scales, strict=True))
    weights: dict[Any, Any] = {}
    sizes = dict(graph.sizes)
    for path in graph.paths:
        into, out = graph.path_edges(path)
        data, num_hidden = effective_dataset(network, task, path), graph.neurons[path[1]]
        num_modes = len(modes(effective_dataset(network, learned, path)).singular_values)
        advice = ", or the initial weights in place of σ, as learning depends on the seed"
        checks.neuron_per_mode(path[1], num_modes, num_hidden, advice)
        inputs = span(data.inputs)
        targets = np.asarray(task.targets)[np.array(graph.node_rows[path[2]])]
        outputs = span(targets) if reduce_outputs else np.eye(len(targets))
        number = max(inputs.shape[1] + outputs.shape[1], 1)  # a node has a neuron
        root = num_hidden**0.5
        weights[into] = by_edge[into] * root * np.eye(number, inputs.shape[1]) @ inputs.T
        second = outputs @ np.eye(outputs.shape[1], number, inputs.shape[1])
        weights[out] = by_edge[out] * root * second
        sizes[path[1]] = number
    gates = network.node_gates, network.edge_gates
    return GatedNetwork(sizes, graph.edges, *gates, dict(graph.rows)), weights


def check_two_layer(network: GatedNetwork) -> None:
    """Raise ``ValueError`` unless each path leads through a hidden node of its own."""
    graph = network.graph
    num_hidden = len(graph.order) - len(graph.input_nodes) - len(graph.output_nodes)
    fits = len(graph.paths) == num_hidden and all(len(path) == 3 for path in graph.paths)
    expected = "hidden nodes with one edge in and one edge out and no other edge"
    checks.require(fits, "network", expected, list(graph.edges))


def parallel_nodes(network: GatedNetwork) -> tuple[tuple[Node, ...], ...]:
    """Return the groups of hidden nodes between the same nodes, which the reduction merges."""
    graph = network.graph
    parallel: dict[Any, list[Node]] = {}
    for node in graph.neurons:
        sources = tuple(source for source, _ in graph.incoming[node])
        targets = tuple(target for _, target in graph.outgoing[node])
        if sources and targets and not any(node in edge for edge in network.edge_gates):
            parallel.setdefault((sources, targets), []).append(node)
    return tuple(tuple(nodes) for nodes in parallel.values() if len(nodes) > 1)


def _merge_parallel(
    network: GatedNetwork, sizes: dict[Node, int], weights: dict, rows: Mapping[Node, Any]
) -> tuple[GatedNetwork, dict]:
    """Merge hidden nodes between the same nodes: one large product is faster than many small."""
    gates = dict(network.node_gates)
    edges, merged = list(network.graph.edges), dict(weights)
    for nodes in parallel_nodes(network):
        first, *others = nodes
        if any(node in gates for node in nodes):
            gates[first] = _joined([_by_neuron(gates, node, sizes[node]) for node in nodes])
        for source in [source for source, target in edges if target == first]:
            merged[source, first] = _joined([merged.pop((source, node)) for node in nodes])
        for target in [target for source, target in edges if source == first]:
            merged[first, target] = _joined([merged.pop((node, target)).T for node in nodes]).T
        sizes[first] = sum(sizes[node] for node in nodes)
        edges = [edge for edge in edges if not set(edge) & set(others)]
        for node in others:
            del sizes[node]
            gates.pop(node, None)
    whole = GatedNetwork(sizes, edges, gates, network.edge_gates, rows)
    return whole, {edge: merged[edge] for edge in edges}


def _by_neuron(gates: Mapping, node: Node, neurons: int) -> Any:
    gate = gates.get(node, np.ones(next(iter(gates.values())).shape[-1]))
    return gate if gate.ndim == 2 else _joined([gate[None, :]] * neurons)


def _is_gated_by_neuron(network: GatedNetwork, node: Node) -> bool:
    places = [node, *network.graph.incoming[node]]
    gates = network.node_gates | network.edge_gates
    return any(gates[place].ndim > 1 for place in places if place in gates)


def _rows(data: Array, rows: Sequence[int]) -> Any:
    """Index concrete data by NumPy, which compiles nothing."""
    return (data if checks.is_traced(data) else np.asarray(data))[np.array(rows)]


def _joined(pieces: Iterable[Any]) -> Any:
    """Stack concrete matrices by NumPy, which compiles nothing."""
    pieces = list(pieces)
    return (jnp if checks.is_traced(pieces) else np).concatenate(pieces)


def _basis(spanning: Sequence[Numbers]) -> Any:
    """Return an orthonormal basis of the columns of several matrices; None if it is complete."""
    if checks.is_traced(spanning):
        columns: Array = jnp.concatenate([jnp.asarray(piece) for piece in spanning], axis=1)
        return jnp.linalg.qr(columns)[0] if columns.shape[1] < len(columns) else None
    basis = span(*spanning)
    basis = basis if basis.size else np.eye(len(basis), 1)  # a node has a neuron
    return basis if basis.shape[1] < len(basis) else None


def span(*pieces: Numbers) -> Float[np.ndarray, "n rank"]:
    """Return an orthonormal basis of the columns of several matrices (n, ·), of any lengths.

    Directions within the rounding of the least precise matrix are left out.
    """
    arrays = [np.asarray(piece) for piece in pieces]
    precision = max(np.finfo(array.dtype).eps for array in arrays if array.dtype.kind == "f")
    known = [array.astype(float) for array in arrays]
    known = [piece / (np.linalg.norm(piece) or 1.0) for piece in known]  # weights may be tiny
    columns = np.concatenate(known, axis=1)
    large, rest, top = np.zeros((len(columns), 0)), np.eye(len(columns)), 0.0
    if columns.shape[1] > MANY * len(columns):
        # The eigenvectors of XXᵀ, at a tenth of the cost; its rounding hides small singular values.
        values, vectors = np.linalg.eigh(columns @ columns.T)
        clear = values > CLEAR * values[-1]
        large, rest = vectors[:, clear], vectors[:, ~clear]
        triangle: Any = np.linalg.qr((rest.T @ columns).T, mode="r")
        columns = triangle.T
        top = values[-1] ** 0.5
    left, small, _ = np.linalg.svd(columns, full_matrices=False)
    roundings = min(max(max(array.shape) for array in arrays), ROUNDINGS)
    kept = small > roundings * precision * (top or small.max(initial=0.0))
    return np.concatenate([large, rest @ left[:, kept]], axis=1)
