"""The race reduction for paths of any depth that share edges: a strength per mode and edge (NRR).

If all paths from an input node have the same right singular vectors and all paths to an output node
the same left ones, W_e = R_t B_e R_sᵀ with diagonal B_e solves the gradient flow: R = V at inputs,
U at outputs, any orthonormal columns in between. In these bases the network is a gated network with
a neuron per mode, and its weights stay diagonal.
"""

from collections.abc import Mapping
from typing import Any

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
from mdsgdln.theory.trajectories import Race, integrate, strengths_by_place
from mdsgdln.training import train

TOLERANCE = 1e-6  # relative squared size of a gradient outside the decoupled modes


def decoupled_weights(
    network: GatedNetwork, task: Task, starts: Scalar | Mapping[Edge, Numbers], *, key: Array
) -> dict[Edge, Float[Array, "_ _"]]:
    """Return initial weights whose modes learn independently, W_e = R_t B_e R_sᵀ (NRR Fig. 4e).

    Args:
        network: hidden nodes with at least as many neurons as modes.
        starts: the diagonal of every B_e, a number, or {edge: number or (modes,)}.
        key: a JAX random key, for the orthonormal columns R of the hidden nodes.

    Raises:
        ValueError: modes that do not decouple, or too few neurons.
    """
    checks.random_key("key", key)
    bases, num_modes = _shared_modes(network, task)
    for node, neurons in network.graph.sizes:
        if node in network.graph.node_rows:
            continue
        key, node_key = jax.random.split(key)
        bases[node] = jnp.linalg.qr(jax.random.normal(node_key, (neurons, num_modes)))[0]
    return _in_bases(
        strengths_by_place(starts, dict.fromkeys(network.graph.edges, num_modes)), bases
    )


def shared_race(
    network: GatedNetwork,
    task: Task,
    starts: Scalar | Mapping[Edge, Numbers],
    times: Numbers,
    learning_rate: Scalar | None = None,
) -> Race:
    """Return the strength of every mode on every edge over time, for paths that share edges (NRR).

    dB_e/dt = Σ_{p∈P(e)} B_{p∖e} [S(p) − Σ_j B_j D(j, p)].

    Args:
        network: paths of any depth, gates one per sample, and at least as many neurons as modes.
        starts: the diagonal of every B_e at time 0: a number, or {edge: number or (modes,)}.
        times: t = learning rate · step, increasing, of at least 0, shape (T,).
        learning_rate: η of gradient descent. None is gradient flow; with η the reduction is
            iterated, as in training from ``decoupled_weights`` (NRR Fig. 4e), and times are
            multiples of η.

    Raises:
        ValueError: modes that do not decouple, or too few neurons.
    """
    times = checks.times(times)
    if learning_rate is not None:
        checks.positive("learning_rate", learning_rate)
    small, weights, reduced = _decoupled(network, task, starts)
    if learning_rate is not None:
        steps = np.rint(np.asarray(times) / learning_rate).astype(int)
        multiples = np.allclose(np.asarray(times) / learning_rate, steps, rtol=1e-6, atol=1e-3)
        expected = f"multiples of learning_rate={learning_rate!r}"
        checks.require(multiples, "times", expected, times)
        run = train(small, weights, reduced, learning_rate, int(steps[-1]) + 1, observe=_diagonals)
        strengths = {edge: diagonal[steps].T for edge, diagonal in run.observed.items()}
        losses = run.losses[steps]
    else:
        checks.concrete("starts", starts)
        strengths, losses = _flow(small, weights, reduced, times)
    # Outputs stay in the span of U.
    missed = np.sum(np.asarray(task.targets) ** 2) - np.sum(np.asarray(reduced.targets) ** 2)
    return Race(strengths, losses + missed / (2 * task.num_samples))


def _shared_modes(network: GatedNetwork, task: Task) -> tuple[dict[Node, Any], int]:
    """Return V of input nodes, U of output nodes and **1** of hidden ones; the number of modes."""
    checks.instance("network", network, GatedNetwork)
    graph = network.graph
    known: dict[Node, Any] = {}
    for path in graph.paths:
        found = modes(effective_dataset(network, task, path))
        if len(found.singular_values):
            known.setdefault(path[0], found.right)
            known.setdefault(path[-1], found.left)
    numbers = {basis.shape[1] for basis in known.values()}
    equal = len(numbers) == 1
    checks.require(equal, "task", "the same number of modes on all paths", sorted(numbers))
    num_modes = numbers.pop()
    for node, neurons in graph.sizes:
        if node not in graph.node_rows:
            checks.neuron_per_mode(node, num_modes, neurons)
    sizes = {node: size if node in graph.node_rows else num_modes for node, size in graph.sizes}
    bases = {node: known.get(node, np.eye(size, num_modes)) for node, size in sizes.items()}
    gates = network.node_gates, network.edge_gates
    narrow = GatedNetwork(sizes, graph.edges, *gates, dict(graph.rows))
    _check_decoupled(narrow, task, bases, num_modes)
    return bases, num_modes


