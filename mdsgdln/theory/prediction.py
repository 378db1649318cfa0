"""The loss of a two-layer gated network from its data and initial scale alone: nothing is fitted.

Each pathway's hidden neurons are replaced by one neuron per mode of its effective dataset, started
at the strength that random weights give the mode, and the gradient flow of that small system is
integrated. Its singular vectors are free to turn, so what one pathway learns while another still
dominates is part of the prediction.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PyTree

from mdsgdln import checks
from mdsgdln.checks import Numbers, Scalar
from mdsgdln.networks import GatedNetwork, LinearNetwork, pathways
from mdsgdln.statistics import Modes, effective_dataset, modes, path_gate
from mdsgdln.tasks import Task
from mdsgdln.theory.integration import integrate
from mdsgdln.theory.starts import expected_start

TOLERANCE = 1e-6  # of the integration, relative


class Reduced(NamedTuple):
    """A small gated system: one hidden neuron per mode of each pathway.

    Attributes:
        first: W₁, shape (modes, N_in).
        second: W₂, shape (N_out, modes).
        gates: g, the path gate of each neuron, shape (modes, P).
        first_mask: 1 where a neuron's pathway sees the input, shape (modes, N_in).
        second_mask: 1 where it ends, shape (N_out, modes).
        inputs: X, shape (N_in, P).
        targets: Y, shape (N_out, P).
    """

    first: Float[Array, "modes N_in"]
    second: Float[Array, "N_out modes"]
    gates: Float[Array, "modes P"]
    first_mask: Float[Array, "modes N_in"]
    second_mask: Float[Array, "N_out modes"]
    inputs: Float[Array, "N_in P"]
    targets: Float[Array, "N_out P"]


def predict_losses(
    network: GatedNetwork | LinearNetwork,
    task: Task,
    scale: Scalar | Mapping | Sequence,
    times: Numbers,
    step: Scalar = 0.0,
) -> Float[Array, " T"]:
    """Predict the loss of a two-layer gated (or linear) network trained by gradient descent.

    Args:
        network: every hidden node has one edge in and one edge out; gates are one per sample.
        task: what it is trained on.
        scale: σ of the initial weights, one per edge (layer), or the initial weights themselves:
            then each mode starts from the hidden direction c = (W₁v + W₂ᵀu)/2 that they give it.
        times: t = learning rate · number of steps, increasing from 0 on, shape (T,).
        step: learning rate η of the descent that is predicted. 0 is gradient flow; with η > 0 the
            flow is corrected to first order, ẇ = f − (η/2) f′f for f = −∇L, which is what a descent
            with steps of that size follows up to η².

    Returns:
        the loss at those times, shape (T,).

    Raises:
        ValueError: a network that is not two-layer, a gate per neuron, or bad numbers.
    """
    checks.instance("network", network, GatedNetwork | LinearNetwork)
    times = checks.times(times)
    checks.non_negative("step", step)
    if isinstance(network, LinearNetwork):
        network, scale = _as_gated(network, task, scale)
    system = reduce(network, task, scale)
    if system is None:
        return jnp.full(len(times), jnp.sum(task.targets**2) / (2 * task.num_samples))
    exact = not isinstance(step, jax.core.Tracer) and bool(step == 0)
    return evolve(system, times, step, exact=exact)


def _as_gated(network: LinearNetwork, task: Task, scale):
    """Return a linear network as one pathway that is always on, and its scale by edge."""
    if len(network.sizes) != 3:
        raise ValueError(f"network: expected two layers of weights, got sizes {network.sizes}")
    gated = pathways(task, np.ones((1, task.num_samples)), network.sizes[1])
    if isinstance(scale, Sequence):
        scale = dict(zip(gated.graph.edges, scale, strict=True))
    return gated, scale


def reduce(network: GatedNetwork, task: Task, scale: Any) -> Reduced | None:
    """Return the small system that stands for a network; None where no pathway has a mode.

    Arguments as in ``predict_losses``.
    """
    network = network.reading(task)
    graph = network.graph
    middle = [n for n, _ in graph.sizes if n not in graph.input_nodes + graph.output_nodes]
    if any(len(path) != 3 for path in graph.paths) or len(graph.paths) != len(middle):
        raise ValueError(
            "network: expected hidden nodes with one edge in and one edge out and no other edge, "
            f"got {list(graph.edges)!r:.120}"
        )
    given = isinstance(scale, Mapping) and any(np.ndim(value) == 2 for value in scale.values())
    if given:
        network.check_weights(scale)
    else:
        scale = dict(zip(graph.edges, checks.scales(scale, graph.edges), strict=True))
    rows, parts = graph.node_rows, []
    for path in graph.paths:
        found = modes(effective_dataset(network, task, path))
        edges = graph.path_edges(path)
        if given:
            start = _measured(found, *(jnp.asarray(scale[edge]) for edge in edges))
        else:
            strength = expected_start(graph.neurons[path[1]], [scale[edge] for edge in edges])
            start = strength**0.5 * np.eye(len(found.singular_values))
        with jax.ensure_compile_time_eval():  # known gates stay known inside a compiled function
            gate = path_gate(network, path, task.num_samples)
        parts.append(_neurons(found, start, gate, rows[path[0]], rows[path[-1]], task))
    if not sum(len(part[0]) for part in parts):
        return None
    first, second, gates, first_mask, second_mask = (
        _concatenated(pieces, axis)
        for pieces, axis in zip(zip(*parts, strict=True), (0, 1, 0, 0, 1), strict=True)
    )
    system = Reduced(first, second, gates, first_mask, second_mask, task.inputs, task.targets)
    if len(graph.output_nodes) == 1:
        system = _in_target_space(system)
    return jax.tree.map(jnp.asarray, system)


def _concatenated(pieces: Sequence[Numbers], axis: int) -> Any:
    """Return arrays joined: those of NumPy by NumPy, which compiles nothing."""
    traced = any(isinstance(piece, jax.Array) for piece in pieces)
    return (jnp if traced else np).concatenate(pieces, axis=axis)


@jax.jit
def _measured(
    found: Modes, first: Float[Array, "H N_in"], second: Float[Array, "N_out H"]
) -> Float[Array, "modes modes"]:
    """Return the c_α of a draw in an orthonormal basis of the hidden space that they span.

    A pathway is linear, so turning its hidden space changes nothing: as many neurons as modes do.
    """
    directions = (first @ found.right + second.T @ found.left) / 2  # columns c_α, (H, modes)
    num_modes = directions.shape[1]
    _, turned = jnp.linalg.qr(directions)
    return jnp.zeros((num_modes, num_modes)).at[: len(turned)].set(turned)


def _neurons(found: Modes, start, gate, input_rows, output_rows, task: Task) -> tuple:
    """Return one pathway's W₁ = Σ c vᵀ, W₂ = Σ u cᵀ, gates and masks in the full spaces."""
    num_modes = len(found.singular_values)
    right, first_mask = np.zeros((2, len(task.inputs), num_modes))
    left, second_mask = np.zeros((2, len(task.targets), num_modes))
    right[np.array(input_rows)], first_mask[np.array(input_rows)] = found.right, 1
    left[np.array(output_rows)], second_mask[np.array(output_rows)] = found.left, 1
    gates = np.tile(np.asarray(gate), (num_modes, 1))
    return start @ right.T, left @ start.T, gates, first_mask.T, second_mask


