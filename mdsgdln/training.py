"""Training by any optimiser on any loss, as one compiled scan."""

from collections.abc import Callable
from functools import partial
from typing import Any, Literal, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, Int, PyTree

from mdsgdln import _checks as checks
from mdsgdln._checks import Scalar
from mdsgdln.losses import Loss, check_targets, squared_error
from mdsgdln.networks import Network
from mdsgdln.tasks import Task

__all__ = ["DivergenceError", "Run", "train"]
__dir__ = __all__.copy  # what completion shows


Optimiser: TypeAlias = (
    optax.GradientTransformation | Callable[[Scalar], optax.GradientTransformation]
)
Observe: TypeAlias = Callable[[Any], Any] | Literal["outputs"]


class DivergenceError(ValueError):
    """The loss or the weights of a run became infinite or NaN."""


class Run(NamedTuple):
    """The result of a training run.

    Attributes:
        losses: full-batch loss before each update, shape (num_steps,).
        weights: the weights after the last update.
        observed: the values of ``observe``, stacked over steps 0, every, 2 every, …
        learning_rate: of full-batch gradient descent on ``squared_error``; None after a run with
            another optimiser, another loss, or batches.
        held_out: the loss on the task ``held_out`` at the steps of ``observed``.
        state: what ``train(..., state=run.state)`` needs to go on.
        diverged_at: the first step whose loss or weights are not finite; None if there is none.
        error: of a prediction, the estimated relative L1 error of its curve.
        seed_difference: of a prediction, that of two seeds of the network itself.
        held_out_error: of a prediction, the estimated error of ``held_out``.
    """

    losses: Float[Array, "*runs num_steps"]
    weights: PyTree
    observed: PyTree = None
    learning_rate: Scalar | None = None
    held_out: Float[Array, "*runs records"] | None = None
    state: PyTree = None
    diverged_at: int | None = None
    error: Float[Array, ""] | float | None = None
    seed_difference: Float[Array, ""] | float | None = None
    held_out_error: Float[Array, ""] | float | None = None

    @property
    def times(self) -> Float[Array, "*runs num_steps"]:
        """t = learning rate × step of each loss; ``observed`` has ``times[::every]``.

        Raises:
            AttributeError: ``learning_rate`` is None, so that there is no such time.
        """
        if self.learning_rate is None:
            raise AttributeError(
                "times: expected a run of full-batch gradient descent on squared_error, for which "
                "this is a time, got another; its steps are numpy.arange(len(run.losses))"
            )
        rate = jnp.asarray(self.learning_rate, float)
        return jnp.multiply.outer(rate, jnp.arange(self.losses.shape[-1], dtype=rate.dtype))


def train(
    network: Network,
    weights: PyTree,
    task: Task,
    learning_rate: Scalar | None,
    num_steps: int,
    *,
    optimiser: Optimiser | None = None,
    loss: Loss = squared_error,
    batch_size: int | None = None,
    key: Array | None = None,
    observe: Observe | None = None,
    every: int = 1,
) -> Run:
    """Train a network, by default by gradient descent on the loss of MHS Eq. 2.

    ``optimiser``, ``loss`` and ``observe`` are compiled once per object: if a function reads a
    variable that has changed, define the function again.

    Args:
        network: one of ``networks``, or an instance of your own subclass of ``Network``.
        weights: its initial weights, as from ``network.init``.
        learning_rate: step size on the mean loss (the published sum loss is P times as large); None
            with an optimiser instance, which has its own step size.
        num_steps: number of updates.
        optimiser: gradient descent by default; an optax optimiser that is called with
            ``learning_rate`` (``optax.adam``), or an instance (``optax.adam(0.1)``).
        loss: ``squared_error``, ``cross_entropy``, ``logistic``, or another function of network,
            weights and task that returns a number.
        batch_size: samples per update, drawn without replacement in each epoch; all by default.
        key: JAX random key of the batches, needed with ``batch_size``.
        observe: a function of the weights, or ``"outputs"`` for the outputs of the network; its
            value is recorded every ``every`` steps.
        every: steps between two records.

    Raises:
        DivergenceError: the loss or the weights became non-finite.
    """
    checks.instance("network", network, Network)
    checks.function("loss", loss)
    check_targets(loss, task)
    network.check(weights, task)
    checks.positive_integer("num_steps", num_steps)
    checks.positive_integer("every", every)
    if observe not in (None, "outputs"):
        checks.function("observe", observe)
    optimiser = optax.sgd if optimiser is None else optimiser
    number = "a number, or None with optimiser=optax.sgd(schedule)"
    checks.require(not callable(learning_rate), "learning_rate", number, learning_rate)
    matching = isinstance(optimiser, optax.GradientTransformation) == (learning_rate is None)
    number = "a number above 0, or None with an optimiser instance, which has its own step size"
    checks.require(matching, "learning_rate", number, learning_rate)
    if learning_rate is not None:
        checks.positive("learning_rate", learning_rate)
        checks.function("optimiser", optimiser)
    batches = None
    if batch_size is not None:
        batches = draw_batches(key, task.num_samples, batch_size, num_steps)
    losses, weights, observed = _steps(
        network,
        weights,
        task,
        learning_rate,
        batches,
        optimiser=optimiser,
        num_steps=num_steps,
        every=every,
        observe=observe,
        loss=loss,
    )
    _check_finite(losses, weights, learning_rate)
    plain = optimiser is optax.sgd and batch_size in (None, task.num_samples)
    clock = learning_rate if plain and loss is squared_error else None
    return Run(losses, weights, observed, clock)


