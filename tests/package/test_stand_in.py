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
from mdsgdln.prediction import neurons, reduction
from mdsgdln.prediction.stand_ins import choose_stand_in

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
    small = jax.eval_shape(lambda weights: theory.stand_in(network, weights, task)[1], weights)
    assert [weight.shape for weight in small.values()] == [(21, 4), (3, 21)]  # of 27 neurons


@pytest.mark.parametrize("rule", TREATS_ENTRIES)
def test_what_treats_each_weight_by_itself_allows_no_smaller_gated_network(rule):
    network, weights, task = random_case(1)
    for scale in (weights, 0.1):
        with refused("optimiser: expected a rule that commutes with rotations"):
            md.predict(network, scale, task, None, 3, **RULES[rule])


def test_a_rule_that_treats_large_matrices_in_another_way_is_refused():
    """Reduced, they would no longer be large: a prediction that is called exact would be wrong."""
    task = tasks.contextual(3, 8)
    gated = networks.contextual_pathways(task, 3, 2, 40)

    def large(weights):
        return jax.tree.map(lambda weight: weight.size > 200, weights)

    rule = optax.chain(optax.masked(optax.scale_by_adam(), large), optax.sgd(0.005))
    with refused("optimiser: expected a rule that commutes with rotations"):
        md.predict(gated, gated.init(KEY, 0.05), task, None, 3, optimiser=rule)


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
        found = small.sizes if network is not gated else dict(small.graph.sizes).values()
        assert list(found) == sizes
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
    for each in (network, networks.ReLUNetwork((4, 80, 5))):
        with pytest.warns(UserWarning, match="the curve may be"):
            close(md.predict(each, 1e-3, nothing, 0.02, 10, key=KEY).losses, 0, atol=1e-6)
    shares = [row.value for row in theory.applicability(network, nothing, 1e-3).rows]
    assert np.isfinite(shares).all()


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
    compiled = jax.jit(partial(md.predict, learning_rate=0.02, num_steps=300, loss=doubled))
    close(compiled(network, weights, task).losses, losses, rtol=0, atol=1e-12)  # it cannot be asked
    for start in (weights, 1e-3):
        with refused("loss: expected a function of outputs and targets alone"):
            md.predict(network, start, task, 0.1, 2, loss=penalised)
    square = md.Task.from_samples(*np.random.default_rng(0).normal(size=(2, 3, 4)))
    linear = md.LinearNetwork((4, 5, 4))
    weights = linear.init(KEY, 0.1)
    losses, predicted = both_losses(linear, weights, square, rate=0.02, loss=doubled)
    close(predicted, losses, rtol=0, atol=1e-12)  # and no word on what may be rows
    relu = md.ReLUNetwork((4, 100, 3))
    with refused("loss"):
        md.predict(relu, 1e-3, task, 0.1, 2, loss=penalised, key=KEY)
    with refused("loss"):  # it asks the network for more than outputs
        theory.stand_in(relu, 1e-3, task, key=KEY, loss=lambda n, w, t: n.activations(w, t.inputs))


def test_what_depends_on_the_draw_is_refused():
    task = tasks.contextual(2, 4)
    with refused("network: expected a neuron per mode, .* in 'pathway 0', .*depends on the seed"):
        md.predict(networks.contextual_pathways(task, 2, 1, 2), 1e-3, task, 0.1, 2)


# Designed neurons ---------------------------------------------------------------------------------


def copied(layer, copies, last=False):
    """A layer of copies, written out, of weights or of a pair."""
    weight, *bias = layer if isinstance(layer, tuple) else (layer,)
    if last:
        return (np.tile(weight, copies), *bias) if bias else np.tile(weight, copies)
    wide = np.tile(weight, (copies, 1))
    return (wide, np.tile(bias[0], copies)) if bias else wide


