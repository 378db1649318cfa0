"""Gradient flow with sliding gates, against descent and against the law of a gate that is held.

Tasks go by the names of ``first_drop``.
"""

import jax
import jax.numpy as jnp
import numpy as np

from mdsgdln import deviation, networks, training
from mdsgdln_book import dynamics, sweeps
from mdsgdln_book.experiments.first_drop import KNOWN, task_by_name
from mdsgdln_book.tables import Table

# Step · fastest rate of the task: to see when it is learned, against descent, of the law.
COARSE, FINE, FRACTION = 0.16, 0.02, 0.04
LONGEST, LEARNED = 150, 0.02  # over that rate; share of the loss at which a run ends


def flow_setting(name: str, width: int, scale: float):
    """Return task, network, weights, fastest rate and learning time."""
    task = task_by_name(name)
    network = networks.ReLUNetwork((len(task.inputs), width, len(task.targets)))
    weights = network.init(jax.random.key(0), scale)
    norms = (np.linalg.norm(matrix, 2) for matrix in (task.inputs, task.targets))
    rate = float(np.prod(list(norms))) / task.num_samples
    step = COARSE / rate
    run = training.train(network, weights, task, step, round(LONGEST / COARSE))
    losses = np.asarray(run.losses)
    low = np.append(losses < LEARNED * losses[0], True)
    return task, network, weights, rate, step * float(np.argmax(low))


def compare_with_descent(task: str) -> dict:
    """Return the relative ``error`` of the flow's loss compared with gradient descent."""
    data, network, weights, rate, end = flow_setting(task, 64, 1e-4)
    step = FINE / rate
    number = round(end / step)
    run = training.train(network, weights, data, step, number)
    flow = dynamics.relu_flow(network, weights, data, step * np.arange(number), step=step)
    return {"error": deviation(flow.losses, run.losses, learned=None)}


# The law of a gate that is held ------------------------------------------------------------------


def check_running_maximum(task: str, scale: float) -> dict:
    """Return how well inactive neurons obey the running-maximum law, at three times.

    Half of the time until 5 % of the loss is learned, when half is, and at the end.

    Results:
        follow: share of the weight of all (neuron, context off) that follow it to 1e-6 of ‖w‖.
        pairs: how many there are.
    """
    data, network, weights, rate, end = flow_setting(task, 60, scale)
    times = np.arange(0, end, FRACTION / rate)
    flow = dynamics.relu_flow(
        network, weights, data, times, observe=lambda w: (w[0], jnp.linalg.norm(w[1], axis=0))
    )
    w, outer = flow.observed
    relative = flow.losses / flow.losses[0]
    moments = [np.argmax(relative < 0.95) // 2, np.argmax(relative < 0.5), len(times) - 1]
    follow, pairs = [], []
    for now in moments:
        weight, held = [], []
        for context in range(data.num_samples // 8):
            off = (flow.states[: now + 1, :, 8 * context : 8 * context + 8] < 1).all(axis=2)
            for neuron in np.flatnonzero(off[-1]):
                on = np.flatnonzero(~off[:, neuron])
                path = w[on[-1] + 1 if on.size else 0 : now + 1, neuron]
                predicted = -max(-path[0, 8 + context], path[:, :8].max())
                size = np.linalg.norm(path[-1])
                held.append(abs(path[-1, 8 + context] - predicted) <= 1e-6 * size)
                weight.append(size * outer[now, neuron])
        follow.append(float(np.average(held, weights=weight)) if held else 1.0)
        pairs.append(len(held))
    return {"follow": follow, "pairs": pairs}


TABLES = {
    "sliding_descent": Table(compare_with_descent, sweeps.grid(task=KNOWN), repeated=(13,)),
    "sliding_law": Table(
        check_running_maximum,
        sweeps.grid(task=["trees 2", "trees 3", "trees 5", "mixed 3"], scale=[1e-6, 1e-4, 1e-2]),
        repeated=(11,),
    ),
}
