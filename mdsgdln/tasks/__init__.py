"""Tasks: inputs and targets, one sample per column."""

from mdsgdln.tasks.structures import (
    STRUCTURES,
    contextual,
    digits,
    hierarchy,
    routing,
    semantic,
    structure,
    trained_routes,
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
