"""The gradient as a sum over paths (MHS Eq. 3; NRR), and the race of two layers (MHS Eq. 6).

Each path has its own effective dataset. The race reduction follows a strength per mode and pathway,
with fixed singular vectors of the effective datasets; ``stand_in`` lets them rotate.
"""

from collections.abc import Iterable, Mapping
from functools import reduce

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from mdsgdln import _checks as checks
from mdsgdln._checks import Numbers
from mdsgdln.graphs import Edge, Path
from mdsgdln.networks import GatedNetwork
from mdsgdln.statistics import Modes, effective_dataset, modes
from mdsgdln.tasks import Task
from mdsgdln.theory.trajectories import Race, integrate_race, strengths_by_place


def pathway_modes(network: GatedNetwork, task: Task) -> dict[Path, Modes]:
    """Return the modes of each path's effective dataset."""
    checks.instance("network", network, GatedNetwork)
    return {path: modes(effective_dataset(network, task, path)) for path in network.graph.paths}


def pathway_strengths(
    weights: Mapping[Edge, Array], path_modes: Mapping[Path, Modes]
) -> dict[Path, Float[Array, " _"]]:
    """Return the strength a_α = u_αᵀ W₂ W₁ v_α of every mode of every path of two edges."""
    checks.instance("weights", weights, Mapping)
    _check_modes(path_modes, path_modes)
    strengths = {}
    for path, found in path_modes.items():
        edges = list(zip(path[:-1], path[1:], strict=True))
        fit = len(edges) == 2 and set(edges) <= set(weights)
        checks.require(fit, "weights", f"a matrix for each of {edges}", list(weights))
        first, second = (
            checks.finite_array(f"weights[{edge!r}]", weights[edge], 2, "(to, from)")
            for edge in edges
        )
        checks.of_shape("weights", first, (len(first), len(found.right)))
        checks.of_shape("weights", second, (len(found.left), len(first)))
        strengths[path] = jnp.sum((first @ found.right) * (second.T @ found.left), axis=0)
    return strengths


def pathway_race(
    network: GatedNetwork,
    task: Task,
    starts: Numbers | Mapping[Path, Numbers],
    times: Numbers,
    path_modes: Mapping[Path, Modes] | None = None,
) -> Race:
    """Return the strength of every mode of every pathway over time (MHS Eq. 6; NRR).

    ȧ_pα = 2 a_pα [s_pα − Σ_{j,β} (u_pαᵀ u_jβ)(v_jβᵀ Σ^x(j, p) v_pα) a_jβ] with
    s_pα = u_pαᵀ Σ^yx(p) v_pα.

    Singular vectors u, v are held fixed. In training they rotate where what one pathway has learned
    is not diagonal in the modes of another, as in contexts; the curve may then be many times too
    large, and ``stand_in`` is exact.

    Args:
        network: paths of two edges that no other path has, gates one per sample, and a neuron per
            mode of each path.
        starts: a₀ of every mode, or {path: number or (modes,)}.
        times: t = learning rate · step, increasing, of at least 0, shape (T,).
        path_modes: the modes of each path; of its effective dataset by default.
    """
    checks.instance("network", network, GatedNetwork)
    times = checks.times(times)
    network.check(None, task)
    paths = network.graph.paths
    fits = all(len(path) == 3 for path in paths) and len(network.graph.edges) == 2 * len(paths)
    advice = "paths of two edges, all their own; for shared edges see shared_race and stand_in"
    checks.require(fits, "network", advice, paths)
    path_modes = pathway_modes(network, task) if path_modes is None else path_modes
    _check_modes(path_modes, paths)
    for source, hidden, target in paths:
        found, neurons = path_modes[source, hidden, target], network.graph.neurons
        for node, basis in ((source, found.right), (target, found.left)):
            fit = len(basis) == neurons[node]
            checks.require(fit, "path_modes", f"patterns of {node!r}, {neurons[node]}", len(basis))
        checks.neuron_per_mode(hidden, len(found.singular_values), neurons[hidden])
    by_path = strengths_by_place(
        starts, {path: len(path_modes[path].singular_values) for path in paths}
    )
    for start in by_path.values():
        if not checks.is_traced(start):
            checks.require((np.asarray(start) > 0).all(), "starts", "numbers above 0", start)
    drive, coupling = _couplings(network, task, {path: path_modes[path] for path in paths})
    strengths = integrate_race(drive, coupling, jnp.concatenate(list(by_path.values())), times)
    # 𝓛 = ½⟨‖y‖²⟩ − sᵀa + ½ aᵀD a
    power = np.sum(np.asarray(task.targets) ** 2) / (2 * task.num_samples)
    gain = jnp.sum(drive[:, None] * strengths, axis=0)
    losses = power - gain + jnp.sum(strengths * (coupling @ strengths), axis=0) / 2
    ends = np.cumsum([len(start) for start in by_path.values()])[:-1]
    return Race(dict(zip(paths, jnp.split(strengths, ends), strict=True)), losses)