@pytest.mark.parametrize(
    ("activation", "rule", "biases"),
    [(jax.nn.relu, "descent", False), (jax.nn.relu, "descent", True), (jnp.tanh, "momentum", True)]
    + [(jax.nn.gelu, "clipped", True), (jnp.tanh, "batches", True)]
    + [(jax.nn.relu, "Adam", True), (jax.nn.gelu, "AdamW", False)],
)
def test_a_network_of_copies_is_followed_exactly(activation, rule, biases):
    """The wide network is written out: every neuron, ten times."""
    rng = np.random.default_rng(0)
    task = tasks.Task(rng.normal(size=(3, 6)), 9 * rng.normal(size=(2, 6)))
    wide = networks.Layered((3, 80, 2), activation, biases)
    rate = RULES[rule]["optimiser"]
    small, weights, reduced = theory.stand_in(
        wide, 0.1, task, num_neurons=8, key=KEY, optimiser=rate
    )
    assert small.sizes == (3, 8, 2)
    into, out = bases_of(task, reduced)
    first, second = weights
    size = 1.0 if isinstance(small, neurons.Repeated) else 10**-0.5  # one of √10 stands for ten
    first = jax.tree.map(lambda part: size * part, first)
    pair = second if biases else (second,)
    second = tuple([size * out @ pair[0], *(out @ bias for bias in pair[1:])])
    first = (first[0] @ into.T, first[1]) if biases else first @ into.T
    copies = [copied(first, 10), copied(second if biases else second[0], 10, last=True)]
    how = {name: value for name, value in RULES[rule].items() if name != "optimiser"}
    losses, predicted = (
        md.train(*case, None, 200, optimiser=rate, **how).losses
        for case in ((wide, copies, task), (small, weights, reduced))
    )
    assert not np.allclose(losses[-1], losses[0], rtol=0.05)
    close(predicted, losses, rtol=1e-8)  # rounding grows where the loss does not fall steadily


def bases_of(task, reduced):
    """The bases in which a stand-in's inputs and targets are written."""
    return (
        np.linalg.lstsq(np.asarray(new).T, np.asarray(old).T, rcond=None)[0].T
        for old, new in ((task.inputs, reduced.inputs), (task.targets, reduced.targets))
    )


def test_designed_neurons_have_the_moments_of_many():
    task = tasks.contextual(3, 4)
    network = networks.ReLUNetwork((7, 4000, 28))
    _, (first, second), reduced = theory.stand_in(network, [2e-3, 1e-3], task, key=KEY)
    close(second @ jax.nn.relu(first @ reduced.inputs), 0, atol=1e-12)
    close(first.T @ first, 4000 * 2e-3**2 * np.eye(first.shape[1]), atol=1e-12)
    close(second @ second.T, 4000 * 1e-3**2 * np.eye(len(second)), atol=1e-12)
    close(reduced.inputs.T @ reduced.inputs, task.inputs.T @ task.inputs, atol=1e-12)
    close(reduced.targets.T @ reduced.targets, task.targets.T @ task.targets, atol=1e-12)


def test_neurons_that_are_repeated_have_no_output_at_first_and_the_second_ones_the_networks():
    task = md.Task(jax.random.normal(KEY, (5, 9)), jax.random.normal(KEY, (2, 9)))
    network, squares, seconds = md.Layered((5, 128, 2), jnp.tanh, biases=True), [], []
    without_last = 0.5, (0.5, 0.0)  # biases of the outputs are drawn as they are in the network
    how = {"optimiser": optax.adam(0.01), "loss": md.squared_error, "num_steps": 9}
    keys = jax.random.split(KEY, 150)
    for key in keys:
        choice = choose_stand_in(network, without_last, task, num_neurons=64, key=key, **how)
        small, weights, data = choice.make(1)
        assert small.sizes[1] == 32
        squares.append(small.apply(weights, data.inputs) ** 2)
        seconds.append(weights[-1][0])
    drawn = [network.apply(network.init(key, without_last), task.inputs) for key in keys]
    assert np.mean(squares) == pytest.approx(np.mean(np.square(drawn)), rel=0.15)
    assert np.std(seconds) == pytest.approx(0.5, rel=0.05)
    small, weights, data = choice.make(0)
    assert small.sizes[1] == 64
    close(small.apply(weights, data.inputs), 0, atol=1e-12)
    assert len(np.unique(np.asarray(weights[0][0])[:, 0])) == 32
    choices = [choose_stand_in(network, 0.5, task, num_neurons=64, key=key, **how) for key in keys]
    last = [choice.make(0)[1][-1][1] for choice in choices]
    assert np.std(last) == pytest.approx(0.5, rel=0.15)


