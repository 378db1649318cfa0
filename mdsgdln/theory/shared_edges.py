"""The race reduction for paths of any depth that share edges: a number per mode and edge (NRR).

Where all paths from an input node have the same right singular vectors and all paths to an output
node the same left ones, W_e = R_t B_e R_sᵀ with diagonal B_e solves the gradient flow: R = V at
inputs, U at outputs, any orthonormal columns in between.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from mdsgdln import _checks as checks
from mdsgdln._checks import Numbers, Scalar
from mdsgdln.graphs import Edge, Node
from mdsgdln.networks import GatedNetwork
from mdsgdln.statistics import _path_gate, effective_dataset, modes
from mdsgdln.tasks import Task
from mdsgdln.theory.integration import integrate
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


class _Race(NamedTuple):
    """The reduced system; paths with all gates shut are left out.

    Attributes:
        edges: edges of each path, as numbers, shape (paths, depth); a shorter path is filled up
            with a last, constant edge of strength one.
        drive: s_pα, shape (paths, modes).
        overlap: (u_pα·u_jα)(v_jαᵀ Σ^x(j, p) v_pα), shape (modes, paths, paths).
        power: half the mean power of the targets.
    """

    edges: Int[Array, "paths depth"]
    drive: Float[Array, "paths modes"]
    overlap: Float[Array, "modes paths paths"]
    power: Float[Array, ""]


def _node_modes(network: GatedNetwork, task: Task) -> dict[Node, Float[np.ndarray, "neurons _"]]:
    """Return V of every input node and U of every output node that the paths share.

    Raises:
        ValueError: paths whose modes do not decouple, so that there is no reduction.
    """
    bases: dict[Node, np.ndarray] = {}
    for path in network.graph.paths:
        found = modes(effective_dataset(network, task, path))
        if len(found.singular_values):
            bases.setdefault(path[0], found.right)
            bases.setdefault(path[-1], found.left)
    if len({basis.shape[1] for basis in bases.values()}) != 1:
        raise ValueError("task: expected as many modes on every path, for the reduction")
    return bases


def decoupled_weights(
    key: Array, network: GatedNetwork, task: Task, starts: Scalar | Mapping[Edge, Numbers]
) -> dict[Edge, Float[Array, "_ _"]]:
    """Return weights W_e = R_t B_e R_sᵀ, from which training is its reduction (NRR Fig. 4e).

    Args:
        key: a JAX random key, for the orthonormal columns R of the hidden nodes.
        network: the gated network; hidden nodes with at least as many neurons as there are modes.
        task: what it is to be trained on.
        starts: the diagonal of every B_e, a number, or {edge: number or (modes,)}.

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
    step: Scalar = 0.0,
) -> SharedRace:
    """Return the race of paths that share edges (NRR).

    dB_e/dt = Σ_{p∈P(e)} B_{p∖e} [S(p) − Σ_j B_j D(j, p)].

    Args:
        network: paths of any depth, gates one per sample.
        task: what it is trained on.
        starts: the diagonal of every B_e at time 0: a number, or {edge: number or (modes,)}.
        times: t = learning rate · step, increasing from 0 on, shape (T,).
        step: learning rate η of gradient descent. 0 is gradient flow; with η > 0 the reduction
            is iterated, as training does from ``decoupled_weights`` (NRR Fig. 4e), and times are
            multiples of η.

    Raises:
        ValueError: modes that do not decouple, bad starts or times.
    """
    times = checks.times(times)
    checks.non_negative("step", step)
    race, start = _prepare(network, task, starts)
    if step == 0:
        return _as_race(network, race, integrate(_flow, race, start, times, tolerance=1e-9))
    steps = np.asarray(times) / step
    numbers = np.rint(steps).astype(int)
    if not np.allclose(steps, numbers, atol=1e-3):
        raise ValueError(f"times: expected multiples of the step {step!r}, got {times!r:.80}")
    strengths = _descend(race, start, step, num_steps=int(numbers[-1]) + 1)
    return _as_race(network, race, strengths[numbers])


def _prepare(network: GatedNetwork, task: Task, starts) -> tuple[_Race, Float[Array, "E modes"]]:
    """Return the reduced system and its start, one row per edge and a last row of ones."""
    checks.instance("network", network, GatedNetwork)
    network = network._reading(task)
    race = _reduce(network, task)
    num_modes = race.drive.shape[1]
    start = _starts_of(starts, dict.fromkeys(network.graph.edges, num_modes))
    return race, jnp.stack([*start.values(), jnp.ones(num_modes)])


