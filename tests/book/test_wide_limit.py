"""The wide limit of a ReLU network, against ordinary networks made of permuted neurons."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from bad_input import BAD_INPUT

from mdsgdln import networks, training
from mdsgdln_book.experiments import wide_limit

KEY, SCALE, RATE, NUM_STEPS = jax.random.key(3), 0.05, 0.1, 300


def input_order(task, columns):
    """The permutation of input rows that a permutation of samples amounts to."""
    rows, moved = np.asarray(task.inputs), np.asarray(task.inputs)[:, columns]
    return np.array([np.flatnonzero((rows == row).all(axis=1))[0] for row in moved])


def group(generators, sizes):
    """All products of the generators, as tuples of permutations."""
    found = {tuple(tuple(range(size)) for size in sizes)}
    while True:
        more = {
            tuple(
                tuple(np.array(e)[np.array(g)].tolist()) for e, g in zip(element, step, strict=True)
            )
            for element in found
            for step in generators
        }
        if more <= found:
            return found
        found |= more


@pytest.mark.parametrize(
    ("num_contexts", "num_items", "order"), [(2, 2, 4), (2, 4, 16), (3, 2, 12)]
)
def test_representatives_stand_for_all_their_permuted_copies(num_contexts, num_items, order):
    task = wide_limit.tree_task(num_contexts, num_items)
    generators = wide_limit.tree_symmetries(num_contexts, num_items)
    classes = wide_limit.averaging(wide_limit.symmetry_classes(task, generators))
    few = wide_limit.wide_limit(KEY, task, classes, 10, SCALE, RATE, NUM_STEPS, 5)

    steps = [
        (np.argsort(rows).tolist(), input_order(task, columns).tolist())
        for rows, columns in generators
    ]
    images = group(steps, (len(task.targets), len(task.inputs)))
    assert len(images) == order
    small = networks.ReLUNetwork((len(task.inputs), 5, len(task.targets)))
    first, second = small.init(KEY, SCALE * np.sqrt(10 / 5 / order))
    weights = [
        jnp.concatenate([first[:, np.array(inputs)] for _, inputs in images]),
        jnp.concatenate([second[np.array(outputs)] for outputs, _ in images], axis=1),
    ]
    many = networks.ReLUNetwork((len(task.inputs), 5 * order, len(task.targets)))
    losses = training.train(many, weights, task, RATE, NUM_STEPS).losses
    assert losses[-1] < 0.5 * losses[0]
    np.testing.assert_allclose(few, losses, rtol=1e-9)


def test_trees_of_eight_items_leave_twelve_classes():
    for num_contexts in (2, 3, 4):
        task = wide_limit.tree_task(num_contexts)
        generators = wide_limit.tree_symmetries(num_contexts)
        assert wide_limit.symmetry_classes(task, generators).max() == 11


def test_turned_outputs_have_the_second_moments_of_the_tree():
    turned = wide_limit.tree_task(3)
    plain = wide_limit.tasks.contextual(3)
    np.testing.assert_allclose(
        turned.targets.T @ turned.targets, plain.targets.T @ plain.targets, atol=1e-12
    )


def test_bad_symmetries_are_named():
    task = wide_limit.tree_task(2, 4)
    order = np.roll(np.arange(8), 1)
    with pytest.raises(BAD_INPUT, match="generators"):
        wide_limit.symmetry_classes(task, [(np.arange(12), order)])
