"""The same training with less to compute."""

from mdsgdln import networks, tasks, theory
from mdsgdln.theory.reduction import span


def reduced(network, weights, task):
    """Return a network, weights and a task that learn from small weights as given ones do.

    Outputs become coordinates in the span of the targets. What weights have beside it only shrinks,
    and acts on the rest as σ² does: up to σ = 1e-3 a loss curve moves by some 1e-5. A gated network
    then becomes its exact reduction.
    """
    basis = span(task.targets)
    if isinstance(network, networks.ReLUNetwork):
        *layers, last = weights
        sizes = (*network.sizes[:-1], basis.shape[1])
        return (
            networks.ReLUNetwork(sizes),
            [*layers, basis.T @ last],
            tasks.Task(task.inputs, basis.T @ task.targets),
        )
    last = network.graph.output_nodes
    within = {
        edge: basis @ (basis.T @ weight) if edge[1] in last else weight
        for edge, weight in weights.items()
    }
    return theory.exact_reduction(network, within, task)
