"""What has to hold for any data and any weights, tried on drawn ones.

Sizes stay the same, so that a function is compiled once for all examples.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from mdsgdln import discovery, gates, reln, statistics, tasks, theory, training
from mdsgdln.networks import (
    GatedNetwork,
    LinearNetwork,
    ReLUNetwork,
    contextual_pathways,
    pathways,
)

INPUTS, HIDDEN, OUTPUTS, SAMPLES = 3, 4, 2, 5
SIZES = (INPUTS, HIDDEN, OUTPUTS)
EDGES = [("x", "h"), ("h", "y")]
few = settings(max_examples=8, deadline=None, derandomize=True, database=None)
seeds = st.integers(0, 2**32 - 1)


def orders(number):
    return st.permutations(range(number)).map(np.array)


def drawn_task(seed):
    rng = np.random.default_rng(seed)
    return tasks.Task(rng.normal(size=(INPUTS, SAMPLES)), rng.normal(size=(OUTPUTS, SAMPLES)))


def drawn_weights(seed):
    rng = np.random.default_rng([seed, 1])
    return [jnp.array(rng.normal(size=shape)) for shape in ((HIDDEN, INPUTS), (OUTPUTS, HIDDEN))]


def gated(seed, open_gates=False):
    """Return a network with a gate per hidden neuron and sample, and one per sample on an edge."""
    rng = np.random.default_rng([seed, 2])
    neurons, edge = rng.integers(0, 2, (HIDDEN, SAMPLES)), rng.integers(0, 2, SAMPLES)
    if open_gates:
        neurons, edge = np.ones_like(neurons), np.ones_like(edge)
    sizes = dict(zip("xhy", SIZES, strict=True))
    return GatedNetwork(sizes, EDGES, {"h": neurons}, {("h", "y"): edge})


def by_edge(weights):
    return dict(zip(EDGES, weights, strict=True))


@few
@given(seeds, orders(HIDDEN))
def test_the_order_of_neurons_does_not_matter(seed, order):
    task, (first, second) = drawn_task(seed), drawn_weights(seed)
    permuted = [first[order], second[:, order]]
    for network in (LinearNetwork(SIZES), ReLUNetwork(SIZES)):
        before = training.train(network, [first, second], task, 0.01, 3).losses
        after = training.train(network, permuted, task, 0.01, 3).losses
        np.testing.assert_allclose(after, before, rtol=1e-12)
    network = gated(seed)
    reordered = GatedNetwork(
        network.graph.neurons, EDGES, {"h": network.node_gates["h"][order]}, network.edge_gates
    )
    before = training.loss(network, by_edge([first, second]), task)
    np.testing.assert_allclose(
        training.loss(reordered, by_edge(permuted), task), before, rtol=1e-12
    )


@few
@given(seeds, orders(SAMPLES))
def test_the_order_of_samples_does_not_matter(seed, order):
    task, weights = drawn_task(seed), drawn_weights(seed)
    for network in (LinearNetwork(SIZES), ReLUNetwork(SIZES), gated(seed)):
        given_weights = by_edge(weights) if isinstance(network, GatedNetwork) else weights
        before = training.train(network, given_weights, task, 0.01, 3).losses
        after = training.train(network.take(order), given_weights, task.take(order), 0.01, 3).losses
        np.testing.assert_allclose(after, before, rtol=1e-12)
    found, again = statistics.modes(task), statistics.modes(task.take(order))
    np.testing.assert_allclose(again.singular_values, found.singular_values, rtol=1e-10)
    np.testing.assert_allclose(again.input_variances, found.input_variances, rtol=1e-10)


@few
@given(seeds)
def test_small_steps_lower_the_loss(seed):
    task, weights = drawn_task(seed), drawn_weights(seed)
    for network in (LinearNetwork(SIZES), gated(seed)):
        given_weights = by_edge(weights) if isinstance(network, GatedNetwork) else weights
        losses = training.train(network, given_weights, task, 1e-4, 20).losses
        assert (np.diff(losses) <= 0).all()
        assert losses[-1] < losses[0] or isinstance(network, GatedNetwork)  # all may be shut


@few
@given(seeds)
def test_the_balance_of_layers_is_conserved(seed):
    """W₁W₁ᵀ − W₂ᵀW₂ changes only by η² times the gradients' (here from the loss's slope)."""
    task, weights, rate = drawn_task(seed), drawn_weights(seed), 1e-3
    run = training.train(LinearNetwork(SIZES), weights, task, rate, 1)

    def balance(layers):
        return layers[0] @ layers[0].T - layers[1].T @ layers[1]

    slopes = [(after - before) / rate for before, after in zip(weights, run.weights, strict=True)]
    expected = balance(weights) + rate**2 * balance(slopes)
    np.testing.assert_allclose(balance(run.weights), expected, atol=1e-12)


@few
@given(seeds)
def test_open_gates_leave_a_linear_network(seed):
    task, weights = drawn_task(seed), drawn_weights(seed)
    expected = weights[1] @ weights[0] @ task.inputs
    np.testing.assert_allclose(
        gated(seed, True).apply(by_edge(weights), task.inputs), expected, atol=1e-12
    )
    np.testing.assert_allclose(
        LinearNetwork(SIZES).apply(weights, task.inputs), expected, atol=1e-12
    )
    loss = np.sum((task.targets - expected) ** 2) / (2 * SAMPLES)
    np.testing.assert_allclose(training.loss(LinearNetwork(SIZES), weights, task), loss)


@few
@given(seeds)
def test_the_path_sum_is_the_gradient(seed):
    task, weights = drawn_task(seed), by_edge(drawn_weights(seed))
    rng = np.random.default_rng([seed, 3])
    network = pathways(task, rng.integers(0, 2, (2, SAMPLES)), HIDDEN)
    weights = network.init(jax.random.key(seed % 1000), 1.0)
    gradient = jax.grad(lambda w: training.loss(network, w, task))(weights)
    for edge, flow in theory.path_gradient(network, weights, task).items():
        np.testing.assert_allclose(flow, -gradient[edge], atol=1e-10)


strengths = st.floats(0.2, 3.0)


@few
@given(strengths, strengths, st.floats(1e-4, 0.1), st.integers(1, 4))
def test_closed_forms_begin_at_the_start_and_end_at_the_solution(s, d, start, depth):
    times, solution = np.array([0.0, 4e3 / min(s, 1)]), s / d
    deep = theory.mode_trajectory(times, s, d, start)[0]
    shallow = theory.mode_trajectory(times, s, d, start, 1)[0]
    np.testing.assert_allclose(deep, [start, solution], rtol=1e-9)
    np.testing.assert_allclose(shallow, [start, solution], rtol=1e-9)
    if depth > 2:
        times = np.array([0.0, 2.0])
        deeper = theory.mode_trajectory(times, s, d, start, depth)[0]
        np.testing.assert_allclose(deeper[0], start, rtol=1e-9)
        assert start < deeper[1] < solution * (1 + 1e-9) or start >= solution


@few
@given(seeds)
def test_modes_reconstruct_the_correlation(seed):
    task = drawn_task(seed)
    found, moments = statistics.modes(task), statistics.correlations(task)
    np.testing.assert_allclose(
        found.left * found.singular_values @ found.right.T, moments.input_output, atol=1e-12
    )
    np.testing.assert_allclose(
        moments.input_output, task.targets @ task.inputs.T / SAMPLES, atol=1e-12
    )
    variances = np.diag(found.right.T @ moments.input @ found.right)
    np.testing.assert_allclose(found.input_variances, variances, atol=1e-12)
    largest = np.abs(found.left).argmax(axis=0)
    assert (found.left[largest, np.arange(len(largest))] > 0).all()


@few
@given(seeds)
def test_condensed_data_have_the_same_moments(seed):
    rng = np.random.default_rng(seed)
    task = tasks.Task(rng.normal(size=(2, 9)), rng.normal(size=(1, 9)))
    before, after = statistics.correlations(task), statistics.correlations(tasks.Task(
        *(getattr(statistics.condensed(task), name) for name in ("inputs", "targets"))
    ))  # fmt: skip
    np.testing.assert_allclose(after.input_output, before.input_output, atol=1e-12)
    np.testing.assert_allclose(after.input, before.input, atol=1e-12)


patterns = st.lists(st.integers(0, 1), min_size=12, max_size=12).map(
    lambda bits: np.array(bits).reshape(4, 3)
)


@settings(few, max_examples=40)
@given(patterns, orders(4), orders(3))
def test_what_a_neuron_can_gate_does_not_depend_on_names(pattern, items, contexts):
    """Items and contexts may be renamed, and a pattern turned into its opposite."""
    possible = gates.is_realisable(pattern)
    assert gates.is_realisable(pattern[items][:, contexts]) == possible
    assert gates.is_realisable(1 - pattern) == possible
    forbidden = any(
        np.array_equal(part, np.eye(2)) or np.array_equal(part, 1 - np.eye(2))
        for rows in [(i, j) for i in range(4) for j in range(i)]
        for columns in [(i, j) for i in range(3) for j in range(i)]
        for part in [pattern[np.ix_(rows, columns)]]
    )
    assert possible == (not forbidden)


@settings(few, max_examples=4)
@given(patterns)
def test_linear_programming_agrees_with_the_rule(pattern):
    task = tasks.contextual(3, 4)  # samples in context-major order
    assert gates.are_realisable([pattern.T.ravel()], task.inputs) == gates.is_realisable(pattern)


@few
@given(seeds)
def test_a_curve_does_not_deviate_from_itself(seed):
    reference = np.exp(-np.linspace(0, 9, 20)) * np.random.default_rng(seed).uniform(1, 2)
    assert reln.deviation(reference, reference) == 0
    assert reln.deviation(1.25 * reference, reference) == pytest.approx(0.25)


@few
@given(seeds, orders(3))
def test_gates_agree_whatever_their_order(seed, order):
    found = np.random.default_rng(seed).integers(0, 2, (3, 8))
    assert discovery.disagreement(found[order], found) == 0
    assert discovery.disagreement(found, found[:2]) == pytest.approx(1 / 6)


@settings(few, max_examples=3)
@given(orders(3))
def test_the_order_of_contexts_does_not_matter(order):
    """Contexts renamed, in inputs, targets and gates alike: the loss is predicted the same."""
    task = tasks.contextual(3, 4)
    network = contextual_pathways(task, 3, 2, 100)
    items, rows = np.arange(4), len(task.targets) // 4
    inputs = task.inputs[np.concatenate([items, 4 + order])]
    blocks = [np.arange(block * rows, (block + 1) * rows) for block in range(4)]
    targets = task.targets[np.concatenate([blocks[0], *(blocks[1 + c] for c in order)])]
    renamed = tasks.Task(inputs, targets)
    times = np.linspace(0, 60, 7)
    before = theory.predict_losses(network, task, 0.01, times)
    after = theory.predict_losses(network, renamed, 0.01, times)
    np.testing.assert_allclose(after, before, atol=1e-5 * before[0])
    assert (before[1:-1] > 0.01 * before[0]).any()  # not all learned at once
