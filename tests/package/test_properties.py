"""What has to hold for any data and any weights, tried on drawn ones."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose as close

from mdsgdln import squared_error, statistics, tasks, theory, training
from mdsgdln.networks import GatedNetwork, LinearNetwork, ReLUNetwork, contextual_pathways

INPUTS, HIDDEN, OUTPUTS, SAMPLES = 3, 4, 2, 5
SIZES = (INPUTS, HIDDEN, OUTPUTS)
EDGES = [("x", "h"), ("h", "y")]
LINEAR, RELU = LinearNetwork(SIZES), ReLUNetwork(SIZES)


def gated(neurons, edge):
    """Return a network with a gate per hidden neuron and sample, and one per sample on an edge."""
    return GatedNetwork(
        dict(zip("xhy", SIZES, strict=True)), EDGES, {"h": neurons}, {EDGES[1]: edge}
    )


@pytest.fixture(params=range(3))
def drawn(request):
    """A generator, a task, weights of two layers and gates."""
    rng = np.random.default_rng(request.param)
    task = tasks.Task(rng.normal(size=(INPUTS, SAMPLES)), rng.normal(size=(OUTPUTS, SAMPLES)))
    weights = [jnp.array(rng.normal(size=size)) for size in ((HIDDEN, INPUTS), (OUTPUTS, HIDDEN))]
    return rng, task, weights, rng.integers(0, 2, (HIDDEN, SAMPLES)), rng.integers(0, 2, SAMPLES)


def by_edge(weights):
    return dict(zip(EDGES, weights, strict=True))


def test_the_order_of_neurons_does_not_matter(drawn):
    rng, task, (first, second), neurons, edge = drawn
    order = rng.permutation(HIDDEN)
    permuted = [first[order], second[:, order]]
    for network in (LINEAR, RELU):
        before = training.train(network, [first, second], task, 0.01, 3).losses
        close(training.train(network, permuted, task, 0.01, 3).losses, before, rtol=1e-12)
    before = squared_error(gated(neurons, edge), by_edge([first, second]), task)
    close(squared_error(gated(neurons[order], edge), by_edge(permuted), task), before, rtol=1e-12)


def test_the_order_of_samples_does_not_matter(drawn):
    rng, task, weights, *gate = drawn
    order = rng.permutation(SAMPLES)
    for network in (LINEAR, RELU, gated(*gate)):
        start = by_edge(weights) if isinstance(network, GatedNetwork) else weights
        before = training.train(network, start, task, 0.01, 3).losses
        after = training.train(network.take(order), start, task.take(order), 0.01, 3).losses
        close(after, before, rtol=1e-12)
    found, again = statistics.modes(task), statistics.modes(task.take(order))
    close(again.singular_values, found.singular_values, rtol=1e-10)
    close(again.input_variances, found.input_variances, rtol=1e-10)


def test_the_balance_of_layers_is_conserved(drawn):
    """W₁W₁ᵀ − W₂ᵀW₂ changes only by η² times the gradients' (here from the loss's slope)."""
    _, task, weights, *_ = drawn
    rate = 1e-3
    after = training.train(LINEAR, weights, task, rate, 1).weights

    def balance(layers):
        return layers[0] @ layers[0].T - layers[1].T @ layers[1]

    slopes = [(new - old) / rate for old, new in zip(weights, after, strict=True)]
    close(balance(after), balance(weights) + rate**2 * balance(slopes), atol=1e-12)


def test_modes_rebuild_the_correlation(drawn):
    _, task, *_ = drawn
    found, variance = statistics.modes(task), task.inputs @ task.inputs.T / SAMPLES
    rebuilt = found.left * found.singular_values @ found.right.T
    close(rebuilt, task.targets @ task.inputs.T / SAMPLES, atol=1e-12)
    close(found.input_variances, np.diag(found.right.T @ variance @ found.right), atol=1e-12)
    largest = np.abs(found.left).argmax(axis=0)
    assert (found.left[largest, np.arange(len(largest))] > 0).all()
    assert found.coupling > 0.01


@pytest.mark.parametrize("order", [[1, 0, 2], [2, 0, 1]])
def test_the_order_of_contexts_does_not_matter(order):
    """Contexts renamed, in inputs, targets and gates alike: the loss is predicted the same."""
    task, order = tasks.contextual(3, 4), np.array(order)
    network = contextual_pathways(task, 3, 2, 100)
    blocks = np.split(np.asarray(task.targets), 4)
    inputs = task.inputs[np.r_[:4, 4 + order]]
    renamed = tasks.Task(inputs, np.vstack([blocks[0], *(blocks[1 + c] for c in order)]))
    before, after = (
        np.asarray(theory.predict(network, 0.01, of, 0.1, 601).losses[::100])
        for of in (task, renamed)
    )
    close(after, before, atol=1e-5 * before[0])
    assert (before[1:-1] > 0.01 * before[0]).any()  # not all learned at once


@pytest.mark.parametrize("seed", range(3))
def test_path_sum_is_minus_the_gradient(seed):
    """Random graphs with shared and skip edges, several ends, gated nodes and edges."""
    rng = np.random.default_rng(seed)
    pairs = [(i, j) for i in range(7) for j in range(i + 1, 7)]
    edges = [pairs[k] for k in rng.choice(len(pairs), rng.integers(1, 12), replace=False)]
    sizes = {node: 2 + node % 2 for node in sorted({node for edge in edges for node in edge})}
    gates = [
        {place: rng.integers(0, 2, 12) if seed % 2 else rng.normal(size=12)
         for place in places if rng.random() < 0.5}
        for places in (sizes, edges)
    ]  # fmt: skip
    network = GatedNetwork(sizes, edges, *gates)
    graph = network.graph
    inputs, targets = (
        rng.normal(size=(sum(sizes[node] for node in nodes), 12))
        for nodes in (graph.input_nodes, graph.output_nodes)
    )
    task = tasks.Task(inputs, targets)
    weights = {(s, t): jnp.asarray(rng.normal(size=(sizes[t], sizes[s]))) for s, t in edges}
    flow = theory.path_gradient(network, weights, task)
    gradient = jax.jit(jax.grad(squared_error, argnums=1))(network, weights, task)
    size = np.sqrt(sum(float((g**2).sum()) for g in gradient.values()))
    error = np.sqrt(sum(float(((flow[e] + gradient[e]) ** 2).sum()) for e in graph.edges))
    assert error <= 1e-10 * max(size, 1e-6)


def test_paths_of_a_graph_with_skip_and_shared_edges():
    edges = [("a", "h"), ("b", "h"), ("h", "k"), ("k", "y"), ("h", "y")]
    found = GatedNetwork(dict.fromkeys("abhky", 1), edges).graph.paths
    assert sorted(map("".join, found)) == ["ahky", "ahy", "bhky", "bhy"]
