"""Half times of linear networks of small random weights, and where they are not known."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import quad

from mdsgdln import networks, statistics, tasks, theory, training
from mdsgdln_book import dynamics

TWO = tasks.semantic("tree", 2)  # two modes


def one_mode(s=1.0, d=1.0):
    """A task of a single input and output."""
    return tasks.Task([[d**0.5]], [[s / d**0.5]])


@pytest.mark.parametrize("scale", [1e-4, (1e-3, 1e-4)])
def test_two_matrices_are_logistic(scale):
    s, d = 0.7, 2.0
    start = theory.expected_initial_strength(200, scale)
    found = dynamics.drop_times(one_mode(s, d), (1, 200, 1), scale)
    assert found == pytest.approx([np.log(s / (d * start)) / (2 * s)], rel=1e-4)


def test_a_later_mode_finds_a_direction_of_each_layer_taken():
    found = statistics.modes(TWO)
    alone = one_mode(found.singular_values[1], found.input_variances[1])
    later = dynamics.drop_times(TWO, (2, 30, 40, 3), 1e-4)[1]
    assert later == pytest.approx(dynamics.drop_times(alone, (1, 29, 39, 1), 1e-4)[0], rel=1e-9)


@pytest.mark.parametrize(("num_layers", "kappa"), [(3, 1.167973), (4, 0.592614)])
def test_tiny_weights_wait_for_a_universal_time(num_layers, kappa):
    """T = κ/(s (σ√N)^{L−2}), less what a balanced mode needs from its half to infinity."""
    s, d, size, number = 0.7, 2.0, 1e-3, 400
    sizes = (1, *[number] * (num_layers - 1), 1)
    (found,) = dynamics.drop_times(one_mode(s, d), sizes, size / number**0.5)
    half = (s / (2 * d)) ** (1 / num_layers)
    part = quad(lambda x: x / 2 / (1 - x**num_layers / 2), 0, 1)[0]
    correction = (1 / (num_layers - 2) - part) / half ** (num_layers - 2)
    expected = (kappa / size ** (num_layers - 2) - correction) / s
    assert found == pytest.approx(expected, rel=2e-5)


def test_unequal_widths_wait_as_measured_in_networks():
    """κ with √N₁ of (50, 200), (200, 50) and (50, 840), from networks of those widths."""
    for widths, kappa in (((50, 200), 0.80), ((200, 50), 1.60), ((50, 840), 0.51)):
        (found,) = dynamics.drop_times(one_mode(), (1, *widths, 1), 1e-6)
        assert found * 1e-6 * widths[0] ** 0.5 == pytest.approx(kappa, abs=0.005)


@pytest.mark.parametrize("widths", [(200,), (60, 200), (100, 100, 100)])
def test_half_times_of_trained_networks(widths):
    """The mean of some draws; a draw scatters by 1/√(16N) to 1/√(1.5N), and few were trained."""
    network, scale = networks.LinearNetwork((2, *widths, 3)), 0.09 / max(widths) ** 0.5
    found, step, draws = statistics.modes(TWO), 0.05, 8
    predicted = dynamics.drop_times(TWO, network.sizes, scale)

    @jax.vmap
    def train(key):
        weights = network.init(key, scale)
        return training.train(
            network,
            weights,
            TWO,
            step,
            int(1.5 * predicted[-1] / step),
            observe=lambda w: jnp.sum(found.left * (network.apply(w, found.right)), axis=0),
        ).observed

    keys = jax.random.split(jax.random.key(1), draws)
    strengths = np.asarray(train(keys))
    learned = strengths >= found.singular_values / (2 * found.input_variances)
    assert learned.any(axis=1).all()
    times = step * learned.argmax(axis=1).mean(axis=0)
    scatter = {2: 16, 3: 4, 4: 1.5}[len(widths) + 1]
    error = 3 / np.sqrt(scatter * min(widths) * draws) + 0.01
    assert times == pytest.approx(predicted, rel=error)
