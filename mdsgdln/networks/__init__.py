"""Architectures: chains of layers, gated deep linear networks, and a base class for others.

Weights live apart from their network, as a pytree. The gates of a network are leaves of a pytree
and its architecture is static, so that networks pass through ``jax.jit`` and ``jax.vmap``.
"""

from mdsgdln.networks.architectures import contextual_pathways, pathways, routing_network
from mdsgdln.networks.foreign import from_weights
from mdsgdln.networks.gated import GatedNetwork
from mdsgdln.networks.layered import Layered, LinearNetwork, ReLUNetwork
from mdsgdln.networks.network import Network

__all__ = [
    "GatedNetwork",
    "Layered",
    "LinearNetwork",
    "Network",
    "ReLUNetwork",
    "contextual_pathways",
    "from_weights",
    "pathways",
    "routing_network",
]
__dir__ = __all__.copy  # what completion shows
