"""Which small network represents a wide one, or why none does."""

from collections.abc import Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array

from mdsgdln import _checks as checks
from mdsgdln._checks import Scalar
from mdsgdln.losses import Loss, check_targets, squared_error
from mdsgdln.networks import GatedNetwork, Layered, LinearNetwork
from mdsgdln.prediction.choices import (
    KNOWN,
    Choice,
    Outputs,
    StandIn,
    exact_reduction,
    one_layer,
    several_layers,
)
from mdsgdln.prediction.neurons import is_homogeneous, treats_neurons_alike
from mdsgdln.prediction.reduction import parallel_nodes
from mdsgdln.prediction.rules import (
    fixes_first_layer,
    keeps_copies,
    rotates_layers,
    rotates_nodes,
)
from mdsgdln.tasks import Task

NUM_STEPS = 1000  # for which a rule is tested, unless it is known how many there are


def stand_in(
    network: GatedNetwork | Layered,
    scale: Scalar | Sequence | Mapping,
    task: Task,
    *,
    num_neurons: int = 256,
    key: Array | None = None,
    optimiser: optax.GradientTransformation | None = None,
    loss: Loss = squared_error,
    num_steps: int = NUM_STEPS,
) -> StandIn:
    """Return a small network, weights and task that learn as the wide network does.

    *Gated and linear networks*, from weights: the exact reduction. From σ, with two layers: weights
    with the expected products, in at most as many neurons as inputs and outputs.
    *One hidden layer of any activation*, from σ: neurons (±w, ±v), each of which represents H/N.
    *Several hidden layers of ReLUs*, from σ: narrower ones.
    *Layers from weights*, other than linear ones: the network itself.

    ``predict`` trains it, and estimates the error.

    Args:
        network: the wide network.
        scale: σ of the initial weights, or one per layer (edge), as for ``network.init``; or the
            weights themselves.
        task: inputs and targets.
        num_neurons: N, the largest number of neurons that represent a layer; at least four.
        key: JAX random key of these neurons.
        optimiser: an optimiser instance, gradient descent by default.
        loss: as for ``train``, of outputs and targets alone. Only for ``squared_error`` are targets
            written in a basis of their span.
        num_steps: updates for which the optimiser is tested.

    Raises:
        ValueError: a rule that allows no stand-in (for gated networks one that treats each weight
            separately, as Adam does; for layers one that mixes neurons or leaves the first layer
            fixed), a network of another kind or a subclass with outputs of its own, a pathway with
            fewer neurons than modes, no key, or a loss that reads more than outputs and targets.
    """
    choice = choose_stand_in(network, scale, task, num_neurons, key, optimiser, loss, num_steps)
    return choice.make(0)


