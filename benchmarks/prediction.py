"""``predict_losses`` against the training it predicts.

The published configuration of MHS App. H, 100 neurons a pathway, 8001 output times.
"""

import jax
import numpy as np
from timing import interleaved

from mdsgdln import deviation, networks, tasks, theory, training

NUM_STEPS, SCALE = 8001, 0.005 / 700
CASES = {f"{number} contexts": (number, None) for number in (3, 4, 5)}
CASES["tree, ring, cross"] = 3, ["tree", "ring", "cross"]


def measure():
    """Return what every case gives."""
    return {name: measure_case(*case) for name, case in CASES.items()}


def measure_case(num_contexts, structures):
    """Return seconds of training and of both predictions, and their deviations from it."""
    task = tasks.contextual(num_contexts, 8, structures)
    network = networks.contextual_pathways(task, num_contexts, num_contexts - 1, 100)
    weights = network.init(jax.random.key(0), SCALE)
    rate = 0.001 * task.num_samples
    times = rate * np.arange(NUM_STEPS)

    def train():
        return training.train(network, weights, task, rate, NUM_STEPS).losses

    def from_scale():
        return theory.predict_losses(network, task, SCALE, times)

    def from_weights():
        return theory.predict_losses(network, task, weights, times, rate)

    best = interleaved(train=train, from_scale=from_scale, from_weights=from_weights)
    return best | {
        "train / from_scale": best["train"] / best["from_scale"],
        "deviation_from_scale": deviation(from_scale(), train()),
        "deviation_from_weights": deviation(from_weights(), train()),
    }
