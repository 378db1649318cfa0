"""Prediction by a stand-in: a small network that represents a wide one, trained by the same rule.

Gated and linear networks are reduced (``reduction``), exactly from given weights, and from σ alone
by the expected products of their weights. A hidden layer of any activation is represented by a few
designed neurons (``neurons``). Both need a learning rule with certain properties (``rules``).
"""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import numpy as np
import optax
from jaxtyping import Array, PyTree

from mdsgdln import _checks as checks
from mdsgdln._checks import Scalar
from mdsgdln.losses import Loss, check_targets, cross_entropy, logistic, squared_error
from mdsgdln.networks import GatedNetwork, Layered, LinearNetwork, Network
from mdsgdln.tasks import Task
from mdsgdln.theory.conditions import conditions_of_prediction
from mdsgdln.theory.neurons import is_homogeneous, represent_layer, represent_two_layers
from mdsgdln.theory.reduction import check_two_layer, expected_weights, reduce_exactly
from mdsgdln.theory.rules import can_be_reduced, preserves_copies
from mdsgdln.training import Optimiser, Run, train

RATE = 0.1  # at which the properties of a rule are tested: they do not depend on it


def predict(
    network: GatedNetwork | Layered,
    scale: Scalar | Sequence | Mapping,
    task: Task,
    learning_rate: Scalar | None,
    num_steps: int,
    *,
    optimiser: Optimiser | None = None,
    loss: Loss = squared_error,
    batch_size: int | None = None,
    key: Array | None = None,
    num_neurons: int = 256,
) -> Run:
    """Predict a training run from the data and the size σ of the initial weights.

    It trains the small network that ``stand_in`` returns. Arguments that are not listed are those
    of ``train``. With the initial weights in place of σ the prediction for a gated or linear
    network is exact.

    Args:
        network: a gated or linear network, or one with a hidden layer of any activation.
        scale: σ of the initial weights, or one per layer (edge), or the weights themselves.
        key: JAX random key of the stand-in's neurons, and of batches, the same as in ``train``.
        num_neurons: the largest number of neurons that represent a layer.

    Returns:
        the run of the stand-in: ``losses`` is the predicted curve; ``weights`` are the stand-in's.
    """
    small = stand_in(
        network,
        scale,
        task,
        num_neurons=num_neurons,
        key=key,
        optimiser=_instance(optimiser, learning_rate),
        loss=loss,
    )
    return train(
        *small,
        learning_rate,
        num_steps,
        optimiser=optimiser,
        loss=loss,
        batch_size=batch_size,
        key=key,
    )


