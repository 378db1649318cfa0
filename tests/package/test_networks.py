"""Networks: forward passes against plain matrix products, initial weights, gates, views."""

import pickle
from copy import deepcopy
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from bad_input import refused
from numpy.testing import assert_allclose as close, assert_array_equal as equal

from mdsgdln import networks, tasks, training
from mdsgdln.networks import GatedNetwork, Layered, LinearNetwork, ReLUNetwork, pathways
from mdsgdln.tasks import Task

KEY = jax.random.key(0)


RNG = np.random.default_rng(0)
TASK = Task(RNG.normal(size=(3, 7)), RNG.normal(size=(2, 7)))
PATHWAYS = pathways(TASK, np.eye(7)[:3], [2, 3, 4])
WEIGHTS = PATHWAYS.init(KEY, 1.0)
OUTPUTS = PATHWAYS.apply(WEIGHTS, TASK.inputs)
TANH = partial(Layered, activation=jnp.tanh)


@pytest.mark.parametrize("biases", [False, True, [True, False, True], [False, False, True]])
@pytest.mark.parametrize(
    ("activation", "kind"),
    [(lambda z: z, LinearNetwork), (lambda z: np.maximum(z, 0), ReLUNetwork), (np.tanh, TANH)],
    ids=["linear", "ReLU", "tanh"],
)
def test_layers_are_matrix_products_and_a_relu_is_its_own_gate(activation, kind, biases):
    network = kind((3, 5, 4, 2), biases=biases)
    weights = network.init(KEY, [0.5, (2.0, 1.0) if biases is True else 2.0, (1.0, 0.3)])
    network.check(weights, TASK)
    activity = TASK.inputs
    for index, layer in enumerate(weights):
        matrix, bias = layer if network.biases[index] else (layer, np.zeros(len(layer)))
        activity = matrix @ activity + bias[:, None]
        activity = activation(activity) if index < 2 else activity
    close(network.apply(weights, TASK.inputs), activity, rtol=1e-12)
    if kind is ReLUNetwork:
        gates = network.gates(weights, TASK.inputs)
        close(network.apply(weights, TASK.inputs, gates), activity, rtol=1e-12)


def test_biases_are_drawn_as_their_weights_or_as_is_said():
    plain, network = ReLUNetwork((3, 500, 4)), ReLUNetwork((3, 500, 4), biases=True)
    alone = plain.init(KEY, 0.5)
    for scale, sigmas in [(0.5, (0.5, 0.5)), ([(0.5, 0.0), (0.5, 2.0)], (0.0, 2.0))]:
        weights = network.init(KEY, scale)
        for (matrix, bias), without, sigma in zip(weights, alone, sigmas, strict=True):
            equal(matrix, without)
            assert bias.shape == (len(matrix),)
            rtol = 5 / np.sqrt(2 * len(bias))  # five standard errors of a standard deviation
            close(np.sqrt(np.mean(np.square(bias))), sigma, rtol=rtol)


def test_weights_without_their_biases_and_biases_of_gated_networks_are_refused():
    network = LinearNetwork((3, 5, 2), [False, True])
    weights = network.init(KEY, 1.0)
    with refused(r"weights\[1\]: expected a pair \(W, b\), as this layer has a bias"):
        network.check(LinearNetwork((3, 5, 2)).init(KEY, 1.0), TASK)
    with refused(r"weights\[1\]\[1\]: expected shape \(2,\)"):
        network.check([weights[0], (weights[1][0], np.ones(3))], TASK)
    with refused(r"weights\[1\]"):
        LinearNetwork((3, 5, 2)).check(weights, TASK)
    with refused("network: expected a network without biases"):
        network.as_gated()


@pytest.mark.parametrize(("inputs", "hidden"), [(26, 40), (3, 2731)])  # 3 · 2731 is 2¹³ + 1
@pytest.mark.parametrize("kind", [LinearNetwork, ReLUNetwork, GatedNetwork])
def test_initial_weights_are_the_numbers_that_jax_draws(kind, inputs, hidden):
    shapes = [(hidden, inputs), (3, hidden)]
    sizes, edges = {"x": inputs, "h": hidden, "y": 3}, [("x", "h"), ("h", "y")]
    network = kind(sizes, edges) if kind is GatedNetwork else kind((inputs, hidden, 3))
    drawn = zip(jax.random.split(KEY, 2), shapes, (2.0, 0.5), strict=True)
    expected = [scale * jax.random.normal(key, shape) for key, shape, scale in drawn]
    for init in (network.init, jax.jit(network.init)):
        weights = init(KEY, [2.0, 0.5])
        found = [weights[edge] for edge in edges] if kind is GatedNetwork else weights
        for one, other in zip(found, expected, strict=True):
            equal(one, other)