def _check_modes(path_modes: Mapping[Path, Modes], paths: Iterable[Path]) -> None:
    checks.instance("path_modes", path_modes, Mapping)
    fit = path_modes and set(path_modes) == set(paths)
    checks.require(fit, "path_modes", "modes for each path", list(path_modes))
    for found in path_modes.values():
        checks.instance("path_modes", found, Modes)


def _couplings(
    network: GatedNetwork, task: Task, path_modes: Mapping[Path, Modes]
) -> tuple[Float[np.ndarray, " M"], Float[np.ndarray, "M M"]]:
    """Return s_pα, (M,), and (u_pαᵀ u_jβ)(v_jβᵀ Σ^x(j, p) v_pα), (M, M), of all M modes.

    Both are means over samples, of the *response* v_pαᵀ g_p x times u_pαᵀ y or another response.
    """
    rows, responses, outputs = network.graph.node_rows, [], []
    for path, found in path_modes.items():
        gate = np.asarray(network.path_gate(path, task.num_samples))
        inputs = np.asarray(task.inputs)[np.array(rows[path[0]])] * gate
        left = np.zeros((len(task.targets), found.left.shape[1]))
        left[np.array(rows[path[2]])] = found.left
        responses.append(found.right.T @ inputs)
        outputs.append(left.T)
    response, output = np.concatenate(responses), np.concatenate(outputs)
    drive = np.sum(response * (output @ np.asarray(task.targets)), axis=1) / task.num_samples
    coupling = (output @ output.T) * (response @ response.T) / task.num_samples
    return drive, coupling


def path_gradient(
    network: GatedNetwork, weights: Mapping[Edge, Array], task: Task
) -> dict[Edge, Float[Array, "_ _"]]:
    """Return the gradient flow dW_e/dt of every edge as a sum over paths (MHS Eq. 3).

    dW_e/dt = Σ_{p∈P(e)} W_{after}ᵀ 𝓔(p) W_{before}ᵀ with
    𝓔(p) = Σ^yx(p) − Σ_{j∈T(t(p))} W_j Σ^x(j, p), which is *minus* the gradient of the loss of
    MHS Eq. 2; W_before and W_after are the products of the weights along p before and after e.
    Gates are one per layer (or edge) and sample.
    """
    checks.instance("network", network, GatedNetwork)
    network.check(weights, task)
    graph = network.graph

    def product(edges: tuple[Edge, ...]) -> Array:
        return reduce(lambda before, edge: weights[edge] @ before, edges[1:], weights[edges[0]])

    maps = {path: product(graph.path_edges(path)) for path in graph.paths}
    gated_inputs = {  # g_p x_{s(p)}, (neurons of s(p), P)
        path: task.inputs[np.array(graph.node_rows[path[0]])]
        * network.path_gate(path, task.num_samples)[None, :]
        for path in graph.paths
    }
    flow = {edge: jnp.zeros_like(weights[edge]) for edge in graph.edges}
    for path, inputs in gated_inputs.items():
        targets = task.targets[np.array(graph.node_rows[path[-1]])]
        error = targets @ inputs.T  # P Σ^yx(p)
        for other in graph.paths:
            if other[-1] == path[-1]:
                error -= maps[other] @ (gated_inputs[other] @ inputs.T)  # P W_j Σ^x(j, p)
        error = error / task.num_samples
        edges = graph.path_edges(path)
        for position, edge in enumerate(edges):
            before, after = edges[:position], edges[position + 1 :]
            term = error @ product(before).T if before else error
            flow[edge] += product(after).T @ term if after else term
    return flow
