"""By what it is learned: linear, ReLU and gated deep linear networks.

A network is an architecture; its weights live apart, as a pytree. Gates are pytree leaves, the
architecture is static, so networks pass through ``jax.jit`` and ``jax.vmap``.
"""

from mdsgdln.networks.architectures import contextual_pathways, pathways, routing_network
from mdsgdln.networks.gated import GatedNetwork
from mdsgdln.networks.layered import LinearNetwork, ReLUNetwork, from_weights
from mdsgdln.networks.network import Network

__all__ = [
    "GatedNetwork",
    "LinearNetwork",
    "Network",
    "ReLUNetwork",
    "contextual_pathways",
    "from_weights",
    "pathways",
    "routing_network",
]
__dir__ = __all__.copy  # what completion shows
