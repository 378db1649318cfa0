"""Which contexts neurons prefer: by formula, kept by the linear flow, and let go in this order."""

import jax
import numpy as np
import pytest
from bad_input import BAD_INPUT

from mdsgdln import networks, tasks, theory, training

KEY = jax.random.key(0)
TWICE = tasks.contextual(3, 4).take(np.tile(np.arange(12), 2))


def setting(num_contexts, num_items, num_hidden, scale, structures=None):
    task = tasks.contextual(num_contexts, num_items, structures)
    network = networks.ReLUNetwork((len(task.inputs), num_hidden, len(task.targets)))
    contexts = np.repeat(np.arange(num_contexts), num_items)
    return network, network.init(KEY, scale), task, contexts


def test_it_is_the_formula_where_blocks_are_equal():
    network, weights, task, contexts = setting(3, 4, 20, 0.1)
    first, second = map(np.asarray, weights)
    block = tasks.structure("tree", 4).mean(axis=1)
    told = first[:, 4:] - first[:, 4:].mean(axis=1, keepdims=True)
    asked = second[len(block) :].reshape(3, len(block), -1)
    asked = np.einsum("r,crh->hc", block / np.linalg.norm(block), asked - asked.mean(axis=0))
    found = theory.context_preference(network, weights, task, contexts)
    np.testing.assert_allclose(found, told + asked, atol=1e-12)
    order = np.random.default_rng(0).permutation(len(contexts))
    again = theory.context_preference(network, weights, task.take(order), contexts[order])
    np.testing.assert_allclose(again, found, atol=1e-12)


@pytest.mark.parametrize("num_contexts", [3, 5])
def test_a_neuron_that_is_on_everywhere_keeps_its_order(num_contexts):
    """On the targets, where ρ = 1, the linear flow of a neuron multiplies a by ‖F̄‖/C."""
    network, weights, task, contexts = setting(num_contexts, 4, 20, 0.1)
    first, second = map(np.asarray, weights)
    drive = np.asarray(task.targets @ task.inputs.T) / task.num_samples
    velocity = [second.T @ drive, drive @ first.T]
    before, grown = (
        theory.context_preference(network, at, task, contexts) for at in (weights, velocity)
    )
    rate = np.linalg.norm(tasks.structure("tree", 4).mean(axis=1)) / num_contexts
    np.testing.assert_allclose(grown, rate * before, atol=1e-12)


def test_the_context_preferred_least_is_let_go():
    network, weights, task, contexts = setting(3, 8, 300, 1e-4)
    preferred = theory.context_preference(network, weights, task, contexts)
    run = training.train(network, weights, task, 0.1, 1500)
    first, second = map(np.asarray, run.weights)
    on = (first @ np.asarray(task.inputs) > 0).reshape(300, 3, 8).mean(axis=2) > 0.5
    weight = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=0)
    two = on.sum(axis=1) == 2
    right = preferred.argmin(axis=1) == on.argmin(axis=1)
    assert weight[two].sum() > 0.5 * weight.sum()
    assert weight[two & right].sum() > 0.85 * weight[two].sum()  # chance: a third


def test_contexts_without_a_mean_of_their_own_are_told():
    centred = tasks.structure("tree", 4) - tasks.structure("tree", 4).mean(axis=1, keepdims=True)
    network, weights, task, contexts = setting(3, 4, 5, 0.1, [centred] * 3)
    with pytest.warns(UserWarning, match="the same mean target"):
        theory.context_preference(network, weights, task, contexts)


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"contexts": [0, 1]}, "contexts"),
        ({"contexts": np.zeros(12)}, "contexts"),
        ({"task": TWICE, "contexts": np.repeat([0, 1], 12)}, "contexts"),
        ({"network": networks.ReLUNetwork((7, 5, 5, 28))}, "network"),
    ],
)
def test_bad_preferences_are_named(change, name):
    network, weights, task, contexts = setting(3, 4, 5, 0.1)
    call = {"network": network, "weights": weights, "task": task, "contexts": contexts} | change
    with pytest.raises(BAD_INPUT, match=name):
        theory.context_preference(**call)
