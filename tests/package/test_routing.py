"""Routing between domains: its task, its network, and its reduction at any depth."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose as close

from mdsgdln import networks, squared_error, tasks, theory, training

pytestmark = [
    pytest.mark.usefixtures("compiled_in_less_time"),
    pytest.mark.xdist_group("routing"),  # its programs are compiled once
]
KEY = jax.random.key(0)


def test_each_input_domain_is_trained_with_its_neighbours():
    trained = tasks.trained_routes(7, 4)
    assert np.flatnonzero(trained[3]).tolist() == [2, 3, 4, 5]  # i − ⌊3/2⌋ … i + ⌊4/2⌋
    assert np.flatnonzero(tasks.trained_routes(7, 5)[3]).tolist() == [1, 2, 3, 4, 5]
    assert (trained.sum(axis=0) == 4).all() and (trained.sum(axis=1) == 4).all()
    assert tasks.trained_routes(5, 1).tolist() == np.eye(5, dtype=bool).tolist()


def test_items_of_the_hierarchy_are_the_published_ones():
    task = tasks.hierarchy()
    assert task.inputs.tolist() == np.eye(4).tolist()
    assert task.targets[:, 0].tolist() == [6, 4, 0, 3, 0, 0, 0]
    assert task.targets[:, 3].tolist() == [6, 0, 4, 0, 0, 0, 3]


def test_a_sample_is_an_item_in_one_input_domain():
    task = tasks.routing(3, 2)
    assert task.inputs.shape == (12, 12) and task.targets.shape == (21, 12)
    assert (task.inputs == np.eye(12)).all()
    items = tasks.hierarchy().targets
    assert (task.targets[7:14, 4:8] == items).all()  # input 1, output 1: trained
    assert (task.targets[:7, 4:8] == 0).all()  # input 1, output 0: not


def test_maps_transform_the_data_of_each_domain():
    items = tasks.hierarchy()
    swap = np.eye(4)[[1, 0, 2, 3]]
    task = tasks.routing(2, 2, items, [np.eye(4), swap], [np.eye(7), np.eye(7)[:3]])
    assert task.targets.shape == (10, 8)
    assert (task.inputs[4:, 4:] == swap).all()
    assert (task.targets[7:, :4] == items.targets[:3]).all()


def test_answering_all_outputs_at_once_has_the_gradient_of_one_by_one():
    num_domains, num_trained = 3, 2
    task = tasks.routing(num_domains, num_trained)
    network = networks.routing_network(task, num_domains, num_trained, 6)
    assert {len(path) for path in network.graph.paths} == {4}  # two hidden layers by default
    weights = network.init(KEY, 0.3)
    trained = tasks.trained_routes(num_domains, num_trained)
    routes = [(i, j) for i, j in np.argwhere(trained)]
    inputs = np.hstack([task.inputs[:, 4 * i : 4 * i + 4] for i, _ in routes])
    wanted = np.zeros((21, inputs.shape[1]))
    gates = {f"output {j}": np.zeros(inputs.shape[1]) for j in range(num_domains)}
    for number, (_, j) in enumerate(routes):
        columns = slice(4 * number, 4 * number + 4)
        wanted[7 * j : 7 * j + 7, columns] = tasks.hierarchy().targets
        gates[f"output {j}"][columns] = 1
    one_by_one = networks.GatedNetwork(dict(network.graph.sizes), network.graph.edges, gates)
    separate = tasks.Task(inputs, wanted)
    gradient = jax.jit(jax.grad(squared_error, argnums=1))
    together, apart = gradient(network, weights, task), gradient(one_by_one, weights, separate)
    for edge in network.graph.edges:  # the mean runs over Q times as many samples
        close(together[edge], num_trained * apart[edge], atol=1e-12)


def test_training_from_decoupled_weights_is_the_reduction():
    task = tasks.routing(4, 3)
    network = networks.routing_network(task, 4, 3, 8, num_layers=3, num_sharing=2)
    assert len(network.graph.paths) == 16
    weights = theory.decoupled_weights(network, task, 0.3, key=KEY)
    rate, steps = 0.005, 200
    run = training.train(network, weights, task, rate, steps)
    predicted = theory.shared_race(network, task, 0.3, rate * np.arange(steps), learning_rate=rate)
    close(predicted.losses, run.losses, rtol=1e-10, atol=1e-12)
    times = rate * np.arange(steps)
    flow = theory.shared_race(network, task, 0.3, times).losses
    half = theory.shared_race(network, task, 0.3, times, learning_rate=rate / 2).losses
    ratio = abs(flow - predicted.losses).max() / abs(flow - half).max()
    assert 1.8 < ratio < 2.2  # half the step, half the difference


def test_the_reduction_agrees_with_the_two_layer_race():
    """Of a task that is not all learned: each item comes twice, with answers that differ."""
    tree, apart = tasks.semantic("tree", 4), np.random.default_rng(0).normal(size=(7, 4))
    targets = np.hstack([tree.targets + apart, tree.targets - apart])
    task = tasks.Task(np.hstack([tree.inputs, tree.inputs]), targets)
    network = networks.pathways(task, np.ones((1, 8)), 10)
    times = jnp.linspace(0, 60, 40)
    race = theory.pathway_race(network, task, 0.01, times)
    edges = theory.shared_race(network, task, 0.1, times)  # b² = a
    close(edges.losses, race.losses, atol=1e-6)
    first, second = edges.strengths.values()
    (strengths,) = race.strengths.values()
    close(first * second, strengths, atol=1e-6)


def test_strengths_of_the_descent_are_those_of_the_trained_weights():
    task = tasks.semantic("tree", 4)
    network = networks.pathways(task, np.ones((1, 4)), 10)
    weights = theory.decoupled_weights(network, task, 0.1, key=KEY)
    weights = training.train(network, weights, task, 0.05, 60).weights
    (trained,) = theory.pathway_strengths(weights, theory.pathway_modes(network, task)).values()
    first, second = theory.shared_race(
        network, task, 0.1, 0.05 * np.arange(61), learning_rate=0.05
    ).strengths.values()
    close(first[:, 0], 0.1)
    close(first[:, -1] * second[:, -1], trained, rtol=1e-9)
    close(first, second, rtol=1e-9)
