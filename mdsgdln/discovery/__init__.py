"""Gates in recorded activity: from neurons to a few kinds of neurons.

A neuron is *active* for a sample if its activity is above zero. Neurons active for nearly the same
samples are a kind; its gate is on where most of them are active. Neurons are rows, samples or
trials columns.
"""

from mdsgdln.discovery.clusters import (
    SMALLEST_SHARE,
    Patterns,
    common_patterns,
    disagreement,
    importance,
    k_means_gates,
)
from mdsgdln.discovery.kinds import Kinds, find
from mdsgdln.discovery.recordings import Recording, activity_by_condition
from mdsgdln.discovery.repetition import MOST_PATHWAYS

__all__ = [
    "Kinds",
    "MOST_PATHWAYS",
    "Patterns",
    "Recording",
    "SMALLEST_SHARE",
    "activity_by_condition",
    "common_patterns",
    "disagreement",
    "find",
    "importance",
    "k_means_gates",
]
__dir__ = __all__.copy  # what completion shows
