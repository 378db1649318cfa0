"""Comparing a ReLU network with the gated networks that imitate it."""

from collections.abc import Sequence
from itertools import combinations

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from mdsgdln import checks
from mdsgdln.checks import Numbers
from mdsgdln.gates import context_gates
from mdsgdln.networks import GatedNetwork, pathways
from mdsgdln.tasks import Task


def deviation(losses: Numbers, reference: Numbers) -> float | Float[Array, ""]:
    """Return how far a loss curve is from a reference curve, Σ_t |L − L_ref| / Σ_t L_ref.

    Inside a compiled function it is not checked whether the reference has fallen.

    Args:
        losses: L, shape (T,).
        reference: L_ref at the same times, shape (T,).

    Raises:
        ValueError: different lengths, a non-finite entry, or a reference that has not fallen below
            1 % of its start: before learning is over, the number says little.
    """
    losses = checks.finite_array("losses", losses, 1, "(T,)")
    reference = checks.finite_array("reference", reference, 1, "(T,)")
    if losses.shape != reference.shape:
        raise ValueError(f"losses: expected shape {reference.shape}, got {losses.shape}")
    result = jnp.sum(jnp.abs(losses - reference)) / jnp.sum(reference)
    if isinstance(result, jax.core.Tracer):
        return result
    if not reference.min() < 0.01 * reference[0]:
        raise ValueError(
            f"reference: expected a loss that falls below 1 % of its start, "
            f"got {reference.min() / reference[0]:.1%} at the lowest"
        )
    return float(result)


def context_candidate(
    task: Task, num_contexts: int, subset_size: int, num_hidden: int | Sequence[int]
) -> GatedNetwork:
    """Return the candidate ReLN of a contextual task (MHS Figs. 3 and 5).

    Its first pathway is common: always on, sees items and contexts. One further pathway for each
    subset of ``subset_size`` contexts is on in those and sees the items only. All but one context
    is ``subset_size`` = C − 1.

    Args:
        task: as from ``tasks.contextual``.
        num_contexts: C.
        subset_size: k, contexts in which a contextual pathway is on.
        num_hidden: neurons of a pathway, or one number per pathway.

    Raises:
        ValueError: k outside of 1 … C, or a task that has not C contexts.
    """
    num_contexts = checks.positive_integer("num_contexts", num_contexts)
    subset_size = checks.positive_integer("subset_size", subset_size)
    num_items = len(task.inputs) - num_contexts
    if num_items < 1 or num_items * num_contexts != task.num_samples:
        raise ValueError(
            f"num_contexts: expected n + C inputs and n C samples, got {len(task.inputs)} inputs "
            f"and {task.num_samples} samples with C = {num_contexts}"
        )
    if subset_size > num_contexts:
        raise ValueError(f"subset_size: expected at most {num_contexts}, got {subset_size}")
    subsets = [range(num_contexts), *combinations(range(num_contexts), subset_size)]
    masks = np.ones((len(subsets), len(task.inputs)))
    masks[1:, num_items:] = 0
    gates = context_gates(num_items, num_contexts, subsets)
    return pathways(task, gates, num_hidden, masks)
