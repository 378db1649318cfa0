"""How it is learned: full-batch gradient descent or SGD, as one compiled scan."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, Int, PyTree

from mdsgdln import checks
from mdsgdln.checks import Scalar
from mdsgdln.networks import GatedNetwork, LinearNetwork, ReLUNetwork
from mdsgdln.tasks import Task

Network = LinearNetwork | ReLUNetwork | GatedNetwork
Optimiser: TypeAlias = (
    optax.GradientTransformation | Callable[[Scalar], optax.GradientTransformation]
)


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
    """Return L = 1/(2P) Σ_i ‖y_i − ŷ_i‖², a mean over samples (MHS Eq. 2)."""
    checks.instance("network", network, Network)
    network = network.reading(task)
    errors = task.targets - network.apply(weights, task.inputs)
    return jnp.sum(errors**2) / (2 * task.num_samples)


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
) -> Run:
    """Train by gradient descent on the loss of MHS Eq. 2; time is t = learning_rate · step.

    Args:
        network: what is trained.
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

    Raises:
        ValueError: weights, gates or task that do not fit the network, or a bad number.
        DivergenceError: the loss became non-finite.
    """
    checks.instance("network", network, Network)
    checks.positive("learning_rate", learning_rate)
    checks.positive_integer("num_steps", num_steps)
    checks.positive_integer("every", every)
    if not isinstance(optimiser, optax.GradientTransformation | None):
        checks.function("optimiser", optimiser)
    if observe is not None:
        checks.function("observe", observe)
    network = network.reading(task)
    network.check_weights(weights)
    batches = None
    if batch_size is not None:
        batches = _batches(key, task.num_samples, batch_size, num_steps)
    run = _scan(
        network,
        weights,
        task,
        learning_rate,
        batches,
        optimiser=optax.sgd if optimiser is None else optimiser,
        num_steps=num_steps,
        observe=observe,
        every=every,
    )
    check_losses(run.losses, learning_rate)
    return run


def check_losses(losses: Float[Array, " num_steps"], learning_rate: Scalar) -> None:
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


@partial(jax.jit, static_argnames=("optimiser", "num_steps", "observe", "every"))
def _scan(
    network: Network,
    weights: PyTree,
    task: Task,
    learning_rate: Scalar,
    batches: Int[Array, "num_steps batch"] | None,
    *,
    optimiser: Any,  # an Optimiser, made ready below
    num_steps: int,
    observe: Callable[[PyTree], PyTree] | None,
    every: int,
) -> Run:
    """Run all steps in one scan, or in one scan of scans where something is observed."""
    built = isinstance(optimiser, optax.GradientTransformation)
    optimiser = optimiser if built else optimiser(learning_rate)
    value_and_gradient = jax.value_and_grad(loss, argnums=1)

    def step(state, batch):
        weights, memory = state
        if batch is None:
            value, gradient = value_and_gradient(network, weights, task)
        else:
            value = loss(network, weights, task)
            batch_network, batch_task = jax.tree.map(lambda leaf: leaf[..., batch], (network, task))
            _, gradient = value_and_gradient(batch_network, weights, batch_task)
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
