"""By what it is learned: linear, ReLU and gated deep linear networks.

A network is an architecture; its weights live apart, as a pytree. Gates are pytree leaves, the
architecture is static, so networks pass through ``jax.jit`` and ``jax.vmap``.
"""

from collections.abc import Iterable, Mapping, Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PyTree

from mdsgdln import checks
from mdsgdln.checks import Numbers, Scalar
from mdsgdln.graphs import Edge, Graph, Node
from mdsgdln.tasks import Task, sample_indices


class _Layered:
    """A chain of layers; subclasses say what a hidden layer does with its input."""

    def __init__(self, sizes: Sequence[int]):
        if isinstance(sizes, str | Mapping) or len(tuple(sizes)) < 2:
            raise ValueError(f"sizes: expected (N_in, H, ..., N_out), got {sizes!r:.80}")
        self.sizes = tuple(checks.positive_integer("sizes", size) for size in sizes)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.sizes})"

    def tree_flatten(self):
        """Return no leaves: a layered network is all architecture."""
        return (), self.sizes

    @classmethod
    def tree_unflatten(cls, sizes, _):
        """Inverse of ``tree_flatten``."""
        return cls(sizes)

    def init(self, key: Array, scale: Scalar | Sequence[Scalar]) -> list[Array]:
        """Draw Gaussian weights, one matrix (N_{l+1}, N_l) per layer.

        Args:
            key: a JAX random key.
            scale: σ, the standard deviation of an entry, or one per layer.
        """
        edges = tuple(range(len(self.sizes) - 1))
        keys = jax.random.split(key, len(edges))
        return [
            sigma * jax.random.normal(layer_key, shape)
            for sigma, layer_key, shape in zip(
                _scales(scale, edges), keys, self._shapes(), strict=True
            )
        ]

    def _shapes(self) -> list[tuple[int, int]]:
        return list(zip(self.sizes[1:], self.sizes[:-1], strict=True))

    def check_weights(self, weights: Sequence[Numbers]) -> None:
        """Raise ``ValueError`` unless ``weights`` has one matrix of the right shape per layer."""
        if not isinstance(weights, Sequence) or len(weights) != len(self.sizes) - 1:
            raise ValueError(
                f"weights: expected {len(self.sizes) - 1} matrices, got {weights!r:.80}"
            )
        for layer, (weight, shape) in enumerate(zip(weights, self._shapes(), strict=True)):
            _check_matrix(f"weights[{layer}]", weight, shape)

    def reading(self, task: Task) -> "_Layered":
        """Return the network itself, if ``task`` has its numbers of inputs and outputs."""
        _check_rows("inputs", len(task.inputs), self.sizes[0])
        _check_rows("targets", len(task.targets), self.sizes[-1])
        return self

    def take(self, columns: Numbers | slice) -> "_Layered":
        """Return the network itself: it stores no gates."""
        return self

    def hidden(
        self,
        weights: Sequence[Numbers],
        inputs: Numbers,
        gates: Sequence[Numbers] | None = None,
    ) -> list[Float[Array, "_ P"]]:
        """Return the activity of every hidden layer, each (neurons, P)."""
        layer, activity = jnp.asarray(inputs), []
        for index, weight in enumerate(weights[:-1]):
            gate = None if gates is None else gates[index]
            layer = self._activate(weight @ layer, gate)
            activity.append(layer)
        return activity

    def apply(
        self,
        weights: Sequence[Numbers],
        inputs: Numbers,
        gates: Sequence[Numbers] | None = None,
    ) -> Float[Array, "N_out P"]:
        """Return the outputs for ``inputs`` (N_in, P).

        Args:
            weights: one matrix per layer, as from ``init``.
            inputs: X, shape (N_in, P).
            gates: one array (P,) or (neurons, P) per hidden layer, used in place of the layer's
                own activation.

        Raises:
            ValueError: wrong shapes of weights, inputs or gates.
        """
        inputs = _matrix("inputs", inputs)
        self.check_weights(weights)
        _check_rows("inputs", len(inputs), self.sizes[0])
        if gates is not None:
            if len(gates) != len(self.sizes) - 2:
                raise ValueError(
                    f"gates: expected one per hidden layer, {len(self.sizes) - 2}, got {len(gates)}"
                )
            gates = [
                _check_gate(f"gates[{layer}]", gate, neurons, inputs.shape[1])
                for layer, (gate, neurons) in enumerate(zip(gates, self.sizes[1:-1], strict=True))
            ]
        hidden = self.hidden(weights, inputs, gates)
        return weights[-1] @ (hidden[-1] if hidden else inputs)


