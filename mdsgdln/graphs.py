"""The architecture graph of a gated network: nodes are layers, edges weight matrices."""

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from typing import Any

from mdsgdln import _checks as checks

__all__ = ["Edge", "Graph", "Node", "Path"]
__dir__ = __all__.copy  # what completion shows

Node = Hashable
Edge = tuple[Node, Node]  # (source, target)
Path = tuple[Node, ...]  # the nodes from an input to an output


@dataclass(frozen=True)
class Graph:
    """A directed acyclic graph of layers (MHS Fig. 1), hashable: it can be static under jit.

    Attributes:
        sizes: (node, neurons) pairs.
        edges: (source, target) pairs.
        rows: (node, rows) pairs for nodes that read or write given rows of the data; all other
            nodes are stacked in the order of ``sizes``.
    """

    sizes: tuple[tuple[Node, int], ...]
    edges: tuple[Edge, ...]
    rows: tuple[tuple[Node, tuple[int, ...]], ...] = ()

    @classmethod
    def build(
        cls,
        sizes: Mapping[Node, int],
        edges: Iterable[Edge],
        rows: Mapping[Node, Any] | None = None,
    ) -> "Graph":
        """Check sizes, edges and rows as ``GatedNetwork`` takes them, and return the graph."""
        checks.require(isinstance(sizes, Mapping) and sizes, "sizes", "{node: neurons}", sizes)
        numbers = {
            node: checks.positive_integer(f"sizes[{node!r}]", size) for node, size in sizes.items()
        }
        try:
            sorted(sizes)  # type: ignore[type-var]
        except TypeError as error:
            expected = "nodes that can be sorted, such as strings, as JAX sorts dictionaries"
            raise ValueError(f"sizes: expected {expected}, got {list(sizes)!r:.120}") from error
        try:
            edges = tuple((source, target) for source, target in edges)
            distinct = edges and len(set(edges)) == len(edges)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"edges: expected (source, target) pairs, got {edges!r:.80}"
            ) from error
        checks.require(distinct, "edges", "at least one, and none twice", edges)
        joined, named = set().union(*edges), set(sizes)
        checks.require(joined <= named, "edges", f"nodes of {list(sizes)}", joined - named)
        checks.require(named <= joined, "sizes", f"nodes of {list(edges)}", named - joined)
        graph = cls(tuple(numbers.items()), edges)
        _ = graph.order  # raises where there is a cycle
        checks.instance("rows", rows, Mapping | None)
        ends = graph.input_nodes + graph.output_nodes
        given = []
        for node, indices in (rows or {}).items():
            checks.require(node in ends, "rows", f"input or output nodes {ends}", node)
            given.append((node, _indices(f"rows[{node!r}]", indices, numbers[node])))
        missing = [node for node in graph.input_nodes if node not in (rows or {})]
        fits = len(missing) in (0, len(graph.input_nodes))
        checks.require(fits, "rows", f"those of {missing}, too, or of no input node", rows)
        return cls(graph.sizes, edges, tuple(given))

    @cached_property
    def neurons(self) -> dict[Node, int]:
        """Neurons of each node."""
        return dict(self.sizes)

    @cached_property
    def shapes(self) -> dict[Edge, tuple[int, int]]:
        """Shape of each edge's weights, (neurons of target, neurons of source)."""
        return {(a, b): (self.neurons[b], self.neurons[a]) for a, b in self.edges}

    @cached_property
    def incoming(self) -> dict[Node, tuple[Edge, ...]]:
        """Edges into each node."""
        return {node: tuple(e for e in self.edges if e[1] == node) for node in self.neurons}

    @cached_property
    def outgoing(self) -> dict[Node, tuple[Edge, ...]]:
        """Edges out of each node."""
        return {node: tuple(e for e in self.edges if e[0] == node) for node in self.neurons}

    @cached_property
    def input_nodes(self) -> tuple[Node, ...]:
        """Nodes with only outgoing edges."""
        return tuple(node for node, edges in self.incoming.items() if not edges)

    @cached_property
    def output_nodes(self) -> tuple[Node, ...]:
        """Nodes with only incoming edges."""
        return tuple(node for node, edges in self.outgoing.items() if not edges)

    @cached_property
    def order(self) -> tuple[Node, ...]:
        """Every node after all of its sources."""
        sorter = TopologicalSorter(dict.fromkeys(self.neurons, ()))
        for source, target in self.edges:
            sorter.add(target, source)
        try:
            return tuple(sorter.static_order())
        except CycleError as error:
            raise ValueError(f"edges: expected no cycle, got {error.args[1]!r:.80}") from error

    @cached_property
    def paths(self) -> tuple[Path, ...]:
        """All paths from an input node to an output node."""
        ending_at: dict[Node, list[Path]] = {}
        for node in self.order:
            longer = [(*path, node) for s, _ in self.incoming[node] for path in ending_at[s]]
            ending_at[node] = longer or [(node,)]
        return tuple(path for node in self.output_nodes for path in ending_at[node])

    @cached_property
    def node_rows(self) -> dict[Node, tuple[int, ...]]:
        """Rows of the inputs (targets) that each input (output) node reads (writes)."""
        given, result = dict(self.rows), {}
        for nodes in (self.input_nodes, self.output_nodes):
            first = 0
            for node in nodes:
                size = self.neurons[node]
                result[node] = given.get(node, tuple(range(first, first + size)))
                first += size
        return result

    def path_edges(self, path: Path) -> tuple[Edge, ...]:
        """Return the edges of ``path``, given by its nodes."""
        checks.several("path", path)
        checks.require(tuple(path) in self.paths, "path", f"one of {self.paths!r:.200}", path)
        return tuple(zip(path[:-1], path[1:], strict=True))


def _indices(name: str, rows: Any, number: int) -> tuple[int, ...]:
    try:
        # A slice without an end, or from the end, does not say of how many rows.
        numbers = range(rows.stop)[rows] if isinstance(rows, slice) else rows
        indices = tuple(checks.index(row) for row in numbers)
    except TypeError as error:
        raise ValueError(
            f"{name}: expected a slice with an end, or indices, got {rows!r:.80}"
        ) from error
    fit = len(indices) == len(set(indices)) == number and min(indices) >= 0
    checks.require(fit, name, f"numbers of {number} distinct rows from 0, one per neuron", rows)
    return indices
