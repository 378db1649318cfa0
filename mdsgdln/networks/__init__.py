"""By what it is learned: linear, ReLU and gated deep linear networks.

A network is an architecture; its weights live apart, as a pytree. Gates are pytree leaves, the
architecture is static, so networks pass through ``jax.jit`` and ``jax.vmap``.
"""

from mdsgdln.networks.domains import routing
from mdsgdln.networks.gated import GatedNetwork
from mdsgdln.networks.layered import LinearNetwork, ReLUNetwork
from mdsgdln.networks.two_layer import pathways

__all__ = ["GatedNetwork", "LinearNetwork", "ReLUNetwork", "pathways", "routing"]