def test_orthogonal_weights_have_one_singular_value():
    network = GatedNetwork({"x": 3, "h": 5, "y": 2}, [("x", "h"), ("h", "y")])
    weights = jax.tree.leaves(network.init_orthogonal(0.3, key=KEY))
    assert sorted(weight.shape for weight in weights) == [(2, 5), (5, 3)]
    for weight in weights:
        close(jnp.linalg.svd(weight, compute_uv=False), 0.3)


def test_gated_forward_pass_of_a_graph_with_skip_edge_and_two_ends():
    rng = np.random.default_rng(0)
    network = GatedNetwork(
        {"a": 2, "b": 3, "h": 4, "y": 2, "z": 1},
        [("a", "h"), ("b", "h"), ("h", "y"), ("a", "y"), ("h", "z")],
        node_gates={"h": rng.normal(size=(4, 6)), "y": rng.normal(size=6), "b": rng.normal(size=6)},
        edge_gates={("a", "y"): rng.normal(size=6), ("a", "h"): rng.normal(size=(4, 6))},
    )
    w = network.init(KEY, 1.0)
    inputs = rng.normal(size=(5, 6))
    a, b = inputs[:2], inputs[2:] * network.node_gates["b"][None, :]
    h = network.node_gates["h"] * (
        network.edge_gates["a", "h"] * (w["a", "h"] @ a) + w["b", "h"] @ b
    )
    skip = network.edge_gates["a", "y"][None, :] * (w["a", "y"] @ a)
    y = network.node_gates["y"][None, :] * (w["h", "y"] @ h + skip)
    close(network.apply(w, inputs), np.vstack([y, w["h", "z"] @ h]), atol=1e-12)


def test_given_gates_replace_all_stored_ones_and_take_follows_the_samples():
    plain = GatedNetwork(PATHWAYS.graph.neurons, PATHWAYS.graph.edges).apply(WEIGHTS, TASK.inputs)
    close(PATHWAYS.apply(WEIGHTS, TASK.inputs, gates={}), plain)
    close(PATHWAYS.apply(WEIGHTS, TASK.inputs, gates=PATHWAYS.node_gates), OUTPUTS)
    columns = np.array([5, 0, 1])
    close(PATHWAYS.take(columns).apply(WEIGHTS, TASK.inputs[:, columns]), OUTPUTS[:, columns])


def test_masked_pathways_see_only_their_inputs():
    network = pathways(TASK, np.ones((3, 7)), 4, np.array([[1, 1, 1], [1, 0, 1], [1, 0, 1]]))
    weights = network.init(KEY, 1.0)
    assert network.graph.neurons["input 1"] == 2
    changed = TASK.inputs.at[1].set(9.0)
    difference = network.apply(weights, changed) - network.apply(weights, TASK.inputs)
    first, second = weights["input 0", "pathway 0"], weights["pathway 0", "output"]
    close(difference, second @ first @ (changed - TASK.inputs), atol=1e-12)
    alike = pathways(TASK, np.ones((2, 7)), 4, np.array([[1, 0, 1]] * 2))
    weights = alike.init(KEY, 1.0)
    close(alike.apply(weights, changed), alike.apply(weights, TASK.inputs))


def test_output_bias_is_added_to_pathways_on_every_sample():
    task, gates = tasks.with_ones(TASK), np.eye(7)[:2]
    network = pathways(task, gates, 3, output_bias=True)
    weights = network.init(KEY, 1.0)
    bias = weights.pop(("one", "output"))
    plain = pathways(task, gates, 3)
    close(
        network.apply({**weights, ("one", "output"): bias}, task.inputs),
        plain.apply(weights, task.inputs) + bias,
    )


def test_rows_place_inputs_and_outputs():
    rng = np.random.default_rng(1)
    edges = [("a", "h"), ("b", "h"), ("h", "y"), ("h", "z")]
    sizes = {"a": 2, "b": 1, "h": 4, "y": 2, "z": 1}
    network = GatedNetwork(sizes, edges)
    weights = network.init(KEY, 1.0)
    inputs = rng.normal(size=(3, 5))
    outputs = network.apply(weights, inputs)
    for y, z, order in (([1, 2], [0], [2, 0, 1]), ([0, 2], [1], [0, 2, 1])):
        rows = {"b": slice(0, 1), "a": slice(1, 3), "z": z, "y": np.array(y)}
        placed = GatedNetwork(sizes, edges, rows=rows)
        moved = placed.apply(weights, inputs[[2, 0, 1]])
        close(moved, outputs[np.array(order)], rtol=1e-12)
    for wrong in ({"h": [0]}, {"a": [0]}, {"a": [1, 1]}, {"a": slice(0, None)}):
        with pytest.raises(ValueError, match="rows"):
            GatedNetwork(sizes, edges, rows=wrong)
    for wrong, number in (({}, 4), ({"z": [1]}, 3), ({"z": [3]}, 4)):
        task = Task(inputs, rng.normal(size=(number, 5)))
        with refused("targets: .* each written once"):
            GatedNetwork(sizes, edges, rows=wrong).check(weights, task)


