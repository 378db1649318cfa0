"""The exact ReLN is its ReLU network at every step, and frozen gates are a gated network."""

import jax
import numpy as np
import pytest

from mdsgdln import networks, tasks, training
from mdsgdln_book.experiments.side_by_side import train_side_by_side

TASK = tasks.contextual(num_contexts=2, num_items=4)
RATE, STEPS = 0.1, 300


def relu_start(*hidden, scale=0.1):
    network = networks.ReLUNetwork((len(TASK.inputs), *hidden, len(TASK.targets)))
    return network, network.init(jax.random.key(0), scale)


@pytest.mark.parametrize("hidden", [(20,), (15, 12)])
def test_a_relu_network_and_its_exact_reln_agree_at_every_step(hidden):
    network, weights = relu_start(*hidden, scale=0.3)
    result = train_side_by_side(network, weights, TASK, RATE, STEPS)
    alone = training.train(network, weights, TASK, RATE, STEPS)
    np.testing.assert_allclose(result.losses, alone.losses, rtol=1e-12)
    np.testing.assert_allclose(result.gated_losses, alone.losses, rtol=1e-12)
    assert result.differences.shape == (STEPS,)
    assert result.differences.max() < 1e-12
    for weights in (result.weights, result.gated_weights):
        for ours, theirs in zip(weights, alone.weights, strict=True):
            np.testing.assert_allclose(ours, theirs, atol=1e-12)


def test_frozen_gates_are_a_gated_network_with_a_gate_per_neuron():
    step, (network, weights) = 120, relu_start(20)
    result = train_side_by_side(network, weights, TASK, RATE, STEPS, freeze_at=step)
    until = training.train(network, weights, TASK, RATE, step).weights
    (gates,) = network.gates(until, TASK.inputs)
    gated = networks.GatedNetwork(
        {"in": network.sizes[0], "hidden": 20, "out": network.sizes[2]},
        [("in", "hidden"), ("hidden", "out")],
        {"hidden": gates},
    )
    start = {("in", "hidden"): until[0], ("hidden", "out"): until[1]}
    frozen = training.train(gated, start, TASK, RATE, STEPS - step)
    np.testing.assert_allclose(result.gated_losses[step:], frozen.losses, rtol=1e-10)
    np.testing.assert_allclose(result.gated_weights[1], frozen.weights["hidden", "out"], atol=1e-10)
    assert result.differences[: step + 1].max() < 1e-12  # they part after the step of freezing
    before = train_side_by_side(network, weights, TASK, RATE, STEPS - 1, freeze_at=step)
    relu = network.apply(before.weights, TASK.inputs)
    linear = network.apply(before.gated_weights, TASK.inputs, [gates])
    difference = float(np.abs(relu - linear).max())
    assert difference > 1e-3
    assert result.differences[-1] == pytest.approx(difference, rel=1e-9)
