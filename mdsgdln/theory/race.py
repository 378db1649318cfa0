"""The gradient as a sum over paths (MHS Eq. 3; NRR), and the race of two layers (MHS Eq. 6).

Each path has its own effective dataset. The race reduction follows a number per mode and pathway,
with singular vectors that stay those of the effective datasets; ``stand_in`` lets them turn.
"""

from collections.abc import Iterable, Mapping
from functools import reduce
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from mdsgdln import _checks as checks
from mdsgdln._checks import Numbers
from mdsgdln.graphs import Edge, Path
from mdsgdln.networks import GatedNetwork
from mdsgdln.statistics import Modes, effective_dataset, modes
from mdsgdln.tasks import Task
from mdsgdln.theory.trajectories import integrate_race, strengths_by_place


class PathwayRace(NamedTuple):
    """Trajectories of all modes of all pathways.

    Attributes:
        strengths: {path: a(t), shape (modes, T)}.
        losses: 𝓛(t), shape (T,).
    """

    strengths: dict[Path, Float[Array, "_ T"]]
    losses: Float[Array, " T"]


def pathway_modes(network: GatedNetwork, task: Task) -> dict[Path, Modes]:
    """Return the modes of every path's effective dataset."""
    checks.instance("network", network, GatedNetwork)
    network.check(None, task)
    return {path: modes(effective_dataset(network, task, path)) for path in network.graph.paths}


def pathway_strengths(
    weights: Mapping[Edge, Array], path_modes: Mapping[Path, Modes]
) -> dict[Path, Float[Array, " _"]]:
    """Return a_α = u_αᵀ W₂ W₁ v_α of every mode of every path: what a simulation has learned."""
    checks.instance("weights", weights, Mapping)
    _check_modes(path_modes, path_modes)
    strengths = {}
    for path, found in path_modes.items():
        edges = list(zip(path[:-1], path[1:], strict=True))
        if len(edges) != 2 or not set(edges) <= set(weights):
            raise ValueError(f"weights: expected a matrix for each of {edges}, got {list(weights)}")
        first, second = (
            checks.finite_array(f"weights[{edge!r}]", weights[edge], 2, "(to, from)")
            for edge in edges
        )
        checks.of_shape("weights", first, (len(first), len(found.right)))
        checks.of_shape("weights", second, (len(found.left), len(first)))
        passed = (first @ found.right) * (second.T @ found.left)
        strengths[path] = jnp.sum(passed, axis=0)
    return strengths


def pathway_race(
    network: GatedNetwork,
    task: Task,
    starts: Numbers | Mapping[Path, Numbers],
    times: Numbers,
    path_modes: Mapping[Path, Modes] | None = None,
) -> PathwayRace:
    """Integrate the race reduction of a two-layer gated network (MHS Eq. 6; NRR).

    ȧ_pα = 2 a_pα [s_pα − Σ_{j,β} (u_pαᵀ u_jβ)(v_jβᵀ Σ^x(j, p) v_pα) a_jβ] with
    s_pα = u_pαᵀ Σ^yx(p) v_pα.

    Args:
        network: paths of two edges, gates one per sample.
        task: what it is trained on.
        starts: a₀ of every mode, or {path: number or (modes,)}.
        times: t = learning rate · step, increasing from 0 on, shape (T,).
        path_modes: the modes of each path; those of its effective dataset if not given.

    Raises:
        ValueError: paths of another length, starts that are not positive, bad times.
    """
    checks.instance("network", network, GatedNetwork)
    times = checks.times(times)
    network.check(None, task)
    paths = network.graph.paths
    if any(len(path) != 3 for path in paths):
        raise ValueError(f"network: expected paths of two edges, got {paths!r:.120}")
    path_modes = pathway_modes(network, task) if path_modes is None else path_modes
    _check_modes(path_modes, paths)
    by_path = strengths_by_place(
        starts, {path: len(path_modes[path].singular_values) for path in paths}
    )
    for start in by_path.values():
        if not isinstance(start, jax.core.Tracer) and not (start > 0).all():
            raise ValueError(f"starts: expected numbers above 0, got {start.min()}")
    drive, coupling = _couplings(network, task, {path: path_modes[path] for path in paths})
    strengths = integrate_race(drive, coupling, jnp.concatenate(list(by_path.values())), times)
    # 𝓛 = ½⟨‖y‖²⟩ − sᵀa + ½ aᵀD a
    power = np.sum(np.asarray(task.targets) ** 2) / (2 * task.num_samples)
    gain = jnp.sum(drive[:, None] * strengths, axis=0)
    losses = power - gain + jnp.sum(strengths * (coupling @ strengths), axis=0) / 2
    ends = np.cumsum([len(start) for start in by_path.values()])[:-1]
    return PathwayRace(dict(zip(paths, jnp.split(strengths, ends), strict=True)), losses)


