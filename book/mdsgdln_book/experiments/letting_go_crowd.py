"""What a ReLU neuron does in a known error: in how many contexts it ends, and when it leaves one.

All other neurons are a crowd, a mean field without a fit; or some contexts are off for good.
"""

import random
from collections.abc import Iterator
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from mdsgdln import squared_error, statistics, training
from mdsgdln_book import linear_maps, sweeps
from mdsgdln_book.experiments import letting_go
from mdsgdln_book.experiments.letting_go import (
    CHUNK,
    LEFT,
    SUM_STEP,
    inactive_contexts,
)
from mdsgdln_book.experiments.letting_go_tasks import SIZES, contextual_setting, structure_blocks
from mdsgdln_book.experiments.published import NUM_ITEMS
from mdsgdln_book.tables import Table

MOST = 40_000  # steps, for neurons that cannot learn what is left


def residual_by_mode(task, block: np.ndarray) -> np.ndarray:
    """Return the residual of the linear map, split by the block's singular values, (L, N_out, P).

    All blocks are ``block``, F: these are the parts of F̃ (δ_cc' − 1/C).
    """
    left_over = np.asarray(linear_maps.linear_residual(task).targets)
    deviation = block - block.mean(axis=1, keepdims=True)
    left, values, _ = np.linalg.svd(deviation, full_matrices=False)
    values = np.round(values / values[0], 6)
    by_block = left_over.reshape(-1, len(block), task.num_samples)
    parts = []
    for value in np.unique(values[values > 0]):
        basis = left[:, values == value]
        parts.append(np.einsum("rm,sm,bsp->brp", basis, basis, by_block).reshape(left_over.shape))
    return np.stack(parts)


