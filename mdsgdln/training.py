"""How it is learned: full-batch gradient descent or SGD, as one compiled scan."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, Int, PyTree

from mdsgdln import _checks as checks
from mdsgdln._checks import Scalar
from mdsgdln.networks import GatedNetwork, LinearNetwork, Network, ReLUNetwork
from mdsgdln.tasks import Task

__all__ = [
    "DivergenceError",
    "Run",
    "loss",
    "train",
]


def __dir__() -> list[str]:
    return __all__


Optimiser: TypeAlias = (
    optax.GradientTransformation | Callable[[Scalar], optax.GradientTransformation]
)
Loss: TypeAlias = Callable[[Any, PyTree, Task], Float[Array, ""]]
# What fits these is known beforehand; a network of one's own is asked by applying it.
OF_THE_PACKAGE = LinearNetwork | ReLUNetwork | GatedNetwork


class DivergenceError(ValueError):
    """The loss of a run became infinite or NaN."""


class Run(NamedTuple):
    """What a training run leaves.

    Attributes:
        losses: full-batch loss before each update, shape (num_steps,).
        weights: the weights after the last update.
        observed: what ``observe`` returned, stacked over steps 0, every, 2 every, …
    """

    losses: Float[Array, " num_steps"]
    weights: PyTree
    observed: PyTree


def loss(network: Network, weights: PyTree, task: Task) -> Float[Array, ""]:
    """Return L = 1/(2P) Σ_i ‖y_i − ŷ_i‖², a mean over samples (MHS Eq. 2).

    Raises:
        ValueError: weights, gates or task that do not fit the network.
    """
    network = _reading(network, task)
    outputs = network.apply(weights, task.inputs)
    shape = getattr(outputs, "shape", None)
    if shape != task.targets.shape:
        raise ValueError(
            f"network: expected outputs of shape {task.targets.shape}, as the targets, got "
            f"{type(outputs).__name__ if shape is None else shape}"
        )
    return _mean_squared(task, outputs)


def _mean_squared(task: Task, outputs: Float[Array, "N_out P"]) -> Float[Array, ""]:
    return jnp.sum((task.targets - outputs) ** 2) / (2 * task.num_samples)


def train(
    network: Network,
    weights: PyTree,
    task: Task,
    learning_rate: Scalar,
    num_steps: int,
    *,
    optimiser: Optimiser | None = None,
    batch_size: int | None = None,
    key: Array | None = None,
    observe: Callable[[PyTree], PyTree] | None = None,
    every: int = 1,
    loss: Loss = loss,
) -> Run:
    """Train by gradient descent on the loss of MHS Eq. 2; time is t = learning_rate · step.

    Args:
        network: what is trained: one of ``networks``, or one's own with ``init`` and ``apply``
            (and ``take``, if it stores something for each sample).
        weights: its initial weights, as from ``network.init``.
        task: what it is trained on.
        learning_rate: step size on the mean loss (the published sum loss has P times this one).
        num_steps: number of updates.
        optimiser: plain gradient descent if not given; else an optax optimiser that is called with
            ``learning_rate`` (``optax.adam``), or one that is already built.
        batch_size: samples per update, drawn without replacement epoch by epoch; all if not given.
        key: JAX random key of the batches, needed with ``batch_size``.
        observe: a function of the weights; what it returns is recorded every ``every`` steps.
        every: steps between two records.
        loss: what is descended in place of that loss: a number, from network, weights and task.
            What it should leave where it is goes through ``jax.lax.stop_gradient``.

    Raises:
        ValueError: weights, gates or task that do not fit the network, or a bad number.
        DivergenceError: the loss became non-finite.
    """
    network = _reading(network, task)
    if isinstance(network, OF_THE_PACKAGE):
        network._check_weights(weights)
    checks.positive("learning_rate", learning_rate)
    checks.positive_integer("num_steps", num_steps)
    checks.positive_integer("every", every)
    if not isinstance(optimiser, optax.GradientTransformation | None):
        checks.function("optimiser", optimiser)
    if observe is not None:
        checks.function("observe", observe)
    checks.function("loss", loss)
    batches = None
    if batch_size is not None:
        batches = _batches(key, task.num_samples, batch_size, num_steps)
    leaves, structure = jax.tree.flatten(network)
    run = _scan(
        [leaf if isinstance(leaf, Array | np.ndarray) else _Constant(leaf) for leaf in leaves],
        weights,
        task,
        learning_rate,
        batches,
        structure=structure,
        optimiser=optax.sgd if optimiser is None else optimiser,
        num_steps=num_steps,
        observe=observe,
        every=every,
        loss=loss,
    )
    _check_losses(run.losses, learning_rate)
    return run


@jax.tree_util.register_static
class _Constant:
    """What a compiled function takes as it is: equal if it holds the very same object."""

    def __init__(self, value: object):
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Constant) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


def _reading(network: Network, task: Task) -> Network:
    """Return the network that reads the rows of ``task``, or raise ``ValueError``."""
    if isinstance(network, type) or not isinstance(network, Network):
        raise ValueError(f"network: expected one with init and apply, got {network!r:.80}")
    checks.instance("task", task, Task)
    return network._reading(task) if isinstance(network, OF_THE_PACKAGE) else network


def _check_losses(losses: Float[Array, " num_steps"], learning_rate: Scalar) -> None:
    """Raise ``DivergenceError`` if a loss is infinite or NaN."""
    if isinstance(losses, jax.core.Tracer):
        return  # inside a compiled function: whoever called it sees the losses
    finite = np.isfinite(losses)
    if not finite.all():
        raise DivergenceError(
            f"learning_rate: the loss became non-finite at step {int(np.argmin(finite))}; "
            f"{learning_rate!r} is too large"
        )


def _batches(
    key: Array | None, num_samples: int, batch_size: int, num_steps: int
) -> Int[Array, "num_steps batch"]:
    """Return the samples of each update: shuffled epochs, one after the other, cut to batches."""
    checks.positive_integer("batch_size", batch_size)
    if batch_size > num_samples:
        raise ValueError(f"batch_size: expected at most {num_samples} samples, got {batch_size}")
    checks.random_key("key", key)
    num_epochs = -(-num_steps * batch_size // num_samples)
    epochs = jax.vmap(lambda k: jax.random.permutation(k, num_samples))(
        jax.random.split(key, num_epochs)  # type: ignore[arg-type]  # checked above
    )
    return epochs.reshape(-1)[: num_steps * batch_size].reshape(num_steps, batch_size)


@partial(
    jax.jit, static_argnames=("structure", "optimiser", "num_steps", "observe", "every", "loss")
)
def _scan(
    leaves: list,
    weights: PyTree,
    task: Task,
    learning_rate: Scalar,
    batches: Int[Array, "num_steps batch"] | None,
    *,
    structure: Any,  # of the network, a pytree of those leaves
    optimiser: Any,  # an Optimiser, made ready below
    num_steps: int,
    observe: Callable[[PyTree], PyTree] | None,
    every: int,
    loss: Loss,
) -> Run:
    """Run all steps in one scan, or in one scan of scans where something is observed."""
    leaves = [leaf.value if isinstance(leaf, _Constant) else leaf for leaf in leaves]
    network = jax.tree.unflatten(structure, leaves)
    built = isinstance(optimiser, optax.GradientTransformation)
    optimiser = optimiser if built else optimiser(learning_rate)
    value_and_gradient = jax.value_and_grad(loss, argnums=1)

    def step(state, batch):
        weights, memory = state
        if batch is None:
            value, gradient = value_and_gradient(network, weights, task)
        else:
            value = loss(network, weights, task)
            part = network.take(batch) if hasattr(network, "take") else network
            _, gradient = value_and_gradient(part, weights, task.take(batch))
        update, memory = optimiser.update(gradient, memory, weights)
        return (optax.apply_updates(weights, update), memory), value

    state = weights, optimiser.init(weights)
    if observe is None:
        (weights, _), losses = jax.lax.scan(step, state, batches, length=num_steps)
        return Run(losses, weights, None)

    def observed_steps(state, batches, length):
        record = observe(state[0])
        state, losses = jax.lax.scan(step, state, batches, length=length)
        return state, (losses, record)

    whole, rest = divmod(num_steps, every)
    chunks = None
    if batches is not None:
        chunks = batches[: whole * every].reshape(whole, every, batches.shape[1])
        batches = batches[whole * every :]
    state, (losses, records) = jax.lax.scan(
        partial(observed_steps, length=every), state, chunks, length=whole
    )
    losses = losses.reshape(-1)
    if rest:
        state, (last_losses, last_record) = observed_steps(state, batches, rest)
        losses = jnp.concatenate([losses, last_losses])
        records = jax.tree.map(
            lambda many, one: jnp.concatenate([many, jnp.asarray(one)[None]]), records, last_record
        )
    return Run(losses, state[0], records)