@jax.tree_util.register_pytree_node_class
class LinearNetwork(_Layered):
    """A linear network of any depth, ŷ = W_L ⋯ W_1 x; ``sizes`` is (N_in, H, ..., N_out)."""

    @staticmethod
    def _activate(preactivation, gate):
        return preactivation if gate is None else _columns_by(gate) * preactivation


@jax.tree_util.register_pytree_node_class
class ReLUNetwork(_Layered):
    """A bias-free ReLU network with linear outputs; ``sizes`` is (N_in, H, ..., N_out).

    A ReLU is a gate set by the neuron's own input, ``max(z, 0) = step(z) z`` (MHS §3): given
    ``gates`` in ``apply``, the same weights act as a gated linear network.
    """

    @staticmethod
    def _activate(preactivation, gate):
        return jax.nn.relu(preactivation) if gate is None else _columns_by(gate) * preactivation

    def gates(self, weights: Sequence[Numbers], inputs: Numbers) -> list[Float[Array, "_ P"]]:
        """Return the gates that the ReLUs set, 1 where on: one (neurons, P) per hidden layer."""
        return [(layer > 0).astype(layer.dtype) for layer in self.hidden(weights, inputs)]


@jax.tree_util.register_pytree_node_class
class GatedNetwork:
    """A gated deep linear network on a directed acyclic graph (MHS Eq. 1; NRR).

    Each node v is a layer, each edge e a weight matrix, and
    ``h_v = g_v Σ_{e into v} g_e W_e h_{s(e)}``, with gates given per sample. Weights are a
    dictionary {edge: (neurons of target, neurons of source)}.

    Args:
        sizes: {node: neurons}. Nodes with only outgoing edges are inputs, nodes with only incoming
            ones outputs; several of either are stacked in this order in the task's rows, unless the
            task's ``node_rows`` names them.
        edges: (source, target) pairs.
        node_gates: {node: (P,) or (neurons, P)}; a node without an entry is always on.
        edge_gates: {edge: (P,) or (neurons of target, P)}.

    Raises:
        ValueError: bad sizes, unknown nodes or edges, a cycle, gates of the wrong length.
    """

    def __init__(
        self,
        sizes: Mapping[Node, int],
        edges: Iterable[Edge],
        node_gates: Mapping[Node, Numbers] | None = None,
        edge_gates: Mapping[Edge, Numbers] | None = None,
    ):
        self.graph = Graph.build(sizes, edges)
        self.node_gates = self._check_gates("node_gates", node_gates or {})
        self.edge_gates = self._check_gates("edge_gates", edge_gates or {})
        lengths = {gate.shape[-1] for gate in jax.tree.leaves(self)}
        if len(lengths) > 1:
            raise ValueError(
                f"node_gates, edge_gates: expected one length P, got {sorted(lengths)}"
            )

    def _check_gates(self, name: str, gates: Mapping) -> dict:
        """Return ``gates`` as arrays; an edge's gate has the neurons of its target."""
        if not isinstance(gates, Mapping):
            raise ValueError(f"{name}: expected {{node or edge: gates}}, got {gates!r:.80}")
        known = {
            "node_gates": self.graph.neurons,
            "edge_gates": {edge: self.graph.neurons[edge[1]] for edge in self.graph.edges},
        }
        known["gates"] = known["node_gates"] | known["edge_gates"]
        for place in gates:
            if place not in known[name]:
                raise ValueError(
                    f"{name}: expected nodes or edges of the graph, got {place!r}, "
                    f"not among {list(known[name])}"
                )
        return {
            place: _check_gate(f"{name}[{place!r}]", gate, known[name][place])
            for place, gate in gates.items()
        }

    def __repr__(self) -> str:
        gated = [*self.node_gates, *self.edge_gates]
        return f"GatedNetwork({self.graph.neurons}, {list(self.graph.edges)}, gated: {gated})"

    def tree_flatten(self):
        """Return the gates as leaves and the graph as static data."""
        nodes, edges = tuple(self.node_gates), tuple(self.edge_gates)
        leaves = (tuple(self.node_gates.values()), tuple(self.edge_gates.values()))
        return leaves, (self.graph, nodes, edges)

    @classmethod
    def tree_unflatten(cls, static, leaves):
        """Inverse of ``tree_flatten``, without checks: leaves may be tracers."""
        network = object.__new__(cls)
        network.graph, nodes, edges = static
        network.node_gates = dict(zip(nodes, leaves[0], strict=True))
        network.edge_gates = dict(zip(edges, leaves[1], strict=True))
        return network

    def _shapes(self) -> dict[Edge, tuple[int, int]]:
        neurons = self.graph.neurons
        return {
            (source, target): (neurons[target], neurons[source])
            for source, target in self.graph.edges
        }

    def init(self, key: Array, scale: Scalar | Mapping[Edge, Scalar]) -> dict[Edge, Array]:
        """Draw Gaussian weights {edge: (neurons of target, neurons of source)}.

        Args:
            key: a JAX random key.
            scale: σ, the standard deviation of an entry, or {edge: σ}.
        """
        shapes = self._shapes()
        keys = jax.random.split(key, len(shapes))
        sigmas = _scales(scale, tuple(shapes))
        return {
            edge: sigma * jax.random.normal(edge_key, shape)
            for (edge, shape), sigma, edge_key in zip(shapes.items(), sigmas, keys, strict=True)
        }

    def check_weights(self, weights: Mapping[Edge, Numbers]) -> None:
        """Raise ``ValueError`` unless ``weights`` has a matrix of the right shape per edge."""
        if not isinstance(weights, Mapping) or set(weights) != set(self.graph.edges):
            raise ValueError(
                f"weights: expected a matrix for each of {list(self.graph.edges)}, "
                f"got {list(weights) if isinstance(weights, Mapping) else weights!r:.80}"
            )
        for edge, shape in self._shapes().items():
            _check_matrix(f"weights[{edge!r}]", weights[edge], shape)

    def reading(self, task: Task) -> "GatedNetwork":
        """Return the network whose inputs and outputs are the rows that ``task`` gives them.

        Raises:
            ValueError: rows that do not fit the nodes, or gates for another number of samples.
        """
        graph = self.graph
        ends = {node: len(task.inputs) for node in graph.input_nodes}
        ends |= {node: len(task.targets) for node in graph.output_nodes}
        given = {n: range(ends[n])[rows] for n, rows in (task.node_rows or {}).items() if n in ends}
        network = self._on(graph.with_rows(given))
        network._check_data("inputs", len(task.inputs), network.graph.input_nodes)
        network._check_data("targets", len(task.targets), network.graph.output_nodes)
        return network

    def _on(self, graph: Graph) -> "GatedNetwork":
        leaves, (_, nodes, edges) = self.tree_flatten()
        return self.tree_unflatten((graph, nodes, edges), leaves)

    def _check_data(self, name: str, num_rows: int, nodes: tuple[Node, ...]) -> None:
        highest = 1 + max(row for node in nodes for row in self.graph.node_rows[node])
        stacked = not any(node in dict(self.graph.rows) for node in nodes)
        if num_rows < highest or (stacked and num_rows > highest):
            raise ValueError(f"{name}: expected {highest} rows for {list(nodes)}, got {num_rows}")

    def take(self, columns: Numbers | slice) -> "GatedNetwork":
        """Return the same network with the gates of the samples ``columns``."""
        gates = jax.tree.leaves(self)
        if not gates:
            return self
        columns = sample_indices(columns, gates[0].shape[-1])
        return jax.tree.map(lambda gate: gate[..., columns], self)

    def activity(
        self,
        weights: Mapping[Edge, Numbers],
        inputs: Numbers,
        gates: Mapping[Node | Edge, Numbers] | None = None,
    ) -> dict[Node, Float[Array, "_ P"]]:
        """Return the activity h_v, {node: (neurons, P)}; arguments as in ``apply``."""
        inputs = _matrix("inputs", inputs)
        self.check_weights(weights)
        self._check_data("inputs", len(inputs), self.graph.input_nodes)
        stored = self.node_gates | self.edge_gates
        gates = stored if gates is None else self._check_gates("gates", gates)
        for place, gate in gates.items():
            if gate.shape[-1] != inputs.shape[1]:
                raise ValueError(
                    f"inputs: expected {gate.shape[-1]} samples, as the gates of {place!r} have, "
                    f"got {inputs.shape[1]}"
                )

        def gated(place, activity):
            return _columns_by(gates[place]) * activity if place in gates else activity

        activity = {}
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
        weights: Mapping[Edge, Numbers],
        inputs: Numbers,
        gates: Mapping[Node | Edge, Numbers] | None = None,
    ) -> Float[Array, "N_out P"]:
        """Return the outputs for ``inputs`` (N_in, P), several output nodes stacked (MHS Eq. 1).

        Args:
            weights: {edge: matrix}, as from ``init``.
            inputs: X, shape (N_in, P).
            gates: {node or edge: (P,) or (neurons, P)}, used in place of all stored ones.

        Raises:
            ValueError: wrong shapes, or gates of unknown nodes or of another number of samples.
        """
        activity = self.activity(weights, inputs, gates)
        nodes = self.graph.output_nodes
        outputs = jnp.concatenate([activity[node] for node in nodes])
        rows = np.concatenate([self.graph.node_rows[node] for node in nodes])
        return outputs if (np.diff(rows) == 1).all() else outputs[np.argsort(rows)]