@pytest.mark.parametrize("biases", [False, True, (False, True)])
def test_second_neurons_have_no_output_where_the_networks_is_far_below_the_targets(biases):
    """As √H σ₁σ₂ of its outputs is, and σ₁ is not."""
    task = md.Task(jax.random.normal(KEY, (5, 9)), jax.random.normal(KEY, (2, 9)))
    network, scale = md.Layered((5, 300, 2), jnp.tanh, biases), [0.5, (1e-4, 0.0)]
    how = {"optimiser": optax.adam(0.01), "loss": md.squared_error, "num_steps": 9}
    choice = choose_stand_in(network, scale, task, num_neurons=64, key=KEY, **how)
    small, weights, data = choice.make(1)
    close(small.apply(weights, data.inputs), 0, atol=1e-12)


def test_neurons_of_several_kinds_in_a_layer_have_no_stand_in():
    """An activation that depends on a neuron's place; one of all neurons together does not."""
    task = tasks.xor(1.0)

    def half(arriving):
        return jax.nn.relu(jnp.concatenate([arriving[:40], 1.01 * arriving[40:]]))

    with refused("network: expected one activation for all neurons"):
        md.theory.stand_in(md.Layered((3, 80, 1), half), 0.01, task, key=KEY)
    together = md.Layered((3, 80, 1), partial(jax.nn.softmax, axis=0))
    assert md.theory.stand_in(together, 0.01, task, key=KEY)[0].sizes[1] == 80


@pytest.mark.parametrize(
    ("sizes", "optimiser", "expected"),
    [
        ((6, 400, 21), None, (2 / 400 * 50) ** 0.5),
        ((6, 400, 21), optax.adam(0.01), (2 / 400 / (1 / 100 + 1 / 50)) ** 0.5),
        ((3, 400, 1), None, 2**0.5),
        ((3, 400, 1), optax.adam(0.01), (2 / 400 / (1 / 100 + 1 / 400)) ** 0.5),
        ((3, 400, 600, 1), None, (2 / 400 / (1 / 100 + 1 / 50)) ** 0.5),
    ],
)
def test_two_seeds_differ_by_what_the_numbers_of_random_neurons_tell(sizes, optimiser, expected):
    """With one hidden layer and a rule that commutes with rotations the second alone is random.

    It is as wide as the network where there are three inputs or fewer.
    """
    how = {"optimiser": optimiser, "loss": md.squared_error, "num_steps": 9}
    task = tasks.xor(1.0) if sizes[0] == 3 else tasks.contextual(2, 4)
    choice = choose_stand_in(networks.ReLUNetwork(sizes), 0.02, task, 100, key=KEY, **how)
    assert choice.seeds == pytest.approx(expected)


@pytest.mark.parametrize(
    ("network", "task", "scale", "rate", "steps", "stated"),
    [
        (networks.ReLUNetwork((6, 400, 400, 21)), tasks.contextual(2, 4), 2e-3, 0.2, 600, 0),
        (networks.ReLUNetwork((3, 400, 400, 400, 1)), tasks.xor(1.0), 0.03, 0.02, 500, 3),
    ],
    ids=["two layers", "three layers"],
)
@pytest.mark.filterwarnings("ignore:predict. the curve may be")  # as seeds differ
def test_deep_networks_are_predicted_from_sigma(network, task, scale, rate, steps, stated):
    """As well as a second seed is, or within so many times the stated error."""
    weights = (network.init(jax.random.key(seed), scale) for seed in (1, 2))
    losses, other = (md.train(network, w, task, rate, steps).losses for w in weights)
    predicted = md.predict(network, scale, task, rate, steps, key=KEY)
    null = md.deviation(other, losses, learned=None)
    assert losses[-1] < 0.9 * losses[0]
    error = md.deviation(predicted.losses, losses, learned=None)
    assert error < max(0.03, 1.5 * null, stated * predicted.error)


