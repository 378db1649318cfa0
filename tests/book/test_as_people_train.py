"""What the chapter on other rules and losses derives, computed in another way."""

import jax
import numpy as np
import optax
import pytest

import mdsgdln as md
from mdsgdln_book.experiments import people_gates, people_race


@pytest.mark.parametrize(("kind", "separable"), [("drawn 0", 1.0), ("drawn 1", 0.0)])
def test_drawn_functions_are_separable_or_not(kind, separable):
    task = people_gates.task_by_kind(kind, 3, "drawn", 0)
    own = np.asarray(task.targets)[people_gates.NUM_ROWS :]  # without the common block
    tables = own.reshape(len(own), 3, people_gates.NUM_ITEMS).swapaxes(1, 2)
    mixed = [  # the property is not constant
        table for table in tables if 0 < table[:, 0].mean() < 1
    ]
    assert np.mean([md.gates.is_realisable(table) for table in mixed]) == separable


@pytest.mark.parametrize("num_contexts", [2, 3, 4, 5, 6])
def test_one_speed_for_all_weights_leaves_no_race(num_contexts):
    flow = people_race.shares_at_equal_speeds(num_contexts, np.sign)
    np.testing.assert_allclose(flow, people_race.shares_without_race(num_contexts), atol=2e-3)


def polar(speed: float) -> optax.GradientTransformation:
    """Move each pathway's matrix by its gradient with all singular values set to one speed."""

    def update(gradients, state, params=None):
        def move(gradient):
            left, values, right = np.linalg.svd(gradient, full_matrices=False)
            kept = values > 1e-3 * values.max(axis=-1, keepdims=True)  # the rest is rounding
            return -speed * (left * kept[:, None]) @ right

        shapes = jax.tree.map(lambda g: jax.ShapeDtypeStruct(g.shape, g.dtype), gradients)
        moves = jax.pure_callback(
            lambda given: jax.tree.map(lambda g: move(np.asarray(g)), given), shapes, gradients
        )
        return moves, state

    return optax.GradientTransformation(lambda _: optax.EmptyState(), update)


def test_one_speed_for_all_directions_has_the_shares_of_its_flow():
    task, network, learned = people_race.race_setting(3, 20)
    weights = network.init(jax.random.key(0), 1e-6)
    run = md.train(network, weights, task, None, 400, optimiser=polar(2e-3), observe=learned)
    shares = people_race.shares_at_half(np.asarray(run.observed), network.sizes, 3)
    np.testing.assert_allclose(
        shares, people_race.shares_at_equal_speeds(3, people_race.unit_rows), atol=0.03
    )


@pytest.mark.parametrize(
    ("loss", "clock"), [(md.logistic, 4), (md.cross_entropy, 3)], ids=["logistic", "softmax"]
)
def test_other_losses_begin_as_the_squared_error_on_other_targets(loss, clock):
    """A logistic loss as on targets 4y − 2, a softmax of q classes as on q y − 1, slower."""
    targets = np.eye(3)[:, [0, 1, 2, 2, 1]]
    inputs = np.random.default_rng(0).normal(size=(4, 5))
    network = md.LinearNetwork((4, 6, 3))
    weights = network.init(jax.random.key(0), 1e-4)
    gradient = jax.grad(loss, argnums=1)(network, weights, md.Task(inputs, targets))
    other = md.Task(inputs, 4 * targets - 2 if loss is md.logistic else 3 * targets - 1)
    squared = jax.grad(md.squared_error, argnums=1)(network, weights, other)
    for found, expected in zip(gradient, squared, strict=True):
        np.testing.assert_allclose(clock * found, expected, atol=1e-6 * np.abs(expected).max())