def pathways(
    task: Task,
    gates: Numbers,
    num_hidden: int | Sequence[int],
    input_masks: Numbers | None = None,
) -> GatedNetwork:
    """Return the two-layer gated network with a hidden node per row of ``gates`` (MHS Figs. 2, 3).

    Hidden nodes are called ``"pathway 0"``, ``"pathway 1"``, …, the output ``"output"`` and the
    input ``"input"``. With masks there is an input node per distinct mask (``"input 0"``, …), a
    layer of the visible rows only.

    Args:
        task: gives the numbers of inputs, outputs and samples.
        gates: shape (K, P), one row per pathway.
        num_hidden: neurons of a pathway, or one number per pathway.
        input_masks: shape (K, N_in), non-zero where the pathway sees the input.

    Raises:
        ValueError: gates that do not have one column per sample, masks of the wrong shape or blind.
    """
    gates = checks.finite_array("gates", gates, 2, "(K, P)")
    num_pathways, num_samples = gates.shape
    if num_samples != task.num_samples:
        raise ValueError(
            f"gates: expected {task.num_samples} columns, one per sample, got {num_samples}"
        )
    hidden = [num_hidden] * num_pathways if np.ndim(num_hidden) == 0 else list(num_hidden)
    if len(hidden) != num_pathways:
        raise ValueError(
            f"num_hidden: expected one number or {num_pathways}, got {num_hidden!r:.80}"
        )
    num_inputs = len(task.inputs)
    masks = np.ones((num_pathways, num_inputs), bool)
    if input_masks is not None:
        masks = np.asarray(checks.finite_array("input_masks", input_masks, 2, "(K, N_in)")) != 0
    if masks.shape != (num_pathways, num_inputs) or not masks.any(axis=1).all():
        raise ValueError(
            f"input_masks: expected shape {(num_pathways, num_inputs)} and an input for every "
            f"pathway, got {masks.shape}"
        )
    visible = [tuple(map(int, np.flatnonzero(mask))) for mask in masks]
    views = list(dict.fromkeys(visible))  # distinct masks, in order of appearance
    view_names = ["input"] if len(views) == 1 else [f"input {view}" for view in range(len(views))]
    rows = dict(zip(view_names, views, strict=True))
    names = [f"pathway {index}" for index in range(num_pathways)]
    network = GatedNetwork(
        {node: len(seen) for node, seen in rows.items()}
        | dict(zip(names, hidden, strict=True))
        | {"output": len(task.targets)},
        [(view_names[views.index(seen)], name) for name, seen in zip(names, visible, strict=True)]
        + [(name, "output") for name in names],
        node_gates=dict(zip(names, gates, strict=True)),
    )
    return network._on(network.graph.with_rows(rows))


