"""``predict`` against the training it predicts.

The published configuration of MHS App. H: 100 neurons a pathway, ReLU networks of 700 and of 2000.
"""

import jax
from timing import interleaved

from mdsgdln import deviation, networks, tasks, theory, training

NUM_STEPS, SCALE = 8001, 0.005 / 700
CASES = {f"{number} contexts": (number, None) for number in (3, 4, 5)}
CASES["tree, ring, cross"] = 3, ["tree", "ring", "cross"]
WIDTHS = 700, 2000  # of ReLU networks
KEY = jax.random.key(0)


def measure():
    """Return what every case gives."""
    gated = {name: measure_case(*case) for name, case in CASES.items()}
    return gated | {f"ReLU, {width} neurons": measure_relu(width) for width in WIDTHS}


def measure_case(num_contexts, structures):
    """Return seconds of training and of both predictions, and their deviations from it."""
    task = tasks.contextual(num_contexts, 8, structures)
    network = networks.contextual_pathways(task, num_contexts, num_contexts - 1, 100)
    weights = network.init(KEY, SCALE)
    settings = task, 0.001 * task.num_samples, NUM_STEPS

    def train():
        return training.train(network, weights, *settings).losses

    def from_scale():
        return theory.predict(network, SCALE, *settings).losses

    def from_weights():
        return theory.predict(network, weights, *settings).losses

    best = interleaved(train=train, from_scale=from_scale, from_weights=from_weights)
    return best | {
        "train / from_scale": best["train"] / best["from_scale"],
        "deviation_from_scale": deviation(from_scale(), train()),
        "deviation_from_weights": deviation(from_weights(), train()),
    }


def measure_relu(width):
    """Return seconds of training a ReLU network and of its prediction, and the deviation."""
    task = tasks.contextual(3, 8)
    network = networks.ReLUNetwork((len(task.inputs), width, len(task.targets)))
    weights = network.init(KEY, SCALE)
    settings = task, 0.001 * task.num_samples, NUM_STEPS

    def train():
        return training.train(network, weights, *settings).losses

    def from_scale():
        return theory.predict(network, SCALE, *settings, key=KEY).losses

    best = interleaved(train=train, from_scale=from_scale)
    return best | {
        "train / from_scale": best["train"] / best["from_scale"],
        "deviation_from_scale": deviation(from_scale(), train()),
    }
