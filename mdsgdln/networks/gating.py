"""Gates: one number per sample, or one per neuron and sample."""

import numpy as np
from jaxtyping import Array, Float

from mdsgdln import checks
from mdsgdln.checks import Numbers


def columns_by(gate: Array) -> Float[Array, "_ P"]:
    """Return a gate (P,) or (neurons, P) as a matrix that multiplies activity (neurons, P)."""
    return gate if gate.ndim == 2 else gate[None, :]


def check_gate(name: str, gate: Numbers, neurons: int, num_samples: int | None = None) -> Array:
    """Return ``gate`` as an array (P,) or (neurons, P), or raise ``ValueError``."""
    gate = checks.finite_array(name, gate, max(np.ndim(gate), 1), "(P,) or (neurons, P)")
    fits = gate.ndim == 1 or (gate.ndim == 2 and gate.shape[0] == neurons)
    if not fits or num_samples not in (None, gate.shape[-1]):
        expected = "P" if num_samples is None else num_samples
        raise ValueError(
            f"{name}: expected shape ({expected},) or ({neurons}, {expected}), got {gate.shape}"
        )
    return gate
