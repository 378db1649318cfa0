"""The same training with less to compute, and what is recorded of it."""

import numpy as np

from mdsgdln import networks, squared_error, tasks, theory, training

LEFT = 0.03  # of the loss: what counts as learned
CHUNK, MOST = 500, 200  # steps between two looks at the loss; looks at most
RANK = 1e-9  # of a column's length: what is less is a combination of earlier ones


def keep_weights(weights):
    """Return all weights, to be recorded during training."""
    return weights


def orthonormal_span(columns) -> np.ndarray:
    """Return an orthonormal basis of the span of columns by Gram–Schmidt.

    Which of the singular vectors of equal singular values one gets does not enter, so that random
    weights drawn in this basis are the same on any machine.
    """
    basis: list[np.ndarray] = []
    for column in np.asarray(columns, float).T:
        rest = column
        for direction in (*basis, *basis):  # twice, as once loses digits
            rest = rest - direction * (direction @ rest)
        if np.linalg.norm(rest) > RANK * np.linalg.norm(column):
            basis.append(rest / np.linalg.norm(rest))
    return np.stack(basis, axis=1)


def project_targets(task):
    """Return the task with targets written in an orthonormal basis of their span.

    What outgoing weights have outside it only shrinks, and acts on the rest as σ² does: up to
    σ = 1e-3 a loss curve moves by some 1e-5.
    """
    targets = orthonormal_span(task.targets).T @ task.targets
    return tasks.Task(task.inputs, targets, task.labels)


def reduce_network(network, weights, task):
    """Return a smaller network, weights and task with the same learning from small weights.

    The task is that of ``project_targets``, and a gated network then its exact reduction.
    """
    basis = orthonormal_span(task.targets)
    if isinstance(network, networks.ReLUNetwork):
        *layers, last = weights
        smaller = networks.ReLUNetwork((*network.sizes[:-1], basis.shape[1]))
        return smaller, [*layers, basis.T @ last], project_targets(task)
    last = network.graph.output_nodes
    within = {
        edge: basis @ (basis.T @ weight) if edge[1] in last else weight
        for edge, weight in weights.items()
    }
    return theory.stand_in(network, within, task)


def reduced_losses(network, weights, task, rate, num_steps):
    """Return the losses of a network, trained as ``reduce_network`` reduces it."""
    return training.train(*reduce_network(network, weights, task), rate, num_steps).losses


def train_until_learned(network, weights, task, optimiser):
    """Return the weights when, after some ``CHUNK`` steps, at most 3 % of the loss is left.

    Raises:
        ArithmeticError: it is not after ``MOST`` chunks.
    """
    first, rule = squared_error(network, weights, task), {"optimiser": optimiser, "state": None}
    for _ in range(MOST):
        run = training.train(network, weights, task, None, CHUNK, **rule)
        weights, rule["state"] = run.weights, run.state
        if squared_error(network, weights, task) <= LEFT * first:
            return weights
    raise ArithmeticError(f"more than {LEFT} of the loss is left")
