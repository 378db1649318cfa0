"""Predict a training run, and how far the prediction is off."""

import warnings
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array

from mdsgdln import _checks as checks
from mdsgdln._checks import Scalar
from mdsgdln.losses import Loss, deviation, squared_error
from mdsgdln.networks import GatedNetwork, Layered
from mdsgdln.prediction.choices import LAST
from mdsgdln.prediction.stand_ins import choose_stand_in
from mdsgdln.tasks import Task
from mdsgdln.training import DivergenceError, Optimiser, Run, check_optimiser, train

RATE = 0.1  # at which a rule is tested where JAX traces the learning rate
LARGE = 0.1  # estimated error from which there is a warning


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
    held_out: Task | None = None,
    every: int = 1,
) -> Run:
    """Predict a training run from the data and the size σ of the initial weights.

    Weights are drawn as Gaussian ones; uniform ones of the same σ learn alike if neurons have many
    inputs, but not with one or two.

    It trains the small network that ``stand_in`` returns. With the initial weights in place of σ
    the prediction for a gated or linear network is exact. Arguments that are not listed are those
    of ``train``.

    The error is estimated from a second stand-in, with another key and other batches: half as many
    random neurons in place of N, as many as the network has (up to 4096) where inputs and bias
    span at most three dimensions or the activation has no slope at zero, or one draw of the weights
    of a gated or linear network in place of their mean. ``error`` is Δ, the deviation between the
    two curves (with more hidden layers the root mean square of three, as curves vary more); of a
    gated or linear network at least the error that one draw in twenty exceeds (``scatter``). Curves
    of N random neurons scatter as N^{-1/2}: from this and Δ follows ``seed_difference``. What the
    choice of batches adds to Δ is taken to be the mean difference of successive losses. Δ compares
    few curves, so that another key may give several times more or less. With one or two inputs, or
    squared ReLUs, where rare neurons of a wide network may decide, more ``num_neurons`` help.
    Initial outputs below a tenth of the targets are left out: predictions may be some per cent off
    if the loss hardly falls, as in a few steps of Adam.

    Args:
        network: a gated or linear network, or one with hidden layers of any activation.
        scale: σ of the initial weights, or one per layer (edge), or the weights themselves.
        key: JAX random key of the stand-in's neurons, and of batches, the same as in ``train``.
        num_neurons: the largest number of neurons that represent a layer.
        held_out: another task, whose loss is predicted too.
        every: steps between two losses of ``held_out``.

    Returns:
        the run of the stand-in. ``losses`` is the predicted curve, ``error`` its estimated relative
        L1 error and ``seed_difference`` that between two seeds of the network, both 0 if the
        prediction is exact (with batches: of the same key); ``held_out_error`` is that of
        ``held_out``. ``weights`` is None, as those of a stand-in are in other bases, unless the
        stand-in is the network itself.

    Warns:
        UserWarning: the estimated error is above a tenth.
    """
    rule = _instance(optimiser, learning_rate)
    choice = choose_stand_in(
        network, scale, task, num_neurons, key, rule, loss, num_steps, held_out
    )

    def run(number: int) -> Run:
        small, weights, data = choice.make(number)
        first, rest = data, None
        if held_out is not None:
            first = data.take(slice(task.num_samples))
            rest = data.take(slice(task.num_samples, None))
        return train(
            small,
            weights,
            first,
            learning_rate,
            num_steps,
            optimiser=optimiser,
            loss=loss,
            batch_size=batch_size,
            key=jax.random.fold_in(key, LAST - number) if number and batch_size else key,  # type: ignore[arg-type]
            held_out=rest,
            every=every,
        )

    predicted = run(0)
    if not choice.is_itself:
        predicted = predicted._replace(weights=None, state=None)
    if not choice.seeds:
        far: Any = None if held_out is None else 0.0
        return predicted._replace(error=0.0, seed_difference=0.0, held_out_error=far)
    far = None if held_out is None else np.inf
    try:
        others = [run(number) for number in range(1, choice.others + 1)]
    except DivergenceError:
        error: Any = np.inf
    else:
        error = _distance([other.losses for other in others], predicted.losses)
        if held_out is not None:
            far = _distance([other.held_out for other in others], predicted.held_out)
    library = jnp if checks.is_traced(error) else np  # NumPy compiles nothing
    noise = 0.0
    if batch_size is not None:  # the mean difference of successive losses over the mean loss
        rough = library.abs(library.diff(predicted.losses)).sum()
        noise = library.minimum(rough / library.abs(predicted.losses).sum(), error)
    seeds = (noise**2 + choice.seeds**2 * (error**2 - noise**2)) ** 0.5
    if choice.expected:
        larger = jnp.maximum if checks.is_traced(error) else max
        error = larger(error, choice.expected)
    predicted = predicted._replace(error=error, seed_difference=seeds, held_out_error=far)
    if not checks.is_traced(error) and not error <= LARGE:
        warnings.warn(
            f"predict: the curve may be {error:.0%} off, as it estimates; "
            f"two seeds of the network may differ by {seeds:.1%}",
            stacklevel=2,
        )
    return predicted


def _distance(curves: Sequence[Any], reference: Any) -> Any:
    """Return the root of the mean square of the curves' relative errors."""
    errors = [deviation(curve, reference, learned=None) for curve in curves]
    return errors[0] if len(errors) == 1 else (sum(e**2 for e in errors) / len(errors)) ** 0.5


def _instance(
    optimiser: Optimiser | None, learning_rate: Any
) -> optax.GradientTransformation | None:
    """Return the optimiser with its learning rate; None for gradient descent."""
    check_optimiser(optax.sgd if optimiser is None else optimiser, learning_rate)
    if isinstance(optimiser, optax.MultiSteps):
        return optimiser.gradient_transformation()
    if optimiser is None or learning_rate is None:
        return optimiser
    known = isinstance(learning_rate, float | int | np.number)
    return _build(optimiser, float(learning_rate) if known else RATE)


@lru_cache(maxsize=64)
def _build(optimiser: Any, learning_rate: float) -> Any:
    """Return the same object for the same rule, so that it is tested once."""
    return optimiser(learning_rate)
