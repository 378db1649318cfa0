"""Initial strengths: what grows of a draw of weights."""

import jax
import numpy as np
from numpy.testing import assert_allclose as close

from mdsgdln import networks, squared_error, tasks, theory
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
