"""How far the loss curve of one draw of a gated network is from the prediction from σ alone.

Mode α, which is learned after α − 1 others, has H_α = H − α + 1 free hidden directions, in which
‖c‖² is (σ₁² + σ₂²)/4 times a χ² number of H_α degrees of freedom, and d ln a₀ shifts its learning
by d ln a₀ / ((1 + d a₀/s) 2s). Modes have the weight s²/(2d). The mean square of the outputs at
time 0 is N_out H σ₁²σ₂² ⟨g²‖x‖²⟩ for each pathway.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.special import polygamma, psi

from mdsgdln._checks import Scalar
from mdsgdln.networks import GatedNetwork
from mdsgdln.statistics import Modes, effective_dataset, modes
from mdsgdln.tasks import Task


class GaussianPathway(NamedTuple):
    """A pathway of Gaussian weights."""

    modes: Modes
    num_hidden: int
    strength: float  # a₀
    power: float  # expected Σ ŷ² at time 0
    gate: Float[np.ndarray, " P"]


def gaussian_pathways(
    network: GatedNetwork, task: Task, scales: Sequence[Scalar]
) -> list[GaussianPathway]:
    """Return the pathways of a network with one hidden node each, from σ of its edges."""
    graph, found = network.graph, []
    by_edge = dict(zip(graph.edges, scales, strict=True))
    for path in graph.paths:
        data = effective_dataset(network, task, path)
        _, hidden, outputs = (graph.neurons[node] for node in path)
        first, second = (float(by_edge[edge]) ** 2 for edge in graph.path_edges(path))
        power = outputs * hidden * (first * second) * float(np.sum(np.asarray(data.inputs) ** 2))
        gate = np.asarray(network.path_gate(path, task.num_samples))
        found.append(
            GaussianPathway(modes(data), hidden, hidden * (first + second) / 4, power, gate)
        )
    return found


def draw_error(pathways: Sequence[GaussianPathway]) -> float:
    """Return the mean relative error of the loss curve over draws, plus twice its scatter."""
    mean, variance, area = 0.0, 0.0, 0.0
    for path in pathways:
        learned = slice(path.num_hidden)  # no more modes than neurons
        s, d = path.modes.singular_values[learned], path.modes.input_variances[learned]
        free = path.num_hidden - np.arange(len(s))
        bias = psi(free / 2) + np.log(2 / path.num_hidden)
        scatter = polygamma(1, free / 2)
        ratio = s / (d * path.strength)
        weight = s**2 / (2 * d) / (2 * s)
        shift = weight * ratio / (1 + ratio)
        # of a Gaussian number, mean and variance of the absolute value
        mean += np.sum(shift * (np.abs(bias) + np.sqrt(2 / np.pi * scatter)))
        variance += np.sum(shift**2 * (1 - 2 / np.pi) * scatter)
        area += np.sum(weight * np.log1p(ratio))
    return float((mean + 2 * np.sqrt(variance)) / area) if area else 0.0
