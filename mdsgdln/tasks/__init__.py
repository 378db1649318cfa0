"""What is learned: inputs and targets, one sample per column."""

from mdsgdln.tasks.domains import hierarchy, routing, trained_routes
from mdsgdln.tasks.images import digits, mnist
from mdsgdln.tasks.structures import (
    STRUCTURES,
    contextual,
    cross_cutting,
    ring,
    semantic,
    structure_rows,
    tree,
    xor,
)
from mdsgdln.tasks.task import Task, sample_indices

__all__ = [
    "STRUCTURES",
    "Task",
    "contextual",
    "cross_cutting",
    "digits",
    "hierarchy",
    "mnist",
    "ring",
    "routing",
    "sample_indices",
    "semantic",
    "structure_rows",
    "tree",
    "trained_routes",
    "xor",
]