@partial(jax.jit, static_argnames=("num_contexts", "without"))
def follow_in_crowd(neurons, linear, task, parts, num_contexts, without):
    """Follow each neuron on the mean-field residual that all others leave.

    The linear part of the residual is that of a linear network, ``linear`` its weights. Of the
    rest, each of ``parts`` counts 1 minus what the neurons together have learned of it. Taken
    ``without`` "contexts", neurons do not see in what contexts differ on average; "rest": what a
    linear map leaves. Returns the weights of both and the loss.
    """
    inputs, count = task.inputs, task.num_samples
    best, size = task.targets - parts.sum(axis=0), (parts**2).sum(axis=(1, 2))

    def step(state, _):
        (first, second), (into, out) = state
        hidden = first @ inputs
        response = jnp.maximum(hidden, 0)
        error = best - out @ into @ inputs
        learned = jnp.einsum("lop,op->l", parts, second @ response) / size
        rest = jnp.einsum("l,lop->op", 1 - learned, parts)
        seen = error
        if without == "contexts":
            means = error.reshape(len(error), num_contexts, -1).mean(axis=2)
            means = means - means.mean(axis=1, keepdims=True)
            seen = error - jnp.repeat(means, count // num_contexts, axis=1)
        if without != "rest":
            seen = seen + rest
        of_neurons = (second.T @ seen * (hidden > 0)) @ inputs.T, seen @ response.T
        of_linear = out.T @ error @ inputs.T, error @ inputs.T @ into.T
        moved = jax.tree.map(lambda w, g: w + SUM_STEP * g, state, (of_neurons, of_linear))
        return moved, ((error + rest) ** 2).sum() / (2 * count)

    (neurons, linear), losses = jax.lax.scan(step, (neurons, linear), length=CHUNK)
    return neurons, linear, losses[-1]


def linear_network(task, num_hidden: int, scale: float):
    """Return a linear network with one neuron per mode, as strong as the crowd."""
    modes = statistics.modes(task)
    root = np.sqrt(num_hidden * scale**2 / 4)  # of a₀: half of the neurons are active at first
    return root * modes.right.T, root * modes.left


def crowd_weights_at_levels(
    weights, scale, task, block, num_contexts: int, without: str = ""
) -> Iterator:
    """Yield the neurons' weights at each of the remaining losses LEFT of ``follow_in_crowd``."""
    parts, neurons = residual_by_mode(task, block), tuple(weights)
    linear = linear_network(task, len(weights[0]), scale)
    loss = start = float(np.sum(np.square(task.targets))) / (2 * task.num_samples)
    steps = 0
    for left in LEFT:
        while loss > left * start and steps < MOST:
            neurons, linear, loss = follow_in_crowd(
                neurons, linear, task, parts, num_contexts, without
            )
            steps += CHUNK
        yield neurons


def compare_with_mean_field(
    case: str, contexts: int, items: int, size: str, without: str, seed: int
) -> dict:
    """Return weight shares by number of contexts, (LEFT, rules, C + 1), trained and mean-field.

    ``same``: the share of the weight of which the crowd has each context right, at each of LEFT.
    """
    network, weights, task, _ = contextual_setting(case, contexts, size, seed, items)
    block, scale = structure_blocks(case, contexts, seed, items)[0], SIZES[size][1]
    crowd = crowd_weights_at_levels(weights, scale, task, block, contexts, without)
    results: dict[str, list] = {"trained": [], "crowd": [], "same": []}
    for pair in zip(letting_go.train_to_levels(network, weights, task), crowd, strict=True):
        for name, now in zip(("trained", "crowd"), pair, strict=True):
            results[name].append(letting_go.shares_by_rule(now, task, contexts))
        (off, mass), (other, _) = (inactive_contexts(now, task, contexts) for now in pair)
        same = (off == other).all(axis=1)
        results["same"].append(np.average(same, weights=mass * letting_go.is_contextual(off)))
    return {name: np.array(values) for name, values in results.items()}


def stays_active(parts: np.ndarray, num_contexts: int, num_off: int, num_items: int) -> np.ndarray:
    """Return whether neurons stay active in a context that clips ``parts`` of their response.

    Items are graded, F̃ = (−1, …, 1), and so is the response. ``num_off`` contexts are off for
    good; in the next one the neurons are clipped, in the others not.
    """
    items = np.linspace(-1, 1, num_items)
    grid = np.linspace(1, -1, 2001)  # context weights, from nothing clipped to all
    clipped = np.maximum(-items - grid[:, None], 0) @ -items / (items @ items)
    w, v = np.tile(items, (len(parts), 1)), np.ones((len(parts), num_contexts))
    v[:, :num_off], v[:, num_off] = -1e9, grid[np.searchsorted(clipped, parts)]
    error = (np.eye(num_contexts) - 1 / num_contexts)[:, :, None] * items  # (block, context, item)

    def respond():
        response = np.maximum(v[:, :, None] + w[:, None, :], 0)
        return response > 0, np.tensordot(response, error, axes=([1, 2], [1, 2]))

    u = respond()[1]
    u *= np.sqrt(items @ items + num_contexts) / np.linalg.norm(u, axis=1, keepdims=True)
    for _ in range(400):
        on, drive = respond()
        back = np.tensordot(u, error, axes=1) * on
        w, v, u = w + 0.02 * back.sum(axis=1), v + 0.02 * back.sum(axis=2), u + 0.02 * drive
    return (v[:, num_off, None] + w > 0).mean(axis=1) > 0.5


def clipping_thresholds(num_items: int) -> list[tuple[int, int, float]]:
    """Return the clipped fraction at which a neuron leaves its next context: (C, k, fraction)."""
    parts, found = np.linspace(0, 0.99, 100), []
    for num_contexts, num_off in ((3, 1), (4, 1), (4, 2), (6, 1), (6, 2), (6, 3)):
        gone = parts[~stays_active(parts, num_contexts, num_off, num_items)]
        found.append((num_contexts, num_off, float(gone[0]) if len(gone) else 1.0))
    return found


CUTS = np.linspace(0.05, 0.95, 19)


def forecast_from_clipping(contexts: int, seed: int) -> dict:
    """Train on trees; return how well clipped fractions forecast the inactive contexts.

    Part f_c = −(F̃z_c)ᵀF̃z_c⁻/‖F̃z_c‖², when the loss is what the best linear map leaves. ``mean``:
    off where f_c exceeds its mean over contexts; ``fixed``: where it exceeds each of CUTS.
    """
    network, start, task, _ = contextual_setting("tree", contexts, "published", seed)
    block = structure_blocks("tree", contexts, seed, NUM_ITEMS)[0]
    left_over = np.square(linear_maps.linear_residual(task).targets).sum() / (2 * task.num_samples)
    weights = start
    while squared_error(network, weights, task) > left_over:
        rate = SUM_STEP * task.num_samples
        weights = training.train(network, weights, task, rate, 20).weights
    z = np.asarray(weights[0] @ task.inputs).reshape(-1, contexts, NUM_ITEMS)
    deviation = block - block.mean(axis=1, keepdims=True)
    seen, clipped = z[:, :1] @ deviation.T, np.maximum(-z, 0) @ deviation.T
    parts = -(seen * clipped).sum(axis=2) / (seen**2).sum(axis=2)
    end = next(letting_go.train_to_levels(network, start, task))
    off, mass = inactive_contexts(end, task, contexts)
    contextual = mass * letting_go.is_contextual(off)

    def named(left):
        return letting_go.weighted_mean(contextual, (left == off).all(axis=1))

    return {
        "mean": named(parts > parts.mean(axis=1, keepdims=True)),
        "fixed": [named(parts > cut) for cut in CUTS],
    }


# Ten tasks, drawn before any of them was trained: cases, contexts and items.
DRAWN = random.Random(2026).sample(
    sweeps.grid(
        case=["tree", "ring", "cross", "identity", "random", "graded"],
        contexts=[3, 4, 5, 6],
        items=[4, 8, 16],
    ),
    10,
)
TREES = {"case": "tree", "size": "published", "items": NUM_ITEMS}
TABLES = {
    "letting_go_crowd": Table(
        compare_with_mean_field,
        [
            *(
                TREES | more
                for more in sweeps.grid(contexts=[3, 4, 5, 6, 8], without=[""], seed=[20, 21, 22])
                + sweeps.grid(contexts=[3, 4], without=["contexts", "rest"], seed=[20])
            ),
            *(task | {"size": "300", "without": "", "seed": 30} for task in DRAWN),
        ],
        repeated=(19,),
    ),
    "letting_go_leaves": Table(
        forecast_from_clipping, sweeps.grid(contexts=[3, 4, 5, 6], seed=range(20, 25))
    ),
}
