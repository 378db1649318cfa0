"""``predict`` against the training it predicts.

The published configuration of MHS App. H: 100 neurons a pathway, ReLU networks of 700 and of 2000.
"""

from functools import partial

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
    """Return what the gated network of the published task gives."""
    task = tasks.contextual(num_contexts, 8, structures)
    return compare(networks.contextual_pathways(task, num_contexts, num_contexts - 1, 100), task)


def measure_relu(width):
    """Return what a ReLU network on three contexts gives."""
    task = tasks.contextual(3, 8)
    return compare(networks.ReLUNetwork((len(task.inputs), width, len(task.targets))), task)


def compare(network, task):
    """Return seconds of training and of its predictions, and their deviations from it."""
    weights = network.init(KEY, SCALE)
    settings = task, 0.001 * task.num_samples, NUM_STEPS
    starts = {"from_scale": SCALE}
    if isinstance(network, networks.GatedNetwork):
        starts["from_weights"] = weights

    def train():
        return training.train(network, weights, *settings).losses

    def predict(start):
        return theory.predict(network, start, *settings, key=KEY).losses

    predictions = {name: partial(predict, start) for name, start in starts.items()}
    best = interleaved(train=train, **predictions)
    best["train / from_scale"] = best["train"] / best["from_scale"]
    return best | {
        f"deviation_{name}": deviation(found(), train()) for name, found in predictions.items()
    }
