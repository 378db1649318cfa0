"""The race reduction of two-layer gated networks: a number per mode and pathway (MHS Eq. 6).

The singular vectors stay those of the effective datasets; ``prediction`` lets them turn.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

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
from mdsgdln.theory.starts import strengths_by_place
from mdsgdln.theory.trajectories import integrate_race


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
