"""Finding the gates: from recorded activity to a few kinds of neurons.

A neuron is *on* for a sample where its activity is above zero. Neurons whose rows are alike are a
kind, and its gate is what most of them do. Neurons are rows everywhere, samples or trials columns.
"""

from mdsgdln.discovery.clusters import (
    SMALLEST_SHARE,
    Patterns,
    common_patterns,
    disagreement,
    importance,
    k_means_gates,
)
from mdsgdln.discovery.found import Found, discover, find
from mdsgdln.discovery.recordings import Recording, activity_by_condition
from mdsgdln.discovery.repetition import MOST_PATHWAYS

__all__ = [
    "Found",
    "MOST_PATHWAYS",
    "Patterns",
    "Recording",
    "SMALLEST_SHARE",
    "activity_by_condition",
    "common_patterns",
    "disagreement",
    "discover",
    "find",
    "importance",
    "k_means_gates",
]
__dir__ = __all__.copy  # what completion shows
