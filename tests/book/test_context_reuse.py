"""How many contexts neurons serve."""

import jax
import numpy as np

from mdsgdln_book.experiments import context_reuse, two_hidden


def test_a_neuron_of_two_contexts_serves_two_thirds():
    inputs = np.asarray(two_hidden.TASKS["trees"].inputs)
    neuron = np.zeros((1, 11))
    neuron[0, -3:] = [1, 1, -1]
    shares = context_reuse.shares_of_contexts([neuron, np.ones((1, 1)), np.ones((60, 1))], inputs)
    np.testing.assert_allclose(shares, 2 / 3)
    mixed = context_reuse.shares_of_contexts([neuron, np.ones((60, 1))], inputs, jax.random.key(0))
    assert mixed[1, 0] > 0.8  # its activity is spread over all contexts
