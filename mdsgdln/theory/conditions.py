"""How far a task and a network are from what the theory assumes, and what goes wrong beyond it.

With σ alone given, two things are measured. The mean square of the outputs at time 0 is
N_out H σ₁²σ₂² ⟨g²‖x‖²⟩ for each pathway. Mode α, which is learned after α − 1 others, has
H_α = H − α + 1 hidden directions free, in which ‖c‖² is (σ₁² + σ₂²)/4 times a χ² number of H_α
degrees of freedom, and d ln a₀ moves its learning by d ln a₀ / ((1 + d a₀/s) 2s). Modes weigh
s²/(2d).
"""

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.special import polygamma, psi

from mdsgdln import _checks as checks
from mdsgdln._checks import Scalar
from mdsgdln.gates import are_realisable
from mdsgdln.networks import GatedNetwork, LinearNetwork
from mdsgdln.statistics import Modes, effective_dataset, modes
from mdsgdln.tasks import Task
from mdsgdln.theory.reduction import check_two_layer

LARGEST_ERROR = 0.05  # of a loss curve, relative
LARGEST_COUPLING = 0.1  # off-diagonal norm of Σ^x
RICH_BELOW = 0.1  # of its final strength: where a rich mode starts
LEAST_RICH = 0.95  # share of the loss in rich modes


class Condition(NamedTuple):
    """One thing that the theory assumes.

    Attributes:
        name: what is measured.
        value: how much of it there is here.
        side: from which side the bound holds, "≤" or "≥".
        limit: how much there may be at most, or at least.
        beyond: what goes wrong where it does not hold.
    """

    name: str
    value: float
    side: Literal["≤", "≥"]
    limit: float
    beyond: str

    @property
    def holds(self) -> bool:
        """Whether the value is on the right side of the limit."""
        return self.value <= self.limit if self.side == "≤" else self.value >= self.limit

    @property
    def bound(self) -> str:
        """Side and limit in words."""
        return f"{self.side} {self.limit:g}"


