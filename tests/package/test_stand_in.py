"""Stand-ins: exact reductions against training, few neurons against copies and wide networks."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from bad_input import refused
from numpy.testing import assert_allclose as close, assert_array_equal as equal

import mdsgdln as md
from mdsgdln import networks, tasks, theory
from mdsgdln.theory import rules

pytestmark = pytest.mark.usefixtures("compiled_in_less_time")
KEY = jax.random.key(0)
CLIPPED = optax.chain(optax.clip_by_global_norm(0.1), optax.sgd(0.05))
DECAYED = optax.chain(optax.add_decayed_weights(0.05), optax.sgd(0.05))
COSINE = optax.sgd(optax.cosine_decay_schedule(0.05, 300))
RULES = {
    "descent": {"optimiser": optax.sgd(0.05)},
    "momentum": {"optimiser": optax.sgd(0.005, momentum=0.9)},
    "Nesterov": {"optimiser": optax.sgd(0.005, momentum=0.9, nesterov=True)},
    "decay": {"optimiser": DECAYED},
    "cosine": {"optimiser": COSINE},
    "clipped": {"optimiser": CLIPPED},
    "batches": {"optimiser": optax.sgd(0.05), "batch_size": 2, "key": KEY},
    "Adam": {"optimiser": optax.adam(0.01)},
    "AdamW": {"optimiser": optax.adamw(0.01)},
}
TREATS_ENTRIES = ("Adam", "AdamW")
MOMENTUM, ADAM = {"optimiser": partial(optax.sgd, momentum=0.9)}, {"optimiser": optax.adam}


def random_case(seed):
    """Four inputs, three outputs, six samples, three pathways of two or nine neurons, and weights.

    Two neurons are fewer than modes, nine more than inputs and outputs together.
    """
    rng = np.random.default_rng(seed)
    task = tasks.Task(rng.normal(size=(4, 6)), rng.normal(size=(3, 6)))
    gates = rng.integers(0, 2, (3, 6))
    gates[0] = gates[:, 0] = 1
    network = networks.pathways(task, gates, (2, 9)[seed % 2])
    return network, network.init(jax.random.key(seed), 0.1), task


def both_losses(network, weights, task, rate=0.04, steps=300, **how):
    """Losses of training, and of its prediction from the weights."""
    return (
        np.asarray(call(network, weights, task, rate, steps, **how).losses)
        for call in (md.train, md.predict)
    )


# Exact reductions ---------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", [name for name in RULES if name not in TREATS_ENTRIES])
def test_given_weights_are_reduced_exactly(rule):
    for seed in (0, 1):
        losses, predicted = both_losses(*random_case(seed), None, **RULES[rule])
        assert losses[-1] < 0.99 * losses[0]
        close(predicted, losses, rtol=0, atol=1e-12)


@pytest.mark.parametrize("loss", [md.logistic, md.cross_entropy])
def test_other_losses_are_reduced_exactly(loss):
    network, weights, task = random_case(1)
    labels = tasks.Task(task.inputs, np.eye(3)[[0, 1, 2, 2, 0, 1]].T)
    losses, predicted = both_losses(network, weights, labels, loss=loss)
    assert losses[-1] < 0.95 * losses[0]
    close(predicted, losses, rtol=0, atol=1e-12)


def test_traced_weights_are_reduced_in_a_compiled_function():
    network, weights, task = random_case(1)

    def predict(weights):
        return md.predict(network, weights, task, 0.04, 100).losses

    close(jax.jit(predict)(weights), predict(weights), rtol=0, atol=1e-12)


@pytest.mark.parametrize("rule", TREATS_ENTRIES)
def test_what_treats_each_weight_by_itself_allows_no_smaller_gated_network(rule):
    network, weights, task = random_case(1)
    for scale in (weights, 0.1):
        with refused("optimiser: expected a rule that commutes with rotations"):
            md.predict(network, scale, task, None, 3, **RULES[rule])


def test_a_node_is_no_wider_than_what_it_touches():
    for seed, hidden in ((0, 6), (1, 21)):
        small, _, _ = theory.stand_in(*random_case(seed))
        assert set(small.graph.neurons.values()) == {4, 3, hidden}
    rng = np.random.default_rng(1)  # inputs of which samples span two, targets that span one
    task = tasks.Task(rng.normal(size=(6, 2)) @ rng.normal(size=(2, 9)), np.ones((7, 9)))
    network = networks.pathways(task, rng.integers(0, 2, (2, 9)), 40)
    small, _, reduced = theory.stand_in(network, 1e-6, task)
    assert list(small.graph.neurons.values()) == [2, 6, 1]
    assert reduced.targets.shape == (1, 9)


def test_deeper_networks_shrink_where_a_layer_is_wider_than_its_neighbours():
    """A tree of eight items has eight modes in fifteen rows; ``y`` is as wide as all it gets."""
    task = tasks.semantic("tree", 8)
    gate = np.random.default_rng(0).random((15, 8))
    edges = [("x", "h"), ("h", "k"), ("k", "y"), ("x", "y"), ("h", "y")]
    gated = networks.GatedNetwork(
        {"x": 8, "h": 50, "k": 4, "y": 15}, edges, {"h": [1, 1, 0, 1, 1, 1, 0, 1]}, {edges[4]: gate}
    )
    for network, sizes in (
        (networks.LinearNetwork((8, 60, 3, 15)), [8, 11, 3, 11]),
        (gated, [8, 27, 4, 15]),
    ):
        weights = network.init(KEY, 0.15)
        small, _, _ = theory.stand_in(network, weights, task)
        assert [size for _, size in small.graph.sizes] == sizes
        losses, predicted = both_losses(network, weights, task)
        close(predicted, losses, rtol=0, atol=1e-12)


def test_layers_of_several_nodes_become_layers_of_one():
    """Two nodes in each of two hidden layers, all of one joined with all of the next."""
    rng = np.random.default_rng(2)
    layers = [["x"], ["a", "b"], ["c", "d"], ["y"]]
    pairs = zip(layers[:-1], layers[1:], strict=True)
    edges = [(s, t) for before, after in pairs for s in before for t in after]
    sizes = dict(zip("xabcdy", (3, 2, 2, 2, 3, 4), strict=True))
    gates = {node: rng.integers(0, 2, 9) for node in "abd"}
    network = networks.GatedNetwork(sizes, edges, gates)
    task = tasks.Task(rng.normal(size=(3, 9)), rng.normal(size=(4, 9)))
    weights = network.init(KEY, 0.5)
    small, _, _ = theory.stand_in(network, weights, task)
    assert list(small.graph.neurons.values()) == [3, 4, 5, 4]
    losses, predicted = both_losses(network, weights, task, 0.01)
    close(predicted, losses, rtol=0, atol=1e-12)


# From σ alone -------------------------------------------------------------------------------------


def test_gated_networks_of_sigma_follow_wide_ones():
    task, rate = tasks.contextual(3, 4, ["tree", "ring", "cross"]), 0.012
    network = networks.contextual_pathways(task, 3, 2, 400)
    losses = md.train(network, network.init(KEY, 1e-4), task, rate, 6000).losses
    predicted = md.predict(network, 1e-4, task, rate, 6000).losses
    assert md.deviation(predicted, losses) < 0.01
    by_edge = dict.fromkeys(network.graph.edges, 1e-4)
    equal(md.predict(network, by_edge, task, rate, 6000).losses, predicted)


def test_large_weights_of_a_wide_network_follow_from_their_size():
    """σ²H of the order of what is to be learned: the mean of wide networks, nothing small."""
    task = tasks.Task(np.eye(3), np.diag([3.0, 2.0, 1.0]))
    network, scale = networks.LinearNetwork((3, 4000, 3)), 0.01
    losses = md.train(network, network.init(KEY, scale), task, 0.02, 400).losses
    predicted = md.predict(network, scale, task, 0.02, 400).losses
    close(predicted, losses, atol=0.05 * losses[0])


def test_several_outputs_and_nothing_to_learn():
    rng = np.random.default_rng(0)
    task = tasks.Task(np.eye(4), rng.normal(size=(5, 4)))
    network = networks.GatedNetwork(
        {"x": 4, "h": 300, "k": 300, "y": 2, "z": 3},
        [("x", "h"), ("x", "k"), ("h", "y"), ("k", "z")],
        node_gates={"h": [1, 1, 0, 1]},
        edge_gates={("k", "z"): [1, 1, 1, 0]},
    )
    scale = [1e-4, 1e-3, 2e-3, 3e-4]
    losses = md.train(network, network.init(KEY, scale), task, 0.02, 3000).losses
    predicted = md.predict(network, scale, task, 0.02, 3000).losses
    assert md.deviation(predicted, losses, learned=None) < 0.01
    nothing = tasks.Task(np.eye(4), np.zeros((5, 4)))
    with pytest.warns(UserWarning, match="time 0"):
        close(md.predict(network, 1e-3, nothing, 0.02, 10).losses, 0, atol=1e-6)


def penalised(network, weights, task):
    """The squared error and a penalty on weights."""
    size = sum(jnp.sum(weight**2) for weight in jax.tree.leaves(weights))
    return md.squared_error(network, weights, task) + 0.02 * size


def doubled(network, weights, task):
    """Twice the squared error."""
    return 2 * md.squared_error(network, weights, task)


def test_a_loss_is_of_outputs_and_targets_alone():
    network, weights, task = random_case(1)
    losses, predicted = both_losses(network, weights, task, rate=0.02, loss=doubled)
    close(predicted, losses, rtol=0, atol=1e-12)
    for start in (weights, 1e-3):
        with refused("loss: expected a function of outputs and targets alone"):
            md.predict(network, start, task, 0.1, 2, loss=penalised)
    relu = md.ReLUNetwork((4, 100, 3))
    with refused("loss"):
        md.predict(relu, 1e-3, task, 0.1, 2, loss=penalised, key=KEY)
    with refused("loss"):  # it asks the network for more than outputs
        theory.stand_in(relu, 1e-3, task, key=KEY, loss=lambda n, w, t: n.activations(w, t.inputs))


def test_what_depends_on_the_draw_is_refused():
    task = tasks.contextual(2, 4)
    with refused("network: expected a neuron per mode, .*depends on the seed"):
        md.predict(networks.contextual_pathways(task, 2, 1, 2), 1e-3, task, 0.1, 2)


# Rules --------------------------------------------------------------------------------------------


def test_properties_of_rules_are_found():
    muon = optax.contrib.muon(0.01)
    rotating = {name: rules.can_be_reduced(how["optimiser"]) for name, how in RULES.items()}
    copying = {name: rules.preserves_copies(how["optimiser"]) for name, how in RULES.items()}
    assert rotating == {name: name not in TREATS_ENTRIES for name in RULES}
    assert copying == {name: name != "clipped" for name in RULES}
    assert not rules.preserves_copies(muon)
    waiting = optax.MultiSteps(optax.adam(0.01), 4).gradient_transformation()
    assert not rules.can_be_reduced(waiting) and not rules.preserves_copies(waiting)


# Designed neurons ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("activation", "rule"),
    [(jax.nn.relu, "descent"), (jnp.tanh, "momentum"), (jax.nn.gelu, "decay")]
    + [(jnp.tanh, "batches"), (jax.nn.relu, "Adam"), (jax.nn.gelu, "AdamW")],
)
def test_a_network_of_copies_is_followed_exactly(activation, rule):
    """The wide network is written out: every designed neuron, ten times."""
    rng = np.random.default_rng(0)
    task = tasks.Task(rng.normal(size=(3, 6)), rng.normal(size=(2, 6)))
    wide = networks.Layered((3, 80, 2), activation)
    rate = RULES[rule]["optimiser"]
    # With weights that the rule may rotate, few neurons are larger ones: written as copies here.
    small, weights, reduced = theory.stand_in(
        wide, 0.03, task, num_neurons=8, key=KEY, optimiser=optax.adam(0.01)
    )
    assert small.sizes == (3, 8, 2)
    copies = [np.tile(weights[0], (10, 1)), np.tile(weights[1], (1, 10))]
    how = {name: value for name, value in RULES[rule].items() if name != "optimiser"}
    losses, predicted = (
        md.train(*case, None, 200, optimiser=rate, **how).losses
        for case in ((wide, copies, task), (small, weights, reduced))
    )
    assert losses[-1] < 0.9 * losses[0]
    close(predicted, losses, rtol=0, atol=1e-12)


def test_designed_neurons_have_the_moments_of_many():
    task = tasks.contextual(3, 4)
    network = networks.ReLUNetwork((7, 4000, 28))
    _, (first, second), reduced = theory.stand_in(network, [2e-3, 1e-3], task, key=KEY)
    close(second @ jax.nn.relu(first @ reduced.inputs), 0, atol=1e-12)
    close(first.T @ first, 4000 * 2e-3**2 * np.eye(first.shape[1]), atol=1e-12)
    close(second @ second.T, 4000 * 1e-3**2 * np.eye(len(second)), atol=1e-12)
    close(reduced.inputs.T @ reduced.inputs, task.inputs.T @ task.inputs, atol=1e-12)
    close(reduced.targets.T @ reduced.targets, task.targets.T @ task.targets, atol=1e-12)


@pytest.mark.parametrize(
    ("network", "task", "scale", "rate", "steps", "how"),
    [
        (networks.ReLUNetwork((3, 800, 1)), tasks.xor(0.5), 1e-4, 0.02, 2500, {}),
        (networks.Layered((3, 800, 1), jnp.tanh), tasks.xor(0.5), 1e-4, 0.02, 2500, MOMENTUM),
        (networks.ReLUNetwork((3, 800, 1)), tasks.xor(0.5), 1e-4, 0.02 / 30, 2500, ADAM),
        (networks.ReLUNetwork((6, 400, 400, 21)), tasks.contextual(2, 4), 2e-3, 0.2, 600, {}),
    ],
    ids=["ReLU", "tanh, momentum", "Adam", "two layers"],
)
def test_wide_networks_are_predicted_from_sigma(network, task, scale, rate, steps, how):
    weights = (network.init(jax.random.key(seed), scale) for seed in (1, 2))
    losses, other = (md.train(network, w, task, rate, steps, **how).losses for w in weights)
    predicted = md.predict(network, scale, task, rate, steps, key=KEY, num_neurons=128, **how)
    null = md.deviation(other, losses, learned=None)
    assert losses[-1] < 0.3 * losses[0]
    assert md.deviation(predicted.losses, losses, learned=None) < max(0.03, 1.5 * null)


def test_the_range_is_guarded():
    task, network = tasks.xor(1.0), networks.ReLUNetwork((3, 400, 1))
    for scale in (0.3, [5.0, 1e-4]):
        with refused("scale: .*the largest value tested"):
            md.predict(network, scale, task, 0.01, 2, key=KEY)
    with pytest.warns(UserWarning, match="20 neurons, expected at least 64"):
        md.predict(networks.ReLUNetwork((3, 20, 1)), 1e-4, task, 0.01, 2, key=KEY)
    with pytest.warns(UserWarning, match="curves were up to 40 %"):
        md.predict(network, 0.04, task, 0.01, 2, key=KEY)
    with refused("key: expected a random key"):
        md.predict(network, 1e-4, task, 0.01, 2)
    with refused("network: expected one or two hidden layers"):
        md.predict(networks.ReLUNetwork((3, 40, 40, 40, 1)), 1e-4, task, 0.01, 2, key=KEY)
    deep = networks.Layered((3, 400, 400, 1), jnp.tanh)
    with refused("network: expected one hidden layer, or"):
        md.predict(deep, 1e-4, task, 0.01, 2, key=KEY)
    with refused("num_neurons: expected at least 4"):
        md.predict(network, 1e-4, task, 0.01, 2, key=KEY, num_neurons=3)
    norm = optax.chain(optax.normalize_by_update_norm(), optax.scale_by_sign(), optax.trace(0.9))
    assert theory.stand_in(network, 1e-4, task, key=KEY, optimiser=norm)  # each entry by itself
    with refused("optimiser: expected a rule that is the same for every neuron"):
        md.predict(network, 1e-4, task, None, 2, key=KEY, optimiser=optax.contrib.muon(0.01))


def test_weights_of_a_layer_stand_for_themselves():
    task, network = tasks.xor(1.0), networks.ReLUNetwork((3, 40, 1))
    weights = network.init(KEY, 0.1)
    losses, predicted = both_losses(network, weights, task)
    equal(predicted, losses)


def test_learning_rates_of_a_stand_in_may_be_mapped_and_the_rest_is_concrete():
    task, network = tasks.xor(1.0), networks.ReLUNetwork((3, 80, 1))
    rates = jnp.array([0.01, 0.05])

    def losses(rate, scale=0.01):
        return md.predict(network, scale, task, rate, 20, key=KEY).losses

    close(jax.vmap(losses)(rates), [losses(float(rate)) for rate in rates], rtol=1e-12)
    close(jax.jit(losses)(0.05), losses(0.05), rtol=1e-12)
    with refused("scale: expected concrete numbers"):
        jax.vmap(lambda scale: losses(0.05, scale))(rates)
