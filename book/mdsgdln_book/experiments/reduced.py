"""The same training with less to compute."""

from mdsgdln import networks, tasks, theory
from mdsgdln.theory.reduction import span


def in_span(task):
    """Return a task whose targets are coordinates in the space that they span.

    What outgoing weights have beside it only shrinks, and acts on the rest as σ² does: up to
    σ = 1e-3 a loss curve moves by some 1e-5.
    """
    return tasks.Task(task.inputs, span(task.targets).T @ task.targets, node_rows=task.node_rows)


def reduced(network, weights, task):
    """Return a network, weights and a task that learn from small weights as given ones do.

    The task becomes ``in_span``, and a gated network then its exact reduction.
    """
    basis = span(task.targets)
    if isinstance(network, networks.ReLUNetwork):
        *layers, last = weights
        smaller = networks.ReLUNetwork((*network.sizes[:-1], basis.shape[1]))
        return smaller, [*layers, basis.T @ last], in_span(task)
    last = network.graph.output_nodes
    within = {
        edge: basis @ (basis.T @ weight) if edge[1] in last else weight
        for edge, weight in weights.items()
    }
    return theory.exact_reduction(network, within, task)
