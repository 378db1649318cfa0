"""Gated networks with two hidden layers, few neurons and gates from the task."""

import jax
import numpy as np
import pytest

from mdsgdln import networks, training
from mdsgdln_book.experiments import depth_reuse, two_hidden, two_hidden_narrow


@pytest.mark.parametrize("structures", two_hidden.TASKS)
def test_modules_halve_the_items_of_a_context(structures):
    rows = two_hidden_narrow.module_gates(structures).reshape(9, 3, 8)
    assert rows[:3].sum(axis=(1, 2)) == pytest.approx(16)
    for context, halves in enumerate(rows[3:].reshape(3, 2, 3, 8)):
        assert (halves.sum(axis=0)[context] == 1).all() and halves.sum() == 8
        assert (halves.sum(axis=2)[:, context] == 4).all()
        assert halves[0, context, 0] == 1  # whatever the sign of a singular vector is


def survivors(structures):
    """Two thirds of both layers, in place of the shares of the task."""
    return 1.6, 2 / 3, 2 / 3


@pytest.fixture
def parts(monkeypatch):
    """The task, weights that are not small, and which neurons are always on."""
    monkeypatch.setattr(two_hidden_narrow, "survivors", survivors)
    width = two_hidden_narrow.NARROW
    weights = two_hidden_narrow.relu_of(width).init(jax.random.key(0), 0.1)
    loss = two_hidden_narrow.loss_of.__wrapped__
    return two_hidden.TASKS["trees"], weights, np.arange(width) < round(2 / 3 * width), loss


def test_modules_that_do_not_slide_are_a_gated_network(parts):
    task, weights, always, loss = parts
    rows = two_hidden_narrow.module_gates("trees")
    on = np.ones((len(always), 24))
    on[~always] = rows[np.arange(np.sum(~always)) % 9]
    sizes = {"input": 11, "first": len(always), "second": len(always), "output": 60}
    edges = [("input", "first"), ("first", "second"), ("second", "output")]
    first = np.repeat(always[:, None] * 1.0, 24, axis=1)
    chain = networks.GatedNetwork(sizes, edges, node_gates={"first": first, "second": on})
    expected = training.loss(chain, dict(zip(edges, weights, strict=True)), task)
    assert loss("trees", False)(None, weights, task) == pytest.approx(expected)


def test_sliding_modules_see_nothing_along_the_mean(parts):
    task, (first, second, last), always, loss = parts
    alike = np.outer(first[:, 0], np.ones(11))  # all samples have one activity
    alone = [alike, second, last * always[None, :]]
    slide = loss("trees", True)
    assert slide(None, [alike, second, last], task) == pytest.approx(slide(None, alone, task))
    assert slide(None, alone, task) == pytest.approx(loss("trees", False)(None, alone, task))


def test_a_neuron_of_two_contexts_serves_two_thirds():
    inputs = np.asarray(two_hidden.TASKS["trees"].inputs)
    neuron = np.zeros((1, 11))
    neuron[0, -3:] = [1, 1, -1]
    shares = depth_reuse.served([neuron, np.ones((1, 1)), np.ones((60, 1))], inputs)
    np.testing.assert_allclose(shares, 2 / 3)
    mixed = depth_reuse.served([neuron, np.ones((60, 1))], inputs, jax.random.key(0))
    assert mixed[1, 0] > 0.8  # its activity is spread over all contexts
