"""What the theory assumes: against draws of weights, and against what is known of small cases."""

import jax
import numpy as np
import pytest

from mdsgdln import deviation, networks, statistics, tasks, theory

TASK = tasks.semantic("tree", 8)


def row(table, words):
    (found,) = (row for row in table.rows if words in row.name)
    return found


def test_outputs_at_time_zero_are_those_of_random_weights():
    rng = np.random.default_rng(0)
    task = tasks.Task(rng.normal(size=(4, 6)), rng.normal(size=(3, 6)))
    network = networks.pathways(task, [[1, 1, 1, 0, 0, 2], [1, 0, 1, 1, 1, 1]], [20, 30])
    scale = dict(zip(network.graph.edges, (0.4, 0.3, 0.2, 0.5), strict=True))
    outputs = 0
    for path in network.graph.paths:
        (first, second), hidden = network.graph.path_edges(path), network.graph.neurons[path[1]]
        entering = scale[first] * rng.normal(size=(2000, hidden, 4)) @ np.asarray(task.inputs)
        active = np.asarray(network.node_gates[path[1]]) * entering
        outputs = outputs + scale[second] * rng.normal(size=(2000, 3, hidden)) @ active
    mean = np.sum((np.asarray(task.targets) - outputs) ** 2) / 2000 / 12
    power = np.sum(np.asarray(task.targets) ** 2) / 12
    found = row(theory.applicability(network, task, scale), "time 0")
    assert found.value == pytest.approx(1 - power / mean, abs=0.01)


def test_draws_scatter_as_expected():
    """Nine of ten draws are within the expected error, and not all within a third of it."""
    num_hidden = 10
    network = networks.LinearNetwork((8, num_hidden, 15))
    expected = row(theory.applicability(network, TASK, 1e-3), "draw").value
    rate, steps = 0.06, 2000
    wide = networks.LinearNetwork((8, 1000, 15))
    sigma = 1e-3 * np.sqrt(num_hidden / 1000)
    predicted = theory.predict(wide, sigma, TASK, rate, steps).losses
    errors = [
        deviation(predicted, theory.predict(network, weights, TASK, rate, steps).losses)
        for weights in (network.init(jax.random.key(seed), 1e-3) for seed in range(20))
    ]
    assert np.mean(np.array(errors) < expected) >= 0.9
    assert max(errors) > expected / 3
    assert np.mean(errors) + 2 * np.std(errors) == pytest.approx(expected, rel=1 / 3)


def test_a_curve_far_from_rich_scatters_as_the_rate_of_its_decay():
    """Each mode's area is inverse to its a₀, so to a χ² number, and has the share s²."""
    task = tasks.Task(np.eye(2), np.diag([2.0, 1.0]))
    network = networks.LinearNetwork((2, 20_000, 2))
    numbers = np.random.default_rng(0).chisquare(20_000, (100_000, 2)) / 20_000
    errors = np.abs(np.log(numbers)) @ [0.8, 0.2]
    found = row(theory.applicability(network, task, 1e3), "draw").value
    assert found == pytest.approx(np.mean(errors) + 2 * np.std(errors), rel=0.02)


@pytest.mark.parametrize(("share", "rich"), [(0.095, 1), (0.105, 0)])
def test_a_mode_is_rich_if_it_starts_below_a_tenth_of_its_final_strength(share, rich):
    task = tasks.Task(np.eye(8), np.ones((15, 8)))  # of one mode
    (s,), (d,) = statistics.modes(task)[1:4:2]
    scale = np.sqrt(share * s / d * 4 / 200) * np.array([0.6, 0.8])  # Σσ² = 4 a₀/H
    table = theory.applicability(networks.LinearNetwork((8, 200, 15)), task, list(scale))
    assert row(table, "rich").value == rich


def test_every_condition_has_a_case_within_and_one_beyond():
    wide, fit, narrow = (networks.LinearNetwork((8, hidden, 15)) for hidden in (200, 8, 3))
    assert theory.applicability(wide, TASK, 1e-4).holds
    assert row(theory.applicability(fit, TASK, 1e-4), "neurons").holds  # of eight modes
    turned = tasks.Task(np.random.default_rng(0).normal(size=(8, 8)), TASK.targets)
    gated = networks.pathways(tasks.xor(1.0), [[1, 0, 0, 1], [1, 1, 1, 1]], 200)
    for network, task, scale, words in (
        (wide, TASK, 0.3, "time 0"),
        (narrow, TASK, 1e-4, "draw"),
        (narrow, TASK, 1e-4, "neurons"),
        (wide, turned, 1e-4, "off-diagonal"),
        (wide, TASK, 0.3, "rich"),
        (gated, tasks.xor(1.0), 1e-4, "ReLU"),
    ):
        table = theory.applicability(network, task, scale)
        assert not row(table, words).holds and not table.holds
        assert row(table, words).beyond in repr(table)
    # the second input sets the first gate; inputs sum to zero, so that none is on for all
    assert row(theory.applicability(gated, tasks.xor(1.0), 1e-4), "ReLU").value == 0.5
    assert row(theory.applicability(wide, turned, 1e-4), "off-diagonal").value == (
        statistics.modes(turned).coupling
    )
