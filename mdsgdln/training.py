"""Training by any optimiser on any loss, in one compiled loop that can be stopped and resumed."""

from collections.abc import Callable, Hashable
from contextlib import closing
from typing import Any, Literal, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, PyTree

from mdsgdln import _checks as checks
from mdsgdln._batches import Batching
from mdsgdln._checks import Scalar
from mdsgdln._descent import Data, Progress, Rule, train_all, train_in_chunks
from mdsgdln._progress import watched
from mdsgdln.losses import Loss, check_targets, squared_error
from mdsgdln.networks import Network
from mdsgdln.tasks import Task

__all__ = ["DivergenceError", "Run", "train"]
__dir__ = __all__.copy  # what completion shows


Optimiser: TypeAlias = Any  # of optax, or a function of the learning rate that returns one
Observe: TypeAlias = Callable[[Any], Any] | Literal["outputs", "loss"]


class DivergenceError(ValueError):
    """The loss or the weights of a run became infinite or NaN; ``error.run`` is what there is."""

    run: "Run"


class State(NamedTuple):
    """What a run needs to go on besides its weights."""

    step: int  # updates made
    optimiser: PyTree  # its memory: moments, its own count of updates


class Run(NamedTuple):
    """The result of a training run.

    Attributes:
        losses: before each update, of the samples of its batch, shape (num_steps,).
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

        A run that goes on counts its own steps, from 0.

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
    held_out: Task | None = None,
    state: State | None = None,
    progress: bool | None = None,
) -> Run:
    """Train a network, by default by gradient descent on the loss of MHS Eq. 2.

    A long run is looked at about twice a second, less often where much is recorded. Ctrl-C then
    raises a ``KeyboardInterrupt`` whose attribute ``run`` is the run so far (in Jupyter,
    ``sys.last_value.run``), which can go on: ``train(network, run.weights, ..., state=run.state)``
    with the same options, ``key`` included, makes the updates that the longer run would have made,
    to the bit.

    ``optimiser``, ``loss`` and ``observe`` are compiled once per object: if a function reads a
    variable that has changed, define the function again. They see a task without its labels.

    Within ``jax.jit`` and ``jax.vmap`` a run is one loop, which has derivatives, and one that
    diverges has infinite or NaN losses.

    Args:
        network: one of ``networks``, or an instance of your own subclass of ``Network``.
        weights: its initial weights, as from ``network.init``; half precision, in which small
            updates vanish, and integers become JAX's default.
        learning_rate: step size on the mean loss (the published sum loss is P times as large); None
            with an optimiser instance, which has its own step size.
        num_steps: number of updates.
        optimiser: gradient descent by default; an optax optimiser that is called with
            ``learning_rate`` (``optax.adam``), or an instance (``optax.adam(0.1)``).
        loss: ``squared_error``, ``cross_entropy``, ``logistic``, or another function of network,
            weights and task that returns a number.
        batch_size: samples per update, drawn without replacement in each epoch; all by default.
        key: JAX random key of the batches, needed with ``batch_size``.
        observe: a function of the weights, ``"outputs"`` for the outputs of the network, or
            ``"loss"`` for the loss of the whole task; recorded before every ``every``-th update.
        every: steps between two records.
        held_out: a task whose loss is recorded as often. Gates, one per sample, apply to its
            samples in their order.
        state: of the run that goes on.
        progress: whether a bar of progress is shown; by default where somebody watches, in a
            terminal or a notebook, if the run lasts.

    Raises:
        DivergenceError: the loss or the weights became non-finite; its attribute ``run`` has the
            losses until then.
    """
    checks.instance("network", network, Network)
    checks.function("loss", loss)
    check_targets(loss, task)
    weights = jax.tree.map(checks.single_or_double, weights)
    network.check(weights, task)
    checks.require(jax.tree.leaves(weights), "weights", "at least one array", weights)
    num_steps = checks.positive_integer("num_steps", num_steps)
    every = checks.positive_integer("every", every)
    if not (observe is None or isinstance(observe, str) and observe in ("outputs", "loss")):
        what = 'a function of the weights, "outputs" or "loss"'
        checks.require(callable(observe), "observe", what, observe)
    if held_out is not None:
        checks.instance("held_out", held_out, Task)
        try:
            check_targets(loss, held_out)
            network.check(weights, held_out)
        except ValueError as error:
            raise ValueError(f"held_out: {error}") from error
    if state is not None:
        checks.instance("state", state, State)
    if progress is not None:
        checks.instance("progress", progress, bool)
    optimiser = optax.sgd if optimiser is None else optimiser
    check_optimiser(optimiser, learning_rate)
    batching = None
    if batch_size is not None:
        checks.positive_integer("batch_size", batch_size)
        fits = batch_size <= task.num_samples
        checks.require(fits, "batch_size", f"at most {task.num_samples} samples", batch_size)
        checks.random_key("key", key)
        first = 0 if state is None else state.step
        checks.concrete("state", first)
        batching = Batching(key, batch_size, task.num_samples, int(first))  # type: ignore[arg-type]
    recorded = observe is not None or held_out is not None
    rule = Rule(optimiser, loss, observe, every if recorded else num_steps, num_steps)
    data = Data(network, task.unlabelled(), held_out and held_out.unlabelled(), learning_rate)
    memory = None if state is None else state.optimiser
    plain = optimiser is optax.sgd and batch_size in (None, task.num_samples)
    clock = learning_rate if plain and loss is squared_error else None

    def run_of(now: Progress | None) -> Run:
        if now is None:
            return Run(jnp.zeros(0), weights, learning_rate=clock, state=state)
        step = num_steps if checks.is_traced(now) else int(now.step)
        losses: Any = now.losses
        records = now.records
        if step < num_steps:  # by NumPy, which compiles nothing
            losses = np.asarray(losses)[:step]
            records = jax.tree.map(lambda each: np.asarray(each)[: -(-step // rule.every)], records)
        done = step + (0 if state is None else state.step)
        return Run(
            losses,
            now.weights,
            records.get("observed"),
            clock,
            records.get("held_out"),
            State(done, now.memory),
        )

    arguments = weights, data, rule, batching, memory
    now = None
    if not checks.is_traced(arguments):
        try:
            with closing(watched(train_in_chunks(*arguments), num_steps, progress)) as looks:
                for now in looks:
                    if checks.is_traced(now):  # by an enclosing function
                        break
                    _check_finite(now, run_of, learning_rate)
        except KeyboardInterrupt as interrupt:
            interrupt.run = run_of(now)  # type: ignore[attr-defined]
            raise
    if now is None or checks.is_traced(now):
        now = train_all(*arguments)
    return run_of(now)


def check_optimiser(optimiser: Any, learning_rate: Any) -> None:
    """Raise ``ValueError`` unless ``train`` can make an optimiser of the two."""
    number = "a number, or None with optimiser=optax.sgd(schedule)"
    checks.require(not callable(learning_rate), "learning_rate", number, learning_rate)
    instance = hasattr(optimiser, "init") and hasattr(optimiser, "update")
    known = "an optimiser of optax, or a function of the learning rate that returns one"
    usable = (instance or callable(optimiser)) and isinstance(optimiser, Hashable)
    checks.require(usable, "optimiser", known, optimiser)
    number = "a number above 0, or None with an optimiser instance, which has its own step size"
    checks.require(instance == (learning_rate is None), "learning_rate", number, learning_rate)
    if learning_rate is not None:
        checks.positive("learning_rate", learning_rate)
        try:
            made = optimiser(learning_rate)
        except TypeError as error:
            raise ValueError(f"optimiser: expected {known}, got one that raised {error}") from error
        checks.require(hasattr(made, "update"), "optimiser", known, made)


def _check_finite(
    now: Progress, run_of: Callable[[Progress], Run], learning_rate: Scalar | None
) -> None:
    losses = np.asarray(now.losses)[: int(now.step)]
    last = all(np.isfinite(weight).all() for weight in jax.tree.leaves(now.weights))
    finite = np.append(np.isfinite(losses), last)
    if not finite.all():
        step = int(np.argmin(finite))
        infinite = "loss" if step < len(losses) else "weights"
        rate = "the optimiser's step size" if learning_rate is None else repr(learning_rate)
        error = DivergenceError(
            f"learning_rate: the {infinite} became non-finite at step {step}; {rate} is too large"
            if step
            else "weights, task or loss: expected a finite initial loss, got NaN or infinity"
        )
        error.run = run_of(now)._replace(losses=jnp.asarray(losses[:step]), diverged_at=step)
        raise error
