"""The path sum of MHS Eq. 3 against automatic differentiation, on any gated graph."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from bad_input import BAD_INPUT
from hypothesis import given, settings, strategies as st

from mdsgdln import theory, training
from mdsgdln.networks import GatedNetwork
from mdsgdln.tasks import Task

NUM_SAMPLES = 5


@st.composite
def architectures(draw):
    """Random DAGs with shared and skip edges, several inputs and outputs, gated nodes and edges."""
    num_nodes = draw(st.integers(2, 7))
    pairs = [(i, j) for i in range(num_nodes) for j in range(i + 1, num_nodes)]
    edges = draw(st.lists(st.sampled_from(pairs), min_size=1, max_size=12, unique=True))
    nodes = sorted({node for edge in edges for node in edge})
    sizes = {node: draw(st.integers(1, 3)) for node in nodes}
    gated_nodes = draw(st.lists(st.sampled_from(nodes), unique=True))
    gated_edges = draw(st.lists(st.sampled_from(edges), unique=True))
    return sizes, edges, gated_nodes, gated_edges


@settings(max_examples=100, deadline=None, derandomize=True, database=None)
@given(architectures(), st.booleans(), st.integers(0, 2**32 - 1))
def test_path_sum_is_minus_the_gradient(architecture, binary, seed):
    sizes, edges, *gated = architecture
    rng = np.random.default_rng(seed)
    node_gates, edge_gates = (
        {place: rng.integers(0, 2, NUM_SAMPLES) if binary else rng.normal(size=NUM_SAMPLES)
         for place in places}
        for places in gated
    )  # fmt: skip
    network = GatedNetwork(sizes, edges, node_gates, edge_gates)
    graph = network.graph
    num_inputs = sum(sizes[node] for node in graph.input_nodes)
    num_outputs = sum(sizes[node] for node in graph.output_nodes)
    task = Task(
        rng.normal(size=(num_inputs, NUM_SAMPLES)), rng.normal(size=(num_outputs, NUM_SAMPLES))
    )
    weights = {  # no draw is compiled
        (source, target): jnp.asarray(rng.normal(size=(sizes[target], sizes[source])))
        for source, target in graph.edges
    }
    flow = theory.path_gradient(network, weights, task)
    gradient = jax.grad(training.loss, argnums=1)(network, weights, task)
    size = np.sqrt(sum(float((g**2).sum()) for g in gradient.values()))
    error = np.sqrt(sum(float(((flow[e] + gradient[e]) ** 2).sum()) for e in graph.edges))
    assert error <= 1e-10 * max(size, 1e-6)


def test_paths_of_a_graph_with_skip_and_shared_edges():
    network = GatedNetwork(
        {"a": 1, "b": 1, "h": 1, "k": 1, "y": 1},
        [("a", "h"), ("b", "h"), ("h", "k"), ("k", "y"), ("h", "y")],
    )
    assert set(network.graph.paths) == {
        ("a", "h", "k", "y"),
        ("b", "h", "k", "y"),
        ("a", "h", "y"),
        ("b", "h", "y"),
    }


def test_gates_of_single_neurons_are_refused():
    network = GatedNetwork(
        {"x": 2, "h": 2, "y": 1}, [("x", "h"), ("h", "y")], {"h": np.ones((2, 3))}
    )
    task = Task(np.ones((2, 3)), np.ones((1, 3)))
    with pytest.raises(BAD_INPUT, match="one per neuron"):
        theory.path_gradient(network, network.init(jax.random.key(0), 1.0), task)
