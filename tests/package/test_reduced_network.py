"""The small system that stands for a two-layer network: against descent written out, bad input."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose as close

from mdsgdln import networks, reln, statistics, tasks, theory, training
from mdsgdln.theory import ReducedNetwork
from mdsgdln.theory.prediction import _reduced_network

pytestmark = [
    pytest.mark.usefixtures("compiled_in_less_time"),
    pytest.mark.xdist_group("reduced_network"),  # its programs are compiled once
]
KEY = jax.random.key(0)
TASK = tasks.contextual(2, 4)
NETWORK = networks.contextual_pathways(TASK, 2, 1, 6)
WEIGHTS = NETWORK.init(KEY, 0.2)
WIDE = networks.contextual_pathways(TASK, 2, 1, 300)


def random_case(seed):
    """Four inputs, three outputs, six samples, three pathways of two or nine neurons, and weights.

    Two neurons are fewer than modes, nine more than inputs and outputs together.
    """
    rng = np.random.default_rng(seed)
    task = tasks.Task(rng.normal(size=(4, 6)), rng.normal(size=(3, 6)))
    gates = rng.integers(0, 2, (3, 6))
    gates[0] = gates[:, 0] = 1
    network = networks.pathways(task, gates, (2, 9)[seed % 2])
    return network, task, network.init(jax.random.key(seed), 0.01 * 30 ** rng.random())


STEPS = 401  # of descent at both rates below


def distances(network, weights, task, rate):
    """Largest errors of the flow and of the flow corrected for the step, up to t = 8."""
    times = 0.2 * np.arange(41)
    losses = training.train(network, weights, task, rate, STEPS).losses
    losses = losses[:: round(0.2 / rate)][: len(times)]
    predicted = (theory.predict_losses(network, task, weights, times, step) for step in (0, rate))
    return np.array([abs(curve - losses).max() for curve in predicted])


def test_given_weights_are_reduced_exactly():
    """Descent of both agrees; flow differs from it by the step, corrected by its square."""
    for seed, hidden in ((0, 6), (1, 21)):
        network, task, weights = random_case(seed)
        small = theory.exact_reduction(network, weights, task)
        assert set(small.network.graph.neurons.values()) == {4, 3, hidden}
        whole, reduced = (
            training.train(*case, 0.04, STEPS).losses for case in ((network, weights, task), small)
        )
        close(reduced, whole, rtol=0, atol=1e-10)
    once, half = (distances(network, weights, task, rate) for rate in (0.04, 0.02))
    assert (np.array([1.9, 3.8]) < once / half).all() and (once / half < [2.3, 4.6]).all()


def test_gates_belong_to_columns():
    network, task, weights = random_case(1)
    order, times = np.array([3, 0, 5, 1, 4, 2]), np.linspace(0, 8, 9)
    expected = theory.predict_losses(network, task, weights, times)
    same = theory.predict_losses(network.take(order), task.take(order), weights, times)
    close(same, expected, rtol=1e-10)
    others = theory.predict_losses(network, task.take(order), weights, times)
    assert reln.deviation(others, expected, learned=None) > 0.05  # gates of other samples


def test_deeper_networks_shrink_where_a_layer_is_wider_than_its_neighbours():
    """A tree of eight items has eight modes in fifteen rows; ``y`` is as wide as all it gets."""
    task, loss = tasks.semantic("tree", 8), jax.jit(training.loss)
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
        small = theory.exact_reduction(network, weights, task)
        assert [size for _, size in small.network.graph.sizes] == sizes
        whole, reduced = (loss(*case) for case in ((network, weights, task), small))
        close(reduced, whole, rtol=1e-12)
    once, half = (distances(gated, weights, task, rate) for rate in (0.04, 0.02))
    assert once[1] < 0.1 * once[0] and 3.5 < once[1] / half[1] < 4.7


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
    small = theory.exact_reduction(network, weights, task)
    assert list(small.network.graph.neurons.values()) == [3, 4, 5, 4]
    whole, reduced = (
        training.train(*case, 0.01, 101).losses for case in ((network, weights, task), small)
    )
    close(reduced, whole, rtol=1e-12)


def test_samples_and_targets_that_depend_on_each_other_leave_fewer_ends():
    """Six inputs of which samples span two, seven outputs of which the targets span one."""
    rng = np.random.default_rng(1)
    task = tasks.Task(rng.normal(size=(6, 2)) @ rng.normal(size=(2, 9)), np.ones((7, 9)))
    network = networks.pathways(task, rng.integers(0, 2, (2, 9)), 40)
    weights = network.init(KEY, 1e-6)
    small = _reduced_network(network, task, weights)
    assert list(small.network.graph.neurons.values()) == [2, 6, 1]
    nothing = tasks.Task(task.inputs, jnp.zeros((7, 9)))
    assert _reduced_network(network, nothing, 0.1) is None
    assert len(theory.exact_reduction(network, weights, task).task.targets) == 7
    losses = training.train(network, weights, task, 0.004, 2001).losses
    times = 0.004 * np.arange(2001)
    predicted = theory.predict_losses(network, task, weights, times, 0.004)
    close(predicted, losses, atol=1e-4 * losses[0])


def test_a_bottleneck_learns_the_fastest_modes():
    """s² = 15, 7, 3, 3, 1, … over 64, d = 1/8; the loss falls from 2 by s²/(2d) of each."""
    task, network = tasks.semantic("tree", 8), networks.LinearNetwork((8, 2, 15))
    with pytest.warns(UserWarning, match="depends on the draw"):
        losses = theory.predict_losses(network, task, 1e-3, [0.0, 2000.0])
    close(losses, [2.0, 0.625], atol=1e-5)


def test_what_depends_on_the_draw_is_refused():
    """Mode one is faster, s = 1 and ½, but the second lowers the loss more, s²/d = 1 and 2½."""
    inputs = np.diag([1.0, np.sqrt(0.1)])
    task = tasks.Task(inputs, np.diag([2.0, 1.0]) / 2 * 2 @ np.linalg.inv(inputs))
    found = statistics.modes(task)
    assert found.singular_values[0] > found.singular_values[1]
    gains = found.singular_values**2 / found.input_variances
    assert gains[0] < gains[1]
    for network, of in (
        (networks.LinearNetwork((2, 1, 2)), task),
        (networks.contextual_pathways(TASK, 2, 1, 3), TASK),
    ):
        with pytest.raises(ValueError, match="depends on the draw"):
            theory.predict_losses(network, of, 1e-3, [1.0])


def test_large_weights_of_a_wide_network_follow_from_their_size():
    """σ²H of the order of what is to be learned: the mean of wide networks, nothing small."""
    task, rate = tasks.Task(np.eye(3), np.diag([3.0, 2.0, 1.0])), 0.02
    network, scale = networks.LinearNetwork((3, 4000, 3)), 0.01
    losses = training.train(network, network.init(KEY, scale), task, rate, 400).losses
    predicted = theory.predict_losses(network, task, scale, rate * np.arange(400), rate)
    close(predicted, losses, atol=0.05 * losses[0])
    balanced = theory.balanced_weights(network, task, scale)
    off = theory.predict_losses(network, task, balanced, rate * np.arange(400), rate)
    assert abs(off - losses).max() > 0.1 * losses[0]


def test_descent_is_the_flow_less_half_a_step_of_its_change():
    """The change along the flow, by central differences."""
    system, step, small = theory.exact_reduction(NETWORK, WEIGHTS, TASK), 0.3, 1e-4
    flow_of, weights = jax.jit(ReducedNetwork.flow), jax.tree.map(np.asarray, system.weights)
    flow = jax.tree.map(np.asarray, flow_of(system))
    ahead, behind = (
        flow_of(system._replace(weights={e: w + s * flow[e] for e, w in weights.items()}))
        for s in (small, -small)
    )
    for edge, found in flow_of(system, step).items():
        change = (ahead[edge] - behind[edge]) / (2 * small)
        close(found, flow[edge] - step / 2 * change, atol=1e-8)


def test_what_is_traced_is_what_is_known():
    """Inside of jit and vmap, and its derivative by σ."""
    times, step = 0.1 * np.arange(200), 0.1

    def predict(scale):
        return theory.predict_losses(WIDE, TASK, scale, times, step)

    @jax.jit  # all at once: each alone compiles for seconds
    @jax.vmap
    def traced(scale):
        return jax.jvp(predict, [scale], [1.0])

    losses, slopes = traced(jnp.array([0.02, 0.025]))
    close(losses[0], predict(0.02), rtol=1e-5)
    at_times = jax.jit(lambda times: theory.predict_losses(WIDE, TASK, 0.02, times, step))
    close(at_times(times), predict(0.02), rtol=1e-9)
    difference = (predict(0.02001) - predict(0.01999)) / 2e-5
    close(slopes[0], difference, rtol=1e-4, atol=1e-5)


def test_whatever_is_asked_for_is_returned_along_the_way():
    system, times = _reduced_network(WIDE, TASK, 0.01), list(range(0, 60, 20))
    both = system.evolve(times, output=lambda now: (now.outputs(), now.loss()))
    outputs, losses = map(np.asarray, both)
    assert outputs.shape == (3, *system.task.targets.shape)
    errors = np.sum((np.asarray(system.task.targets) - outputs) ** 2, axis=(1, 2))
    close(errors / (2 * TASK.num_samples), losses, rtol=1e-12)
    close(outputs[0], system.outputs(), rtol=1e-12)
