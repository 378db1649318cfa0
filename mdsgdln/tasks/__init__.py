"""Tasks: inputs and targets, one sample per column."""

from mdsgdln.tasks.domains import hierarchy, routing, trained_routes
from mdsgdln.tasks.structures import (
    STRUCTURES,
    contextual,
    digits,
    semantic,
    structure,
    xor,
)
from mdsgdln.tasks.task import Task, with_ones

__all__ = [
    "STRUCTURES",
    "Task",
    "contextual",
    "digits",
    "hierarchy",
    "routing",
    "semantic",
    "structure",
    "trained_routes",
    "with_ones",
    "xor",
]
__dir__ = __all__.copy  # what completion shows
