"""Random tasks, widths and scales: does the prediction from σ alone hold, or warn?"""

import warnings

import jax
import numpy as np

from mdsgdln import networks, tasks, theory, training
from mdsgdln_book import linear_maps, sweeps
from mdsgdln_book.tables import Table

CHUNK, MOST_CHUNKS = 2000, 100  # steps trained at once, until all but a hundredth is learned


def random_case(seed: int) -> tuple[networks.GatedNetwork, tasks.Task, float]:
    """Draw a small task, one to three pathways of 1 to 1000 neurons, and σ from 1e-5 to 0.5."""
    rng = np.random.default_rng(seed)
    num_inputs, num_outputs, num_samples = rng.integers([2, 1, 3], [7, 7, 9])
    inputs = rng.normal(size=(num_inputs, num_samples))
    if rng.random() < 0.5:
        inputs = np.sign(inputs)
    targets = rng.normal(size=(num_outputs, num_samples))
    if rng.random() < 0.5:
        targets = np.sign(targets)
    gates = rng.random((rng.integers(1, 4), num_samples)) < 0.7
    gates[0] = True  # one pathway is always on, and none always off
    gates[:, 0] = True
    hidden = int(np.exp(rng.uniform(0, np.log(1001))))
    scale = np.exp(rng.uniform(*np.log([1e-5, 0.5])))
    task = tasks.Task(inputs, targets)
    return networks.pathways(task, gates.astype(float), hidden), task, float(scale)


def prediction_outcome(seed: int) -> dict:
    """Predict and train a random case; return the relative error and the stated one.

    It is "refused" where there are too few neurons to say what is learned; errors are −1 then.
    """
    network, task, scale = random_case(seed)
    weights = network.init(jax.random.key(seed), scale)
    rate = stable_rate(network, task, scale)
    losses = train_until_learned(network, weights, task, rate)
    refused, error, stated = False, -1.0, -1.0
    with warnings.catch_warnings(action="ignore"):
        try:
            predicted = theory.predict(network, scale, task, rate, len(losses))
            error = np.sum(np.abs(predicted.losses - losses)) / np.sum(losses)
            stated = predicted.error
        except ValueError:
            refused = True
    exact = theory.predict(network, weights, task, rate, len(losses)).losses
    return {
        "error": error,
        "stated": stated,
        "exact": np.sum(np.abs(exact - losses)) / np.sum(losses),
        "refused": refused,
    }


def stable_rate(network, task, scale: float) -> float:
    """Return a learning rate well below the stability limit along the whole path."""
    inputs, targets = np.asarray(task.inputs), np.asarray(task.targets)
    variance = np.linalg.norm(inputs, 2) ** 2 / task.num_samples
    sizes = network.graph.neurons
    hidden, width = sizes["pathway 0"], max(len(inputs), len(targets))
    largest = np.linalg.norm(targets @ np.linalg.pinv(inputs), 2)
    largest += scale**2 * (np.sqrt(hidden) + np.sqrt(width)) ** 2
    return float(0.05 / (variance * largest * len(network.graph.paths)))


def train_until_learned(network, weights, task, rate: float) -> np.ndarray:
    """Return the loss at every step until 99 % of the learnable part is learned."""
    gates = np.stack([np.asarray(gate) for gate in network.node_gates.values()])
    features = np.vstack([gate * np.asarray(task.inputs) for gate in gates])
    unlearned = linear_maps.linear_residual(tasks.Task(features, task.targets)).targets
    floor, parts = float(np.sum(np.square(unlearned))) / (2 * task.num_samples), []
    for _ in range(MOST_CHUNKS):
        run = training.train(network, weights, task, rate, CHUNK)
        parts.append(np.asarray(run.losses))
        weights = run.weights
        if parts[-1][-1] - floor < 0.01 * (parts[0][0] - floor):
            break
    losses = np.concatenate(parts)
    learned = np.flatnonzero(losses - floor < 0.01 * (losses[0] - floor))
    return losses[: learned[0] + 1] if len(learned) else losses


TABLES = {"predictable": Table(prediction_outcome, sweeps.grid(seed=range(200)), repeated=(124,))}
