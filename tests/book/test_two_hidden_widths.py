"""Gated networks with two hidden layers and fewer neurons."""

import jax
import numpy as np
import pytest

from mdsgdln import networks
from mdsgdln_book.experiments import depth_reuse, two_hidden, two_hidden_widths


def test_sigma_keeps_the_strength_of_a_layer():
    published = two_hidden.SCALE * np.sqrt(two_hidden.HIDDEN)
    for width in two_hidden_widths.WIDTHS:
        assert two_hidden_widths.scale_of(width) * np.sqrt(width) == pytest.approx(published)


def test_modules_that_are_off_add_nothing_and_are_not_trained():
    network, task = two_hidden_widths.without_modules(), two_hidden.TASKS["trees"]
    weights = two_hidden_widths.modular().init(jax.random.key(0), 0.1)
    silent = {
        edge: 0 * matrix if edge[0] in network.node_gates else matrix
        for edge, matrix in weights.items()
    }
    outputs = network.apply(weights, task.inputs)
    assert outputs == pytest.approx(network.apply(silent, task.inputs))
    slopes = jax.grad(lambda w: ((network.apply(w, task.inputs) - task.targets) ** 2).sum())(
        weights
    )
    for edge, slope in slopes.items():
        assert np.any(slope) != bool(set(edge) & set(network.node_gates))


def test_the_stage_is_between_the_first_and_the_third_drop():
    assert 5000 < two_hidden_widths.second_drop() < 12_000


def test_merged_neurons_have_the_same_outputs():
    rng, task = np.random.default_rng(0), two_hidden.TASKS["trees"]
    # each gate is one of many neurons: all samples, none, a context
    side = np.array([1, -1, 1] * 60)
    first = side[:, None] + 0.01 * rng.normal(size=(180, 11))
    first[2::3, 8:] += [1, -9, -9]
    second = 1 + 0.01 * rng.normal(size=(90, 180))
    last = rng.normal(size=(60, 90))
    few = two_hidden_widths.without_repetition([first, second, last], task, 0)
    assert (len(few[0]), len(few[1])) < (90, 45)
    relu = networks.ReLUNetwork((11, len(few[0]), len(few[1]), 60))
    targets = np.asarray(task.targets)
    before = networks.ReLUNetwork((11, 180, 90, 60)).apply((first, second, last), task.inputs)
    after = relu.apply(few, task.inputs)
    np.testing.assert_allclose(targets.T @ after, targets.T @ before, rtol=1e-8)


def test_a_neuron_of_two_contexts_serves_two_thirds():
    inputs = np.asarray(two_hidden.TASKS["trees"].inputs)
    neuron = np.zeros((1, 11))
    neuron[0, -3:] = [1, 1, -1]
    shares = depth_reuse.served([neuron, np.ones((1, 1)), np.ones((60, 1))], inputs)
    np.testing.assert_allclose(shares, 2 / 3)
    mixed = depth_reuse.served([neuron, np.ones((60, 1))], inputs, jax.random.key(0))
    assert mixed[1, 0] > 0.8  # its activity is spread over all contexts