def _reduce(network: GatedNetwork, task: Task) -> _Race:
    graph, bases = network.graph, _node_modes(network, task)
    numbers = {edge: number for number, edge in enumerate(graph.edges)}
    edges, drive, answers, responses = [], [], [], []
    for path in graph.paths:
        gate = np.asarray(_path_gate(network, path, task.num_samples))
        if not gate.any():
            continue
        seen = np.asarray(task.inputs)[np.array(graph.node_rows[path[0]])] * gate
        wanted = np.asarray(task.targets)[np.array(graph.node_rows[path[-1]])]
        answer, response = bases[path[-1]], bases[path[0]].T @ seen
        learned = answer.T @ wanted @ seen.T @ bases[path[0]] / task.num_samples  # UᵀΣ^yx(p)V
        _check_diagonal(path, learned, wanted @ seen.T / task.num_samples)
        edges.append([numbers[edge] for edge in graph.path_edges(path)])
        drive.append(np.diag(learned))
        answers.append((path[-1], answer))
        responses.append(response)
    depth = max(map(len, edges))
    overlap = np.zeros((len(drive[0]), len(edges), len(edges)))
    for p, (end, answer) in enumerate(answers):
        for j, (other_end, other) in enumerate(answers):
            if end == other_end:  # outputs of different nodes never meet
                product = responses[j] @ responses[p].T / task.num_samples  # V_jᵀ Σ^x(j, p) V_p
                _check_diagonal((j, p), product, product)
                overlap[:, p, j] = np.sum(answer * other, axis=0) * np.diag(product)
    return _Race(
        jnp.array([path + [len(numbers)] * (depth - len(path)) for path in edges]),
        jnp.array(drive),
        jnp.array(overlap),
        jnp.sum(task.targets**2) / (2 * task.num_samples),
    )


def _check_diagonal(place, found: np.ndarray, whole: np.ndarray) -> None:
    """Raise ``ValueError`` unless the diagonal of ``found`` is all that there is of ``whole``."""
    rest = np.linalg.norm(whole) ** 2 - np.sum(np.diag(found) ** 2)
    if rest > TOLERANCE * np.linalg.norm(whole) ** 2:
        raise ValueError(f"task: expected modes that decouple, got others on {place!r:.80}")


def _flow(race: _Race, strengths: Float[Array, "E modes"]) -> Float[Array, "E modes"]:
    """Return dB/dt of every edge; the last, constant one stays."""
    factors = strengths[race.edges]  # (paths, depth, modes)
    error = race.drive - jnp.einsum("apj,ja->pa", race.overlap, jnp.prod(factors, axis=1))
    edges, depth = np.arange(len(strengths))[:, None], factors.shape[1]
    change: Any = 0.0
    for place in range(depth):
        others = jnp.prod(factors[:, [e for e in range(depth) if e != place]], axis=1)
        passed = (race.edges[None, :, place] == edges) & (edges < len(strengths) - 1)
        change += passed @ (others * error)  # passed, (E, paths): the path's edge at that place
    return change


def _loss(race: _Race, strengths: Float[Array, "E modes"]) -> Float[Array, ""]:
    whole = jnp.prod(strengths[race.edges], axis=1)
    met = jnp.einsum("apj,ja->pa", race.overlap, whole)
    return race.power - jnp.sum(race.drive * whole) + jnp.sum(whole * met) / 2


@jax.jit
def _losses(race: _Race, strengths: Float[Array, "T E modes"]) -> Float[Array, " T"]:
    return jax.vmap(_loss, in_axes=(None, 0))(race, strengths)


@partial(jax.jit, static_argnames="num_steps")
def _descend(
    race: _Race, start: Float[Array, "E modes"], learning_rate: Scalar, *, num_steps: int
) -> Float[Array, "T E modes"]:
    def step(strengths, _):
        return strengths + learning_rate * _flow(race, strengths), strengths

    return jax.lax.scan(step, start, length=num_steps)[1]


def _as_race(
    network: GatedNetwork, race: _Race, strengths: Float[Array, "T E modes"]
) -> SharedRace:
    by_edge = {edge: strengths[:, number].T for number, edge in enumerate(network.graph.edges)}
    return SharedRace(by_edge, _losses(race, strengths))
