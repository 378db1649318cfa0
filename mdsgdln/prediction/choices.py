"""The small networks that may represent a wide one, each with others to compare it with."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, PyTree
from scipy.special import ndtri

from mdsgdln import _checks as checks
from mdsgdln.losses import Loss, cross_entropy, logistic, squared_error
from mdsgdln.networks import Layered, LinearNetwork, Network
from mdsgdln.prediction.neurons import (
    SIGNS,
    is_flat_at_zero,
    narrow_layers,
    represent_layer,
    shrink_task,
)
from mdsgdln.prediction.reduction import (
    check_two_layer,
    expected_weights,
    reduce_exactly,
    span,
)
from mdsgdln.prediction.scatter import draw_error, gaussian_pathways
from mdsgdln.tasks import Task

StandIn: TypeAlias = tuple[Network, PyTree, Task]
SMALL = 0.01  # mean square of initial outputs over that of targets, which leaves the loss as it is
NEGLIGIBLE = 1e-3  # the same, of outputs that a stand-in does without
KNOWN = squared_error, cross_entropy, logistic  # losses of outputs and targets alone
FEW, MOST = 3, 4096  # dimensions of inputs and bias; neurons that are trained for comparison
QUANTILES = ndtri((np.arange(64) + 0.5) / 64)  # of what arrives at neurons
LAST = 2**32 - 1  # folded into a key; of batches, number e is that of epoch e


class Outputs(Network):
    """The network whose weights are its outputs."""

    def apply(self, weights, inputs):
        """Return the weights."""
        return weights


class Choice(NamedTuple):
    """How a network is represented.

    Attributes:
        make: makes the stand-in, number 0, or another one for comparison, from 1 on.
        seeds: difference of two seeds of the network over that of the two stand-ins, if curves of
            N random neurons scatter as N^{-1/2}; 0 if the stand-in is exact, and there is one only.
        expected: error that one draw in twenty exceeds, where it is known in closed form.
        is_itself: whether the stand-in is the network itself.
        others: how many others there are, at most.
    """

    make: Callable[[int], StandIn]
    seeds: float
    expected: float = 0.0
    is_itself: bool = False
    others: int = 1


def exact_reduction(
    network: Any,
    scale: Any,
    task: Task,
    learned: Task,
    key: Array | None,
    given: bool,
    reduce_outputs: bool,
) -> Choice:
    """Return exact reductions: of given weights; or of their mean, and of a draw."""
    gated: Any = network.as_gated() if isinstance(network, LinearNetwork) else network
    edges = gated.graph.edges

    def by_edge(weights: Any) -> Any:
        return weights if isinstance(weights, Mapping) else dict(zip(edges, weights, strict=True))

    expected = 0.0
    if not given:
        check_two_layer(gated)
        scales = checks.scales(scale, edges, or_zero=False)
        if not checks.is_traced(gated, scales, task):
            expected = draw_error(gaussian_pathways(gated, learned, scales))

    def make(which: int) -> StandIn:
        if given:
            wide, weights = gated, by_edge(scale)
        elif which:
            wide, weights = gated, by_edge(gated.init(_key(key, which), scales))
        else:
            wide, weights = expected_weights(gated, scales, task, learned, reduce_outputs)
        small, fewer, data = reduce_exactly(wide, weights, task, reduce_outputs)
        if gated is network:
            return small, fewer, data
        sizes = tuple(size for _, size in small.graph.sizes)  # of layers, in their order
        return LinearNetwork(sizes), [jnp.asarray(fewer[edge]) for edge in edges], data

    return Choice(make, 0.0 if given else 2**0.5, expected)  # a draw and the mean; two draws


def one_layer(
    network: Layered,
    scales: Any,
    task: Task,
    num_neurons: int,
    key: Any,
    rotates: bool,
    loss: Loss,
) -> Choice:
    """Return a few designed neurons, and half as many: random ones, or pairs if it keeps copies.

    In few dimensions, as on a curve of one input or between two moons, the loss may rest where few
    neurons would leave: the one of a thousand that is nearest to some direction decides. So does
    the largest one if neurons grow the faster the larger they are, as squared ReLUs do. There the
    second stand-in is a draw of the network at its full width.

    Where the loss has no slope without initial outputs, as one of their squares, all stand-ins have
    some, and three are compared with the first, as curves vary more.
    """
    width, reduce_outputs = network.sizes[1], loss is squared_error
    least = len(SIGNS)
    name, value = ("network", width) if width < least else ("num_neurons", num_neurons)
    number = min(num_neurons, width) // least * least
    checks.require(number, name, f"at least {least} neurons", value)
    outside = of_biases = False
    with jax.ensure_compile_time_eval():  # within jit and vmap over other arguments, too
        if rotates and reduce_outputs:
            outside, of_biases = _outputs_outside(network, scales, task)
        reduced = shrink_task(task, reduce_outputs and not of_biases) if rotates else task
        complete = reduced  # with the outputs that the first stand-in lacks
        if outside:
            complete = Task.from_samples(reduced.inputs.T, np.asarray(task.targets, float).T)
        at_rest = loss not in KNOWN and _rests_without_outputs(loss, task)
    dimensions = len(reduced.inputs) if rotates else span(task.inputs).shape[1]
    whole = dimensions + network.biases[0] <= FEW or is_flat_at_zero(network.activation)
    other = min(width, MOST) // 2 * 2 if whole else number // 2
    plans = (reduced, number, True), (complete, other, not (rotates or whole))

    def make(which: int) -> StandIn:
        data, count, designed = plans[min(which, 1)]
        with jax.ensure_compile_time_eval():
            wide = network, scales, data, count, _key(key, which)
            represent = partial(represent_layer, *wide, rotates=rotates, designed=designed)
            small, weights = represent()
            # Independent neurons have outputs anyway, √m times as large as the network's.
            lacks_some = which and (
                outside or not rotates and _initial_outputs(network, small, weights, data) > SMALL
            )
            if at_rest or lacks_some:
                small, weights = represent(with_outputs=True)
        return small, weights, data

    scatter = 1 / other + (0 if rotates else 1 / number)  # of designed neurons hardly any
    return Choice(make, (2 / width / scatter) ** 0.5, others=3 if at_rest else 1)


def _rests_without_outputs(loss: Loss, task: Task) -> bool:
    """Return whether the loss does not change to first order with some output from zeros."""
    none = jnp.zeros_like(task.targets)
    slopes = jax.grad(lambda outputs: loss(Outputs(), outputs, task))(none)
    return not (slopes != 0).any(axis=1).all()


def _outputs_outside(network: Layered, scales: Any, task: Task) -> tuple[bool, bool]:
    """Return whether initial outputs outside the span of the targets matter, and biases there.

    They are Hσ²⟨φ²⟩ and σ_b² in each direction, and matter beside the mean square of the targets.
    """
    (first, first_bias), (second, final) = scales
    bias, final_bias = network.biases
    variance = first**2 * jnp.sum(task.inputs**2, axis=0) + bias * first_bias**2
    activity = network.activation(jnp.outer(jnp.asarray(QUANTILES), jnp.sqrt(variance)))
    directions = len(task.targets) - span(task.targets).shape[1]
    least = NEGLIGIBLE * jnp.sum(task.targets**2) / task.num_samples
    of_neurons = directions * network.sizes[1] * second**2 * jnp.mean(activity**2)
    return bool(of_neurons > least), bool(directions * final_bias * final**2 > least)


def _initial_outputs(network: Layered, small: Layered, weights: list, data: Task) -> float:
    """Return the mean square of a network's initial outputs, Hσ²⟨φ²⟩, over that of the targets."""
    (activity,) = small.activations(weights, data.inputs)
    out = weights[-1][0] if small.biases[-1] else weights[-1]
    squares = network.sizes[1] * jnp.mean(out**2) * jnp.mean(activity**2)
    return float(squares / (jnp.mean(data.targets**2) + jnp.finfo(float).tiny))


def several_layers(network: Layered, scales: Any, task: Task, num_neurons: int, key: Any) -> Choice:
    """Return narrower layers, and others of half their width: three, as their curves vary more."""
    width = min(network.sizes[1:-1])
    number = min(num_neurons, width)
    numbers = number, max(number // 2, 1)

    def make(which: int) -> StandIn:
        most = numbers[1] if which else num_neurons
        with jax.ensure_compile_time_eval():
            return *narrow_layers(network, scales, most, _key(key, which), which > 0), task

    return Choice(make, (2 / width / sum(1 / each for each in numbers)) ** 0.5, others=3)


def _key(key: Array | None, which: int) -> Array:
    """Return the key of a stand-in, which is none of those of batches."""
    with jax.ensure_compile_time_eval():
        own = jax.random.fold_in(jax.random.key(0) if key is None else key, LAST)
        own = jax.random.split(own)[min(which, 1)]
        return jax.random.fold_in(own, which) if which > 1 else own
