"""Training with less to compute: the loss is that of the whole network."""

import jax
import numpy as np
import pytest

from mdsgdln import networks, reln, tasks, training
from mdsgdln_book.experiments.reduced import in_span, reduced

TASK = tasks.contextual(2, 4)
SCALE, RATE, STEPS = 1e-4, 0.08, 800


@pytest.mark.parametrize(
    "network",
    [
        networks.ReLUNetwork((len(TASK.inputs), 30, len(TASK.targets))),
        networks.contextual_pathways(TASK, 2, 1, 40),
    ],
    ids=["ReLU", "gated"],
)
def test_what_is_reduced_has_the_loss_of_the_whole(network):
    weights = network.init(jax.random.key(0), SCALE)
    whole = training.train(network, weights, TASK, RATE, STEPS).losses
    smaller = reduced(network, weights, TASK)
    assert len(smaller[2].targets) < len(TASK.targets)
    losses = training.train(*smaller, RATE, STEPS).losses
    assert losses[-1] < 0.5 * losses[0]
    assert reln.deviation(losses, whole, learned=None) < 1e-5


def test_coordinates_of_targets_keep_their_inner_products():
    targets = np.asarray(in_span(TASK).targets)
    assert len(targets) == np.linalg.matrix_rank(TASK.targets)
    np.testing.assert_allclose(targets.T @ targets, TASK.targets.T @ TASK.targets, atol=1e-12)
