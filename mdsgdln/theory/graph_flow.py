"""Gradient flow of a gated network on any graph, as small as it exactly can be."""

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from mdsgdln._checks import Scalar
from mdsgdln.graphs import Node
from mdsgdln.networks import GatedNetwork
from mdsgdln.tasks import Task
from mdsgdln.theory.integration import TOLERANCE, integrate
from mdsgdln.theory.reduction import exact_reduction


def losses_on_graph(
    network: GatedNetwork, task: Task, weights: Mapping, times: Float[Array, " T"], step: Scalar
) -> Float[Array, " T"]:
    """Return the loss along the flow ẇ = G from given weights, or along descent in steps of η.

    The flow half a step back, G(w − (η/2) G), is G − (η/2) G′G up to η²: what descent follows.
    """
    reduced, weights = exact_reduction(network, weights)
    assert isinstance(reduced, GatedNetwork)
    places = tuple(network.node_gates), tuple(network.edge_gates)
    gates = tuple(network.node_gates.values()), tuple(network.edge_gates.values())
    graph, edges = reduced.graph, reduced.graph.edges

    def moments(parameters, state):
        inputs, targets, gates, _ = parameters
        by_place = {
            place: gate if gate.ndim == 2 else gate[None, :]
            for kind in zip(places, gates, strict=True)
            for place, gate in zip(*kind, strict=True)
        }
        return _flow_and_loss(
            graph, by_place, inputs, targets, dict(zip(edges, state, strict=True))
        )

    exact = not isinstance(step, jax.core.Tracer) and bool(step == 0)

    def velocity(parameters, state):
        flow, _ = moments(parameters, state)
        if exact:
            return flow
        step = parameters[-1]
        back = [weight - step / 2 * change for weight, change in zip(state, flow, strict=True)]
        return moments(parameters, back)[0]

    def loss(parameters, state):
        return moments(parameters, state)[1]

    start = [jnp.asarray(weights[edge]) for edge in edges]
    size = jnp.sqrt(sum(jnp.mean(weight**2) for weight in start))
    parameters = task.inputs, task.targets, gates, step
    return integrate(velocity, parameters, start, times, TOLERANCE, TOLERANCE * size, loss)


def _flow_and_loss(graph, gates, inputs, targets, weights) -> tuple[list, Any]:
    """Return Ẇ of every edge and the loss; weights may have one more axis in front."""

    def gated(place, values):
        return values * gates[place] if place in gates else values

    rows, ends = graph.node_rows, graph.output_nodes
    into = {node: [edge for edge in graph.edges if edge[1] == node] for node in graph.order}
    out = {node: [edge for edge in graph.edges if edge[0] == node] for node in graph.order}
    activity: dict[Node, Any] = {}
    errors: dict[Node, Any] = {}
    squares: Any = 0.0
    for node in graph.order:
        arriving = (gated(edge, weights[edge] @ activity[edge[0]]) for edge in into[node])
        activity[node] = gated(node, sum(arriving) if into[node] else inputs[np.array(rows[node])])
    for node in reversed(graph.order):
        if node in ends:
            left = targets[np.array(rows[node])] - activity[node]
            squares = squares + (left**2).sum(axis=(-2, -1))
            errors[node] = gated(node, left / inputs.shape[1])
        elif into[node]:
            back = (_turned(weights[edge]) @ gated(edge, errors[edge[1]]) for edge in out[node])
            errors[node] = gated(node, sum(back))
    flow = [gated(edge, errors[edge[1]]) @ _turned(activity[edge[0]]) for edge in graph.edges]
    return flow, squares / (2 * inputs.shape[1])


def _turned(matrix: Any) -> Any:
    """Return matrices transposed."""
    return matrix.swapaxes(-1, -2)
