"""Prediction by a stand-in: a small network that stands for a wide one, trained by the same rule.

Gated and linear networks are reduced (``reduction``), exactly from given weights, and from σ alone
by the expected products of their weights. A hidden layer of any activation is represented by a few
designed neurons (``neurons``). The rule that trains both has to allow it (``rules``).
"""

import warnings
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import jax
import numpy as np
import optax
from jaxtyping import Array, PyTree

from mdsgdln import _checks as checks
from mdsgdln._checks import Scalar
from mdsgdln.losses import Loss, squared_error
from mdsgdln.networks import GatedNetwork, Layered, LinearNetwork, Network
from mdsgdln.tasks import Task
from mdsgdln.theory import rules
from mdsgdln.theory.conditions import conditions_of_prediction
from mdsgdln.theory.neurons import is_homogeneous, stand_for_layer, stand_for_two_layers
from mdsgdln.theory.reduction import check_two_layer, expected_weights, reduce_exactly
from mdsgdln.training import Optimiser, Run, train

RATE = 0.1  # at which the properties of a rule are tested


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
    """Predict a training run from the data and σ alone: train the stand-in by the same rule.

    Takes what ``train`` takes, with σ in place of weights. From the initial weights themselves the
    prediction for a gated or linear network is exact.

    Args:
        network: a gated or linear network, or one with a hidden layer of any activation.
        scale: σ of the initial weights, or one per layer (edge), or the weights themselves.
        task: what it would be trained on.
        learning_rate: step size; None with an optimiser that is already built.
        num_steps: number of updates.
        optimiser: plain gradient descent if not given; else as for ``train``.
        loss: what is descended.
        batch_size: samples per update; all if not given. The same ``key`` draws the same batches as
            in ``train``.
        key: JAX random key of the neurons that stand for a layer, and of batches.
        num_neurons: how many neurons may stand for a layer.

    Returns:
        the run of the stand-in: ``losses`` predicts the curve, and ``weights`` are its own.

    Raises:
        ValueError: what ``train`` refuses, and what no stand-in is known for: see ``stand_in``.
    """
    small = stand_in(
        network,
        scale,
        task,
        num_neurons=num_neurons,
        key=key,
        optimiser=_built(optimiser, learning_rate),
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
    """Return the small network, weights and task that learn as a wide network does.

    *Gated and linear networks*, from weights: the exact reduction. From σ, with two layers: weights
    with the expected products, in at most as many neurons as inputs and outputs.
    *One hidden layer of any activation*, from σ: neurons (±w, ±v), each of which stands for H/N.
    Two hidden layers of ReLUs, from σ: narrower ones. From weights it is the network itself.

    Args:
        network: what would be trained.
        scale: σ of the initial weights, or one per layer (edge), or the weights themselves.
        task: what it would be trained on.
        num_neurons: N, how many neurons may stand for a layer; at least four.
        key: JAX random key of these neurons.
        optimiser: the rule that will train it; plain gradient descent if not given.
        loss: what is descended. Only for ``squared_error`` are targets written in the basis of
            what they span.

    Raises:
        ValueError: a rule that allows no stand-in (for gated networks one that treats each weight
            by itself, as Adam does; for layers one that mixes neurons), a network of another kind,
            a pathway with fewer neurons than modes, weights beyond the tested range, or no key.
    """
    checks.instance("network", network, GatedNetwork | Layered)
    checks.instance("task", task, Task)
    number = checks.positive_integer("num_neurons", num_neurons)
    if key is not None:
        checks.random_key("key", key)
    checks.function("loss", loss)
    rule = optax.sgd(RATE) if optimiser is None else optimiser
    checks.instance("optimiser", rule, optax.GradientTransformation)
    linear = isinstance(network, GatedNetwork | LinearNetwork)
    given = _is_given(scale)
    reducible = _property(rules.can_be_reduced, rule)
    if linear and (reducible or given or isinstance(network, GatedNetwork)):
        if not reducible:
            raise ValueError(
                "optimiser: expected a rule that commutes with rotations, such as gradient descent "
                "with momentum or decay; one that treats each weight by itself, as Adam does, "
                "allows no smaller gated network: train the network itself"
            )
        return _reduced(network, scale, task, given, loss is squared_error)
    if given:
        weights: Any = scale
        network.check(weights, task)
        return network, weights, task
    return _neurons(network, scale, task, number, key, rule, reducible, loss is squared_error)


def _reduced(
    network: Any, scale: Any, task: Task, given: bool, reduce_outputs: bool
) -> tuple[GatedNetwork, dict, Task]:
    """Return the stand-in of a gated or linear network."""
    gated = network.as_gated() if isinstance(network, LinearNetwork) else network
    edges = gated.graph.edges
    if given:
        network.check(scale, task)
        weights = scale if isinstance(scale, Mapping) else dict(zip(edges, scale, strict=True))
        return reduce_exactly(gated, weights, task, reduce_outputs)
    check_two_layer(gated)
    gated.check(None, task)
    scales = checks.initial_scales(scale, edges)
    narrow, weights = expected_weights(gated, scales, task, reduce_outputs)
    if not any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves((scale, task, gated))):
        _warn(gated, scales, task)
    return reduce_exactly(narrow, weights, task, reduce_outputs)