def _check_decoupled(
    network: GatedNetwork, task: Task, bases: Mapping[Node, np.ndarray], num_modes: int
) -> None:
    """Raise ``ValueError`` unless diagonal B_e stay diagonal.

    Their flow is a polynomial in the entries of B_e: a property of random ones holds for all.
    """
    edges = network.graph.edges
    random = np.random.default_rng(0).uniform(0.5, 1.5, (len(edges), num_modes))
    weights = _in_bases(dict(zip(edges, random, strict=True)), bases)
    with jax.enable_x64(True), jax.ensure_compile_time_eval():
        flow = jax.grad(squared_error, argnums=1)(network, weights, task)
    for (source, target), slope in flow.items():
        diagonal = np.diag(bases[target].T @ np.asarray(slope) @ bases[source])
        whole = np.linalg.norm(slope) ** 2
        decouple = whole - np.sum(diagonal**2) <= TOLERANCE * whole
        expected = f"modes that decouple at {(source, target)!r}"
        checks.require(decouple, "task", expected, task)


def _in_bases(strengths: Mapping[Any, Any], bases: Mapping[Node, Any]) -> dict[Edge, Any]:
    """Return W_e = R_t B_e R_sᵀ of every edge, with diagonal B_e."""
    return {
        (source, target): bases[target] * strength[None, :] @ bases[source].T
        for (source, target), strength in strengths.items()
    }


def _decoupled(
    network: GatedNetwork, task: Task, starts: Scalar | Mapping[Edge, Numbers]
) -> tuple[GatedNetwork, dict[Edge, Array], Task]:
    """Return the network of a neuron per mode, its diagonal weights and its task."""
    bases, num_modes = _shared_modes(network, task)
    graph, rows = network.graph, network.graph.node_rows
    inputs, targets = (
        np.concatenate([bases[node].T @ np.asarray(data)[np.array(rows[node])] for node in nodes])
        for data, nodes in ((task.inputs, graph.input_nodes), (task.targets, graph.output_nodes))
    )
    strengths = strengths_by_place(starts, dict.fromkeys(graph.edges, num_modes))
    weights = {edge: jnp.diag(strengths[edge]) for edge in graph.edges}
    sizes, gates = dict.fromkeys(graph.neurons, num_modes), (network.node_gates, network.edge_gates)
    return GatedNetwork(sizes, graph.edges, *gates), weights, Task.from_samples(inputs.T, targets.T)


def _diagonals(weights: Mapping[Edge, Array]) -> dict[Edge, Float[Array, " modes"]]:
    return {edge: jnp.diagonal(weight) for edge, weight in weights.items()}


def _loss_of(row: Array, network: GatedNetwork, task: Task) -> Float[Array, ""]:
    """Return the loss of diagonal weights, which stand in a row, edge by edge."""
    edges = network.graph.edges
    parts = jnp.split(row, len(edges))
    return squared_error(network, dict(zip(edges, map(jnp.diag, parts), strict=True)), task)


_loss_and_slope = jax.jit(jax.value_and_grad(_loss_of))


def _flow(
    network: GatedNetwork, weights: Mapping[Edge, Array], task: Task, times: Float[Array, " T"]
) -> tuple[dict[Edge, Float[Array, "modes T"]], Float[Array, " T"]]:
    edges = network.graph.edges
    start = np.concatenate([np.diagonal(weights[edge]) for edge in edges]).astype(float)
    with jax.enable_x64(True):
        path = integrate(
            lambda row: -np.asarray(_loss_and_slope(row, network, task)[1]), start, times
        )
        rows = np.asarray(path)
        losses = [float(_loss_and_slope(row, network, task)[0]) for row in rows]
    parts = [jnp.asarray(part, float) for part in np.split(rows.T, len(edges))]
    return dict(zip(edges, parts, strict=True)), jnp.asarray(losses)