def _check_finite(
    losses: Float[Array, " num_steps"], weights: PyTree, learning_rate: Scalar | None
) -> None:
    if checks.is_traced(losses):
        return
    last = all(np.isfinite(weight).all() for weight in jax.tree.leaves(weights))
    finite = np.append(np.isfinite(losses), last)
    if not finite.all():
        step = int(np.argmin(finite))
        infinite = "loss" if step < len(losses) else "weights"
        rate = "the optimiser's step size" if learning_rate is None else repr(learning_rate)
        raise DivergenceError(
            f"learning_rate: the {infinite} became non-finite at step {step}; {rate} is too large"
        )


def draw_batches(
    key: Array | None, num_samples: int, batch_size: int, num_steps: int
) -> Int[Array, "num_steps batch"]:
    """Return the samples of each update: shuffled epochs, one after another, cut into batches."""
    checks.positive_integer("batch_size", batch_size)
    fits = batch_size <= num_samples
    checks.require(fits, "batch_size", f"at most {num_samples} samples", batch_size)
    checks.random_key("key", key)
    num_epochs = -(-num_steps * batch_size // num_samples)
    keys = jax.random.split(key, num_epochs)  # type: ignore[arg-type]  # checked above
    epochs = jax.vmap(partial(jax.random.permutation, x=num_samples))(keys)
    return epochs.reshape(-1)[: num_steps * batch_size].reshape(num_steps, batch_size)


@partial(jax.jit, static_argnames=("optimiser", "num_steps", "every", "observe", "loss"))
def _steps(
    network: Network,
    weights: PyTree,
    task: Task,
    learning_rate: Scalar | None,
    batches: Int[Array, "num_steps batch"] | None,
    *,
    optimiser: Any,  # an Optimiser, made ready below
    num_steps: int,
    every: int,
    observe: Observe | None,
    loss: Loss,
) -> tuple:
    """Run one scan of all steps, or a scan of scans between two records."""
    built = isinstance(optimiser, optax.GradientTransformation)
    optimiser = optimiser if built else optimiser(learning_rate)
    value_and_gradient = jax.value_and_grad(loss, argnums=1)

    def step(state, batch):
        weights, memory = state
        if batch is None:
            value, gradient = value_and_gradient(network, weights, task)
        else:
            value = loss(network, weights, task)
            _, gradient = value_and_gradient(network.take(batch), weights, task.take(batch))
        update, memory = optimiser.update(gradient, memory, weights)
        return (optax.apply_updates(weights, update), memory), value

    state = weights, optimiser.init(weights)
    if observe is None:
        (weights, _), losses = jax.lax.scan(step, state, batches, length=num_steps)
        return losses, weights, None

    if isinstance(observe, str):  # "outputs"
        observe = partial(network.apply, inputs=task.inputs)

    def chunk(state, batches, length=every):
        record = observe(state[0])
        state, losses = jax.lax.scan(step, state, batches, length=length)
        return state, (losses, record)

    whole, rest = divmod(num_steps, every)
    first = jax.tree.map(
        lambda some: some[: whole * every].reshape(whole, every, *some.shape[1:]), batches
    )
    state, (losses, records) = jax.lax.scan(chunk, state, first, length=whole)
    losses = losses.reshape(-1)
    if rest:
        last = jax.tree.map(lambda some: some[whole * every :], batches)
        state, (last_losses, record) = chunk(state, last, rest)
        losses = jnp.append(losses, last_losses)
        records = jax.tree.map(
            lambda many, one: jnp.concatenate([many, jnp.asarray(one)[None]]), records, record
        )
    return losses, state[0], records
