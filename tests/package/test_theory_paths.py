"""The path sum of MHS Eq. 3 against automatic differentiation, on any gated graph."""

import jax
import numpy as np
import pytest

from mdsgdln import theory, training
from mdsgdln.networks import GatedNetwork
from mdsgdln.tasks import Task

NUM_SAMPLES = 12


@pytest.mark.parametrize("seed", range(3))
def test_path_sum_is_minus_the_gradient(seed):
    """Random graphs with shared and skip edges, several ends, gated nodes and edges."""
    rng = np.random.default_rng(seed)
    pairs = [(i, j) for i in range(7) for j in range(i + 1, 7)]
    edges = [pairs[k] for k in rng.choice(len(pairs), rng.integers(1, 12), replace=False)]
    sizes = {node: 2 + node % 2 for node in sorted({node for edge in edges for node in edge})}
    gates = [
        {place: rng.integers(0, 2, NUM_SAMPLES) if seed % 2 else rng.normal(size=NUM_SAMPLES)
         for place in places if rng.random() < 0.5}
        for places in (sizes, edges)
    ]  # fmt: skip
    network = GatedNetwork(sizes, edges, *gates)
    graph = network.graph
    inputs, targets = (
        rng.normal(size=(sum(sizes[node] for node in nodes), NUM_SAMPLES))
        for nodes in (graph.input_nodes, graph.output_nodes)
    )
    task = Task(inputs, targets)
    weights = {(s, t): jax.numpy.asarray(rng.normal(size=(sizes[t], sizes[s]))) for s, t in edges}
    flow = theory.path_gradient(network, weights, task)
    gradient = jax.jit(jax.grad(training.loss, argnums=1))(network, weights, task)
    size = np.sqrt(sum(float((g**2).sum()) for g in gradient.values()))
    error = np.sqrt(sum(float(((flow[e] + gradient[e]) ** 2).sum()) for e in graph.edges))
    assert error <= 1e-10 * max(size, 1e-6)


def test_paths_of_a_graph_with_skip_and_shared_edges():
    edges = [("a", "h"), ("b", "h"), ("h", "k"), ("k", "y"), ("h", "y")]
    found = GatedNetwork(dict.fromkeys("abhky", 1), edges).graph.paths
    assert sorted(map("".join, found)) == ["ahky", "ahy", "bhky", "bhy"]
