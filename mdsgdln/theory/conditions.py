"""The assumptions of the theory, how far a task and a network violate them, and what follows."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np

from mdsgdln import _checks as checks
from mdsgdln._checks import Scalar
from mdsgdln.gates import are_realisable
from mdsgdln.networks import GatedNetwork, LinearNetwork
from mdsgdln.prediction.reduction import check_two_layer
from mdsgdln.prediction.scatter import GaussianPathway, draw_error, gaussian_pathways
from mdsgdln.tasks import Task

RICH_BELOW = 0.1  # initial over final strength of a rich mode


class Condition(NamedTuple):
    """An assumption of the theory, as a quantity and its limit."""

    name: str  # the quantity
    value: float  # for this network and task
    side: Literal["≤", "≥"]
    limit: float  # the largest, or the least, value that satisfies the assumption
    beyond: str  # the consequence if the assumption is violated

    @property
    def holds(self) -> bool:
        """Whether the value satisfies the assumption."""
        return self.value <= self.limit if self.side == "≤" else self.value >= self.limit


class Applicability(NamedTuple):
    """The assumptions of the theory, printed as a table with one row for each."""

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
            lines.append(f"{row.name:<{width}} {here:>8}  {row.side} {row.limit:g}")
            if not row.holds:
                lines.append(f"  beyond: {row.beyond}")
        return "\n".join(lines)


def applicability(
    network: GatedNetwork | LinearNetwork, task: Task, scale: Scalar | Mapping | Sequence
) -> Applicability:
    """Return a table of the theory's assumptions for a two-layer network, a task and σ.

    The first two rows concern ``predict`` from σ alone, which also estimates its error; the others
    concern closed forms of single pathways, and the ReLU network that the gated network imitates.
    None tests whether pathways rotate each other's singular vectors, as in contexts: see
    ``pathway_race``.

    Args:
        network: every hidden node has one edge in and one edge out; gates one per sample.
        scale: σ of the initial weights, or one per edge (layer).
    """
    checks.instance("network", network, GatedNetwork | LinearNetwork)
    gated = network.as_gated() if isinstance(network, LinearNetwork) else network
    gated.check(None, task)
    check_two_layer(gated)
    checks.concrete("scale", scale)
    scales = checks.scales(scale, gated.graph.edges, or_zero=False)
    return Applicability(tuple(_rows(gaussian_pathways(gated, task, scales), task)))


def _rows(pathways: list[GaussianPathway], task: Task) -> Iterator[Condition]:
    added = sum(path.power for path in pathways)
    power = added + float(np.sum(np.asarray(task.targets) ** 2))
    yield Condition(
        "outputs at time 0, their share of the loss",
        added / power if power else 0.0,
        "≤",
        0.05,
        "the loss starts above the prediction: the weights are too large for the width",
    )
    yield Condition(
        "error of the loss curve that one draw may have",
        draw_error(pathways),
        "≤",
        0.05,
        "the time at which a mode is learned depends on the seed: use the initial weights in place "
        "of σ, or more neurons",
    )
    yield Condition(
        "neurons to spare, beyond one a mode",
        min(path.num_hidden - len(path.modes.singular_values) for path in pathways),
        "≥",
        0,
        "only as many modes are learned as there are neurons",
    )
    yield Condition(
        "off-diagonal norm of Σ^x (Assumption 2.1.1)",
        max(path.modes.coupling for path in pathways),
        "≤",
        0.1,
        "modes do not learn independently: closed forms fail, their singular vectors rotate",
    )
    yield Condition(
        "rich modes, a₀ < 0.1 s/d, their share of the loss",
        _rich_share(pathways),
        "≥",
        0.95,
        "modes are learned together and exponentially: no stages, no race between gates",
    )
    gates = np.stack([path.gate for path in pathways])
    binary = np.isin(gates, (0, 1)).all(axis=1)
    realisable = are_realisable(gates[binary], task.inputs) if binary.any() else binary
    yield Condition(
        "gates that a ReLU neuron can have, their share",
        float(realisable.sum() / len(gates)),
        "≥",
        1,
        "no ReLU network has these gates: the theory holds for the gated network alone",
    )


def _rich_share(pathways: list[GaussianPathway]) -> float:
    rich, whole = 0.0, 0.0
    for path in pathways:
        s, d = path.modes.singular_values, path.modes.input_variances
        rich += np.sum((s**2 / d)[d * path.strength < RICH_BELOW * s])
        whole += np.sum(s**2 / d)
    return float(rich / whole) if whole else 1.0
