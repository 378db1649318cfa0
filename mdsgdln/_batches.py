"""Batches of a task: the same for the same key, from whichever step a run goes on."""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int, PyTree


class Batching(NamedTuple):
    """Shuffled epochs of a task, one after another, cut into batches."""

    key: Array
    batch_size: int
    num_samples: int
    first: int  # batch of the run's first step

    def of(self, data: Any, step: int, number: int) -> Any:
        """Return the data with the batches of ``number`` steps from ``step`` on."""
        first = self.first + step
        batches = draw_batches(self.key, self.num_samples, self.batch_size, number, first)
        rows = _transposed(data.task) if data.rows is None else data.rows
        return data._replace(rows=rows, batches=batches, start=np.int32(step))


@jax.jit
def _transposed(task: PyTree) -> PyTree:
    """Return samples as rows, of which a batch is read faster than of columns."""
    return jax.tree.map(jnp.transpose, task)


def draw_batches(
    key: Array, num_samples: int, batch_size: int, num_steps: int, first: int = 0
) -> Int[Array, "num_steps batch"]:
    """Return the samples of each update from batch ``first`` on, each once in an epoch."""
    epoch, skipped = divmod(first * batch_size, num_samples)
    shape = num_steps, batch_size
    num_epochs = -(-(skipped + num_steps * batch_size) // num_samples)
    return _draw(key, np.int32(epoch), np.int32(skipped), num_epochs, num_samples, shape)


@partial(jax.jit, static_argnames=("num_epochs", "num_samples", "shape"))
def _draw(key, epoch, skipped, num_epochs, num_samples, shape):
    def shuffled(each):  # fold_in(key, n) is the n-th key of jax.random.split
        samples = jnp.arange(num_samples, dtype=np.int32)
        return jax.random.permutation(jax.random.fold_in(key, each), samples)

    epochs = jax.vmap(shuffled)(epoch + jnp.arange(num_epochs, dtype=np.int32))
    size = shape[0] * shape[1]
    return jax.lax.dynamic_slice_in_dim(epochs.reshape(-1), skipped, size).reshape(shape)
