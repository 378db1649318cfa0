"""Speed of ``predict_losses`` against the training it predicts.

``python benchmarks/prediction.py``: the published configuration of MHS App. H, 100 neurons a
pathway, 8001 output times, double precision, best of five interleaved rounds, compilation apart.
Fills book/results/cost_prediction.json.
"""

import json

import jax

jax.config.update("jax_enable_x64", True)

import numpy as np  # noqa: E402
from sweeps import RESULTS, device, interleaved  # noqa: E402

from mdsgdln import reln, tasks, theory, training  # noqa: E402

NUM_STEPS, SCALE = 8001, 0.005 / 700


def measure(num_contexts, structures=None):
    """Return seconds of training and of both predictions, and their deviations from it."""
    task = tasks.contextual(num_contexts, 8, structures)
    network = reln.context_candidate(task, num_contexts, num_contexts - 1, 100)
    weights = network.init(jax.random.key(0), SCALE)
    rate = 0.001 * task.num_samples
    times = rate * np.arange(NUM_STEPS)

    def train():
        return training.train(network, weights, task, rate, NUM_STEPS).losses.block_until_ready()

    def from_scale():
        return theory.predict_losses(network, task, SCALE, times).block_until_ready()

    def from_weights():
        return theory.predict_losses(network, task, weights, times, rate).block_until_ready()

    best = interleaved(train=train, from_scale=from_scale, from_weights=from_weights)
    return best | {
        "faster": best["train"] / best["from_scale"],
        "deviation_from_scale": reln.deviation(from_scale(), train()),
        "deviation_from_weights": reln.deviation(from_weights(), train()),
    }


if __name__ == "__main__":
    result = device()
    for num_contexts in (3, 4, 5):
        result[f"{num_contexts} contexts"] = measure(num_contexts)
    result["tree, ring, cross"] = measure(3, ["tree", "ring", "cross"])
    print(json.dumps(result, indent=1))
    RESULTS.with_name("cost_prediction.json").write_text(json.dumps(result, indent=1) + "\n")
