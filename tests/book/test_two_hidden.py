"""The published network with two hidden layers is trained as published."""

import jax
import numpy as np
import pytest

from mdsgdln import networks, squared_error
from mdsgdln_book.experiments import two_hidden, two_hidden_staged


@pytest.fixture(scope="module")
def parts():
    """The network, weights that are not small, and the task of trees."""
    network, scale, _ = two_hidden_staged.modular_network()
    weights = network.init(jax.random.key(0), {edge: 0.05 for edge in scale})
    return network, weights, two_hidden.TASKS["trees"]


def by_hand(network, weights, task):
    """Return the published gradient: what each part descends, written out for every edge."""
    w = {edge: np.asarray(weight) for edge, weight in weights.items()}
    inputs, targets = np.asarray(task.inputs), np.asarray(task.targets)
    hidden = w["input", "first"] @ inputs
    outputs = {
        name: w[name, "output"] @ (np.asarray(gate) * (w["first", name] @ hidden))
        for name, gate in {"common": np.ones(24), **network.node_gates}.items()
    }
    errors = {name: sum(outputs.values()) - targets for name in outputs}
    errors["common"] = outputs["common"] - targets
    found, into_first = {}, 0
    for name, error in errors.items():
        gate = np.asarray(network.node_gates.get(name, np.ones(24)))
        back = gate * (w[name, "output"].T @ error)
        found[name, "output"] = error @ (gate * (w["first", name] @ hidden)).T / 24
        found["first", name] = back @ hidden.T / 24
        into_first = into_first + w["first", name].T @ back
    return found | {("input", "first"): into_first @ inputs.T / 24}


def test_the_published_update_is_not_the_gradient_of_the_loss(parts):
    network, weights, task = parts
    value, gradient = jax.value_and_grad(two_hidden_staged.one_after_other, argnums=1)(
        network, weights, task
    )
    assert np.isclose(value, squared_error(network, weights, task))
    expected = by_hand(*parts)
    assert gradient.keys() == expected.keys()
    for edge, one in gradient.items():
        np.testing.assert_allclose(one, expected[edge], rtol=1e-6, atol=1e-9)


def test_modules_of_the_first_stage_are_off(parts):
    network, weights, task = parts
    graph = network.graph
    off = networks.GatedNetwork(
        dict(graph.sizes), graph.edges, {name: np.zeros(24) for name in network.node_gates}
    )
    gradient = jax.grad(two_hidden_staged.common_alone, argnums=1)(network, weights, task)
    expected = jax.grad(squared_error, argnums=1)(off, weights, task)
    for edge, one in gradient.items():
        np.testing.assert_allclose(one, expected[edge], rtol=1e-6, atol=1e-12)
