"""The symmetries of trees in contexts."""

import numpy as np

from mdsgdln import tasks
from mdsgdln_book.experiments import tree_symmetry


def test_trees_of_eight_items_leave_twelve_classes():
    for num_contexts in (2, 3, 4):
        task = tree_symmetry.tree_task(num_contexts)
        generators = tree_symmetry.tree_symmetries(num_contexts)
        assert tree_symmetry.symmetry_classes(task, generators).max() == 11


def test_turned_outputs_have_the_second_moments_of_the_tree():
    turned = tree_symmetry.tree_task(3)
    plain = tasks.contextual(3)
    np.testing.assert_allclose(
        turned.targets.T @ turned.targets, plain.targets.T @ plain.targets, atol=1e-12
    )
