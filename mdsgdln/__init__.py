"""Gated deep linear networks in JAX: what is learned, by what, how, and what the data predict.

The modules are a short walk, and imports run one way along it: ``tasks``, ``graphs`` and ``gates``
→ ``networks`` → ``training`` → ``sweeps``; ``statistics`` → ``theory``; ``reln`` compares,
``discovery`` finds gates in recorded activity, ``plots`` draws and computes nothing. Each is
imported when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mdsgdln import (
        discovery,
        gates,
        graphs,
        networks,
        plots,
        reln,
        statistics,
        sweeps,
        tasks,
        theory,
        training,
    )
    from mdsgdln.networks import GatedNetwork, LinearNetwork, ReLUNetwork, pathways
    from mdsgdln.tasks import Task
    from mdsgdln.theory import predict_losses
    from mdsgdln.training import train

__version__ = "2.0.0"

__all__ = [
    "GatedNetwork",
    "LinearNetwork",
    "ReLUNetwork",
    "Task",
    "discovery",
    "gates",
    "graphs",
    "networks",
    "pathways",
    "plots",
    "predict_losses",
    "reln",
    "statistics",
    "sweeps",
    "tasks",
    "theory",
    "train",
    "training",
]

_MODULE_OF = {
    "GatedNetwork": "networks",
    "LinearNetwork": "networks",
    "ReLUNetwork": "networks",
    "Task": "tasks",
    "pathways": "networks",
    "predict_losses": "theory",
    "train": "training",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name in _MODULE_OF:
        return getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    return import_module(f"{__name__}.{name}")


def __dir__() -> list[str]:
    return __all__