def _warn(network: GatedNetwork, scales: Sequence[Scalar], task: Task) -> None:
    """Warn of what puts a prediction from σ alone off by more than 5 %."""
    broken = [row for row in conditions_of_prediction(network, task, scales) if not row.holds]
    if broken:
        words = (
            f"{row.name}: {row.value:.2g}, expected {row.bound}; {row.beyond}" for row in broken
        )
        warnings.warn("predict: " + ". ".join(words), stacklevel=5)


def _neurons(network, scale, task, num_neurons, key, rule, reducible, reduce_outputs):
    """Return the stand-in of a layer of neurons, as few as stand for all."""
    num_hidden = len(network.sizes) - 2
    if num_hidden not in (1, 2):
        raise ValueError(f"network: expected one or two hidden layers, got {num_hidden}")
    checks.num_rows("inputs", len(task.inputs), network.sizes[0])
    checks.num_rows("targets", len(task.targets), network.sizes[-1])
    scales = checks.initial_scales(scale, tuple(range(num_hidden + 1)))
    if key is None:
        raise ValueError("key: expected a random key, of which neurons are drawn, got None")
    if num_hidden == 2:
        if not reducible or not is_homogeneous(network.activation):
            raise ValueError(
                "network: expected one hidden layer, got two: narrower layers stand for these only "
                "with ReLU or leaky ReLU, and rules that commute with rotations; not with Adam"
            )
        return stand_for_two_layers(network, scales, task, num_neurons, jax.random.fold_in(key, 1))
    if not reducible and not _property(rules.keeps_copies, rule):
        raise ValueError(
            "optimiser: expected a rule that is the same for every neuron, or commutes with "
            "rotations, got one that is neither, such as one with a norm of a whole layer"
        )
    return stand_for_layer(
        network,
        scales,
        task,
        num_neurons,
        jax.random.fold_in(key, 1),  # batches are drawn from the key itself
        can_rotate=reducible,
        reduce_outputs=reduce_outputs,
    )


def _is_given(scale: Any) -> bool:
    """Return whether a scale holds the initial weights themselves."""
    values = list(scale.values()) if isinstance(scale, Mapping) else scale
    return checks.is_list(values) and any(np.ndim(value) == 2 for value in values)


def _built(optimiser: Optimiser | None, learning_rate: Any) -> optax.GradientTransformation | None:
    """Return an optimiser with its step size; its properties do not depend on how large it is."""
    if optimiser is None or isinstance(optimiser, optax.GradientTransformation):
        return optimiser
    checks.function("optimiser", optimiser)
    if learning_rate is not None and not callable(learning_rate):  # which train refuses
        checks.positive("learning_rate", learning_rate)
    return optimiser(learning_rate if isinstance(learning_rate, float | int) else RATE)


_property = lru_cache(maxsize=64)(lambda test, rule: test(rule))
