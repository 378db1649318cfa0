"""Networks: forward passes against plain matrix products, gates, views, bad input."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from bad_input import BAD_INPUT

from mdsgdln import training
from mdsgdln.networks import GatedNetwork, LinearNetwork, ReLUNetwork, pathways
from mdsgdln.networks.network import _gaussian
from mdsgdln.tasks import Task

KEY = jax.random.key(0)


@pytest.fixture
def task():
    """Seven random samples of three inputs and two outputs."""
    first, second = jax.random.split(KEY)
    return Task(jax.random.normal(first, (3, 7)), jax.random.normal(second, (2, 7)))


def test_linear_and_relu_are_matrix_products(task):
    sizes = (3, 5, 4, 2)
    weights = LinearNetwork(sizes).init(KEY, 1.0)
    first, second, third = weights
    np.testing.assert_allclose(
        LinearNetwork(sizes).apply(weights, task.inputs), third @ second @ first @ task.inputs
    )
    hidden = jnp.maximum(second @ jnp.maximum(first @ task.inputs, 0), 0)
    np.testing.assert_allclose(ReLUNetwork(sizes).apply(weights, task.inputs), third @ hidden)


def test_network_without_hidden_layer(task):
    (weight,) = weights = LinearNetwork((3, 2)).init(KEY, 1.0)
    np.testing.assert_allclose(
        LinearNetwork((3, 2)).apply(weights, task.inputs), weight @ task.inputs
    )


def test_relu_under_its_own_gates_is_itself(task):
    network = ReLUNetwork((3, 5, 4, 2))
    weights = network.init(KEY, 1.0)
    gates = network.gates(weights, task.inputs)
    np.testing.assert_array_equal(
        network.apply(weights, task.inputs, gates), network.apply(weights, task.inputs)
    )


def test_init_has_the_given_standard_deviations():
    first, second = LinearNetwork((200, 300, 100)).init(KEY, [0.1, 2.0])
    assert first.std() == pytest.approx(0.1, rel=0.02)
    assert second.std() == pytest.approx(2.0, rel=0.02)
    network = GatedNetwork({"x": 200, "h": 300, "y": 100}, [("x", "h"), ("h", "y")])
    weights = network.init(KEY, {("x", "h"): 0.1, ("h", "y"): 2.0})
    assert weights["x", "h"].std() == pytest.approx(0.1, rel=0.02)
    assert weights["h", "y"].std() == pytest.approx(2.0, rel=0.02)


@pytest.mark.parametrize("shapes", [[(1, 1)], [(7, 3), (2, 7)], [(40, 26), (3, 40), (2, 3)] * 4])
def test_initial_weights_are_the_numbers_that_jax_draws(shapes):
    keys = jax.random.split(KEY, len(shapes))
    expected = [2.0 * jax.random.normal(*each) for each in zip(keys, shapes, strict=True)]
    for draw in (_gaussian, jax.jit(_gaussian, static_argnums=1)):
        found = draw(KEY, tuple(shapes), [2.0] * len(shapes))
        jax.tree.map(np.testing.assert_array_equal, found, expected)


def test_orthogonal_weights_have_one_singular_value():
    network = GatedNetwork({"x": 3, "h": 5, "y": 2}, [("x", "h"), ("h", "y")])
    weights = jax.tree.leaves(network.init_orthogonal(0.3, key=KEY))
    assert sorted(weight.shape for weight in weights) == [(2, 5), (5, 3)]
    for weight in weights:
        np.testing.assert_allclose(jnp.linalg.svd(weight, compute_uv=False), 0.3)


@pytest.mark.parametrize("kind", [LinearNetwork, ReLUNetwork, GatedNetwork])
def test_a_million_weights_have_the_standard_deviation_to_half_a_percent(kind):
    if kind is GatedNetwork:
        (weight,) = GatedNetwork({"x": 1000, "y": 1000}, [("x", "y")]).init(KEY, 0.3).values()
    else:
        (weight,) = kind((1000, 1000)).init(KEY, 0.3)
    assert weight.std() == pytest.approx(0.3, rel=0.005)
    assert weight.mean() == pytest.approx(0, abs=0.002)


def test_ungated_graph_is_a_linear_network(task):
    linear, graph = (
        LinearNetwork((3, 5, 2)),
        GatedNetwork(dict(x=3, h=5, y=2), [("x", "h"), ("h", "y")]),
    )
    first, second = weights = linear.init(KEY, 1.0)
    np.testing.assert_allclose(
        graph.apply({("x", "h"): first, ("h", "y"): second}, task.inputs),
        linear.apply(weights, task.inputs),
    )


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
    np.testing.assert_allclose(
        network.apply(w, inputs), np.vstack([y, w["h", "z"] @ h]), atol=1e-12
    )


def test_given_gates_replace_all_stored_ones(task):
    network = pathways(task, np.eye(7)[:2], 3)
    weights = network.init(KEY, 1.0)
    plain = GatedNetwork(network.graph.neurons, network.graph.edges).apply(weights, task.inputs)
    np.testing.assert_allclose(network.apply(weights, task.inputs, gates={}), plain)
    stored = network.apply(weights, task.inputs)
    np.testing.assert_allclose(
        network.apply(weights, task.inputs, gates=network.node_gates), stored
    )


def test_take_follows_the_samples(task):
    network = pathways(task, np.eye(7)[:3], [2, 3, 4])
    weights = network.init(KEY, 1.0)
    columns = [5, 0, 1]
    np.testing.assert_allclose(
        network.take(columns).apply(weights, task.inputs[:, jnp.array(columns)]),
        network.apply(weights, task.inputs)[:, jnp.array(columns)],
    )


def test_masked_pathways_see_only_their_inputs(task):
    masks = np.array([[1, 1, 1], [1, 0, 1], [1, 0, 1]])
    network = pathways(task, np.ones((3, 7)), 4, masks)
    weights = network.init(KEY, 1.0)
    assert network.graph.neurons["input 1"] == 2
    changed = task.inputs.at[1].set(9.0)
    difference = network.apply(weights, changed) - network.apply(weights, task.inputs)
    first, second = weights["input 0", "pathway 0"], weights["pathway 0", "output"]
    np.testing.assert_allclose(difference, second @ first @ (changed - task.inputs), atol=1e-12)


def test_equal_partial_masks_still_read_the_given_rows(task):
    network = pathways(task, np.ones((2, 7)), 4, np.array([[1, 0, 1]] * 2))
    weights = network.init(KEY, 1.0)
    np.testing.assert_allclose(
        network.apply(weights, task.inputs), network.apply(weights, task.inputs.at[1].set(5.0))
    )
    assert training.loss(network, weights, task) > 0


def test_node_rows_of_a_task_place_inputs_and_outputs():
    rng = np.random.default_rng(1)
    edges = [("a", "h"), ("b", "h"), ("h", "y"), ("h", "z")]
    network = GatedNetwork({"a": 2, "b": 1, "h": 4, "y": 2, "z": 1}, edges)
    weights = network.init(KEY, 1.0)
    inputs, targets = rng.normal(size=(3, 5)), rng.normal(size=(3, 5))
    plain = training.loss(network, weights, Task(inputs, targets))
    rows = {"b": slice(0, 1), "a": slice(1, 3), "z": slice(0, 1), "y": slice(1, 3)}
    moved = Task(inputs[[2, 0, 1]], targets[[2, 0, 1]], rows)
    assert training.loss(network, weights, moved) == pytest.approx(float(plain), rel=1e-12)


def test_networks_pass_through_transformations(task):
    network = pathways(task, np.eye(7)[:2], 3)
    weights = network.init(KEY, 1.0)
    apply = jax.jit(lambda network, weights: network.apply(weights, task.inputs))
    np.testing.assert_allclose(apply(network, weights), network.apply(weights, task.inputs))
    stack = jax.tree.map(lambda gate: jnp.stack([gate, 0 * gate]), network)
    both = jax.vmap(lambda network: network.apply(weights, task.inputs))(stack)
    np.testing.assert_allclose(both[1], 0)


def test_networks_that_cannot_be_changed(task):
    linear, network = LinearNetwork([3, 2]), pathways(task, np.eye(7)[:2], 3)
    assert linear == LinearNetwork((3, 2)) != ReLUNetwork((3, 2))
    assert hash(linear) == hash(LinearNetwork((3, 2))) and not jax.tree.leaves(linear)
    assert network != pathways(task, np.eye(7)[:2], 3)
    for changed, name in [(linear, "sizes"), (network, "graph")]:
        with pytest.raises(AttributeError):
            setattr(changed, name, None)


def test_gates_keep_their_places_through_transformations():
    """Nodes of several types, which have no order."""
    network = GatedNetwork(
        {"x": 2, 1: 3, ("h", 2): 4, "y": 1},
        [("x", 1), (1, ("h", 2)), (("h", 2), "y")],
        node_gates={("h", 2): np.arange(5.0), 1: np.ones(5), "x": np.ones((2, 5))},
        edge_gates={(("h", 2), "y"): np.ones(5)},
    )
    doubled = jax.jit(lambda network: jax.tree.map(lambda gate: 2 * gate, network))(network)
    assert doubled.graph == network.graph
    assert list(doubled.node_gates) == [("h", 2), 1, "x"]
    np.testing.assert_array_equal(doubled.node_gates["h", 2], 2 * np.arange(5.0))
    part = jax.jit(lambda network, columns: network.take(columns))(network, np.array([3, 1]))
    np.testing.assert_array_equal(part.node_gates["h", 2], [3, 1])


def gated(**changes):
    """A small gated network with some arguments changed."""
    arguments = {"sizes": {"x": 3, "h": 4, "y": 2}, "edges": [("x", "h"), ("h", "y")]} | changes
    return GatedNetwork(**arguments)


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: LinearNetwork((3,)), "sizes"),
        (lambda: gated(sizes={"x": 3, "h": 4, "y": 2, "idle": 1}), "sizes"),
        (lambda: gated(edges=[("x", "h"), ("h", "out")]), "edges"),
        (lambda: gated(edges=[("x", "h"), ("h", "y"), ("x", "h")]), "edges"),
        (lambda: gated(edges=[("x", "h"), ("h", "h"), ("h", "y")]), "cycle"),
        (lambda: gated(edges=[("x", "h"), ("h", "y"), ("y", "h")]), "cycle"),
        (lambda: gated(edges=["xh", 3]), "edges"),
        (lambda: gated(node_gates={"g": np.ones(5)}), "node_gates"),
        (lambda: gated(node_gates={"h": np.ones((3, 5))}), "node_gates"),
        (lambda: gated(edge_gates={("x", "y"): np.ones(5)}), "edge_gates"),
        (lambda: gated(edge_gates={("x", "h"): np.ones((3, 5))}), "edge_gates"),
        (lambda: gated(node_gates={"h": np.ones(5), "x": np.ones(4)}), "one length"),
        (lambda: LinearNetwork((3, 4, 2)).init(KEY, [1.0]), "scale"),
    ],
)
def test_bad_architecture_is_named(make, name):
    with pytest.raises(BAD_INPUT, match=name):
        make()


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"gates": np.ones((2, 6))}, "gates"),
        ({"num_hidden": [3, 3, 3]}, "num_hidden"),
        ({"input_masks": np.ones((2, 4))}, "input_masks"),
        ({"input_masks": np.zeros((2, 3))}, "input_masks"),
    ],
)
def test_bad_pathways_are_named(task, arguments, name):
    with pytest.raises(BAD_INPUT, match=name):
        pathways(**({"task": task, "gates": np.ones((2, 7)), "num_hidden": 3} | arguments))


def test_bad_calls_are_named(task):
    network = gated(node_gates={"h": np.ones(7)})
    weights = network.init(KEY, 1.0)
    relu = ReLUNetwork((3, 4, 2))
    for call, name in [
        (lambda: network.apply(weights, np.ones((4, 7))), "inputs"),
        (lambda: network.apply(weights, np.ones((3, 6))), "inputs"),
        (lambda: network.apply(weights | {("x", "h"): np.ones((4, 2))}, task.inputs), "weights"),
        (lambda: network.apply(weights, task.inputs, {"g": np.ones(7)}), "gates"),
        (lambda: network.apply(weights, task.inputs, {"h": np.ones(6)}), "samples"),
        (lambda: relu.apply(relu.init(KEY, 1.0), np.ones((2, 7))), "inputs"),
        (lambda: relu.apply([np.ones((4, 3)), np.ones((3, 2))], task.inputs), "weights"),
        (lambda: relu.apply([[[1.0] * 3] * 4, [[1.0] * 4] * 2], task.inputs), "weights"),
        (lambda: relu.apply(relu.init(KEY, 1.0), task.inputs, [np.ones(6)]), "gates"),
        (lambda: relu.apply(relu.init(KEY, 1.0), task.inputs, []), "gates"),
    ]:
        with pytest.raises(BAD_INPUT, match=name):
            call()
