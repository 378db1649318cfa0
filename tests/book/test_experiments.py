"""Small parts of experiments and of what they use, where what they return is known."""

import jax
import numpy as np
import pytest
from numpy.testing import assert_allclose as close, assert_array_equal as equal

from mdsgdln import cross_entropy, logistic, networks, squared_error, tasks, theory
from mdsgdln_book import dynamics, linear_maps
from mdsgdln_book.experiments import context_reuse, pictures, tree_symmetry, two_hidden


def test_a_neuron_of_two_contexts_serves_two_thirds():
    inputs = np.asarray(two_hidden.TASKS["trees"].inputs)
    neuron = np.zeros((1, 11))
    neuron[0, -3:] = [1, 1, -1]
    shares = context_reuse.shares_of_contexts([neuron, np.ones((1, 1)), np.ones((60, 1))], inputs)
    close(shares, 2 / 3)
    mixed = context_reuse.shares_of_contexts([neuron, np.ones((60, 1))], inputs, jax.random.key(0))
    assert mixed[1, 0] > 0.8  # its activity is spread over all contexts


def test_trees_of_eight_items_leave_twelve_classes():
    """Their outputs are turned, which changes no second moments."""
    for num_contexts in (2, 3, 4):
        task = tree_symmetry.tree_task(num_contexts)
        generators = tree_symmetry.tree_symmetries(num_contexts)
        assert tree_symmetry.symmetry_classes(task, generators).max() == 11
        plain = tasks.contextual(num_contexts).targets
        close(task.targets.T @ task.targets, plain.T @ plain, atol=1e-12)


def test_mnist_is_read_from_its_original_files(tmp_path, monkeypatch):
    """A file holds 0, 0, 8, the number of dimensions, sizes and entries."""

    def write(file, entries):
        header = bytes([0, 0, 8, entries.ndim]) + np.array(entries.shape, ">i4").tobytes()
        file.write_bytes(header + entries.astype(np.uint8).tobytes())

    pixels = np.random.default_rng(0).integers(0, 256, (3, 28, 28))
    for part, chosen in {"train": slice(2), "t10k": slice(2, 3)}.items():
        write(tmp_path / f"{part}-images-idx3-ubyte", pixels[chosen])
        write(tmp_path / f"{part}-labels-idx1-ubyte", np.array([7, 0, 1])[chosen])
    monkeypatch.setenv("MNIST", str(tmp_path))
    found = pictures.load_mnist()
    close(found.inputs.T.reshape(3, 28, 28), pixels / 255, rtol=1e-14)
    assert found.targets.T.tolist() == np.eye(10)[[7, 0, 1]].tolist()


def test_alignment_worked_out_by_hand():
    left, right = np.eye(3)[:, :1], np.eye(2)[:, :1]
    maps = np.zeros((4, 3, 2))
    maps[:, 0, 0] = 3, 3, 3, 0
    maps[1, 1, 0] = 4  # sends it elsewhere, too: 3²/(5·3)
    maps[2, 0, 1] = -4  # sends something else there, too
    maps[3, 0, 1] = maps[3, 2, 0] = 1  # all of it elsewhere
    close(linear_maps.alignment(maps, left, right), [1, 0.6, 0.6, 0])
    tiny = np.array([0.0, 1e-200])[:, None, None] * maps[0]
    close(linear_maps.alignment(tiny, left, right), [0, 1])


def test_alignment_does_not_depend_on_the_basis_of_equal_modes():
    rng = np.random.default_rng(0)
    turn = np.linalg.qr(rng.normal(size=(2, 2)))[0]
    left, right, maps = (rng.normal(size=shape) for shape in ((5, 2), (4, 2), (3, 5, 4)))
    turned = linear_maps.alignment(maps, left @ turn, right @ turn)
    close(turned, linear_maps.alignment(maps, left, right))


def test_the_linear_part_is_the_fit_of_least_squares_and_the_rest_teaches_no_linear_map():
    task = tasks.contextual(3, structures=["tree", "ring", "cross"])  # Σ^x has no inverse
    inputs, targets = np.asarray(task.inputs), np.asarray(task.targets)
    fit = np.linalg.lstsq(inputs.T, targets.T)[0].T
    part, rest = linear_maps.linear_part(task), linear_maps.linear_residual(task)
    for found, expected in ((part, fit @ inputs), (rest, targets - fit @ inputs)):
        equal(found.inputs, task.inputs)
        close(found.targets, expected, atol=1e-12)
    close(rest.targets @ rest.inputs.T, 0, atol=1e-12)


def test_balanced_weights_are_what_grows_of_a_draw():
    """W₁ = Σ c vᵀ and W₂ = Σ u cᵀ with c = (W₁v + W₂ᵀu)/2: again their own, and balanced."""
    task = tasks.contextual(3, 4)
    network = networks.contextual_pathways(task, 3, 2, 20)
    weights = jax.tree.map(np.asarray, network.init(jax.random.key(0), 0.2))
    grown = jax.tree.map(np.asarray, dynamics.balanced_weights(network, task, weights))
    again = dynamics.balanced_weights(network, task, grown)
    for path, found in theory.pathway_modes(network, task).items():
        into, out = network.graph.path_edges(path)
        starts = dynamics.measured_initial_strength(weights[into], weights[out], found)
        close(np.sum((grown[into] @ found.right) ** 2, axis=0), starts)
        close(grown[into] @ grown[into].T, grown[out].T @ grown[out])
        close(again[into], grown[into], atol=1e-12)
    small = theory.stand_in(network, grown, task)
    close(squared_error(*small), squared_error(network, grown, task), rtol=1e-10)


@pytest.mark.parametrize(
    ("loss", "clock"), [(logistic, 4), (cross_entropy, 3)], ids=["logistic", "softmax"]
)
def test_other_losses_begin_as_the_squared_error_on_other_targets(loss, clock):
    """A logistic loss as on targets 4y − 2, a softmax of q classes as on q y − 1, slower."""
    targets = np.eye(3)[:, [0, 1, 2, 2, 1]]
    inputs = np.random.default_rng(0).normal(size=(4, 5))
    network = networks.LinearNetwork((4, 6, 3))
    weights = network.init(jax.random.key(0), 1e-4)
    gradient = jax.grad(loss, argnums=1)(network, weights, tasks.Task(inputs, targets))
    other = tasks.Task(inputs, 4 * targets - 2 if loss is logistic else 3 * targets - 1)
    squared = jax.grad(squared_error, argnums=1)(network, weights, other)
    for found, expected in zip(gradient, squared, strict=True):
        close(clock * found, expected, atol=1e-6 * np.abs(expected).max())