def test_biases_may_be_zero_and_scales_an_array_of_jax():
    task, network = tasks.xor(1.0), networks.ReLUNetwork((3, 400, 1))
    pairs = [(1e-4, 0.0), (1e-4, 1e-4)]
    stands = (theory.stand_in(network, given, task, key=KEY) for given in (pairs, jnp.array(pairs)))
    jax.tree.map(equal, *(weights for _, weights, _ in stands))


def test_a_subclass_with_its_own_outputs_is_refused():
    class Tripled(md.ReLUNetwork):
        def apply(self, weights, inputs, gates=None):
            return 3 * super().apply(weights, inputs, gates)

    class Own(md.GatedNetwork):
        def activations(self, weights, inputs, gates=None):
            return super().activations(weights, 2 * inputs, gates)

    task = tasks.xor(1.0)
    gated = Own({"x": 3, "h": 9, "y": 1}, [("x", "h"), ("h", "y")])
    for network in (Tripled((3, 400, 1)), gated):
        for scale in (1e-3, network.init(KEY, 1e-3)):
            with refused("network: .* with the methods of .*train one with its own"):
                md.predict(network, scale, task, 0.01, 2, key=KEY)


def test_weights_of_a_layer_stand_for_themselves():
    task, network = tasks.xor(1.0), networks.ReLUNetwork((3, 40, 1))
    weights = network.init(KEY, 0.1)
    run, predicted = (call(network, weights, task, 0.04, 300) for call in (md.train, md.predict))
    equal(predicted.losses, run.losses)
    equal(predicted.weights[0], run.weights[0])
    assert predicted.error == predicted.seed_difference == 0
    linear = networks.LinearNetwork((3, 40, 1))
    losses, predicted = both_losses(linear, weights, task, None, optimiser=optax.adam(0.01))
    equal(predicted, losses)
    biased = networks.LinearNetwork((3, 40, 1), biases=True)
    losses, predicted = both_losses(biased, biased.init(KEY, 0.1), task)
    equal(predicted, losses)


def test_a_linear_network_keeps_its_layers_and_a_mask_of_them():
    """A mask is a pytree of the weights: of layers a list, before and after the reduction."""
    decay = optax.add_decayed_weights(0.1, mask=[True, False])
    rule = optax.chain(decay, optax.sgd(0.05))
    rng = np.random.default_rng(0)
    task = tasks.Task(rng.normal(size=(4, 6)), rng.normal(size=(3, 6)))
    network = networks.LinearNetwork((4, 50, 3))
    weights = network.init(KEY, 0.1)
    small, fewer, _ = theory.stand_in(network, weights, task, optimiser=rule)
    assert small == networks.LinearNetwork((4, 7, 3)) and len(fewer) == 2
    losses, predicted = both_losses(network, weights, task, None, optimiser=rule)
    close(predicted, losses, rtol=0, atol=1e-12)
    gated, weights, task = random_case(1)
    mask = {edge: edge[1] == "output" for edge in gated.graph.edges}
    masked = optax.chain(optax.add_decayed_weights(0.1, mask=mask), optax.sgd(0.05))
    with refused("optimiser"):  # its pathways are merged, and the mask does not fit
        md.predict(gated, weights, task, None, 3, optimiser=masked)


def test_outputs_keep_their_rows_where_a_loss_tells_them_apart():
    rng = np.random.default_rng(0)
    task = tasks.Task(rng.normal(size=(3, 12)), rng.normal(size=(2, 12)))
    edges = [("x", "h"), ("h", "a"), ("h", "b")]
    network = networks.GatedNetwork(
        {"x": 3, "h": 40, "a": 1, "b": 1}, edges, rows={"a": [1], "b": [0]}
    )
    heavier = jnp.array([[1.0], [9.0]])

    def weighted(network, weights, task):
        error = task.targets - network.apply(weights, task.inputs)
        return jnp.sum(heavier * error**2) / (2 * task.num_samples)

    weights = network.init(KEY, 0.3)
    losses, predicted = both_losses(network, weights, task, 0.02, loss=weighted)
    close(predicted, losses, rtol=0, atol=1e-12)


