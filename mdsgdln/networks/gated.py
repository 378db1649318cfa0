"""Gated deep linear networks on any directed acyclic graph."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, ArrayLike, Float

from mdsgdln import _checks as checks
from mdsgdln._checks import Numbers, Scalar
from mdsgdln.graphs import Edge, Graph, Node, Path
from mdsgdln.networks.network import Network, apply_gate, checked_gate, draw_gaussian
from mdsgdln.tasks import Task


@dataclass(frozen=True, init=False, eq=False, repr=False)
class GatedNetwork(Network, static=False):
    """A gated deep linear network on a directed acyclic graph (MHS Eq. 1; NRR).

    Each node v is a layer, each edge e a weight matrix, and
    ``h_v = g_v Σ_{e into v} g_e W_e h_{s(e)}``, with gates given per sample. Weights are a
    dictionary {edge: (neurons of target, neurons of source)}.

    Args:
        sizes: {node: neurons}. Nodes with only outgoing edges are inputs, nodes with only incoming
            ones outputs.
        edges: (source, target) pairs.
        node_gates: {node: (P,) or (neurons, P)}; a node without an entry is always on.
        edge_gates: {edge: (P,) or (neurons of target, P)}.
        rows: {input or output node: slice or indices}, the rows of the inputs that an input node
            reads, or of the outputs that an output node writes. Without any, input nodes (output
            nodes) are stacked in the order of ``sizes``.

    Raises:
        ValueError: bad sizes, unknown nodes or edges, a cycle, gates of the wrong length, rows that
            are not as many as the node's neurons.
    """

    graph: Graph
    node_gates: dict[Any, Array]
    edge_gates: dict[Any, Array]

    def __init__(
        self,
        sizes: Mapping[Node, int],
        edges: Iterable[Edge],
        node_gates: Mapping[Node, Numbers] | None = None,
        edge_gates: Mapping[Edge, Numbers] | None = None,
        rows: Mapping[Node, Any] | None = None,
    ):
        graph = Graph.build(sizes, edges, rows)
        node_gates = _check_gates("node_gates", node_gates or {}, graph.neurons)
        edge_gates = _check_gates("edge_gates", edge_gates or {}, _edge_neurons(graph))
        lengths = {gate.shape[-1] for gate in [*node_gates.values(), *edge_gates.values()]}
        if len(lengths) > 1:
            raise ValueError(
                f"node_gates, edge_gates: expected one length P, got {sorted(lengths)}"
            )
        _fill(self, graph, node_gates, edge_gates)

    def __repr__(self) -> str:
        gated = [*self.node_gates, *self.edge_gates]
        return f"GatedNetwork({self.graph.neurons}, {list(self.graph.edges)}, gated: {gated})"

    def init(
        self, key: Array, scale: Scalar | Sequence[Scalar] | Mapping[Edge, Scalar]
    ) -> dict[Edge, Array]:
        """Draw Gaussian weights {edge: (neurons of target, neurons of source)}.

        Args:
            key: a JAX random key.
            scale: σ, the standard deviation of an entry, one per edge, or {edge: σ}.
        """
        shapes = self.graph.shapes
        drawn = draw_gaussian(key, list(shapes.values()), checks.scales(scale, tuple(shapes)))
        return dict(zip(shapes, drawn, strict=True))

    def init_orthogonal(self, gain: Scalar, *, key: Array) -> dict[Edge, Array]:
        """Draw random weights whose singular values are all ``gain``, as NRR does.

        Args:
            gain: σ₀, the singular value of every matrix.
            key: a JAX random key.
        """
        checks.random_key("key", key)
        gain, shapes = checks.non_negative("gain", gain), self.graph.shapes
        keys = jax.random.split(key, len(shapes))
        return {
            edge: gain * jax.random.orthogonal(each, rows, m=columns)
            for each, (edge, (rows, columns)) in zip(keys, shapes.items(), strict=True)
        }

    def check(self, weights: Mapping[Edge, Numbers] | None, task: Task) -> None:
        """Raise ``ValueError`` unless weights (if not None), rows and gates fit the task."""
        checks.instance("task", task, Task)
        self._check_rows("inputs", len(task.inputs), self.graph.input_nodes)
        self._check_rows("targets", len(task.targets), self.graph.output_nodes)
        for gate in jax.tree.leaves(self):
            if gate.shape[-1] != task.num_samples:
                raise ValueError(
                    f"task: expected {gate.shape[-1]} samples, as the gates have, "
                    f"got {task.num_samples}"
                )
        if weights is None:
            return
        if not isinstance(weights, Mapping) or set(weights) != set(self.graph.edges):
            raise ValueError(
                f"weights: expected a matrix for each of {list(self.graph.edges)}, "
                f"got {list(weights) if isinstance(weights, Mapping) else weights!r:.80}"
            )
        for edge, shape in self.graph.shapes.items():
            checks.weight(f"weights[{edge!r}]", weights[edge], shape)

    def _check_rows(self, name: str, num_rows: int, nodes: tuple[Node, ...]) -> None:
        highest = 1 + max(row for node in nodes for row in self.graph.node_rows[node])
        stacked = not any(node in dict(self.graph.rows) for node in nodes)
        if num_rows < highest or (stacked and num_rows > highest):
            raise ValueError(f"{name}: expected {highest} rows for {list(nodes)}, got {num_rows}")

    def path_gate(self, path: Path, num_samples: int) -> Float[Array, " P"]:
        """Return g_p, the product of the node and edge gates along ``path``, one per sample.

        Raises:
            ValueError: no path of the graph, or gates that differ between neurons.
        """
        with jax.ensure_compile_time_eval():  # known gates stay known inside a compiled function
            gate = jnp.ones(num_samples)
            for place in (*path, *self.graph.path_edges(path)):
                factor = self.node_gates.get(place, self.edge_gates.get(place))
                if factor is None:
                    continue
                if factor.ndim > 1:
                    raise ValueError(
                        f"gates of {place!r}: expected one per sample, shape (P,), for a path, "
                        f"got one per neuron, {factor.shape}"
                    )
                gate = gate * factor
        return gate

    def take(self, columns: Numbers | slice) -> "GatedNetwork":
        """Return the same network with the gates of the samples ``columns``, as ``Task.take``.

        Whatever is taken of the task, in another order too, is to be taken of the network.
        """
        gates = jax.tree.leaves(self)
        if not gates:
            return self
        columns = checks.sample_indices("columns", columns, gates[0].shape[-1])
        return jax.tree.map(lambda gate: gate[..., columns], self)

    def activations(
        self,
        weights: Mapping[Edge, ArrayLike],
        inputs: Numbers,
        gates: Mapping[Node | Edge, Numbers] | None = None,
    ) -> dict[Node, Float[Array, "_ P"]]:
        """Return the activity h_v, {node: (neurons, P)}; arguments as in ``apply``."""
        inputs = jnp.asarray(inputs)
        used = self.node_gates | self.edge_gates
        if gates is not None:
            neurons = self.graph.neurons | _edge_neurons(self.graph)
            used = _check_gates("gates", gates, neurons)
        for place, gate in used.items():
            if gate.shape[-1] != inputs.shape[1]:
                raise ValueError(
                    f"inputs: expected {gate.shape[-1]} samples, as the gates of {place!r} have, "
                    f"got {inputs.shape[1]}"
                )

        def gated(place, activity):
            return apply_gate(used[place], activity) if place in used else activity

        activity: dict[Node, Array] = {}
        for node in self.graph.order:
            if node in self.graph.input_nodes:
                arriving = inputs[_indexer(self.graph.node_rows[node])]
            else:
                arriving = sum(
                    gated(edge, weights[edge] @ activity[edge[0]])
                    for edge in self.graph.edges
                    if edge[1] == node
                )
            activity[node] = gated(node, arriving)
        return activity

    def apply(
        self,
        weights: Mapping[Edge, ArrayLike],
        inputs: Numbers,
        gates: Mapping[Node | Edge, Numbers] | None = None,
    ) -> Float[Array, "N_out P"]:
        """Return the outputs for ``inputs`` (N_in, P), several output nodes stacked (MHS Eq. 1).

        Args:
            weights: {edge: matrix}, as from ``init``.
            inputs: X, shape (N_in, P).
            gates: {node or edge: (P,) or (neurons, P)}, used in place of all stored ones.

        Raises:
            ValueError: gates of unknown nodes or of another number of samples.
        """
        activity = self.activations(weights, inputs, gates)
        nodes = self.graph.output_nodes
        outputs = jnp.concatenate([activity[node] for node in nodes])
        rows = np.concatenate([self.graph.node_rows[node] for node in nodes])
        return outputs if (np.diff(rows) == 1).all() else outputs[np.argsort(rows)]


def _check_gates(name: str, gates: Mapping, neurons: Mapping[Any, int]) -> dict[Any, Array]:
    """Return gates of nodes or edges as arrays, or raise ``ValueError``."""
    if not isinstance(gates, Mapping):
        raise ValueError(f"{name}: expected {{node or edge: gates}}, got {gates!r:.80}")
    for place in gates:
        if place not in neurons:
            raise ValueError(f"{name}: expected one of {list(neurons)}, got {place!r}")
    return {
        place: checked_gate(f"{name}[{place!r}]", gate, neurons[place])
        for place, gate in gates.items()
    }


def _edge_neurons(graph: Graph) -> dict[Any, int]:
    """Return the neurons that a gate of each edge may have: those of its target."""
    return {edge: neurons for edge, (neurons, _) in graph.shapes.items()}


def _indexer(rows: tuple[int, ...]) -> slice | np.ndarray:
    """Return contiguous ``rows`` as a slice, which costs no gather."""
    contiguous = rows == tuple(range(rows[0], rows[-1] + 1))
    return slice(rows[0], rows[-1] + 1) if contiguous else np.array(rows)


def _fill(network: GatedNetwork, graph, node_gates, edge_gates) -> GatedNetwork:
    """Set the fields of a frozen network and return it."""
    vars(network).update(graph=graph, node_gates=node_gates, edge_gates=edge_gates)
    return network


def _flatten(network: GatedNetwork):
    """Return the gates as leaves, graph and gated places as static data; JAX would sort these."""
    nodes, edges = network.node_gates, network.edge_gates
    leaves = tuple(nodes.values()), tuple(edges.values())
    return leaves, (network.graph, tuple(nodes), tuple(edges))


def _unflatten(static, leaves) -> GatedNetwork:
    """Return the network, without checks: inside a transformation its gates are tracers."""
    graph, *places = static
    gates = (dict(zip(*each, strict=True)) for each in zip(places, leaves, strict=True))
    return _fill(object.__new__(GatedNetwork), graph, *gates)


jax.tree_util.register_pytree_node(GatedNetwork, _flatten, _unflatten)