def _in_target_space(system: Any) -> Reduced:
    """Return the system in coordinates of the targets' span, which its outputs never leave.

    Its arrays may be of NumPy or of JAX.
    """
    targets = np.asarray(system.targets)
    basis, values, _ = np.linalg.svd(targets, full_matrices=False)
    basis = basis[:, values > 1e-12 * values[0]]
    second = basis.T @ system.second
    return system._replace(
        second=second, second_mask=np.ones(second.shape), targets=basis.T @ targets
    )


def flow(system: Reduced) -> tuple[Array, Array]:
    """Return (Ẇ₁, Ẇ₂) of the system, MHS Eq. 3 with all pathways at once."""
    hidden = system.gates * (system.first @ system.inputs)
    error = (system.targets - system.second @ hidden) / system.inputs.shape[1]
    first = system.gates * (system.second.T @ error) @ system.inputs.T
    return first * system.first_mask, (error @ hidden.T) * system.second_mask


def loss(system: Reduced) -> Float[Array, ""]:
    """Return the loss of the system (MHS Eq. 2)."""
    hidden = system.gates * (system.first @ system.inputs)
    error = system.targets - system.second @ hidden
    return jnp.sum(error**2) / (2 * system.inputs.shape[1])


@partial(jax.jit, static_argnames=("exact", "output"))
def evolve(
    system: Reduced,
    times: Float[Array, " T"],
    step: Scalar,
    *,
    exact: bool = False,
    output: Callable[[Reduced], PyTree] = loss,
) -> PyTree:
    """Return ``output`` along the flow, the exact one or that of steps of the given size."""

    def at(weights: PyTree) -> Reduced:
        return system._replace(first=weights[0], second=weights[1])

    def descent(weights):
        if exact:
            return flow(at(weights))
        velocity, change = jax.jvp(lambda w: flow(at(w)), (weights,), (flow(at(weights)),))
        return jax.tree.map(lambda v, c: v - step / 2 * c, velocity, change)

    start = (system.first, system.second)
    size = jnp.sqrt(jnp.mean(system.first**2) + jnp.mean(system.second**2))
    return integrate(descent, start, times, TOLERANCE, TOLERANCE * size, lambda w: output(at(w)))
