"""Items in contexts: closed forms for any number of contexts, and which a ReLU neuron lets go.

Closed forms are those of MHS App. F and G, generalised.
"""

import warnings
from collections.abc import Sequence

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from mdsgdln import _checks as checks
from mdsgdln._checks import Numbers
from mdsgdln.networks import ReLUNetwork
from mdsgdln.statistics import modes
from mdsgdln.tasks import Task, contextual, semantic
from mdsgdln.theory.trajectories import mode_losses, mode_trajectory

FLAT = 1e-9  # over the means themselves: contexts that differ by less do not differ


def contextual_closed_form(
    num_contexts: int,
    num_items: int,
    strengths: Numbers,
    times: Numbers,
    structure: str | Numbers = "tree",
) -> Float[Array, " T"]:
    """Return the loss of the all-but-one network, its contextual pathways on the final residual.

    One structure F in the common block and in every context, whose items all have the same summed
    similarity: **1** is an eigenvector of FᵀF. The common pathway learns the modes of the full
    data (MHS Eq. 7). What it leaves in block c and context c' is F̃ (δ_cc' − 1/C), F̃ = F without
    its mean over items; with singular values κ of F̃, P = n C, s = κ √((C−1)/C)/P and
    d = (C−1)/P, each mode of the C contextual pathways follows ȧ = 2a (s − a d/(C−1)), and
    𝓛 = ½⟨‖y‖²⟩ − Σ_common (s a − ½ d a²) − C Σ (s a − ½ a² d/(C−1)).

    Args:
        num_contexts: C, at least 2.
        num_items: n.
        strengths: initial strengths a₀ of a common and of a contextual mode.
        times: t = learning rate · step, shape (T,).
        structure: name or rows (rows, items) of F.

    Raises:
        ValueError: fewer than two contexts, not two strengths, an unknown structure, or one whose
            items differ in their summed similarity.
    """
    num_contexts = checks.positive_integer("num_contexts", num_contexts)
    if num_contexts < 2:
        raise ValueError(f"num_contexts: expected at least 2, got {num_contexts}")
    strengths = checks.finite_array("strengths", strengths, 1, "(common, contextual)")
    for strength in strengths:
        checks.non_negative("strengths", strength)
    if len(strengths) != 2:
        raise ValueError(f"strengths: expected (common, contextual), got {len(strengths)} numbers")
    rows = np.asarray(semantic(structure, num_items).targets)
    summed = rows.T @ rows.sum(axis=1)  # FᵀF 1
    if np.ptp(summed) > 1e-6 * np.linalg.norm(rows, 2) ** 2:
        raise ValueError(
            "structure: expected items of equal summed similarity, as a tree has: only then the "
            f"closed form holds; got sums from {summed.min():.3g} to {summed.max():.3g}"
        )
    task = contextual(num_contexts, num_items, [structure] * num_contexts, structure)
    common = modes(task)
    learned = mode_trajectory(times, common.singular_values, common.input_variances, strengths[0])
    spread = np.linalg.svd(rows - rows.mean(axis=1, keepdims=True), compute_uv=False)
    spread = spread[spread > 1e-9 * max(spread[0], 1.0)]  # κ of F̃
    share = np.sqrt((num_contexts - 1) / num_contexts)
    s, stop = spread * share / task.num_samples, 1 / task.num_samples  # stop = d/(C−1)
    contextual_strengths = mode_trajectory(times, s, stop, strengths[1])
    gain = s[:, None] * contextual_strengths - stop * contextual_strengths**2 / 2
    return mode_losses(task, common, learned) - num_contexts * jnp.sum(gain, axis=0)