def _check_modes(path_modes: Mapping[Path, Modes], paths: Iterable[Path]) -> None:
    """Raise ``ValueError`` unless there are modes for each of the paths."""
    checks.instance("path_modes", path_modes, Mapping)
    if set(path_modes) != set(paths) or not path_modes:
        raise ValueError(f"path_modes: expected one for each path, got {list(path_modes)!r:.120}")
    for found in path_modes.values():
        checks.instance("path_modes", found, Modes)


def _couplings(
    network: GatedNetwork, task: Task, path_modes: Mapping[Path, Modes]
) -> tuple[Float[np.ndarray, " M"], Float[np.ndarray, "M M"]]:
    """Return s_pα, (M,), and (u_pαᵀ u_jβ)(v_jβᵀ Σ^x(j, p) v_pα), (M, M), of all M modes.

    Both are means over samples, of the *response* v_pαᵀ g_p x times u_pαᵀ y or another response.
    """
    rows, responses, answers = network.graph.node_rows, [], []
    for path, found in path_modes.items():
        gate = np.asarray(network.path_gate(path, task.num_samples))
        inputs = np.asarray(task.inputs)[np.array(rows[path[0]])] * gate[None, :]
        left = np.zeros((len(task.targets), found.left.shape[1]))
        left[np.array(rows[path[2]])] = found.left
        responses.append(found.right.T @ inputs)
        answers.append(left.T)
    response, answer = np.concatenate(responses), np.concatenate(answers)
    drive = np.sum(response * (answer @ np.asarray(task.targets)), axis=1) / task.num_samples
    coupling = (answer @ answer.T) * (response @ response.T) / task.num_samples
    return drive, coupling


def path_gradient(
    network: GatedNetwork, weights: Mapping[Edge, Array], task: Task
) -> dict[Edge, Float[Array, "_ _"]]:
    """Return the gradient flow dW_e/dt of every edge by the path sum (MHS Eq. 3).

    dW_e/dt = Σ_{p∈P(e)} W_{after}ᵀ 𝓔(p) W_{before}ᵀ with
    𝓔(p) = Σ^yx(p) − Σ_{j∈T(t(p))} W_j Σ^x(j, p), which is *minus* the gradient of the loss of
    MHS Eq. 2; W_before and W_after are the products of the weights along p before and after e.

    Args:
        network: a gated network with one gate per layer (or edge) and sample.
        weights: {edge: matrix}.
        task: inputs and targets.

    Raises:
        ValueError: weights or task that do not fit, or gates that differ between neurons.
    """
    checks.instance("network", network, GatedNetwork)
    network.check(weights, task)
    graph = network.graph
    gated_inputs = {  # g_p x_{s(p)}, (neurons of s(p), P)
        path: task.inputs[np.array(graph.node_rows[path[0]])]
        * network.path_gate(path, task.num_samples)[None, :]
        for path in graph.paths
    }
    flow = {edge: jnp.zeros_like(weights[edge]) for edge in graph.edges}
    for path in graph.paths:
        error = _path_error(network, weights, task, gated_inputs, path)
        edges = graph.path_edges(path)
        for position, edge in enumerate(edges):
            before = _path_product(weights, edges[:position])
            after = _path_product(weights, edges[position + 1 :])
            term = error if before is None else error @ before.T
            flow[edge] += term if after is None else after.T @ term
    return flow


def _path_product(weights: Mapping[Edge, Array], edges: tuple[Edge, ...]) -> Array | None:
    """Return W_p, the product of the weights along ``edges``; None for the empty product."""
    return (
        reduce(lambda product, edge: weights[edge] @ product, edges[1:], weights[edges[0]])
        if edges
        else None
    )


def _path_error(
    network: GatedNetwork,
    weights: Mapping[Edge, Array],
    task: Task,
    gated_inputs: Mapping[Path, Float[Array, "_ P"]],
    path: Path,
) -> Float[Array, "target source"]:
    """Return 𝓔(p) = Σ^yx(p) − Σ_j W_j Σ^x(j, p), j over the paths that end where p ends."""
    graph = network.graph
    targets = task.targets[np.array(graph.node_rows[path[-1]])]
    error = targets @ gated_inputs[path].T  # P Σ^yx(p)
    for other in graph.paths:
        if other[-1] == path[-1]:
            mapping: Any = _path_product(weights, graph.path_edges(other))  # no path is empty
            error -= mapping @ (gated_inputs[other] @ gated_inputs[path].T)  # P W_j Σ^x(j, p)
    return error / task.num_samples
