"""Statistics of the data alone: modes of a task, and the effective dataset of a path."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from mdsgdln import _checks as checks
from mdsgdln.graphs import Path
from mdsgdln.networks import GatedNetwork
from mdsgdln.tasks import Task

__all__ = ["Modes", "effective_dataset", "modes"]
__dir__ = __all__.copy  # what completion shows


SAME = 1e-6  # of the largest singular value: smaller is zero, closer is equal


class Modes(NamedTuple):
    """Singular vectors and values of Σ^yx = Y Xᵀ / P = U S Vᵀ, strongest first (MHS App. A.1).

    Attributes:
        left: U, shape (N_out, modes).
        singular_values: s_α > 0, shape (modes,).
        right: V, shape (N_in, modes).
        input_variances: d_α = v_αᵀ Σ^x v_α with Σ^x = X Xᵀ / P, shape (modes,).
        coupling: ‖Σ^x V − V diag(d)‖ / ‖Σ^x V‖ in the Frobenius norm; 0 if the modes are
            eigenvectors of Σ^x, that is if Assumption 2.1.1 holds.
    """

    left: Float[np.ndarray, "N_out modes"]
    singular_values: Float[np.ndarray, " modes"]
    right: Float[np.ndarray, "N_in modes"]
    input_variances: Float[np.ndarray, " modes"]
    coupling: float


def modes(task: Task) -> Modes:
    """Return the singular modes of a task's input–output correlation.

    Singular values below a millionth of the largest are left out. Modes of equal singular value are
    rotated so that they also diagonalise Σ^x. The sign of a mode makes the largest entry of u_α
    positive.
    """
    checks.instance("task", task, Task)
    checks.concrete("task", task)
    inputs, targets = np.asarray(task.inputs, float), np.asarray(task.targets, float)
    cross, variance = (rows @ inputs.T / task.num_samples for rows in (targets, inputs))
    left, values, right_rows = np.linalg.svd(cross, full_matrices=False)
    positive = values > SAME * max(values[0], np.finfo(float).tiny)
    left, values, right = left[:, positive], values[positive], right_rows[positive].T
    if not len(values):
        return Modes(left, values, right, values, 0.0)
    ends = np.flatnonzero(-np.diff(values) > SAME * values[0]) + 1
    for level in map(slice, [0, *ends], [*ends, len(values)]):  # of equal singular values
        _, rotation = np.linalg.eigh(right[:, level].T @ variance @ right[:, level])
        left[:, level], right[:, level] = left[:, level] @ rotation, right[:, level] @ rotation
    size = np.abs(left)
    largest = (size > size.max(axis=0) - 1e-9).argmax(axis=0)  # the first of equals, on any machine
    signs = np.sign(left[largest, np.arange(len(values))])
    left, right = left * signs, right * signs
    image = variance @ right
    input_variances = np.sum(right * image, axis=0)
    coupling = np.linalg.norm(image - right * input_variances) / np.linalg.norm(image)
    return Modes(left, values, right, input_variances, float(coupling))


def effective_dataset(network: GatedNetwork, task: Task, path: Path) -> Task:
    """Return the dataset from which a path learns (MHS Eq. 4), with all P samples.

    Its inputs are g_p x_s(p), of the path's input node s(p), and its targets those of the path's
    output node where g_p ≠ 0, else zero. The path is given by its nodes.
    """
    checks.instance("network", network, GatedNetwork)
    network.check(None, task)
    checks.concrete("network", network)
    checks.concrete("task", task)
    gate = np.asarray(network.path_gate(path, task.num_samples))
    rows = network.graph.node_rows
    inputs = np.asarray(task.inputs)[np.array(rows[path[0]])] * gate
    targets = np.asarray(task.targets)[np.array(rows[path[-1]])] * (gate != 0)
    return Task.from_samples(inputs.T, targets.T, task.labels)
