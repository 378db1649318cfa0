"""Statistics: modes rebuild the correlations, effective datasets give Eq. 4, paths the gradient."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose as close

from mdsgdln import networks, squared_error, statistics, tasks, theory
from mdsgdln.networks import GatedNetwork
from mdsgdln.tasks import Task


@pytest.mark.parametrize("seed", range(3))
def test_modes_rebuild_the_correlation_whatever_the_order_of_samples(seed):
    rng = np.random.default_rng(seed)
    task = Task(rng.normal(size=(3, 5)), rng.normal(size=(2, 5)))
    again = statistics.modes(task.take(rng.permutation(5)))
    found, variance = statistics.modes(task), task.inputs @ task.inputs.T / 5
    rebuilt = found.left * found.singular_values @ found.right.T
    close(rebuilt, task.targets @ task.inputs.T / 5, atol=1e-12)
    close(found.input_variances, np.diag(found.right.T @ variance @ found.right), atol=1e-12)
    largest = np.abs(found.left).argmax(axis=0)
    assert (found.left[largest, np.arange(len(largest))] > 0).all()
    assert found.coupling > 0.01
    close(again.left, found.left, atol=1e-10)
    close(again.singular_values, found.singular_values, rtol=1e-10)


def test_equal_singular_values_are_turned_to_diagonalise_the_inputs():
    turn, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(4, 4)))
    variances = np.array([1.0, 2.0, 3.0, 4.0])
    inputs = turn * np.sqrt(variances)[None, :] @ turn.T * 2  # Σ^x = turn diag(variances) turnᵀ
    cross = np.linalg.qr(np.random.default_rng(1).normal(size=(5, 4)))[0]  # all s equal
    modes = statistics.modes(Task(inputs, 4 * cross @ np.linalg.inv(inputs).T))
    close(modes.singular_values, 1)
    close(sorted(modes.input_variances), variances)
    assert modes.coupling < 1e-12


def test_coupling_worked_out_by_hand():
    """Modes e₁ and e₂, Σ^x = (2 1; 1 2): √2 of the norm √10 is off the diagonal."""
    inputs = np.sqrt(2) * np.linalg.cholesky([[2.0, 1.0], [1.0, 2.0]])
    modes = statistics.modes(Task(inputs, 2 * np.diag([3.0, 1.0]) @ np.linalg.inv(inputs).T))
    close(modes.singular_values, [3, 1])
    close(modes.input_variances, [2, 2])
    assert modes.coupling == pytest.approx(np.sqrt(1 / 5))
    none = statistics.modes(Task(np.eye(3), np.zeros((2, 3))))
    assert len(none.singular_values) == 0 and none.coupling == 0


def test_effective_dataset_gives_the_gated_correlations():
    rng = np.random.default_rng(0)
    task = Task(rng.normal(size=(3, 6)), rng.normal(size=(2, 6)))
    gates = rng.normal(size=(2, 6))
    network = networks.pathways(task, gates, 4, np.array([[1, 1, 1], [0, 1, 1]]))
    path = ("input 1", "pathway 1", "output")
    dataset = statistics.effective_dataset(network, task, path)
    gated = gates[1] * np.asarray(task.inputs)[1:]
    close(dataset.targets @ dataset.inputs.T, np.asarray(task.targets) @ gated.T)
    close(dataset.inputs @ dataset.inputs.T, gated @ gated.T)


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
