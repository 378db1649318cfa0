"""How much of a context has to be clipped for a ReLU neuron to leave it; which ones it leaves."""

import numpy as np

from mdsgdln import squared_error, training
from mdsgdln_book import linear_maps, sweeps
from mdsgdln_book.experiments import letting_go
from mdsgdln_book.experiments.letting_go import SUM_STEP
from mdsgdln_book.experiments.letting_go_tasks import contextual_setting, structure_blocks
from mdsgdln_book.experiments.published import NUM_ITEMS
from mdsgdln_book.tables import Table


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
    off where f_c exceeds its mean over contexts; ``fixed``: where it exceeds each of CUTS; both by
    each of the rules of ``letting_go`` for what is off in the end.
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
    lost, mass = letting_go.lost_contexts(end, task, contexts)

    def named(left):
        """By each rule, the share of the contextual weight whose contexts ``left`` names."""
        return [
            letting_go.weighted_mean(
                mass * letting_go.is_contextual(off), (left == off).all(axis=1)
            )
            for off in lost
        ]

    return {
        "mean": named(parts > parts.mean(axis=1, keepdims=True)),
        "fixed": np.transpose([named(parts > cut) for cut in CUTS]),
    }


TABLES = {
    "letting_go_leaves": Table(
        forecast_from_clipping, sweeps.grid(contexts=[3, 4, 5, 6], seed=range(20, 25))
    ),
}
