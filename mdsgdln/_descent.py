"""The loop of training: one compiled program, run for about half a second at a time."""

import inspect
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, Int, PyTree

from mdsgdln import _checks as checks
from mdsgdln._checks import Scalar

SECONDS = 0.5  # between two looks at the run, at which Ctrl-C is heard
COPIES = 4  # times as long as a copy of all records a look takes at least
GROWTH = 32  # of the number of steps from one look to the next, at most
FIRST = 10**8  # products of a sample and a weight before the first look
DRAWN = 2**19  # samples of batches that are drawn at once


class Rule(NamedTuple):
    """What is compiled: a constant of the program."""

    optimiser: Any  # of optax, or a function of the learning rate that returns one
    loss: Callable
    observe: Callable | str | None
    every: int
    num_steps: int

    def instance(self, learning_rate: Scalar | None) -> Any:
        """Return the optimiser."""
        return self.optimiser if learning_rate is None else self.optimiser(learning_rate)


class Data(NamedTuple):
    """What the program reads."""

    network: Any
    task: Any
    held_out: Any
    learning_rate: Scalar | None
    rows: Any = None  # the task's arrays with samples as rows, of which batches are taken
    batches: Int[Array, "steps batch"] | None = None
    start: Any = 0  # step of the first of these batches

    def at(self, step: Any) -> tuple[Any, Any]:
        """Return network and task of a step's batch."""
        if self.batches is None:
            return self.network, self.task
        batch = self.batches[step - self.start]
        return self.network.take(batch), jax.tree.map(lambda rows: rows[batch].T, self.rows)


class Progress(NamedTuple):
    """What a step changes."""

    step: Int[Array, ""] | np.ndarray
    weights: PyTree
    memory: PyTree  # of the optimiser
    losses: Float[Array, " num_steps"]
    records: dict[str, PyTree]  # observed, held_out


