"""Gated deep linear networks in JAX, and what they say about learning in ReLU networks.

Imports run one way: ``tasks``, ``graphs`` and ``gates`` → ``networks`` → ``losses``, ``training``
and ``statistics`` → ``prediction`` → ``theory``. ``discovery`` finds gates in recorded activity,
``plots`` draws.
A bad argument raises ``ValueError`` with its name, what was expected and what was received.
"""

from mdsgdln import (
    discovery,
    gates,
    graphs,
    losses,
    networks,
    plots,
    prediction,
    statistics,
    tasks,
    theory,
    training,
)
from mdsgdln.losses import cross_entropy, deviation, logistic, squared_error
from mdsgdln.networks import (
    GatedNetwork,
    Layered,
    LinearNetwork,
    Network,
    ReLUNetwork,
    pathways,
)
from mdsgdln.prediction import predict
from mdsgdln.tasks import Task
from mdsgdln.training import Run, train

__version__ = "4.0.0"

__all__ = [
    "GatedNetwork",
    "Layered",
    "LinearNetwork",
    "Network",
    "ReLUNetwork",
    "Run",
    "Task",
    "cross_entropy",
    "deviation",
    "discovery",
    "gates",
    "graphs",
    "logistic",
    "losses",
    "networks",
    "pathways",
    "plots",
    "predict",
    "prediction",
    "squared_error",
    "statistics",
    "tasks",
    "theory",
    "train",
    "training",
]
