"""The exact ReLN, the deviation of loss curves, races between gatings."""

import jax
import numpy as np
import pytest
from bad_input import BAD_INPUT

from mdsgdln import networks, reln, tasks, theory, training

REFERENCE = np.array([1.0, 0.5, 0.2, 0.005])


def test_deviation_is_the_summed_difference_over_the_summed_reference():
    assert reln.deviation(REFERENCE, REFERENCE) == 0
    assert reln.deviation(1.1 * REFERENCE, REFERENCE) == pytest.approx(0.1)
    assert reln.deviation(REFERENCE + np.array([0, 0.1, -0.1, 0]), REFERENCE) == pytest.approx(
        0.2 / REFERENCE.sum()
    )


def test_the_reference_has_to_fall_as_far_as_asked_for():
    plateau = REFERENCE + 0.1
    with pytest.raises(ValueError, match=r"reference: .* below 0.01 of its start.*learned=None"):
        reln.deviation(plateau, plateau)
    with pytest.raises(ValueError, match=r"reference: .* below 0.05 of its start"):
        reln.deviation(plateau, plateau, learned=0.05)
    assert reln.deviation(1.1 * plateau, plateau, learned=0.1) == pytest.approx(0.1)
    assert reln.deviation(1.1 * plateau, plateau, learned=None) == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("losses", "reference", "name"),
    [
        (REFERENCE[:3], REFERENCE, "losses"),
        (REFERENCE, REFERENCE + 0.1, "reference"),
    ],
)
def test_bad_curves_are_named(losses, reference, name):
    with pytest.raises(BAD_INPUT, match=name):
        reln.deviation(losses, reference)


TASK = tasks.contextual(num_contexts=2, num_items=4)
RATE, STEPS = 0.1, 300


def relu_start(*hidden, scale=0.1):
    network = networks.ReLUNetwork((len(TASK.inputs), *hidden, len(TASK.targets)))
    return network, network.init(jax.random.key(0), scale)


@pytest.mark.parametrize("hidden", [(20,), (15, 12), (9, 8, 7)])
def test_a_relu_network_and_its_exact_reln_agree_at_every_step(hidden):
    network, weights = relu_start(*hidden, scale=0.3)
    result = reln.train_side_by_side(network, weights, TASK, RATE, STEPS)
    alone = training.train(network, weights, TASK, RATE, STEPS)
    np.testing.assert_allclose(result.losses, alone.losses, rtol=1e-12)
    np.testing.assert_allclose(result.gated_losses, alone.losses, rtol=1e-12)
    assert result.differences.shape == (STEPS,)
    assert result.differences.max() < 1e-12
    for weights in (result.weights, result.gated_weights):
        for ours, theirs in zip(weights, alone.weights, strict=True):
            np.testing.assert_allclose(ours, theirs, atol=1e-12)


def test_gates_do_change_on_the_way_and_both_networks_learn():
    network, weights = relu_start(20)
    result = reln.train_side_by_side(network, weights, TASK, RATE, STEPS)
    before, after = (network.gates(w, TASK.inputs)[0] for w in (weights, result.weights))
    assert (before != after).any()
    assert result.gated_losses[-1] < 0.5 * result.gated_losses[0]


@pytest.mark.parametrize("step", [0, 120])
def test_frozen_gates_are_a_gated_network_with_a_gate_per_neuron(step):
    network, weights = relu_start(20)
    result = reln.train_side_by_side(network, weights, TASK, RATE, STEPS, freeze_at=step)
    until = training.train(network, weights, TASK, RATE, step).weights if step else weights
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
    before = reln.train_side_by_side(network, weights, TASK, RATE, STEPS - 1, freeze_at=step)
    relu = network.apply(before.weights, TASK.inputs)
    linear = network.apply(before.gated_weights, TASK.inputs, [gates])
    difference = float(np.abs(relu - linear).max())
    assert difference > 1e-3
    assert result.differences[-1] == pytest.approx(difference, rel=1e-9)


def test_freezing_time_may_be_traced():
    network, weights = relu_start(20)
    steps = np.array([0, 120])
    many = jax.vmap(
        lambda s: (
            reln.train_side_by_side(network, weights, TASK, RATE, STEPS, freeze_at=s).gated_losses
        )
    )(steps)
    for step, losses in zip(steps, many, strict=True):
        one = reln.train_side_by_side(network, weights, TASK, RATE, STEPS, freeze_at=int(step))
        np.testing.assert_allclose(losses, one.gated_losses, rtol=1e-10)


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"network": networks.LinearNetwork((6, 20, 21))}, "network"),
        ({"task": tasks.xor(1.0)}, "inputs"),
        ({"learning_rate": 1e6, "freeze_at": 0}, "learning_rate"),
    ],
)
def test_bad_arguments_of_exact_are_named(change, name):
    network, weights = relu_start(20)
    arguments = {
        "network": network,
        "weights": weights,
        "task": TASK,
        "learning_rate": RATE,
        "num_steps": 10,
    }
    with pytest.raises(BAD_INPUT, match=name):
        reln.train_side_by_side(**arguments | change)


@pytest.mark.parametrize(("margin", "fastest"), [(0.5, "four"), (1.25, "two")])
def test_race_ranks_what_predict_losses_says(margin, fastest):
    task = tasks.xor(margin)
    times = np.linspace(0, 40, 81)
    candidates = {
        "two": networks.pathways(task, np.kron(np.eye(2), np.ones(2)), 64),
        "four": networks.pathways(task, np.eye(4), 32),
    }
    ranked = reln.rank_candidates(task, candidates, 2e-4, times)
    assert next(iter(ranked)) == fastest
    assert set(ranked) == set(candidates)
    for name, network in candidates.items():
        np.testing.assert_array_equal(
            ranked[name], theory.predict_losses(network, task, 2e-4, times)
        )


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"times": [0.0]}, "times"),
    ],
)
def test_bad_races_are_named(change, name):
    task = tasks.xor(1.0)
    arguments = {
        "task": task,
        "candidates": {"four": networks.pathways(task, np.eye(4), 2)},
        "scale": 1e-3,
        "times": [0.0, 1.0],
    }
    with pytest.raises(BAD_INPUT, match=name):
        reln.rank_candidates(**arguments | change)
