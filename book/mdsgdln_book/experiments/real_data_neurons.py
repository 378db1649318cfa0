"""Digits: is it feature learning, and in which contexts are neurons on?"""

import numpy as np

from mdsgdln import sweeps
from mdsgdln_book.experiments import pictures, real_data
from mdsgdln_book.experiments.neurons_mechanisms import by_number
from mdsgdln_book.tables import Table

NUM_KERNEL = 50  # samples of the tangent kernel
RARE, MUCH = 0.05, 0.25  # shares of pictures


def kernel(weights, inputs) -> np.ndarray:
    """Return the tangent kernel of all outputs of some samples, (outputs, P, outputs, P)."""
    first, second = weights
    activity = np.maximum(first @ inputs, 0)
    gated = second[:, :, None] * (activity > 0)  # ∂ŷ_a / ∂(w_h x), (outputs, neurons, P)
    found = np.einsum("ahi,bhj->aibj", gated, gated, optimize=True)
    found *= (inputs.T @ inputs)[None, :, None, :]
    found += np.eye(len(second))[:, None, :, None] * (activity.T @ activity)[None, :, None, :]
    return found


def angle(some, others, centred: bool = False) -> float:
    """Return 1 − cosine of two kernels, of their parts that differ between samples if centred."""
    if centred:
        some, others = (
            k
            - k.mean(axis=1, keepdims=True)
            - k.mean(axis=3, keepdims=True)
            + k.mean(axis=(1, 3), keepdims=True)
            for k in (some, others)
        )
    return 1 - np.vdot(some, others) / (np.linalg.norm(some) * np.linalg.norm(others))


def rates(relu: real_data.Trained, data: pictures.Data) -> np.ndarray:
    """Return for which share of the pictures each neuron is on in each context, (neurons, C)."""
    on, contexts = relu.patterns[0], data.contexts[0]
    return np.stack([on[:, contexts == c].mean(axis=1) for c in np.unique(contexts)], axis=1)


def independent(rate, seed: int) -> np.ndarray:
    """Shuffle within each context which neuron has which rate."""
    return np.random.default_rng(seed).permuted(rate, axis=0)


def experiment(task: str, seed: int) -> dict:
    """Return accuracies, changes of the kernel and shares of neurons of a ReLU network."""
    data, relu = pictures.load(task), real_data.trained(task, seed)
    columns = np.random.default_rng(0).choice(data.train.num_samples, NUM_KERNEL, replace=False)
    inputs = np.asarray(data.train.inputs)[:, columns]
    start, end = ([w[time] for w in relu.weights] for time in (0, -1))
    other = [np.asarray(w) for w in real_data.start(task, seed + 100)]
    before, after = kernel(start, inputs), kernel(end, inputs)
    rate = rates(relu, data)
    highest = rate.max(axis=1, keepdims=True)
    spread = highest[:, 0] - rate.min(axis=1)
    selective = ((rate > RARE) & (rate < 1 - RARE)).any(axis=1)
    controls = [independent(rate, repeat) for repeat in range(20)]
    results = {
        "accuracy": pictures.equal(data, relu.outputs[1], data.test.targets, 1),
        "last": relu.losses[-1] / relu.losses[0],
        "kernel_change": angle(before, after),
        "kernel_scatter": angle(before, kernel(other, inputs)),
        "centred_change": angle(before, after, centred=True),
        "centred_scatter": angle(before, kernel(other, inputs), centred=True),
        "on": (relu.patterns[0].mean(axis=1) @ relu.mass) / relu.mass.sum(),
        "contexts": by_number(rate > 0.5, relu.mass),
        "contexts_control": np.mean([by_number(r > 0.5, relu.mass) for r in controls], axis=0),
        "relative": by_number((rate > highest / 2) & (highest > 0), relu.mass),
        "relative_control": np.mean(
            [
                by_number((r > r.max(axis=1, keepdims=True) / 2) & (r > 0), relu.mass)
                for r in controls
            ],
            axis=0,
        ),
        "mixed": relu.mass[selective & (spread > MUCH)].sum() / relu.mass.sum(),
    }
    return {name: np.round(value, 5) for name, value in results.items()}


TABLES = {
    "real_data_neurons": Table(
        experiment,
        sweeps.grid(task=["plain", "contextual", "contextual, 1", "named", "same"], seed=range(5)),
    )
}
