"""Items in contexts: closed forms for any number of contexts, and the preferences of ReLU neurons.

Closed forms generalise MHS App. F and G.
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

FLAT = 1e-9  # relative difference of means that is rounding


def contextual_closed_form(
    num_contexts: int,
    num_items: int,
    strengths: Numbers,
    times: Numbers,
    structure: str | Numbers = "tree",
) -> Float[Array, " T"]:
    """Return the loss curve of the all-but-one network in closed form.

    Contextual pathways learn the residual of the common one. The common block and every context
    have one structure F, whose items all have the same summed similarity: **1** is an eigenvector
    of FᵀF. The common pathway learns the modes of the full data (MHS Eq. 7). Its residual in block
    c and context c' is F̃ (δ_cc' − 1/C), F̃ = F without its mean over items. With singular values
    κ of F̃, P = n C, s = κ √((C−1)/C)/P and d = (C−1)/P, each mode of the C contextual pathways
    follows ȧ = 2a (s − a d/(C−1)), and
    𝓛 = ½⟨‖y‖²⟩ − Σ_common (s a − ½ d a²) − C Σ (s a − ½ a² d/(C−1)).

    It is exact if contextual weights start along the residual's modes. Random ones first follow
    the data's, until the common pathway has learned: with σ ≤ 1e-4 the curve is then .4 off for
    three contexts and .75 for five.

    Args:
        num_contexts: C, at least 2.
        num_items: n.
        strengths: initial strengths a₀ of a common and of a contextual mode.
        times: t = learning rate · step, shape (T,).
        structure: name or rows (rows, items) of F.
    """
    num_contexts = checks.positive_integer("num_contexts", num_contexts)
    checks.require(num_contexts > 1, "num_contexts", "at least 2", num_contexts)
    strengths = checks.finite_array("strengths", strengths, 1, "(common, contextual)")
    checks.of_shape("strengths", strengths, (2,))
    for strength in strengths:
        checks.positive("strengths", strength, or_zero=True)
    rows = np.asarray(semantic(structure, num_items).targets)
    summed = rows.T @ rows.sum(axis=1)  # FᵀF 1
    equal = np.ptp(summed) <= 1e-6 * np.linalg.norm(rows, 2) ** 2
    checks.require(equal, "structure", "items of equal summed similarity, as in a tree", summed)
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
    """Return the race law's learning time T_k of pathways active in k of C contexts.

    For an item mode of strength κ in one block, T_k = 1/s_c + (1 − s_raw/s_c)/s_res in units of
    ln(1/a₀)/(2κ), to leading order in the initial scale: s_c = √(C(C+1)) of the common pathway,
    s_raw = √(k(k+1)) on the raw data, and s_res = √(k(C−k)/C) on its residual.

    Args:
        num_contexts: C.
        subset_size: k, from 1 to C − 1. The common pathway, k = C, takes T = 1/s_c.
    """
    num_contexts = checks.positive_integer("num_contexts", num_contexts)
    subset_size = checks.positive_integer("subset_size", subset_size)
    largest = num_contexts - 1
    checks.require(subset_size <= largest, "subset_size", f"at most C − 1 = {largest}", subset_size)
    common = np.sqrt(num_contexts * (num_contexts + 1))
    raw = np.sqrt(subset_size * (subset_size + 1))
    residual = np.sqrt(subset_size * (num_contexts - subset_size) / num_contexts)
    return float(1 / common + (1 - raw / common) / residual)


def context_preference(
    network: ReLUNetwork, weights: Sequence[Numbers], task: Task, contexts: Numbers
) -> Float[np.ndarray, "H C"]:
    """Return each hidden neuron's preference for each context; it becomes inactive in low ones.

    π_c = wᵀξ_c + uᵀη_c ‖ξ_c‖/‖η_c‖ minus its mean over contexts, where ξ_c = x̄_c − x̄ and
    η_c = ȳ_c − ȳ are the mean input and the mean target of context c minus their means over
    contexts.

    While the neuron is active everywhere, π keeps its direction: a theorem for equal blocks, if the
    error treats all contexts alike and its mean over items is larger in a context's own block than
    in others by a multiple of the mean item, as at first. It is a forecast that the neuron ends up
    inactive in the contexts with the lowest π_c. It is best for many neurons and small weights, or
    large ones with smaller output than input weights.

    Args:
        network: a ReLU network with one hidden layer.
        weights: the initial weights, W₁ (H, N_in) and W₂ (N_out, H).
        task: its mean inputs differ between contexts. If its mean targets do not, this warns.
        contexts: the context of each sample, as a number, shape (P,); columns of the result are in
            the order of these numbers.
    """
    checks.instance("network", network, ReLUNetwork)
    fits = len(network.sizes) == 3 and not any(network.biases)
    checks.require(fits, "network", "one hidden layer, without biases", network)
    checks.several("weights", weights)
    network.check(weights, task)
    checks.concrete("weights", weights)
    numbers = checks.concrete_array("contexts", contexts, 1, "(P,)")
    checks.of_shape("contexts", numbers, (task.num_samples,))
    names, contexts = np.unique(np.asarray(contexts), return_inverse=True)  # in full precision
    checks.require(len(names) > 1, "contexts", "at least two", names)
    inputs, targets = (
        _centred_means(np.asarray(data, float), contexts) for data in (task.inputs, task.targets)
    )
    xi, eta = (np.linalg.norm(means, axis=0) for means in (inputs, targets))  # ‖ξ_c‖, ‖η_c‖
    checks.require(xi.all(), "contexts", "mean inputs that differ between contexts", contexts)
    if not eta.all():
        warnings.warn(
            "context_preference: contexts have the same mean target, so that no linear mode "
            "distinguishes them, and in which of them a neuron becomes inactive is nearly chance",
            stacklevel=2,
        )
    first, second = (np.asarray(layer, float) for layer in weights)
    ratio = np.where(eta > 0, xi / np.where(eta > 0, eta, 1), 0)
    preference = first @ inputs + ratio * (second.T @ targets)
    return preference - preference.mean(axis=1, keepdims=True)


def _centred_means(
    data: Float[np.ndarray, "n P"], contexts: np.ndarray
) -> Float[np.ndarray, "n C"]:
    """Return the mean of each context minus the mean of all contexts, zero up to rounding."""
    numbers = range(contexts.max() + 1)
    means = np.stack([data[:, contexts == number].mean(axis=1) for number in numbers], axis=1)
    centred = means - means.mean(axis=1, keepdims=True)
    size = np.linalg.norm(centred, axis=0)
    return np.where(size > FLAT * np.linalg.norm(means), centred, 0)
