"""The architecture graph of a gated network: nodes are layers, edges weight matrices."""

import operator
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from typing import Any

from mdsgdln import _checks as checks

__all__ = [
    "Edge",
    "Graph",
    "Node",
    "Path",
]
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
        rows: (node, rows) pairs for nodes that read or write given rows of the data; the others
            are stacked in the order of ``sizes``.
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
        """Check sizes, edges and rows as ``GatedNetwork`` takes them, and return the graph.

        Raises:
            ValueError: a non-positive size, an edge of an unknown node, an edge given twice, a
                node without an edge, a cycle, or rows of another node or number.
        """
        if not isinstance(sizes, Mapping) or not sizes:
            raise ValueError(f"sizes: expected {{node: neurons}}, got {sizes!r:.80}")
        for node, size in sizes.items():
            checks.positive_integer(f"sizes[{node!r}]", size)
        try:
            edges = tuple((source, target) for source, target in edges)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"edges: expected (source, target) pairs, got {edges!r:.80}"
            ) from error
        if not edges or len(set(edges)) != len(edges):
            raise ValueError(f"edges: expected at least one, each once, got {edges!r:.80}")
        unknown = set().union(*edges) - set(sizes)
        if unknown:
            raise ValueError(f"edges: expected nodes of sizes, got {unknown!r:.80}")
        idle = set(sizes).difference(*edges)
        if idle:
            raise ValueError(f"sizes: expected every node on an edge, got {idle!r:.80} on none")
        graph = cls(tuple((node, int(size)) for node, size in sizes.items()), edges)
        _ = graph.order  # raises where there is a cycle
        checks.instance("rows", rows, Mapping | None)
        ends = graph.input_nodes + graph.output_nodes
        named = []
        for node, given in (rows or {}).items():
            if node not in ends:
                raise ValueError(f"rows: expected input or output nodes {ends}, got {node!r}")
            named.append((node, _indices(f"rows[{node!r}]", given, graph.neurons[node])))
        return cls(graph.sizes, graph.edges, tuple(named))

    @cached_property
    def neurons(self) -> dict[Node, int]:
        """Number of neurons per node."""
        return dict(self.sizes)

    @cached_property
    def shapes(self) -> dict[Edge, tuple[int, int]]:
        """Shape of each edge's weights, (neurons of target, neurons of source)."""
        return {(a, b): (self.neurons[b], self.neurons[a]) for a, b in self.edges}

    @cached_property
    def input_nodes(self) -> tuple[Node, ...]:
        """Nodes with only outgoing edges."""
        targets = {target for _, target in self.edges}
        return tuple(node for node, _ in self.sizes if node not in targets)

    @cached_property
    def output_nodes(self) -> tuple[Node, ...]:
        """Nodes with only incoming edges."""
        sources = {source for source, _ in self.edges}
        return tuple(node for node, _ in self.sizes if node not in sources)

    @cached_property
    def order(self) -> tuple[Node, ...]:
        """Every node after all of its sources."""
        sorter = TopologicalSorter(dict.fromkeys(self.neurons, ()))
        for source, target in self.edges:
            sorter.add(target, source)
        try:
            return tuple(sorter.static_order())
        except CycleError as error:
            raise ValueError(
                f"edges: expected no cycle, got one through {error.args[1]!r}"
            ) from error

    @cached_property
    def paths(self) -> tuple[Path, ...]:
        """All paths from an input node to an output node."""
        ending_at: dict[Node, list[Path]] = {
            node: [(node,)] if node in self.input_nodes else [] for node in self.order
        }
        for node in self.order:
            for source, target in self.edges:
                if target == node:
                    ending_at[node] += [path + (node,) for path in ending_at[source]]
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
        """Return the edges of ``path``, given by its nodes.

        Raises:
            ValueError: not a path from an input node to an output node of this graph.
        """
        checks.several("path", path)
        edges = tuple(zip(path[:-1], path[1:], strict=True))
        if not edges or not set(edges) <= set(self.edges):
            raise ValueError(f"path: expected nodes joined by edges of the graph, got {path!r}")
        if path[0] not in self.input_nodes or path[-1] not in self.output_nodes:
            raise ValueError(f"path: expected one from an input to an output node, got {path!r}")
        return edges


def _indices(name: str, rows: Any, number: int) -> tuple[int, ...]:
    """Return rows as indices from 0 on, one per neuron, or raise ``ValueError``."""
    try:
        # A slice without an end, or from the end, does not say of how many rows.
        numbers = range(rows.stop)[rows] if isinstance(rows, slice) else rows
        indices = tuple(operator.index(row) for row in numbers)
    except TypeError as error:
        raise ValueError(
            f"{name}: expected a slice with an end, or indices, got {rows!r:.80}"
        ) from error
    if len(indices) != number or len(set(indices)) != number or min(indices) < 0:
        raise ValueError(
            f"{name}: expected {number} different rows from 0 on, one per neuron, got {rows!r:.80}"
        )
    return indices
