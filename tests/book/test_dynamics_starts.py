"""Initial strengths: what grows of a draw of weights."""

import jax
import numpy as np
from numpy.testing import assert_allclose as close

from mdsgdln import networks, squared_error, statistics, tasks, theory
from mdsgdln_book import dynamics

KEY = jax.random.key(0)


def test_balanced_weights_are_what_grows_of_a_draw():
    """W₁ = Σ c vᵀ and W₂ = Σ u cᵀ with c = (W₁v + W₂ᵀu)/2: again their own, and balanced."""
    task = tasks.contextual(3, 4)
    network = networks.contextual_pathways(task, 3, 2, 20)
    weights = jax.tree.map(np.asarray, network.init(KEY, 0.2))
    grown = jax.tree.map(np.asarray, dynamics.balanced_weights(network, task, weights))
    again = dynamics.balanced_weights(network, task, grown)
    for path, found in theory.pathway_modes(network, task).items():
        into, out = network.graph.path_edges(path)
        starts = dynamics.measured_initial_strength(weights[into], weights[out], found)
        close(np.sum((grown[into] @ found.right) ** 2, axis=0), starts)
        close(grown[into] @ grown[into].T, grown[out].T @ grown[out])
        close(again[into], grown[into], atol=1e-12)
    small = theory.stand_in(network, grown, task)
    close(squared_error(*small), squared_error(network, grown, task), rtol=1e-10)


def test_balanced_weights_learn_as_equation_seven_says():
    task = tasks.semantic(num_items=4)
    network, found = networks.LinearNetwork((4, 100, 7)), statistics.modes(task)
    rate, times = 0.01, 0.01 * np.arange(4000)
    start = theory.expected_initial_strength(100, 1e-3)
    strengths = theory.mode_trajectory(times, found.singular_values, found.input_variances, start)
    balanced = dynamics.balanced_weights(network, task, 1e-3)
    predicted = theory.predict(network, balanced, task, rate, 4000).losses
    close(predicted, theory.mode_losses(task, found, strengths), atol=0.03)
