"""Finding the gates: from recorded activity to a few kinds of neurons.

A neuron is *on* for a sample where its activity is above zero. Neurons whose rows are alike are a
kind, and its gate is what most of them do. Neurons are rows everywhere, samples or trials columns.

``activity_by_condition`` averages single trials, ``find`` says which kinds there are and how sure
they are, ``discover`` returns their gates alone, and ``cluster`` those of a given number.
"""

from mdsgdln.discovery.clusters import (
    SMALLEST_SHARE,
    CommonPatterns,
    cluster,
    common_patterns,
    disagreement,
    importance,
)
from mdsgdln.discovery.found import Found, discover, find
from mdsgdln.discovery.recordings import Recording, activity_by_condition
from mdsgdln.discovery.repetition import MOST_PATHWAYS

__all__ = [
    "CommonPatterns",
    "Found",
    "MOST_PATHWAYS",
    "Recording",
    "SMALLEST_SHARE",
    "activity_by_condition",
    "cluster",
    "common_patterns",
    "disagreement",
    "discover",
    "find",
    "importance",
]


def __dir__() -> list[str]:
    return __all__
