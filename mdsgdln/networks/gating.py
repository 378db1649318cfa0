"""Gates: one number per sample, or one per neuron and sample."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from jaxtyping import Array, Float

from mdsgdln import _checks as checks
from mdsgdln._checks import Numbers


def _columns_by(gate: Array) -> Float[Array, "_ P"]:
    """Return a gate (P,) or (neurons, P) as a matrix that multiplies activity (neurons, P)."""
    return gate if gate.ndim == 2 else gate[None, :]


def _check_gate(name: str, gate: Numbers, neurons: int, num_samples: int | None = None) -> Array:
    """Return ``gate`` as an array (P,) or (neurons, P), or raise ``ValueError``."""
    gate = checks.finite_array(name, gate, max(np.ndim(gate), 1), "(P,) or (neurons, P)")
    fits = gate.ndim == 1 or (gate.ndim == 2 and gate.shape[0] == neurons)
    if not fits or num_samples not in (None, gate.shape[-1]):
        expected = "P" if num_samples is None else num_samples
        raise ValueError(
            f"{name}: expected shape ({expected},) or ({neurons}, {expected}), got {gate.shape}"
        )
    return gate


def _check_gates(name: str, gates: Mapping, neurons: Mapping[Any, int]) -> dict[Any, Array]:
    """Return gates of nodes or edges as arrays, or raise ``ValueError``."""
    if not isinstance(gates, Mapping):
        raise ValueError(f"{name}: expected {{node or edge: gates}}, got {gates!r:.80}")
    for place in gates:
        if place not in neurons:
            raise ValueError(
                f"{name}: expected nodes or edges of the graph, got {place!r}, "
                f"not among {list(neurons)}"
            )
    return {
        place: _check_gate(f"{name}[{place!r}]", gate, neurons[place])
        for place, gate in gates.items()
    }
