"""One step beside the chapters: names of NumPy, gates, jit."""

import jax
import numpy as np
import pytest
from bad_input import BAD_INPUT

from mdsgdln import gates, networks, statistics, tasks, theory, training

KEY = jax.random.key(0)
TASK = tasks.semantic(num_items=4)


@pytest.mark.parametrize("labels", [np.array(list("abcd")), np.arange(4), tuple("abcd")])
def test_labels_of_numpy(labels):
    task = tasks.Task(np.eye(4), np.eye(4), labels=labels)
    assert task.labels == tuple(map(str, labels))
    assert all(type(label) is str for label in task.labels)
    assert task.take([2]).labels == (str(labels[2]),)
    network = networks.LinearNetwork((4, 3, 4))
    training.train(network, network.init(KEY, 0.1), task, 0.1, 2)  # they are static data


def test_a_list_of_layers_for_a_graph_is_refused():
    network = networks.pathways(TASK, np.eye(4)[:3], [2, 1, 3])
    layers = [np.ones((6, 4)), np.ones((7, 6))]
    for call in (
        lambda: network.apply(layers, TASK.inputs),
        lambda: training.train(network, layers, TASK, 0.1, 2),
    ):
        with pytest.raises(BAD_INPUT, match="weights"):
            call()


@pytest.mark.parametrize("scale", [[0.1], [0.1, 0.1, 0.1]])
def test_scales_of_the_wrong_number_are_refused_in_words(scale):
    network = networks.LinearNetwork((4, 3, 7))
    gated = networks.pathways(TASK, np.ones((1, 4)), 3)
    for each in (network, gated):
        with pytest.raises(BAD_INPUT, match="scale: expected a number or 2, got"):
            each.init(KEY, scale)


def test_gates_have_one_type():
    """Floating-point numbers of the precision that is set, wherever they come from."""
    relu = networks.ReLUNetwork((4, 3, 7))
    weights = relu.init(KEY, 0.5)
    on = gates.context_gates(2, 2, [(0, 1), (0,)])
    found = [
        on,
        relu.gates(weights, TASK.inputs)[0],
        *networks.pathways(TASK, on.astype(bool), 2).node_gates.values(),
        *networks.pathways(TASK, on.astype(int), 2).node_gates.values(),
    ]
    assert {np.asarray(each).dtype for each in found} == {np.dtype(float)}


def test_a_compiled_function_of_a_task_trains_and_theory_says_that_it_needs_numbers():
    network = networks.LinearNetwork((4, 3, 7))
    weights = network.init(KEY, 0.5)
    losses = jax.jit(lambda task: training.train(network, weights, task, 0.1, 5).losses)(TASK)
    np.testing.assert_allclose(losses, training.train(network, weights, TASK, 0.1, 5).losses)
    np.testing.assert_allclose(
        jax.jit(training.loss)(network, weights, TASK), losses[0], rtol=1e-12
    )
    for function in (
        statistics.modes,
        statistics.residual,
        statistics.condensed,
        lambda task: theory.predict_losses(network, task, 0.1, np.arange(3.0)),
    ):
        with pytest.raises(ValueError, match="task: expected numbers, got what JAX traces"):
            jax.jit(function)(TASK)