def _columns_by(gate: Array) -> Float[Array, "_ P"]:
    """Return a gate (P,) or (neurons, P) as a matrix that multiplies activity (neurons, P)."""
    return gate if gate.ndim == 2 else gate[None, :]


def _indexer(rows: tuple[int, ...]) -> slice | np.ndarray:
    """Return contiguous ``rows`` as a slice, which costs no gather."""
    contiguous = rows == tuple(range(rows[0], rows[-1] + 1))
    return slice(rows[0], rows[-1] + 1) if contiguous else np.array(rows)


def _matrix(name: str, value: Numbers) -> Array:
    value = jnp.asarray(value)
    if value.ndim != 2:
        raise ValueError(f"{name}: expected shape (N_in, P), got {value.shape}")
    return value


def _check_rows(name: str, found: int, expected: int) -> None:
    if found != expected:
        raise ValueError(f"{name}: expected {expected} rows, as the network has, got {found}")


def _check_matrix(name: str, matrix: PyTree, shape: tuple[int, int]) -> None:
    if np.shape(matrix) != shape:
        raise ValueError(f"{name}: expected shape {shape}, got {np.shape(matrix)}")


def _check_gate(name: str, gate: Numbers, neurons: int, num_samples: int | None = None) -> Array:
    """Return ``gate`` as an array (P,) or (neurons, P)."""
    gate = checks.finite_array(name, gate, max(np.ndim(gate), 1), "(P,) or (neurons, P)")
    fits = gate.ndim == 1 or (gate.ndim == 2 and gate.shape[0] == neurons)
    if not fits or num_samples not in (None, gate.shape[-1]):
        expected = "P" if num_samples is None else num_samples
        raise ValueError(
            f"{name}: expected shape ({expected},) or ({neurons}, {expected}), got {gate.shape}"
        )
    return gate


def _scales(scale: Scalar | Sequence[Scalar] | Mapping, places: tuple) -> list[Scalar]:
    """Return one standard deviation per place from a number, a sequence or a mapping."""
    if isinstance(scale, Mapping):
        if set(scale) != set(places):
            raise ValueError(f"scale: expected one for each of {list(places)}, got {list(scale)}")
        scale = [scale[place] for place in places]
    scales = [scale] * len(places) if np.ndim(scale) == 0 else list(scale)
    if len(scales) != len(places):
        raise ValueError(f"scale: expected a number or {len(places)}, got {len(scales)}")
    return [checks.non_negative("scale", sigma) for sigma in scales]