def choose_stand_in(
    network: Any,
    scale: Any,
    task: Task,
    num_neurons: int,
    key: Array | None,
    optimiser: optax.GradientTransformation | None,
    loss: Loss,
    num_steps: int,
    held_out: Task | None = None,
) -> Choice:
    """Check the arguments of ``stand_in``, and return how the network is represented.

    The samples of ``held_out`` follow those of the task in the data of the stand-in.
    """
    checks.instance("network", network, GatedNetwork | Layered)
    _check_class(network)
    checks.function("loss", loss)
    check_targets(loss, task)
    learned = task
    if held_out is not None:
        expected = "None for a network with gates, as it has those of the task's samples alone"
        checks.require(not jax.tree.leaves(network), "held_out", expected, held_out)
        task = _joined(task, held_out)
    checks.positive_integer("num_neurons", num_neurons)
    checks.positive_integer("num_steps", num_steps)
    if optimiser is not None:
        checks.instance("optimiser", optimiser, optax.GradientTransformation)
    if key is not None:
        checks.random_key("key", key)
    given = _holds_weights(scale)
    scale = jax.tree.map(checks.single_or_double, scale) if given else scale
    network.check(scale if given else None, task)
    layered = isinstance(network, Layered)
    # Descent is linear in the gradient: no need to run it.
    if layered:
        rotating = optimiser is None or rotates_layers(optimiser, network.biases, num_steps)
    else:
        nodes = network.graph.edges, parallel_nodes(network)
        rotating = optimiser is None or rotates_nodes(optimiser, *nodes, num_steps)
    linear = isinstance(network, LinearNetwork) and not any(network.biases)
    reduced = not layered or (linear and rotating and (given or len(network.sizes) == 3))
    if layered and given and not reduced:
        return Choice(lambda which: (network, scale, task), 0.0, is_itself=True)
    _check_loss(loss, network, task)
    if reduced:
        expected = (
            "a rule that commutes with rotations, unlike Adam, such as gradient descent with "
            "momentum or decay; for others train the network itself"
        )
        checks.require(rotating, "optimiser", expected, optimiser)
        return exact_reduction(network, scale, task, learned, key, given, loss is squared_error)
    widths = network.sizes[1:-1]
    checks.require(widths, "network", "a hidden layer", network)
    scales = network.scales(scale)
    for sigma, _ in scales:
        checks.positive("scale", sigma)
    fixed = optimiser is not None and fixes_first_layer(optimiser, network.biases, num_steps)
    expected = "a rule that trains the first layer, as a few fixed neurons do not represent many"
    checks.require(not fixed, "optimiser", expected, optimiser)
    alike = all(treats_neurons_alike(network.activation, width) for width in widths)
    checks.require(alike, "network", "one activation for all neurons of a layer", network)
    checks.random_key("key", key)
    for name, value in (("scale", scales), ("task", task), ("key", key)):
        checks.concrete(name, value)
    if len(widths) > 1:
        possible = rotating and is_homogeneous(network.activation)
        expected = "one hidden layer, or ReLU or leaky ReLU and a rule that commutes with rotations"
        checks.require(possible, "network", expected, network)
        return several_layers(network, scales, task, num_neurons, key)
    possible = rotating or keeps_copies(optimiser, network.biases, num_steps)
    expected = (
        "a rule that updates each neuron by itself, as Adam does, or commutes with rotations, as "
        "clipping by the global norm does; a chain of both does neither"
    )
    checks.require(possible, "optimiser", expected, optimiser)
    return one_layer(network, scales, task, num_neurons, key, rotating, loss)


def _joined(task: Task, held_out: Any) -> Task:
    """Return the samples of both tasks, so that they are written in one basis."""
    checks.instance("held_out", held_out, Task)
    for name in ("inputs", "targets"):
        one, other = len(getattr(task, name)), len(getattr(held_out, name))
        checks.require(one == other, "held_out", f"{one} rows of {name}, as the task has", other)
    inputs = jnp.concatenate([task.inputs, held_out.inputs], axis=1)
    targets = jnp.concatenate([task.targets, held_out.targets], axis=1)
    return Task.from_samples(inputs.T, targets.T)


def _check_class(network: Any) -> None:
    """Refuse subclasses that redefine a method, and so perhaps the outputs."""
    base = GatedNetwork if isinstance(network, GatedNetwork) else Layered
    redefined = [
        name
        for name in dir(base)
        if not name.startswith("__")
        and callable(getattr(base, name))
        and getattr(type(network), name) is not getattr(base, name)
    ]
    expected = f"a network with the methods of {base.__name__}; train one with its own"
    checks.require(not redefined, "network", expected, f"its own {', '.join(redefined)}")


def _check_loss(loss: Loss, network: Any, task: Task) -> None:
    """Refuse losses that read weights, as a penalty does, or inputs: a stand-in has others."""
    if loss in KNOWN or checks.is_traced(network, task):
        return
    weights = network.init(jax.random.key(0), 0.1)
    outputs = network.apply(weights, task.inputs)
    inputs = np.random.default_rng(0).standard_normal(task.inputs.shape)
    other = Task.from_samples(inputs.T, task.targets.T)
    try:
        alone = loss(Outputs(), outputs, other)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        alone = np.nan
    expected = "a function of outputs and targets alone; decay is a part of the optimiser"
    same = np.allclose(alone, loss(network, weights, task), rtol=1e-5)
    checks.require(same, "loss", expected, loss)


def _holds_weights(scale: Any) -> bool:
    """Return whether matrices are given, unlike one array of scales."""
    return not hasattr(scale, "ndim") and any(np.ndim(leaf) == 2 for leaf in jax.tree.leaves(scale))