def test_networks_pass_through_transformations():
    apply = jax.jit(lambda network, weights: network.apply(weights, TASK.inputs))
    close(apply(PATHWAYS, WEIGHTS), OUTPUTS)
    stack = jax.tree.map(lambda gate: jnp.stack([gate, 0 * gate]), PATHWAYS)
    both = jax.vmap(lambda network: network.apply(WEIGHTS, TASK.inputs))(stack)
    close(both, [OUTPUTS, 0 * OUTPUTS], atol=1e-14)
    linear = LinearNetwork([3, 2])
    assert linear == LinearNetwork((3, 2)) != ReLUNetwork((3, 2))
    assert Layered((3, 2), jnp.tanh) == Layered((3, 2), jnp.tanh) != Layered((3, 2), jnp.sin)
    assert hash(linear) == hash(LinearNetwork((3, 2))) and not jax.tree.leaves(linear)


def test_gates_keep_their_places_through_transformations():
    """JAX sorts the nodes."""
    network = GatedNetwork(
        {"x": 2, "b": 3, "a": 4, "y": 1},
        [("x", "b"), ("b", "a"), ("a", "y")],
        node_gates={"x": np.ones((2, 5)), "a": np.arange(5.0), "b": np.ones(5)},
        edge_gates={("a", "y"): np.ones(5)},
    )
    doubled = jax.jit(lambda network: jax.tree.map(lambda gate: 2 * gate, network))(network)
    assert doubled.graph == network.graph
    equal(doubled.node_gates["b"], 2 * np.ones(5))
    equal(doubled.node_gates["a"], 2 * np.arange(5.0))
    part = jax.jit(lambda network, columns: network.take(columns))(network, np.array([3, 1]))
    equal(part.node_gates["a"], [3, 1])


def test_an_attribute_of_a_network_is_set_once():
    """Compiled functions would go on with the old value."""

    class Scaled(networks.Network):
        def __init__(self, factor):
            self.factor = factor

    linear = LinearNetwork((3, 2))
    for network, name in [(Scaled(2.0), "factor"), (PATHWAYS, "graph"), (linear, "sizes")]:
        with pytest.raises(AttributeError, match=name):
            setattr(network, name, None)


def test_networks_that_differ_in_an_attribute_of_their_own_share_no_program():
    class Leaky(Layered):
        def __init__(self, sizes, slope):
            super().__init__(sizes)
            self.slope = slope

        def apply(self, weights, inputs, gates=None):
            hidden = weights[0] @ inputs
            return weights[1] @ jnp.where(hidden > 0, hidden, self.slope * hidden)

    sizes = (3, 5, 2)
    weights = Layered(sizes).init(KEY, 0.5)
    for slope in (0.0, 0.5, 1.0):
        network = Leaky(sizes, slope)
        loss = training.train(network, weights, TASK, 0.1, 2).losses[0]
        close(loss, training.squared_error(network, weights, TASK))
        assert network == Leaky(sizes, slope) and hash(network) == hash(Leaky(sizes, slope))
    for slopes in (np.ones(5), [jnp.ones(5)]):  # whose entries are not compared
        assert Leaky(sizes, slopes) != Leaky(sizes, deepcopy(slopes))
        assert Leaky(sizes, slopes) == Leaky(sizes, slopes)
    assert ReLUNetwork(sizes) == ReLUNetwork(sizes) != Layered(sizes)


def square(z):
    """An activation of a module."""
    return z**2


@pytest.mark.parametrize("activation", [jnp.tanh, jax.nn.gelu, jax.nn.relu, square, None])
def test_networks_and_runs_are_pickled(activation):
    """With functions of JAX and of modules; and a gated network."""
    task, network = tasks.contextual(2, 4), Layered((6, 5, 21), activation or square, biases=True)
    if activation is None:
        network = networks.contextual_pathways(task, 2, 1, 10)
    weights = network.init(KEY, 0.1)
    run = training.train(network, weights, task, 0.05, 5, observe="outputs")
    again, same_task, stored = pickle.loads(pickle.dumps((network, task, run)))
    equal(stored.losses, run.losses)
    equal(stored.observed, run.observed)
    equal(training.train(again, weights, same_task, 0.05, 5).losses, run.losses)
    assert activation is None or again == network  # and shares programs
