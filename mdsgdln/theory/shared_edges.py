"""The race reduction for paths of any depth that share edges: a number per mode and edge (NRR).

Where all paths from an input node have the same right singular vectors and all paths to an output
node the same left ones, W_e = R_t B_e R_sᵀ with diagonal B_e solves the gradient flow: R = V at
inputs, U at outputs, any orthonormal columns in between. In these bases it is a gated network with
a neuron a mode, whose weights stay diagonal.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from mdsgdln import _checks as checks
from mdsgdln._checks import Numbers, Scalar
from mdsgdln.graphs import Edge, Node
from mdsgdln.losses import squared_error
from mdsgdln.networks import GatedNetwork
from mdsgdln.statistics import effective_dataset, modes
from mdsgdln.tasks import Task
from mdsgdln.theory.trajectories import integrate, strengths_by_place
from mdsgdln.training import train

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
    network.check(None, task)
    bases: dict[Node, Any] = _node_modes(network, task)
    num_modes = next(iter(bases.values())).shape[1]
    for node, neurons in network.graph.sizes:
        if node in bases:
            continue
        if neurons < num_modes:
            raise ValueError(f"network: expected {num_modes} neurons at least in {node!r}")
        key, node_key = jax.random.split(key)
        bases[node] = jnp.linalg.qr(jax.random.normal(node_key, (neurons, num_modes)))[0]
    strengths = strengths_by_place(starts, dict.fromkeys(network.graph.edges, num_modes))
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
    network.check(None, task)
    small, weights, reduced = _decoupled(network, task, starts)
    steps = None
    if learning_rate > 0:
        steps = np.rint(np.asarray(times) / learning_rate).astype(int)
        if not np.allclose(np.asarray(times) / learning_rate, steps, atol=1e-3):
            raise ValueError(
                f"times: expected multiples of learning_rate={learning_rate!r}, got {times!r:.80}"
            )
        run = train(small, weights, reduced, learning_rate, int(steps[-1]) + 1, observe=_diagonals)
        strengths = {edge: diagonal[steps].T for edge, diagonal in run.observed.items()}
        losses = run.losses[steps]
    else:
        strengths, losses = _flow(small, weights, reduced, times)
    # Outputs stay in the space of U.
    lost = np.sum(np.asarray(task.targets) ** 2) - np.sum(np.asarray(reduced.targets) ** 2)
    return SharedRace(strengths, losses + lost / (2 * task.num_samples))


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


def _decoupled(
    network: GatedNetwork, task: Task, starts: Scalar | Mapping[Edge, Numbers]
) -> tuple[GatedNetwork, dict[Edge, Array], Task]:
    """Return the network of a neuron a mode with its diagonal weights."""
    graph, rows, bases = network.graph, network.graph.node_rows, _node_modes(network, task)
    num_modes: int = next(iter(bases.values())).shape[1]
    sizes = [(node, size if node in rows else num_modes) for node, size in graph.sizes]
    bases = {node: bases.get(node, np.eye(size, num_modes)) for node, size in sizes}
    gates = network.node_gates, network.edge_gates
    narrow = GatedNetwork(dict(sizes), graph.edges, *gates, dict(graph.rows))
    _check_decoupled(narrow, task, bases)
    inputs, targets = (
        np.concatenate([bases[node].T @ np.asarray(data)[np.array(rows[node])] for node in nodes])
        for data, nodes in ((task.inputs, graph.input_nodes), (task.targets, graph.output_nodes))
    )
    strengths = strengths_by_place(starts, dict.fromkeys(graph.edges, num_modes))
    weights = {edge: jnp.diag(strengths[edge]) for edge in graph.edges}
    small = GatedNetwork({node: num_modes for node, _ in sizes}, graph.edges, *gates)
    return small, weights, Task.from_samples(inputs.T, targets.T)


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
        flow = jax.grad(squared_error, argnums=1)(network, weights, task)
    for (source, target), slope in flow.items():
        kept = np.diag(bases[target].T @ np.asarray(slope) @ bases[source])
        whole = np.linalg.norm(slope) ** 2
        if whole - np.sum(kept**2) > TOLERANCE * whole:
            raise ValueError(
                f"task: expected modes that decouple, got others at {(source, target)!r:.80}"
            )


def _diagonals(weights: Mapping[Edge, Array]) -> dict[Edge, Float[Array, " modes"]]:
    """Return the strengths of all edges."""
    return {edge: jnp.diagonal(weight) for edge, weight in weights.items()}


_loss_and_gradient = jax.jit(jax.value_and_grad(squared_error, argnums=1))


def _flow(
    network: GatedNetwork, weights: Mapping[Edge, Array], task: Task, times: Float[Array, " T"]
) -> tuple[dict[Edge, Float[Array, "modes T"]], Float[Array, " T"]]:
    """Return strengths and losses along gradient flow."""
    edges, num_modes = network.graph.edges, len(next(iter(weights.values())))

    def at(strengths):
        rows = jnp.asarray(strengths).reshape(len(edges), num_modes)
        diagonal = {edge: jnp.diag(row) for edge, row in zip(edges, rows, strict=True)}
        loss, gradient = _loss_and_gradient(network, diagonal, task)
        slopes = [np.diagonal(gradient[edge]) for edge in edges]
        return float(loss), -np.concatenate(slopes).astype(float)

    start = np.concatenate([np.diagonal(weights[edge]) for edge in edges]).astype(float)
    with jax.enable_x64(True):
        path = integrate(lambda strengths: at(strengths)[1], start, times)
        losses = jnp.asarray([at(strengths)[0] for strengths in np.asarray(path)])
    rows = jnp.asarray(path).T.reshape(len(edges), num_modes, -1)
    return dict(zip(edges, rows, strict=True)), losses
