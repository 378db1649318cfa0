"""Training: gradient descent by any optimiser, on any loss, as one compiled scan."""

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
    """What a training run leaves.

    Attributes:
        losses: full-batch loss before each update, shape (num_steps,).
        weights: the weights after the last update.
        observed: what ``observe`` returned, stacked over steps 0, every, 2 every, …
        learning_rate: that of plain gradient descent on 𝓛, all samples at once; None of a run with
            another optimiser or loss, or on batches.
    """

    losses: Float[Array, " num_steps"]
    weights: PyTree
    observed: PyTree
    learning_rate: Scalar | None

    @property
    def times(self) -> Float[Array, "*runs num_steps"]:
        """t = learning rate × step of each loss; ``times[::every]`` are those of what was observed.

        Raises:
            ValueError: there is no such time, as ``learning_rate`` is None.
        """
        if self.learning_rate is None:
            raise ValueError(
                "times: expected a run of plain gradient descent on squared_error, all samples at "
                "once; of another one theory predicts nothing at learning rate × step. To count "
                "steps, take np.arange(len(run.losses))"
            )
        steps = jnp.arange(self.losses.shape[-1])
        return jnp.multiply.outer(jnp.asarray(self.learning_rate, float), steps)


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
    """Train a network, by plain gradient descent on the loss of MHS Eq. 2 unless told otherwise.

    ``optimiser``, ``loss`` and ``observe`` are compiled once for each object. So a function that
    reads a value which has changed must be a new function.

    Args:
        network: one of ``networks``, or of a class of your own derived from ``Network``.
        weights: its initial weights, as from ``network.init``.
        task: what it is trained on.
        learning_rate: step size on the mean loss (the published sum loss has P times this one);
            None with an optimiser that is already built, which has its own.
        num_steps: number of updates.
        optimiser: plain gradient descent if not given; else an optax optimiser that is called with
            ``learning_rate`` (``optax.adam``), or one that is already built (``optax.adam(0.1)``).
        loss: what is descended: ``squared_error``, ``cross_entropy``, ``logistic``, or another
            function of network, weights and task that returns a number.
        batch_size: samples per update, drawn without replacement epoch by epoch; all if not given.
        key: JAX random key of the batches, needed with ``batch_size``.
        observe: a function of the weights, or ``"outputs"`` for those of the network; what it
            returns is recorded every ``every`` steps.
        every: steps between two records.

    Raises:
        ValueError: weights, gates or task that do not fit the network, a bad number, or a learning
            rate beside an optimiser that is already built.
        DivergenceError: the loss or the weights became non-finite.
    """
    checks.instance("network", network, Network)
    network.check(weights, task)
    checks.positive_integer("num_steps", num_steps)
    checks.positive_integer("every", every)
    checks.function("loss", loss)
    check_targets(loss, task)
    if observe is not None and not (isinstance(observe, str) and observe == "outputs"):
        checks.function("observe", observe)
    optimiser = optax.sgd if optimiser is None else optimiser
    if callable(learning_rate):
        raise ValueError(
            "learning_rate: expected a number, got a schedule: build the optimiser with it, as in "
            "optimiser=optax.sgd(schedule), and give None here"
        )
    if isinstance(optimiser, optax.GradientTransformation) != (learning_rate is None):
        raise ValueError(
            "learning_rate: expected a number above 0, or None beside an optimiser that is already "
            f"built, as this has a step size of its own, got {learning_rate!r:.80}"
        )
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
    """Raise ``DivergenceError`` if a loss, or a weight after the last update, is not finite."""
    if isinstance(losses, jax.core.Tracer):
        return  # inside a compiled function: whoever called it sees them
    last = all(np.isfinite(weight).all() for weight in jax.tree.leaves(weights))
    finite = np.append(np.isfinite(losses), last)
    if not finite.all():
        step = int(np.argmin(finite))
        what = "loss" if step < len(losses) else "weights"
        rate = "that of the optimiser" if learning_rate is None else repr(learning_rate)
        raise DivergenceError(
            f"learning_rate: the {what} became non-finite at step {step}; {rate} is too large"
        )


def draw_batches(
    key: Array | None, num_samples: int, batch_size: int, num_steps: int
) -> Int[Array, "num_steps batch"]:
    """Return the samples of each update: shuffled epochs, one after the other, cut to batches."""
    checks.positive_integer("batch_size", batch_size)
    if batch_size > num_samples:
        raise ValueError(f"batch_size: expected at most {num_samples} samples, got {batch_size}")
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
