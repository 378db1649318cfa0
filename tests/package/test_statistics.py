"""Statistics: modes rebuild the correlations, effective datasets give Eq. 4."""

import jax
import numpy as np
import pytest
from bad_input import BAD_INPUT

from mdsgdln import networks, statistics, tasks
from mdsgdln.tasks import Task


@pytest.mark.parametrize("structure", ["tree", "ring", "cross"])
def test_modes_rebuild_the_correlations(structure):
    task = tasks.semantic(structure)
    modes = statistics.modes(task)
    moments = statistics.correlations(task)
    rebuilt = modes.left * modes.singular_values @ modes.right.T
    np.testing.assert_allclose(rebuilt, moments.input_output, atol=1e-12)
    np.testing.assert_allclose(modes.input_variances, 1 / 8)
    assert modes.coupling < 1e-12


def test_equal_singular_values_are_turned_to_diagonalise_the_inputs():
    turn, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(4, 4)))
    variances = np.array([1.0, 2.0, 3.0, 4.0])
    inputs = turn * np.sqrt(variances)[None, :] @ turn.T * 2  # Σ^x = turn diag(variances) turnᵀ
    cross = np.linalg.qr(np.random.default_rng(1).normal(size=(5, 4)))[0]  # all s equal
    targets = 4 * cross @ np.linalg.inv(inputs).T
    modes = statistics.modes(Task(inputs, targets))
    np.testing.assert_allclose(modes.singular_values, 1)
    np.testing.assert_allclose(sorted(modes.input_variances), variances)
    assert modes.coupling < 1e-12


def test_coupling_of_data_that_are_not_mutually_diagonalisable():
    rng = np.random.default_rng(0)
    assert statistics.modes(Task(rng.normal(size=(3, 9)), rng.normal(size=(2, 9)))).coupling > 0.05


def test_coupling_worked_out_by_hand():
    """Modes e₁ and e₂, Σ^x = (2 1; 1 2): √2 of the norm √10 is off the diagonal."""
    inputs = np.sqrt(2) * np.linalg.cholesky([[2.0, 1.0], [1.0, 2.0]])
    targets = 2 * np.diag([3.0, 1.0]) @ np.linalg.inv(inputs).T
    modes = statistics.modes(Task(inputs, targets))
    np.testing.assert_allclose(modes.singular_values, [3, 1])
    np.testing.assert_allclose(modes.input_variances, [2, 2])
    assert modes.coupling == pytest.approx(np.sqrt(1 / 5))


def test_alignment_worked_out_by_hand():
    left, right = np.eye(3)[:, :1], np.eye(2)[:, :1]
    maps = np.zeros((4, 3, 2))
    maps[:, 0, 0] = 3, 3, 3, 0
    maps[1, 1, 0] = 4  # sends it elsewhere, too: 3²/(5·3)
    maps[2, 0, 1] = -4  # sends something else there, too
    maps[3, 0, 1] = maps[3, 2, 0] = 1  # all of it elsewhere
    np.testing.assert_allclose(statistics.alignment(maps, left, right), [1, 0.6, 0.6, 0])
    tiny = np.array([0.0, 1e-200])[:, None, None] * maps[0]
    np.testing.assert_allclose(statistics.alignment(tiny, left, right), [0, 1])


def test_alignment_does_not_depend_on_the_basis_of_equal_modes():
    rng = np.random.default_rng(0)
    turn = np.linalg.qr(rng.normal(size=(2, 2)))[0]
    left, right, maps = (rng.normal(size=shape) for shape in ((5, 2), (4, 2), (3, 5, 4)))
    np.testing.assert_allclose(
        statistics.alignment(maps, left @ turn, right @ turn),
        statistics.alignment(maps, left, right),
    )


def test_no_linear_map_learns_of_the_residual():
    task = tasks.contextual(3, structures=["tree", "ring", "cross"])  # Σ^x has no inverse
    left = statistics.residual(task)
    np.testing.assert_array_equal(left.inputs, task.inputs)
    np.testing.assert_allclose(left.targets @ left.inputs.T, 0, atol=1e-12)
    learned = task.targets - left.targets
    fit = np.linalg.lstsq(np.asarray(task.inputs).T, np.asarray(learned).T)[0].T
    np.testing.assert_allclose(fit @ task.inputs, learned, atol=1e-12)


def test_no_mode_without_correlation():
    assert len(statistics.modes(Task(np.eye(3), np.zeros((2, 3)))).singular_values) == 0


def test_effective_dataset_gives_the_gated_correlations():
    rng = np.random.default_rng(0)
    task = Task(rng.normal(size=(3, 6)), rng.normal(size=(2, 6)))
    gates = rng.normal(size=(2, 6))
    network = networks.pathways(task, gates, 4, np.array([[1, 1, 1], [0, 1, 1]]))
    dataset = statistics.effective_dataset(network, task, ("input 1", "pathway 1", "output"))
    moments = statistics.correlations(dataset)
    seen = gates[1] * np.asarray(task.inputs)[1:]
    np.testing.assert_allclose(moments.input_output, np.asarray(task.targets) @ seen.T / 6)
    np.testing.assert_allclose(moments.input, seen @ seen.T / 6)


def test_path_may_be_given_by_its_edges():
    task = tasks.xor(1.0)
    network = networks.pathways(task, np.eye(4), 2)
    nodes = ("input", "pathway 2", "output")
    by_nodes = statistics.effective_dataset(network, task, nodes)
    by_edges = statistics.effective_dataset(network, task, network.graph.path_edges(nodes))
    np.testing.assert_array_equal(by_nodes.inputs, by_edges.inputs)


@pytest.mark.parametrize(
    "path", [("input", "output"), ("input", "pathway 0"), ("pathway 0", "output"), ("x",), ()]
)
def test_a_path_that_is_none_is_named(path):
    task = tasks.xor(1.0)
    network = networks.pathways(task, np.eye(4), 2)
    with pytest.raises(BAD_INPUT, match="path"):
        statistics.effective_dataset(network, task, path)


def test_gates_of_single_neurons_have_no_path_sum():
    task = tasks.xor(1.0)
    sizes, edges = {"x": 3, "h": 2, "y": 1}, [("x", "h"), ("h", "y")]
    network = networks.GatedNetwork(sizes, edges, node_gates={"h": np.ones((2, 4))})
    with pytest.raises(BAD_INPUT, match="one per neuron"):
        statistics.effective_dataset(network, task, ("x", "h", "y"))
    assert jax.tree.leaves(network)[0].shape == (2, 4)