@partial(jax.jit, static_argnames="rule")
def start(weights: PyTree, data: Data, rule: Rule) -> Progress:
    """Return what is known before the first step."""
    loss = jax.eval_shape(rule.loss, data.network, weights, data.task)
    shape = getattr(loss, "shape", type(loss))
    checks.require(shape == (), "loss", "a function that returns a number, of shape ()", shape)
    records = jax.tree.map(
        lambda one: jnp.zeros((-(-rule.num_steps // rule.every), *one.shape), one.dtype),
        jax.eval_shape(partial(_record, data=data, rule=rule), weights),
    )
    memory = _call(rule.instance(data.learning_rate).init, weights)
    losses = jnp.zeros(rule.num_steps, loss.dtype)
    return Progress(jnp.zeros((), np.int32), weights, memory, losses, records)


def _record(weights: PyTree, data: Data, rule: Rule) -> dict[str, PyTree]:
    records = {}
    if rule.observe == "outputs":
        records["observed"] = data.network.apply(weights, data.task.inputs)
    elif rule.observe == "loss":
        records["observed"] = rule.loss(data.network, weights, data.task)
    elif callable(rule.observe):
        records["observed"] = rule.observe(weights)
    if data.held_out is not None:
        records["held_out"] = rule.loss(data.network, weights, data.held_out)
    return records


def _call(method: Callable, *arguments: Any, **named: Any) -> Any:
    try:
        return method(*arguments, **named)
    except (AttributeError, TypeError) as error:
        raise ValueError(
            "optimiser: expected one of optax that updates the weights themselves, got one that "
            f"raised {type(error).__name__}, {error}; of a wrapper such as optax.lookahead give "
            "the inner optimiser"
        ) from error


@partial(jax.jit, static_argnames="rule")
def advance(
    progress: Progress, stop: Int[Array, ""] | np.int32 | None, data: Data, fresh: Any, rule: Rule
) -> Progress:
    """Train until step ``stop``, or, if None, all steps in loops that can be differentiated.

    The optimiser's memory is made here if ``fresh``, as one program compiles faster than two.
    """
    optimiser = rule.instance(data.learning_rate)
    asked = inspect.signature(optimiser.update).parameters
    asks_all = any(each.kind is each.VAR_KEYWORD for each in asked.values())

    def update(progress: Progress) -> Progress:
        network, task = data.at(progress.step)

        def value_of(weights):
            return rule.loss(network, weights, task)

        value, gradient = jax.value_and_grad(value_of)(progress.weights)
        offered = {"value": value, "grad": gradient, "value_fn": value_of}  # to a line search
        extra = {name: offered[name] for name in offered if asks_all or name in asked}
        change, memory = _call(
            optimiser.update, gradient, progress.memory, progress.weights, **extra
        )
        weights = optax.apply_updates(progress.weights, change)
        losses = progress.losses.at[progress.step].set(value)
        return Progress(progress.step + 1, weights, memory, losses, progress.records)

    def record(progress: Progress) -> Progress:
        place, between = divmod(progress.step, rule.every)

        def written(many, one):  # a run that goes on between two records keeps the first one
            return many.at[place].set(jnp.where(between == 0, one, many[place]))

        new = _record(progress.weights, data, rule)
        return progress._replace(records=jax.tree.map(written, progress.records, new))

    if stop is None:

        def several(_, progress, number=rule.every):
            return jax.lax.fori_loop(0, number, lambda _, each: update(each), record(progress))

        whole, rest = divmod(rule.num_steps, rule.every)
        progress = jax.lax.fori_loop(0, whole, several, progress)
        return several(None, progress, rest) if rest else progress

    def to_next_record(progress: Progress) -> Progress:
        end = jnp.minimum(stop, progress.step + rule.every - progress.step % rule.every)
        return jax.lax.while_loop(lambda each: each.step < end, update, record(progress))

    memory = jax.tree.map(
        lambda new, old: jnp.where(fresh, new, old),
        _call(optimiser.init, progress.weights),
        progress.memory,
    )
    return jax.lax.while_loop(
        lambda each: each.step < stop, to_next_record, progress._replace(memory=memory)
    )


def train_all(weights: PyTree, data: Data, rule: Rule, batching: Any, memory: PyTree) -> Progress:
    """Return the progress after all steps, traced or not, in one loop."""
    if batching is not None:
        data = batching.of(data, 0, rule.num_steps)
    progress = _resumed(start(weights, data, rule), memory)
    return advance(progress, None, data, None, rule)


def train_in_chunks(
    weights: PyTree, data: Data, rule: Rule, batching: Any, memory: PyTree
) -> Iterator[Progress]:
    """Yield the progress about every half second: one compiled program, whatever its length.

    Where much is recorded, which each look copies, looks are rarer.
    """
    num_steps = window = rule.num_steps
    if batching is not None:
        windows = -(-num_steps * batching.batch_size // DRAWN)
        window = -(-num_steps // windows)
        data = batching.of(data, 0, window)
    progress = start.eval_shape(weights, data, rule)
    keys = [jnp.issubdtype(leaf.dtype, jax.dtypes.extended) for leaf in jax.tree.leaves(progress)]
    # Zeros of NumPy cost no program; a random key has none.
    progress = start(weights, data, rule) if any(keys) else _empty(progress)
    progress = _resumed(progress, memory)._replace(weights=weights)
    done, fresh, aim = 0, memory is None, SECONDS
    num_samples = data.task.num_samples if batching is None else batching.batch_size
    num_weights = sum(np.size(leaf) for leaf in jax.tree.leaves(weights))
    chunk = max(1, FIRST // (num_samples * num_weights))
    while done < num_steps:
        if batching is not None and done and done % window == 0:
            data = batching.of(data, done, window)
        began = time.perf_counter()
        stop = min(done + chunk, num_steps, (done // window + 1) * window)
        progress = advance(progress, np.int32(stop), data, np.bool_(fresh), rule)
        jax.block_until_ready(progress)
        yield progress
        seconds = time.perf_counter() - began
        if not done and stop < num_steps:  # a look copies what is recorded, as this one of no step
            began = time.perf_counter()
            jax.block_until_ready(advance(progress, np.int32(stop), data, np.bool_(False), rule))
            aim = max(SECONDS, COPIES * (time.perf_counter() - began))
        chunk = max(1, int((stop - done) * min(GROWTH, aim / seconds)))
        done, fresh = stop, False


def _empty(shapes: PyTree) -> PyTree:
    return jax.tree.map(lambda each: np.zeros(each.shape, each.dtype), shapes)


def _resumed(progress: Any, memory: PyTree) -> Any:
    """Return the progress with the memory of an earlier run, if there is one."""
    if memory is None:
        return progress
    expected, given = (
        jax.tree.map(lambda leaf: (np.shape(leaf), jnp.result_type(leaf)), each)
        for each in (progress.memory, memory)
    )
    fits = "what the same optimiser and network left in run.state"
    checks.require(expected == given, "state", fits, given)
    return progress._replace(memory=memory)
