"""The race reduction for paths of any depth that share edges: a number per mode and edge (NRR).

Where all paths from an input node have the same right singular vectors and all paths to an output
node the same left ones, W_e = R_t B_e R_sᵀ with diagonal B_e solves the gradient flow: R = V at
inputs, U at outputs, any orthonormal columns in between. In these bases it is a gated network with
a neuron a mode, whose weights stay diagonal.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from mdsgdln import _checks as checks
from mdsgdln._checks import Numbers, Scalar
from mdsgdln.graphs import Edge, Graph, Node
from mdsgdln.networks import GatedNetwork
from mdsgdln.statistics import effective_dataset, modes
from mdsgdln.tasks import Task
from mdsgdln.theory.flow import ReducedNetwork, _at, _flow
from mdsgdln.theory.starts import _starts_of

TOLERANCE = 1e-6  # relative size of what may be left outside of the decoupled modes


class SharedRace(NamedTuple):
    """Trajectories of the modes of all edges.

    Attributes:
        strengths: {edge: diagonal of B_e(t), shape (modes, T)}.
        losses: 𝓛(t), shape (T,).
    """

    strengths: dict[Edge, Float[Array, "modes T"]]
    losses: Float[Array, " T"]


def decoupled_weights(
    network: GatedNetwork, task: Task, starts: Scalar | Mapping[Edge, Numbers], *, key: Array
) -> dict[Edge, Float[Array, "_ _"]]:
    """Return weights W_e = R_t B_e R_sᵀ, from which training is its reduction (NRR Fig. 4e).

    Args:
        network: the gated network; hidden nodes with at least as many neurons as there are modes.
        task: what it is to be trained on.
        starts: the diagonal of every B_e, a number, or {edge: number or (modes,)}.
        key: a JAX random key, for the orthonormal columns R of the hidden nodes.

    Raises:
        ValueError: modes that do not decouple, or too few neurons.
    """
    checks.random_key("key", key)
    checks.instance("network", network, GatedNetwork)
    network = network._reading(task)
    bases: dict[Node, Any] = _node_modes(network, task)
    num_modes = next(iter(bases.values())).shape[1]
    for node, neurons in network.graph.sizes:
        if node in bases:
            continue
        if neurons < num_modes:
            raise ValueError(f"network: expected {num_modes} neurons at least in {node!r}")
        key, node_key = jax.random.split(key)
        bases[node] = jnp.linalg.qr(jax.random.normal(node_key, (neurons, num_modes)))[0]
    strengths = _starts_of(starts, dict.fromkeys(network.graph.edges, num_modes))
    return {
        (source, target): bases[target] * strengths[source, target][None, :] @ bases[source].T
        for source, target in network.graph.edges
    }


def shared_race(
    network: GatedNetwork,
    task: Task,
    starts: Scalar | Mapping[Edge, Numbers],
    times: Numbers,
    learning_rate: Scalar = 0.0,
) -> SharedRace:
    """Return the race of paths that share edges (NRR).

    dB_e/dt = Σ_{p∈P(e)} B_{p∖e} [S(p) − Σ_j B_j D(j, p)].

    Args:
        network: paths of any depth, gates one per sample.
        task: what it is trained on.
        starts: the diagonal of every B_e at time 0: a number, or {edge: number or (modes,)}.
        times: t = learning rate · step, increasing from 0 on, shape (T,).
        learning_rate: η of gradient descent. 0 is gradient flow; with η > 0 the reduction
            is iterated, as training does from ``decoupled_weights`` (NRR Fig. 4e), and times are
            multiples of η.

    Raises:
        ValueError: modes that do not decouple, bad starts or times.
    """
    times = checks.times(times)
    checks.non_negative("learning_rate", learning_rate)
    checks.instance("network", network, GatedNetwork)
    network = network._reading(task)
    decoupled = _decoupled(network, task, starts)
    if learning_rate == 0:
        strengths, losses = decoupled.evolve(times, output=_observed)
    else:
        numbers = np.rint(np.asarray(times) / learning_rate).astype(int)
        if not np.allclose(np.asarray(times) / learning_rate, numbers, atol=1e-3):
            raise ValueError(
                f"times: expected multiples of learning_rate={learning_rate!r}, got {times!r:.80}"
            )
        start = list(decoupled.weights.values())
        observed = _descend(
            decoupled.network, decoupled.task, start, learning_rate, num_steps=int(numbers[-1]) + 1
        )
        strengths, losses = jax.tree.map(lambda array: array[numbers], observed)
    # Outputs stay in the space of U.
    lost = np.sum(np.asarray(task.targets) ** 2) - np.sum(np.asarray(decoupled.task.targets) ** 2)
    by_edge = {
        edge: strength.T for edge, strength in zip(network.graph.edges, strengths, strict=True)
    }
    return SharedRace(by_edge, losses + lost / (2 * task.num_samples))


def _node_modes(network: GatedNetwork, task: Task) -> dict[Node, Float[np.ndarray, "neurons _"]]:
    """Return V of every input node and U of every output node that the paths share."""
    bases: dict[Node, np.ndarray] = {}
    for path in network.graph.paths:
        found = modes(effective_dataset(network, task, path))
        if len(found.singular_values):
            bases.setdefault(path[0], found.right)
            bases.setdefault(path[-1], found.left)
    if len({basis.shape[1] for basis in bases.values()}) != 1:
        raise ValueError("task: expected as many modes on every path, for the reduction")
    return bases


def _decoupled(network: GatedNetwork, task: Task, starts) -> ReducedNetwork:
    """Return the network of a neuron a mode with its diagonal weights."""
    graph, rows, bases = network.graph, network.graph.node_rows, _node_modes(network, task)
    num_modes: int = next(iter(bases.values())).shape[1]
    sizes = [(node, size if node in rows else num_modes) for node, size in graph.sizes]
    bases = {node: bases.get(node, np.eye(size, num_modes)) for node, size in sizes}
    narrow = network._on_graph(Graph(tuple(sizes), graph.edges, graph.rows))
    _check_decoupled(narrow, task, bases)
    inputs, targets = (
        np.concatenate([bases[node].T @ np.asarray(data)[np.array(rows[node])] for node in nodes])
        for data, nodes in ((task.inputs, graph.input_nodes), (task.targets, graph.output_nodes))
    )
    small = Graph(tuple((node, num_modes) for node, _ in sizes), graph.edges)
    strengths = _starts_of(starts, dict.fromkeys(graph.edges, num_modes))
    weights = {edge: jnp.diag(strengths[edge]) for edge in graph.edges}
    return ReducedNetwork(network._on_graph(small), weights, Task(inputs, targets))


def _check_decoupled(network: GatedNetwork, task: Task, bases: Mapping[Node, np.ndarray]) -> None:
    """Raise ``ValueError`` unless diagonal B_e stay diagonal.

    Their flow is a polynomial in the entries of B_e: what holds for random ones holds for all.
    """
    edges, num_modes = network.graph.edges, next(iter(bases.values())).shape[1]
    random = np.random.default_rng(0).uniform(0.5, 1.5, (len(edges), num_modes))
    weights = {
        (source, target): bases[target] * strength @ bases[source].T
        for (source, target), strength in zip(edges, random, strict=True)
    }
    with jax.enable_x64(True):
        flow = ReducedNetwork(network, weights, task).flow()
    for (source, target), slope in flow.items():
        kept = np.diag(bases[target].T @ np.asarray(slope) @ bases[source])
        whole = np.linalg.norm(slope) ** 2
        if whole - np.sum(kept**2) > TOLERANCE * whole:
            raise ValueError(
                f"task: expected modes that decouple, got others at {(source, target)!r:.80}"
            )


def _observed(system: ReducedNetwork) -> tuple[list[Float[Array, " modes"]], Float[Array, ""]]:
    """Return the strengths of all edges, and the loss."""
    edges = system.network.graph.edges
    return [jnp.diag(system.weights[edge]) for edge in edges], system.loss()


@partial(jax.jit, static_argnames="num_steps")
def _descend(network, task, start, learning_rate, *, num_steps: int):
    """Return what is observed before each step of gradient descent."""
    parameters = network, task, learning_rate

    def step(weights, _):
        slopes = _flow(parameters, weights)
        moved = [w + learning_rate * slope for w, slope in zip(weights, slopes, strict=True)]
        return moved, _observed(_at(parameters, weights))

    return jax.lax.scan(step, start, length=num_steps)[1]
