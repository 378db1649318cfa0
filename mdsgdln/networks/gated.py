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
from mdsgdln.networks.network import Network, checked_gate, draw_gaussian
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
            reads, or of the outputs that an output node writes. By default input nodes (output
            nodes) are stacked in the order of ``sizes``.
    """

    graph: Graph
    node_gates: dict[Any, Array]
    edge_gates: dict[Any, Array]

    def __init_subclass__(cls, **kwargs: Any):
        super().__init_subclass__(static=False, **kwargs)
        _register(cls)

    def __init__(
        self,
        sizes: Mapping[Node, int],
        edges: Iterable[Edge],
        node_gates: Mapping[Node, Numbers] | None = None,
        edge_gates: Mapping[Edge, Numbers] | None = None,
        rows: Mapping[Node, Any] | None = None,
    ):
        graph = Graph.build(sizes, edges, rows)
        node_gates = _checked_gates("node_gates", node_gates or {}, graph.neurons)
        edge_gates = _checked_gates("edge_gates", edge_gates or {}, _edge_neurons(graph))
        lengths = {gate.shape[-1] for gate in [*node_gates.values(), *edge_gates.values()]}
        checks.require(len(lengths) < 2, "node_gates, edge_gates", "one length P", sorted(lengths))
        vars(self).update(graph=graph, node_gates=node_gates, edge_gates=edge_gates)

    def __repr__(self) -> str:
        gated = [*self.node_gates, *self.edge_gates]
        return f"GatedNetwork({self.graph.neurons}, {list(self.graph.edges)}, gated: {gated})"

    def init(
        self, key: Array, scale: Scalar | Sequence[Scalar] | Mapping[Edge, Scalar]
    ) -> dict[Edge, Array]:
        """Draw Gaussian weights of standard deviation ``scale``: σ, one per edge, or {edge: σ}."""
        shapes = self.graph.shapes
        drawn = draw_gaussian(key, list(shapes.values()), checks.scales(scale, tuple(shapes)))
        return dict(zip(shapes, drawn, strict=True))

    def init_orthogonal(self, gain: Scalar, *, key: Array) -> dict[Edge, Array]:
        """Draw random weights whose singular values all equal ``gain``, as in NRR."""
        checks.random_key("key", key)
        gain, shapes = checks.positive("gain", gain, or_zero=True), self.graph.shapes
        keys = jax.random.split(key, len(shapes))
        return {
            edge: gain * jax.random.orthogonal(each, rows, m=columns)
            for each, (edge, (rows, columns)) in zip(keys, shapes.items(), strict=True)
        }

    def check(self, weights: Mapping[Edge, Numbers] | None, task: Task) -> None:
        """Raise ``ValueError`` unless weights (if not None), rows and gates fit the task."""
        checks.instance("task", task, Task)
        self._check_inputs(task.inputs)
        written = [row for node in self.graph.output_nodes for row in self.graph.node_rows[node]]
        once = sorted(written) == list(range(len(task.targets)))
        expected = f"{len(written)} rows for {list(self.graph.output_nodes)}, each written once"
        checks.require(once, "targets", expected, len(task.targets))
        for gate in jax.tree.leaves(self):
            number = gate.shape[-1]
            fits = number == task.num_samples
            checks.require(fits, "task", f"{number} samples, as the gates have", task.num_samples)
        if weights is None:
            return
        checks.instance("weights", weights, Mapping)
        edges = self.graph.edges
        fit = set(weights) == set(edges)
        checks.require(fit, "weights", f"a matrix for each of {list(edges)}", list(weights))
        for edge, shape in self.graph.shapes.items():
            checks.weight(f"weights[{edge!r}]", weights[edge], shape)

    def _check_inputs(self, inputs: Array) -> None:
        """Rows may be left unread if rows are given."""
        nodes = self.graph.input_nodes
        number = 1 + max(row for node in nodes for row in self.graph.node_rows[node])
        stacked = not any(node in dict(self.graph.rows) for node in nodes)
        rows = len(inputs) if inputs.ndim == 2 else 0
        fits = rows == number or (rows > number and not stacked)
        checks.require(fits, "inputs", f"{number} rows for {list(nodes)}", inputs.shape)

    def path_gate(self, path: Path, num_samples: int) -> Float[Array, " P"]:
        """Return g_p, the product of the node and edge gates along ``path``, one per sample."""
        edges = self.graph.path_edges(path)
        with jax.ensure_compile_time_eval():  # known gates stay known inside a compiled function
            gate = jnp.ones(num_samples)
            for place in (*path, *edges):
                factor = self.node_gates.get(place, self.edge_gates.get(place))
                if factor is not None:
                    expected = "one per sample, (P,), not one per neuron"
                    checks.require(factor.ndim == 1, f"gates of {place!r}", expected, factor.shape)
                    gate = gate * factor
        return gate

    def take(self, columns: Numbers | slice) -> "GatedNetwork":
        """Return the same network with the gates of the samples ``columns``, as in ``Task.take``.

        Take the same columns of network and task, whatever their order.
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
        inputs = checks.real_array("inputs", inputs, "(N_in, P)")
        self._check_inputs(inputs)
        checks.instance("weights", weights, Mapping)
        missing = [edge for edge in self.graph.edges if edge not in weights]
        checks.require(not missing, "weights", f"matrices for {missing}, too", list(weights))
        used = self.node_gates | self.edge_gates
        if gates is not None:
            used = _checked_gates("gates", gates, self.graph.neurons | _edge_neurons(self.graph))
        for place, gate in used.items():
            number = gate.shape[-1]
            expected = f"{number} samples, as the gates of {place!r} have"
            checks.require(number == inputs.shape[1], "inputs", expected, inputs.shape[1])

        def gated(place, activity):
            return jnp.atleast_2d(used[place]) * activity if place in used else activity

        activity: dict[Node, Array] = {}
        for node in self.graph.order:
            if node in self.graph.input_nodes:
                arriving = inputs[_indexer(self.graph.node_rows[node])]
            else:
                arriving = sum(
                    gated(edge, weights[edge] @ activity[edge[0]])
                    for edge in self.graph.incoming[node]
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
            gates: {node or edge: (P,) or (neurons, P)}, used in place of all stored ones.
        """
        activity = self.activations(weights, inputs, gates)
        nodes = self.graph.output_nodes
        outputs = jnp.concatenate([activity[node] for node in nodes])
        rows = np.concatenate([self.graph.node_rows[node] for node in nodes])
        return outputs if (np.diff(rows) == 1).all() else outputs[np.argsort(rows)]


def _checked_gates(name: str, gates: Mapping, neurons: Mapping[Any, int]) -> dict[Any, Array]:
    checks.require(isinstance(gates, Mapping), name, "{node or edge: gates}", gates)
    for place in gates:
        checks.require(place in neurons, name, f"one of {list(neurons)}", place)
    return {
        place: checked_gate(f"{name}[{place!r}]", gate, neurons[place])
        for place, gate in gates.items()
    }


def _edge_neurons(graph: Graph) -> dict[Any, int]:
    return {edge: neurons for edge, (neurons, _) in graph.shapes.items()}


def _indexer(rows: tuple[int, ...]) -> slice | np.ndarray:
    """Return contiguous ``rows`` as a slice, which costs no gather."""
    contiguous = rows == tuple(range(rows[0], rows[-1] + 1))
    return slice(rows[0], rows[-1] + 1) if contiguous else np.array(rows)


def _register(kind: type[GatedNetwork]) -> None:
    """Make a class a pytree whose leaves are the gates; its other attributes are static."""

    def flatten(network):
        static = [(name, each) for name, each in vars(network).items() if "_gates" not in name]
        return (network.node_gates, network.edge_gates), tuple(static)

    def unflatten(static, gates):  # checks nothing: inside a transformation gates are tracers
        network = object.__new__(kind)
        node_gates, edge_gates = gates
        vars(network).update(static, node_gates=node_gates, edge_gates=edge_gates)
        return network

    jax.tree_util.register_pytree_node(kind, flatten, unflatten)


_register(GatedNetwork)
