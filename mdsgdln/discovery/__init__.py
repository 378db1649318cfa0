"""Gates in recorded activity: from neurons to a few kinds of neurons.

A neuron is *active* for a sample if its activity is above zero. Neurons active for the same samples
are a kind, if there are many and none in between; its gate is on where they are active. Neurons are
rows, samples or trials columns.
"""

from mdsgdln.discovery.clusters import Patterns, common_patterns, importance, k_means_gates
from mdsgdln.discovery.kinds import Kinds, find
from mdsgdln.discovery.recordings import Recording, activity_by_condition

__all__ = [
    "Kinds",
    "Patterns",
    "Recording",
    "activity_by_condition",
    "common_patterns",
    "find",
    "importance",
    "k_means_gates",
]
__dir__ = __all__.copy  # what completion shows