def learning_time(num_contexts: int, subset_size: int) -> float:
    """Return the race law's learning time T_k of pathways that are on in k of C contexts.

    For an item mode of strength κ in one block, T_k = 1/s_c + (1 − s_raw/s_c)/s_res in units of
    ln(1/a₀)/2 and per κ, to leading order in the initial scale: s_c = √(C(C+1)) of the common
    pathway, s_raw = √(k(k+1)) on the raw data, and s_res = √(k(C−k)/C) on what it leaves.

    Args:
        num_contexts: C.
        subset_size: k, from 1 to C − 1. The common pathway, k = C, takes T = 1/s_c.

    Raises:
        ValueError: k out of range.
    """
    num_contexts = checks.positive_integer("num_contexts", num_contexts)
    subset_size = checks.positive_integer("subset_size", subset_size)
    if subset_size >= num_contexts:
        raise ValueError(
            f"subset_size: expected at most C − 1 = {num_contexts - 1}, got {subset_size}"
        )
    common = np.sqrt(num_contexts * (num_contexts + 1))
    raw = np.sqrt(subset_size * (subset_size + 1))
    residual = np.sqrt(subset_size * (num_contexts - subset_size) / num_contexts)
    return float(1 / common + (1 - raw / common) / residual)


def context_preference(
    network: ReLUNetwork, weights: Sequence[Numbers], task: Task, contexts: Numbers
) -> Float[np.ndarray, "H C"]:
    """Return how much each hidden neuron prefers each context; the lowest is let go first.

    π_c = wᵀξ_c + uᵀη_c ‖ξ_c‖/‖η_c‖ minus its mean over contexts, with ξ_c = x̄_c − x̄ and
    η_c = ȳ_c − ȳ: what the mean input and the mean target of context c have beyond their means over
    contexts.

    It is a theorem, for equal blocks, that π keeps its direction while the neuron is on everywhere.
    That the contexts with the lowest π_c are those in which the neuron is off in the end is a
    forecast, best for many neurons and small weights.

    Args:
        network: with one hidden layer.
        weights: the initial ones, W₁ (H, N_in) and W₂ (N_out, H).
        task: whose inputs tell contexts apart. Warns where mean targets do not.
        contexts: the context of each sample, as a number, shape (P,).

    Returns:
        a row for each neuron, a column for each context, in the order of their numbers.

    Raises:
        ValueError: more than one hidden layer, weights that do not fit, contexts of the wrong
            length, one context, or inputs with the same mean in all.
    """
    checks.instance("network", network, ReLUNetwork)
    if len(network.sizes) != 3:
        raise ValueError(f"network: expected one hidden layer, got {len(network.sizes) - 2}")
    network.check(weights, task)
    contexts = np.asarray(checks.finite_array("contexts", contexts, 1, "(P,)"))
    if len(contexts) != task.num_samples:
        raise ValueError(f"contexts: expected {task.num_samples} numbers, got {len(contexts)}")
    names = np.unique(contexts)
    if len(names) < 2:
        raise ValueError(f"contexts: expected at least two, got {len(names)}")
    inputs, targets = (
        _beyond_the_mean(np.asarray(data, float), contexts, names)
        for data in (task.inputs, task.targets)
    )
    told, asked = (np.linalg.norm(beyond, axis=0) for beyond in (inputs, targets))
    if not told.all():
        raise ValueError("contexts: expected inputs whose means differ between contexts")
    if not asked.all():
        warnings.warn(
            "context_preference: contexts have the same mean target, so that no linear mode tells "
            "them apart; which of them a neuron lets go is then nearly a matter of chance",
            stacklevel=2,
        )
    first, second = (np.asarray(layer, float) for layer in weights)
    ratio = np.where(asked > 0, told / np.where(asked > 0, asked, 1), 0)
    preferred = first @ inputs + ratio * (second.T @ targets)
    return preferred - preferred.mean(axis=1, keepdims=True)


def _beyond_the_mean(
    data: Float[np.ndarray, "n P"], contexts: np.ndarray, names: np.ndarray
) -> Float[np.ndarray, "n C"]:
    """Return the mean of each context minus the mean of these; zeros for what is rounding."""
    means = np.stack([data[:, contexts == name].mean(axis=1) for name in names], axis=1)
    beyond = means - means.mean(axis=1, keepdims=True)
    size = np.linalg.norm(beyond, axis=0)
    return np.where(size > FLAT * np.linalg.norm(means), beyond, 0)