def test_data_of_single_precision_have_the_rank_of_their_precision():
    rng = np.random.default_rng(0)
    inputs = rng.normal(size=(6, 2)) @ rng.normal(size=(2, 9))
    targets = rng.normal(size=(7, 1)) @ rng.normal(size=(1, 9))
    for dtype in (np.float64, np.float32):
        task = tasks.Task(inputs.astype(dtype), targets.astype(dtype))
        small, _, reduced = theory.stand_in(networks.LinearNetwork((6, 40, 7)), 1e-3, task)
        assert small.sizes == (2, 3, 1) and reduced.inputs.shape == (2, 9)
    linear = networks.LinearNetwork((6, 40, 7))
    half = jax.tree.map(lambda weight: weight.astype(jnp.bfloat16), linear.init(KEY, 0.1))
    losses = md.train(linear, half, task, 0.01, 9).losses
    close(md.predict(linear, half, task, 0.01, 9).losses, losses, rtol=1e-5)
    wide = rng.normal(size=(5, 3)) @ rng.normal(size=(3, 4000))
    basis = reduction.span(wide, 1e-9 * wide)
    close(basis @ basis.T @ wide, wide, atol=1e-12)
    assert basis.shape == (5, 3)


def test_designed_neurons_do_not_depend_on_a_basis_of_the_data(monkeypatch):
    """Of inputs that contexts make rank-deficient, with equal singular values; and of targets."""
    task, network = tasks.contextual(3, 4), networks.ReLUNetwork((7, 64, 28))

    def losses():
        return np.asarray(md.predict(network, 1e-2, task, 0.05, 300, key=KEY).losses)

    def turned(*pieces):
        basis = span(*pieces)
        draw = np.random.default_rng(basis.size).normal(size=(basis.shape[1],) * 2)
        return basis @ np.linalg.qr(draw)[0]

    span, before = neurons.span, losses()
    monkeypatch.setattr(neurons, "span", turned)
    close(losses(), before, rtol=1e-10)


def test_layers_of_unequal_widths_are_narrowed_by_what_each_matrix_joins():
    """Four and nine copies: √4, (4 · 9)^¼ and √9 times as large; √4 and √9 for biases."""
    task = tasks.xor(1.0)
    network = networks.ReLUNetwork((3, 4 * 64, 9 * 64, 1), biases=True)
    _, weights, _ = theory.stand_in(network, 1e-2, task, num_neurons=64, key=KEY)
    found = [float(np.std(part)) / 1e-2 for layer in weights for part in layer]
    close(found[:5], [2, 2, 6**0.5, 3, 3], rtol=0.2)  # of few random numbers
    close(found[2], 6**0.5, rtol=0.05)  # of many
    assert len(found) == 6


@pytest.mark.filterwarnings("ignore:predict. the curve may be")
def test_learning_rates_of_a_stand_in_may_be_mapped_and_the_rest_is_concrete():
    task, network = tasks.xor(1.0), networks.ReLUNetwork((3, 80, 1))
    rates = jnp.array([0.01, 0.05])

    def losses(rate, scale=0.01, **how):
        run = md.predict(network, scale, task, rate, 20, key=KEY, **how)
        return run.losses, jnp.asarray(run.error)

    for how in ({}, {"optimiser": optax.adam}):
        mapped = jax.vmap(lambda rate, how=how: losses(rate, **how))(rates)
        one_by_one = [losses(float(rate), **how) for rate in rates]
        for each, (found, error) in enumerate(one_by_one):
            close(mapped[0][each], found, rtol=1e-12)
            close(mapped[1][each], error, rtol=1e-9)
    close(jax.jit(losses)(0.05)[0], losses(0.05)[0], rtol=1e-12)
    gated = networks.pathways(task, np.ones((1, 4)), 80)  # whose error is one of one draw in twenty
    stated = jax.vmap(lambda rate: md.predict(gated, 0.01, task, rate, 20).error)(rates)
    close(stated, md.predict(gated, 0.01, task, 0.05, 20).error, rtol=1e-9)
    with refused("scale: expected concrete numbers"):
        jax.vmap(lambda scale: losses(0.05, scale))(rates)