class Applicability(NamedTuple):
    """What the theory assumes, one row each; printed as a table.

    Attributes:
        rows: the conditions.
    """

    rows: tuple[Condition, ...]

    @property
    def holds(self) -> bool:
        """Whether every condition holds."""
        return all(row.holds for row in self.rows)

    def __repr__(self) -> str:
        width = max(len(row.name) for row in self.rows)
        lines = []
        for row in self.rows:
            here = f"{round(row.value, 3):g}"
            lines.append(f"{row.name:<{width}} {here:>8}  {row.bound}")
            if not row.holds:
                lines.append(f"  beyond: {row.beyond}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        heads = ["assumption", "here", "bound", "holds", "beyond"]
        lines = [f"<th>{head}</th>" for head in heads]
        table = ["".join(lines)]
        for row in self.rows:
            cells = [
                row.name,
                f"{round(row.value, 3):g}",
                row.bound,
                "✓" if row.holds else "✗",
                row.beyond,
            ]
            table.append("".join(f"<td>{cell}</td>" for cell in cells))
        rows = "".join(f"<tr>{line}</tr>" for line in table)
        return f'<table border="1" class="dataframe">{rows}</table>'


def applicability(
    network: GatedNetwork | LinearNetwork, task: Task, scale: Scalar | Mapping | Sequence
) -> Applicability:
    """Return how far a task and a two-layer network are from what the theory assumes.

    The first rows concern ``predict`` from σ alone, which warns of them; the last ones concern
    closed forms, and ReLU networks that the gated network stands for.

    Args:
        network: every hidden node has one edge in and one edge out; gates one per sample.
        task: what it would be trained on.
        scale: σ of the initial weights, or one per edge (layer).

    Raises:
        ValueError: a network that is not two-layer, a gate per neuron, bad numbers or σ = 0.
    """
    checks.instance("network", network, GatedNetwork | LinearNetwork)
    gated = network.as_gated() if isinstance(network, LinearNetwork) else network
    gated.check(None, task)
    check_two_layer(gated)
    scales = checks.initial_scales(scale, gated.graph.edges)
    pathways = _pathways(gated, task, scales)
    return Applicability((*_of_prediction(pathways, task), *_of_closed_forms(pathways, task)))


def conditions_of_prediction(
    network: GatedNetwork, task: Task, scales: Sequence[Scalar]
) -> list[Condition]:
    """Return what a prediction from σ alone, one per edge, assumes of a two-layer network."""
    return _of_prediction(_pathways(network, task, scales), task)


class _Pathway(NamedTuple):
    """What matters of one pathway."""

    modes: Modes
    num_hidden: int
    strength: float  # a₀
    power: float  # expected Σ ŷ² at time 0
    gate: Float[np.ndarray, " P"]


def _pathways(network: GatedNetwork, task: Task, scales: Sequence[Scalar]) -> list[_Pathway]:
    """Return what matters of every pathway."""
    graph, found = network.graph, []
    by_edge = dict(zip(graph.edges, scales, strict=True))
    for path in graph.paths:
        data = effective_dataset(network, task, path)
        _, hidden, outputs = (graph.neurons[node] for node in path)
        first, second = (float(by_edge[edge]) ** 2 for edge in graph.path_edges(path))
        power = outputs * hidden * (first * second) * float(np.sum(np.asarray(data.inputs) ** 2))
        gate = np.asarray(network.path_gate(path, task.num_samples))
        found.append(_Pathway(modes(data), hidden, hidden * (first + second) / 4, power, gate))
    return found


def _of_prediction(pathways: list[_Pathway], task: Task) -> list[Condition]:
    """Return the conditions of a prediction from σ alone."""
    return [
        Condition(
            "outputs at time 0, their share of the loss",
            _start_error(pathways, task),
            "≤",
            LARGEST_ERROR,
            "the loss starts above the prediction: the weights are too large for the width",
        ),
        Condition(
            "error of the loss curve that one draw may have",
            _draw_error(pathways),
            "≤",
            LARGEST_ERROR,
            "the time at which a mode is learned depends on the draw: take the initial weights in "
            "place of σ, or more neurons",
        ),
    ]


def _of_closed_forms(pathways: list[_Pathway], task: Task) -> list[Condition]:
    """Return the conditions of closed forms, and of gates that ReLU neurons have."""
    gates = np.stack([path.gate for path in pathways])
    binary = np.isin(gates, (0, 1)).all(axis=1)
    realisable = are_realisable(gates[binary], task.inputs) if binary.any() else binary
    return [
        Condition(
            "neurons to spare, beyond one a mode",
            min(path.num_hidden - len(path.modes.singular_values) for path in pathways),
            "≥",
            0,
            "only as many modes are learned as there are neurons",
        ),
        Condition(
            "off-diagonal norm of Σ^x (Assumption 2.1.1)",
            max(path.modes.coupling for path in pathways),
            "≤",
            LARGEST_COUPLING,
            "modes do not learn independently: closed forms fail, their singular vectors turn",
        ),
        Condition(
            "rich modes, a₀ < 0.1 s/d, their share of the loss",
            _rich_share(pathways),
            "≥",
            LEAST_RICH,
            "modes are learned together and exponentially: no stages, no race between gates",
        ),
        Condition(
            "gates that a ReLU neuron can have, their share",
            float(realisable.sum() / len(gates)),
            "≥",
            1,
            "no ReLU network has these gates: the theory holds for the gated network alone",
        ),
    ]


def _start_error(pathways: list[_Pathway], task: Task) -> float:
    """Return the share of the mean loss at time 0 that outputs of random weights add."""
    added = sum(path.power for path in pathways)
    return added / (float(np.sum(np.asarray(task.targets) ** 2)) + added)


def _draw_error(pathways: list[_Pathway]) -> float:
    """Return the relative error of the loss curve, its mean over draws and twice its scatter."""
    mean, variance, area = 0.0, 0.0, 0.0
    for path in pathways:
        learned = slice(path.num_hidden)  # no more modes than neurons
        s, d = path.modes.singular_values[learned], path.modes.input_variances[learned]
        free = path.num_hidden - np.arange(len(s))
        bias = psi(free / 2) + np.log(2 / path.num_hidden)
        scatter = polygamma(1, free / 2)
        ratio = s / (d * path.strength)
        weight = s**2 / (2 * d) / (2 * s)
        moved = weight * ratio / (1 + ratio)
        # of a Gaussian number, mean and variance of the absolute value
        mean += np.sum(moved * (np.abs(bias) + np.sqrt(2 / np.pi * scatter)))
        variance += np.sum(moved**2 * (1 - 2 / np.pi) * scatter)
        area += np.sum(weight * np.log1p(ratio))
    return float((mean + 2 * np.sqrt(variance)) / area) if area else 0.0


def _rich_share(pathways: list[_Pathway]) -> float:
    """Return the share of s²/d in modes that start below a tenth of their final strength."""
    rich, whole = 0.0, 0.0
    for path in pathways:
        s, d = path.modes.singular_values, path.modes.input_variances
        rich += np.sum((s**2 / d)[d * path.strength < RICH_BELOW * s])
        whole += np.sum(s**2 / d)
    return float(rich / whole) if whole else 1.0
