"""Prediction: a small network that represents a wide one, trained by the same rule.

``stand_in`` makes it, ``predict`` trains it and estimates the error of its curve. ``rules`` says
for which learning rules this is right, ``reduction`` reduces gated and linear networks exactly, and
``neurons`` represents a wide layer of any activation by a few designed neurons.
"""

from mdsgdln.prediction.predictions import predict
from mdsgdln.prediction.stand_ins import stand_in

__all__ = ["predict", "stand_in"]
__dir__ = __all__.copy  # what completion shows
