"""How strong a mode starts in a random network: no constant to fit."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from mdsgdln import _checks as checks
from mdsgdln._checks import Numbers, Scalar
from mdsgdln.networks import GatedNetwork, LinearNetwork
from mdsgdln.statistics import Modes, effective_dataset, modes
from mdsgdln.tasks import Task
from mdsgdln.theory.reduction import _as_graph, _check_two_layer, _is_given


def expected_initial_strength(num_hidden: int, scale: Scalar | Sequence[Scalar]) -> Scalar:
    """Return the mean of ``measured_initial_strength``, a₀ = H (σ₁² + σ₂²) / 4 of every mode.

    Args:
        num_hidden: H, neurons of the hidden layer (of the pathway).
        scale: σ of both layers, or (σ₁, σ₂), standard deviations of the initial weights.
    """
    checks.positive_integer("num_hidden", num_hidden)
    scales: list = list(scale) if checks.is_list(scale) else [scale, scale]
    if len(scales) != 2:
        raise ValueError(f"scale: expected σ or (σ₁, σ₂), got {scale!r:.80}")
    first, second = (checks.non_negative("scale", sigma) for sigma in scales)
    return num_hidden * (first**2 + second**2) / 4


def _starts_of(
    starts: Numbers | Mapping, num_modes: Mapping[Hashable, int]
) -> dict[Hashable, Float[Array, " modes"]]:
    """Return the start of every mode, {place: (modes,)}, from a number or one for each place."""
    given = starts if isinstance(starts, Mapping) else dict.fromkeys(num_modes, starts)
    if set(given) != set(num_modes):
        raise ValueError(f"starts: expected one for each of {list(num_modes)}, got {list(given)}")
    found = {}
    for place, number in num_modes.items():
        array = checks.real_array("starts", given[place], f"() or ({number},)")
        if array.shape not in ((), (number,)):
            raise ValueError(
                f"starts: expected a number or ({number},) for {place!r}, got shape {array.shape}"
            )
        checks.finite("starts", array)
        found[place] = jnp.broadcast_to(array, number)
    return found


def measured_initial_strength(
    first: Numbers, second: Numbers, modes: Modes
) -> Float[Array, "modes"]:
    """Return the effective initial strength a₀ = ‖(W₁v_α + W₂ᵀu_α)/2‖² of each mode of one draw.

    Args:
        first: W₁, shape (H, N_in).
        second: W₂, shape (N_out, H).
        modes: of the data.
    """
    checks.instance("modes", modes, Modes)
    first = checks.finite_array("first", first, 2, "(H, N_in)")
    second = checks.finite_array("second", second, 2, "(N_out, H)")
    checks.of_shape("first", first, (len(first), len(modes.right)))
    checks.of_shape("second", second, (len(modes.left), len(first)))
    grown = (first @ modes.right + second.T @ modes.left) / 2  # c_α, (H, modes)
    return jnp.sum(grown**2, axis=0)


def balanced_weights(
    network: GatedNetwork | LinearNetwork, task: Task, scale: Scalar | Mapping | Sequence
) -> Any:
    """Return the effective initialisation: of random ones, what grows.

    W₁ = Σ c_α v_αᵀ and W₂ = Σ u_α c_αᵀ for every pathway, u and v the modes of its effective
    dataset. Given weights have c_α = (W₁v_α + W₂ᵀu_α)/2; from σ alone, c_α are orthogonal with
    ‖c_α‖² = H(σ₁² + σ₂²)/4.

    With fewer neurons than modes, a single pathway of σ gets the modes with the largest s, one
    after the other: after k of them ‖c‖² = (H − k)(σ₁² + σ₂²)/4.

    Args:
        network: every hidden node has one edge in and one edge out; gates one per sample.
        task: what it is trained on.
        scale: σ of the initial weights, one per edge (layer), or the initial weights themselves.

    Returns:
        weights as from ``network.init``.

    Raises:
        ValueError: a network that is not two-layer, bad numbers, σ = 0, or from σ alone fewer
            neurons than modes in one of several pathways, or where the modes with the largest s
            are not those with the largest s²/d.
    """
    by_edge: Any
    gated, by_edge = _as_graph(network, scale)
    gated = gated._reading(task)
    graph = gated.graph
    weights: dict[Any, Any] = {}
    _check_two_layer(gated)
    given = _is_given(by_edge)
    if given:
        gated._check_weights(by_edge)
    else:
        scales = checks.initial_scales(by_edge, graph.edges)
        by_edge = dict(zip(graph.edges, scales, strict=True))
    for path in graph.paths:
        into, out = graph.path_edges(path)
        found, number = modes(effective_dataset(gated, task, path)), graph.neurons[path[1]]
        if given:
            grown = (
                by_edge[into] @ found.right + by_edge[out].T @ found.left
            ) / 2  # c_α, (H, modes)
        else:
            free = _free_directions(found, number, alone=len(graph.paths) == 1)
            strengths = expected_initial_strength(1, (by_edge[into], by_edge[out])) * free
            grown = np.eye(number, (free > 0).sum()) @ jnp.diag(strengths**0.5)[free > 0]
        weights |= {into: grown @ found.right.T, out: found.left @ grown.T}
    if isinstance(network, LinearNetwork):
        return list(weights.values())
    return {edge: weights[edge] for edge in graph.edges}


def _free_directions(found: Modes, num_hidden: int, alone: bool) -> Float[np.ndarray, " modes"]:
    """Return for how many hidden directions a mode's start counts, 0 if it is not learned."""
    speeds = found.singular_values
    if len(speeds) <= num_hidden:
        return np.full(len(speeds), float(num_hidden))
    gains = speeds**2 / found.input_variances
    level = np.round(speeds / speeds[0], 6)
    fastest = np.lexsort((gains, -level))[:num_hidden]  # of equally fast ones, the least gain
    if not alone or gains[fastest].sum() < np.sort(gains)[-num_hidden:].sum() * (1 - 1e-6):
        raise ValueError(
            f"network: expected a neuron per mode, {len(speeds)}, got {num_hidden}: which modes "
            "such a pathway learns depends on the draw; give the initial weights in place of σ"
        )
    free = np.zeros(len(speeds))
    free[fastest] = num_hidden - np.arange(num_hidden)
    return free