def stand_in(
    network: GatedNetwork | Layered,
    scale: Scalar | Sequence | Mapping,
    task: Task,
    *,
    num_neurons: int = 256,
    key: Array | None = None,
    optimiser: optax.GradientTransformation | None = None,
    loss: Loss = squared_error,
) -> tuple[Network, PyTree, Task]:
    """Return a small network, weights and task that learn as the wide network does.

    *Gated and linear networks*, from weights: the exact reduction. From σ, with two layers: weights
    with the expected products, in at most as many neurons as inputs and outputs.
    *One hidden layer of any activation*, from σ: neurons (±w, ±v), each of which represents H/N.
    *Two hidden layers of ReLUs*, from σ: narrower ones. From weights it is the network itself.

    Args:
        network: the wide network.
        scale: σ of the initial weights, or one per layer (edge), or the weights themselves.
        num_neurons: N, the largest number of neurons that represent a layer; at least four.
        key: JAX random key of these neurons.
        optimiser: an optimiser instance, gradient descent by default.
        loss: as for ``train``, of outputs and targets alone. Only for ``squared_error`` are targets
            written in a basis of their span.

    Raises:
        ValueError: a rule that allows no stand-in (for gated networks one that treats each weight
            separately, as Adam does; for layers one that mixes neurons), a network of another kind,
            a pathway with fewer neurons than modes, weights beyond the tested range, no key, or a
            loss that reads more than outputs and targets.
    """
    checks.instance("network", network, GatedNetwork | Layered)
    checks.function("loss", loss)
    check_targets(loss, task)
    checks.positive_integer("num_neurons", num_neurons)
    if key is not None:
        checks.random_key("key", key)
    rule = optax.sgd(RATE) if optimiser is None else optimiser
    checks.instance("optimiser", rule, optax.GradientTransformation)
    reducible, reduce_outputs = can_be_reduced(rule), loss is squared_error
    given = _holds_weights(scale)
    weights: Any = scale
    if given:
        network.check(weights, task)
    linear = isinstance(network, LinearNetwork) and (reducible or given)
    if linear or isinstance(network, GatedNetwork):
        _check_loss(loss, network, task)
        expected = (
            "a rule that commutes with rotations, unlike Adam, such as gradient descent with "
            "momentum or decay; for others train the network itself"
        )
        checks.require(reducible, "optimiser", expected, optimiser)
        gated: Any = network.as_gated() if isinstance(network, LinearNetwork) else network
        return _reduced(gated, scale, task, given, reduce_outputs)
    if given:
        return network, weights, task
    _check_loss(loss, network, task)
    num_hidden = len(network.sizes) - 2
    checks.require(num_hidden in (1, 2), "network", "one or two hidden layers", num_hidden)
    checks.of_shape("inputs", task.inputs, (network.sizes[0], task.num_samples))
    checks.of_shape("targets", task.targets, (network.sizes[-1], task.num_samples))
    scales = checks.scales(scale, tuple(range(num_hidden + 1)), or_zero=False)
    checks.random_key("key", key)
    possible = num_hidden == 1 or (reducible and is_homogeneous(network.activation))
    expected = "one hidden layer, or ReLU or leaky ReLU and a rule unlike Adam (see optimiser)"
    checks.require(possible, "network", expected, network)
    possible = reducible or preserves_copies(rule)
    expected = "a rule that is the same for every neuron, or commutes with rotations"
    checks.require(possible, "optimiser", expected, optimiser)
    for name, value in (("scale", scales), ("task", task), ("key", key)):
        checks.concrete(name, value)
    with jax.ensure_compile_time_eval():  # within jit and vmap over other arguments, too
        key = jax.random.fold_in(key, 1)  # type: ignore[arg-type]  # batches use the key itself
        if num_hidden == 2:
            return represent_two_layers(network, scales, task, num_neurons, key)
        how = {"can_rotate": reducible, "reduce_outputs": reduce_outputs}
        return represent_layer(network, scales, task, num_neurons, key, **how)


class _Outputs(Network):
    """The network whose weights are its outputs."""

    def apply(self, weights, inputs):
        return weights


def _check_loss(loss: Loss, network: Any, task: Task) -> None:
    """Refuse losses that read weights, as a penalty does, or inputs: a stand-in has others."""
    if loss in (squared_error, cross_entropy, logistic) or checks.is_traced(network, task):
        return
    weights = network.init(jax.random.key(0), 0.1)
    network.check(weights, task)
    outputs = network.apply(weights, task.inputs)
    other = Task(task.inputs + 1, task.targets, task.labels)
    try:
        alone = loss(_Outputs(), outputs, other)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        alone = np.nan
    expected = "a function of outputs and targets alone; decay is a part of the optimiser"
    same = np.allclose(alone, loss(network, weights, task), rtol=1e-5)
    checks.require(same, "loss", expected, loss)


def _reduced(
    network: GatedNetwork, scale: Any, task: Task, given: bool, reduce_outputs: bool
) -> tuple[GatedNetwork, dict, Task]:
    edges = network.graph.edges
    if given:
        weights = scale if isinstance(scale, Mapping) else dict(zip(edges, scale, strict=True))
        return reduce_exactly(network, weights, task, reduce_outputs)
    check_two_layer(network)
    network.check(None, task)
    scales = checks.scales(scale, edges, or_zero=False)
    narrow, weights = expected_weights(network, scales, task, reduce_outputs)
    if not checks.is_traced(scales, task, network):
        violated = [
            f"{row.name}: {row.value:.2g}, expected {row.bound}; {row.beyond}"
            for row in conditions_of_prediction(network, task, scales)
            if not row.holds
        ]
        if violated:
            warnings.warn("predict: " + ". ".join(violated), stacklevel=4)
    return reduce_exactly(narrow, weights, task, reduce_outputs)


def _holds_weights(scale: Any) -> bool:
    values = list(scale.values()) if isinstance(scale, Mapping) else scale
    return checks.is_list(values) and any(np.ndim(value) == 2 for value in values)


def _instance(
    optimiser: Optimiser | None, learning_rate: Any
) -> optax.GradientTransformation | None:
    if optimiser is None or isinstance(optimiser, optax.GradientTransformation):
        return optimiser
    checks.function("optimiser", optimiser)
    if learning_rate is not None and not callable(learning_rate):  # which train refuses
        checks.positive("learning_rate", learning_rate)
    return optimiser(learning_rate if isinstance(learning_rate, float | int) else RATE)
