"""The error that a prediction states, against training; which learning rules may be predicted."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from bad_input import refused
from numpy.testing import assert_allclose as close, assert_array_equal as equal

import mdsgdln as md
from mdsgdln import networks, tasks
from mdsgdln.prediction import rules
from mdsgdln.prediction.neurons import is_homogeneous
from mdsgdln.prediction.stand_ins import choose_stand_in

pytestmark = pytest.mark.usefixtures("compiled_in_less_time")
KEY = jax.random.key(0)
PLAIN = (False, False)


def teacher(samples=60, seed=0):
    """A task of ten inputs and three outputs, and others of the same teacher."""
    rng = np.random.default_rng(0)
    matrix = rng.standard_normal((10, 3))
    inputs = np.random.default_rng(seed).standard_normal((samples, 10))
    return md.Task.from_samples(inputs, np.tanh(inputs @ matrix))


# Which rules --------------------------------------------------------------------------------------

LATE = optax.join_schedules([optax.constant_schedule(0.1), lambda step: 0.1 / (1 + step)], [150])
CLIP = optax.clip_by_global_norm(0.1)
SWITCHED = optax.conditionally_transform(optax.scale_by_adam(), lambda step: step > 150)


def decay_of(mask):
    return optax.chain(optax.add_decayed_weights(0.1, mask=mask), optax.sgd(1.0))


@pytest.mark.parametrize(
    ("optimiser", "rotates", "copies"),
    [
        (optax.sgd(0.1, momentum=0.9), True, True),
        (optax.chain(optax.add_decayed_weights(0.01), optax.sgd(LATE)), True, True),
        (optax.chain(CLIP, optax.sgd(0.1)), True, False),
        (optax.chain(CLIP, optax.add_decayed_weights(0.01), optax.sgd(0.1)), True, False),
        # What reads the norm of weights sees those that have no gradient, too.
        (optax.chain(optax.add_decayed_weights(0.01), CLIP, optax.sgd(0.1)), False, False),
        (optax.lars(0.1), False, True),
        (optax.chain(optax.clip(0.1), optax.sgd(0.1)), False, True),
        (optax.chain(optax.adaptive_grad_clip(0.01), optax.sgd(0.1)), False, False),  # has a floor
        (optax.adamw(0.01), False, True),
        (optax.radam(0.01), False, True),  # descent, for its first updates
        (SWITCHED, False, True),  # descent, for 150 updates
        (optax.chain(CLIP, optax.adam(0.01)), False, False),
        (optax.novograd(0.01), None, False),
        (optax.adafactor(0.01), False, None),
        (optax.contrib.muon(0.01), False, False),
        (optax.contrib.prodigy(), False, True),
        (optax.fromage(0.01), False, False),  # has a floor, at 1e-6
        (decay_of([True, False]), True, True),
        (decay_of({"a": True}), False, False),
    ],
    ids=lambda value: "" if not isinstance(value, bool) else str(value),
)
def test_rules_are_told_apart_over_many_updates(optimiser, rotates, copies):
    """What is known of each rule on paper; None where it depends on sizes."""
    found = rules.rotates_layers(optimiser, PLAIN, 200), rules.keeps_copies(optimiser, PLAIN, 200)
    for known, each in zip((rotates, copies), found, strict=True):
        assert known in (None, each)


@pytest.mark.parametrize("threshold", [1e-3, 1.0, 1e3])
def test_a_threshold_is_seen_in_a_single_update(threshold):
    """However few updates are predicted, gradients of most lengths are tried."""
    clipped = optax.chain(optax.clip(threshold), optax.sgd(0.1))
    assert not rules.rotates_layers(clipped, PLAIN, 1)
    assert not rules.rotates_nodes(clipped, (("x", "h"), ("h", "y")), (), 1)


def test_a_first_layer_that_a_rule_leaves_as_it_is_has_no_stand_in():
    """Many fixed neurons are many features, which a few do not have."""
    parts = {"trained": optax.sgd(0.1), "fixed": optax.set_to_zero()}
    fixed = optax.multi_transform(parts, ["fixed", "trained"])
    late = optax.sgd(optax.join_schedules([lambda _: 0.0, lambda _: 0.1], [5]))
    weights_alone = optax.multi_transform(parts, [("fixed", "trained"), "trained"])
    biased = (True, False)
    assert rules.fixes_first_layer(fixed, PLAIN, 10)
    assert rules.fixes_first_layer(weights_alone, biased, 10)
    for rule in (late, optax.sgd(0.1), optax.chain(optax.centralize(), optax.adam(1e-3))):
        assert not rules.fixes_first_layer(rule, PLAIN, 10)
    assert not rules.fixes_first_layer(late, PLAIN, 5)  # nothing moves
    setting = networks.ReLUNetwork((10, 40, 3)), 1e-2, teacher(12), None, 10
    with refused("optimiser: expected a rule that trains the first layer"):
        md.predict(*setting, optimiser=fixed, key=KEY)
    with refused("optimiser: expected a rule that updates each neuron by itself"):
        md.predict(*setting, optimiser=optax.lbfgs(), key=KEY)
    md.predict(*setting, optimiser=optax.multi_transform(parts, ["trained", "fixed"]), key=KEY)


def test_merged_nodes_need_a_rule_without_masks_and_no_rule_reads_norms_of_weights():
    edges = ("x", "a"), ("x", "b"), ("a", "y"), ("b", "y")
    for optimiser, expected in (
        (optax.chain(CLIP, optax.sgd(0.1)), True),
        (optax.lars(0.1), False),
        (optax.adam(0.1), False),
    ):
        assert rules.rotates_nodes(optimiser, edges, (("a", "b"),), 50) == expected
    assert not rules.rotates_nodes(optax.lars(0.1), edges, (), 50)
    assert rules.rotates_nodes(optax.contrib.momo(0.01), edges, (), 50)  # its steps cancel
    # Its updates are differences of weights, of which little may be left.
    assert rules.rotates_nodes(optax.contrib.schedule_free_sgd(0.01), edges, (), 1000)
    masked = optax.masked(optax.trace(0.9), dict.fromkeys(edges, True))
    assert rules.rotates_nodes(masked, edges, (), 50)
    assert not rules.rotates_nodes(masked, edges, (("a", "b"),), 50)


def test_activations_that_are_bounded_somewhere_are_not_homogeneous():
    for activation in (jax.nn.relu, jax.nn.leaky_relu, jnp.abs, jax.nn.identity):
        assert jax.vmap(lambda x, phi=activation: x * is_homogeneous(phi))(jnp.ones(2)).all()
    for activation in (jax.nn.relu6, lambda z: jnp.clip(z, 0, 5000), jnp.tanh, jax.nn.softplus):
        assert not is_homogeneous(activation)


# The estimated error ------------------------------------------------------------------------------


def trained(network, scale, task, steps, **how):
    runs = []
    for seed in (1, 2, 3):
        weights, key = network.init(jax.random.key(seed), scale), jax.random.key(seed + 9)
        runs.append(md.train(network, weights, task, None, steps, key=key, **how))
    return runs


def apart(one, other):
    return md.deviation(one, other, learned=None)


@pytest.mark.parametrize(
    ("activation", "width", "scale", "optimiser"),
    [
        (jax.nn.relu, 800, 1e-3, optax.sgd(0.05)),
        (jax.nn.gelu, 800, 1e-3, optax.chain(optax.clip_by_global_norm(0.3), optax.sgd(0.05))),
        (jax.nn.relu, 500, 1e-3, optax.adam(1e-3)),
        (jax.nn.softplus, 300, 1e-3, optax.sgd(0.002)),
        (jax.nn.relu, 24, 1e-2, optax.sgd(0.05)),
    ],
    ids=["descent", "GELU, clipped", "Adam", "softplus", "narrow"],
)
@pytest.mark.filterwarnings("ignore:predict. the curve may be")
def test_the_stated_error_covers_the_error(activation, width, scale, optimiser):
    task, network = teacher(), networks.Layered((10, width, 3), activation)
    runs = trained(network, scale, task, 400, optimiser=optimiser)
    predicted = md.predict(network, scale, task, None, 400, optimiser=optimiser, key=KEY)
    error = np.mean([apart(predicted.losses, run.losses) for run in runs])
    null = np.mean([apart(runs[0].losses, run.losses) for run in runs[1:]])
    assert error < 3 * predicted.error or error < 2 * null
    assert null / 5 < predicted.seed_difference < 5 * null
    assert predicted.weights is None and predicted.state is None


@pytest.mark.parametrize(
    ("optimiser", "sigma", "steps"),
    [(optax.sgd(0.033, momentum=0.9), 0.01, 3000), (optax.adam(2e-3), 1e-3, 1000)],
    ids=["momentum", "Adam"],
)
def test_rare_neurons_on_a_curve_of_one_input_count(optimiser, sigma, steps):
    """A quarter of the neurons stays longer on a plateau, which a few of a thousand leave."""
    x = np.linspace(-2, 2, 20)[:, None]
    task = tasks.with_ones(md.Task.from_samples(x, np.sin(3 * x)))
    network = networks.ReLUNetwork((2, 1000, 1))
    run = md.train(network, network.init(KEY, sigma), task, None, steps, optimiser=optimiser)
    with pytest.warns(UserWarning, match="may be"):
        predicted = md.predict(network, sigma, task, None, steps, optimiser=optimiser, key=KEY)
    distance = md.deviation(predicted.losses, run.losses, None)
    assert distance > 0.2
    assert distance / 2 < predicted.error < 2 * distance


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.filterwarnings("ignore:predict. the curve may be")
def test_initial_outputs_where_no_target_is_count(bias):
    """A stand-in in a basis of the targets alone would have none of them."""
    task = teacher()
    task = md.Task(task.inputs, np.concatenate([task.targets[:1], np.zeros((49, 60))]))
    network = networks.Layered((10, 300, 50), jax.nn.relu, [False, bias])
    scale = [1e-2, (1e-2, 1.0)] if bias else 0.08
    runs = trained(network, scale, task, 300, optimiser=optax.sgd(0.05))
    predicted = md.predict(network, scale, task, 0.05, 300, key=KEY)
    error = np.mean([apart(predicted.losses, run.losses) for run in runs])
    assert error / 5 < predicted.error < 5 * error


@pytest.mark.filterwarnings("ignore:predict. the curve may be")
def test_hidden_layers_of_unequal_widths_have_an_error_that_says_so():
    """No size of narrower weights carries both activity and errors as the wide ones do."""
    task, network, scale = teacher(), networks.ReLUNetwork((10, 256, 1500, 3)), 0.03
    runs = trained(network, scale, task, 300, optimiser=optax.sgd(0.01))
    for seed in range(3):
        predicted = md.predict(network, scale, task, 0.01, 300, key=jax.random.key(seed))
        assert np.mean([apart(predicted.losses, run.losses) for run in runs]) < predicted.error


@pytest.mark.filterwarnings("ignore:predict. the curve may be")
def test_the_error_of_two_hidden_layers_is_that_of_three_others():
    task, network = tasks.xor(1.0), networks.ReLUNetwork((3, 40, 40, 1))
    choice = choose_stand_in(network, 0.1, task, 256, KEY, None, md.squared_error, 60)
    first, *others = (md.train(*choice.make(which), 0.05, 60).losses for which in range(4))
    errors = [apart(other, first) for other in others]
    assert len(set(errors)) == 3
    predicted = md.predict(network, 0.1, task, 0.05, 60, key=KEY)
    assert predicted.error == pytest.approx(np.sqrt(np.mean(np.square(errors))))


def test_the_stated_error_is_the_difference_of_two_stand_ins_written_out():
    """Of a gated network: the mean of its weights, and a draw of them."""
    task = tasks.contextual(2, 4)
    network = networks.contextual_pathways(task, 2, 1, 40)
    key = jax.random.split(jax.random.fold_in(KEY, 2**32 - 1))[1]
    order = jax.random.fold_in(KEY, 2**32 - 2)
    for scale, rate, size in ((1e-3, 0.1, None), (1e-2, 0.02, 7)):
        predicted = md.predict(network, scale, task, rate, 600, batch_size=size, key=KEY)
        weights = network.init(key, scale)
        drawn = md.train(network, weights, task, rate, 600, batch_size=size, key=order)
        between = apart(drawn.losses, predicted.losses)
        expected = md.theory.applicability(network, task, scale).rows[1].value
        close(predicted.error, max(between, expected), rtol=1e-6)
        losses = np.asarray(predicted.losses)
        noise = np.abs(np.diff(losses)).sum() / losses.sum() if size else 0.0
        seeds = (noise**2 + 2 * (between**2 - noise**2)) ** 0.5
        close(predicted.seed_difference, seeds, rtol=1e-6)
    weights = network.init(KEY, 1e-3)
    exact = md.predict(network, weights, task, 0.1, 600)
    assert exact.error == exact.seed_difference == 0 and exact.weights is None


def test_noise_of_batches_is_no_difference_of_networks():
    task, network = teacher(), networks.ReLUNetwork((10, 600, 3))
    how = {"optimiser": optax.sgd(0.02), "batch_size": 8}
    runs = trained(network, 1e-3, task, 300, **how)
    predicted = md.predict(network, 1e-3, task, None, 300, key=KEY, **how)
    null = np.mean([apart(runs[0].losses, run.losses) for run in runs[1:]])
    error = np.mean([apart(predicted.losses, run.losses) for run in runs])
    assert 0.5 * null < predicted.seed_difference < 1.5 * null
    assert error < 1.5 * predicted.error
    same = md.train(network, network.init(KEY, 1e-3), task, None, 300, key=KEY, **how)
    assert apart(predicted.losses, same.losses) < 0.3 * error  # the same batches


def test_updates_once_in_several_steps_are_predicted():
    task, network = teacher(12), networks.ReLUNetwork((10, 300, 3))
    rule = optax.MultiSteps(optax.sgd(0.1), 2)  # no GradientTransformation of optax
    slow = md.predict(network, 1e-2, task, None, 40, key=KEY, optimiser=rule)
    fast = md.predict(network, 1e-2, task, None, 20, key=KEY, optimiser=optax.sgd(0.1))
    close(slow.losses[::2], fast.losses, rtol=1e-6)


@pytest.mark.parametrize("optimiser", [optax.sgd(0.02), optax.adam(1e-3)])
def test_where_outputs_of_zero_are_at_rest_a_stand_in_has_others(optimiser):
    def of_squares(network, weights, task):
        return jnp.mean((task.targets - network.apply(weights, task.inputs) ** 2) ** 2)

    rng = np.random.default_rng(0)
    inputs = rng.normal(size=(60, 8))
    task = md.Task.from_samples(inputs, (inputs @ rng.normal(size=8) / 3) ** 2)
    network, options = networks.ReLUNetwork((8, 400, 1)), {"optimiser": optimiser}
    options |= {"loss": of_squares, "key": KEY}
    with pytest.warns(UserWarning, match="as it estimates"):
        predicted = md.predict(network, 0.01, task, None, 1500, **options)
    weights = network.init(jax.random.key(100), 0.01)
    run = md.train(network, weights, task, None, 1500, optimiser=optimiser, loss=of_squares)
    distance = md.deviation(predicted.losses, run.losses, None)
    assert predicted.losses[-1] < predicted.losses[0] / 2 and distance < 3 * predicted.error


def test_the_largest_of_many_squared_relus_begins_to_learn_and_the_error_says_so():
    rng = np.random.default_rng(1)
    inputs = rng.normal(size=(10, 60))
    task = md.Task(inputs, np.sign(rng.normal(size=(1, 10)) @ inputs))
    network = networks.Layered((10, 3000, 1), lambda z: jnp.maximum(z, 0) ** 2)
    with pytest.warns(UserWarning, match="may be 1.% off, as it estimates"):  # it is, on average
        md.predict(network, 0.01, task, 0.02, 2500, key=jax.random.key(100))


def test_losses_that_read_inputs_in_any_way_are_refused():
    def of_groups(network, weights, task):
        factor = jnp.array([10.0, 0.1])[jnp.argmax(task.inputs[:2], axis=0)]
        return jnp.mean(factor[None] * (task.targets - network.apply(weights, task.inputs)) ** 2)

    network, task = networks.ReLUNetwork((4, 40, 1)), md.Task(np.eye(4), np.ones((1, 4)))
    with pytest.raises(ValueError, match="loss: expected a function of outputs and targets"):
        md.predict(network, 0.1, task, 0.1, 5, loss=of_groups, key=KEY)


def test_held_out_loss_is_predicted_with_an_error_of_its_own():
    task, other = teacher(40), teacher(50, seed=5)
    network = networks.ReLUNetwork((10, 600, 3))
    how = {"optimiser": optax.sgd(0.05), "held_out": other, "every": 4}
    runs = trained(network, 1e-3, task, 400, **how)
    predicted = md.predict(network, 1e-3, task, None, 400, key=KEY, **how)
    assert predicted.held_out.shape == (100,)
    error = np.mean([apart(predicted.held_out, run.held_out) for run in runs])
    null = np.mean([apart(runs[0].held_out, run.held_out) for run in runs[1:]])
    assert error < 3 * predicted.held_out_error or error < 2 * null
    linear = networks.LinearNetwork((10, 90, 3))
    weights = linear.init(KEY, 0.1)
    run, exact = (call(linear, weights, task, None, 100, **how) for call in (md.train, md.predict))
    close(exact.held_out, run.held_out, rtol=1e-11)
    assert exact.held_out_error == 0.0
    assert md.predict(linear, weights, task, 0.01, 2).held_out_error is None
    without, with_more = (
        md.predict(linear, 1e-3, task, 0.05, 40, held_out=more)
        for more in (None, md.Task(other.inputs, 9 * other.inputs[:3]))
    )
    assert with_more.error == without.error


def test_a_subclass_of_a_gated_network_keeps_gates_as_leaves():
    class Mine(md.GatedNetwork):
        pass

    task = teacher(12)
    arguments = {"x": 10, "h": 4, "y": 3}, [("x", "h"), ("h", "y")], {"h": [0, 1] * 6}
    one, other = md.GatedNetwork(*arguments), Mine(*arguments)
    weights = one.init(KEY, 0.3)
    runs = [
        md.train(network, weights, task, 0.1, 50, batch_size=4, key=KEY) for network in (one, other)
    ]
    equal(runs[0].losses, runs[1].losses)
    assert isinstance(other.take([0, 1]), Mine) and len(jax.tree.leaves(other)) == 1
    with refused("task: expected 12 samples"):
        other.check(None, teacher(7))
