"""Clear words for bad input: every check names the argument, what was expected and what came."""

import operator
from collections.abc import Iterable, Mapping, Sequence
from types import UnionType
from typing import Any, TypeGuard

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, ArrayLike

Scalar = float | int | np.number | Array
Numbers = ArrayLike | Sequence  # whatever jnp.asarray takes; shapes are checked in words


def plain(value: Any) -> Any:
    """Return a table or tensor of another library as an array of NumPy, all else as it is."""
    if isinstance(value, Array) or not hasattr(value, "__array__"):
        return value
    return np.asarray(value.detach().cpu() if hasattr(value, "detach") else value)


def finite_array(
    name: str, value: Numbers, num_axes: int, axes: str, may_be_empty: bool = False
) -> Array:
    """Return ``value`` as a float array of ``num_axes`` axes, all entries finite.

    Raises:
        ValueError: wrong number of axes, no entry, not numeric, or a non-finite entry.
    """
    array = real_array(name, value, axes)
    if array.ndim != num_axes or (array.size == 0 and not may_be_empty):
        raise ValueError(f"{name}: expected a non-empty array of shape {axes}, got {array.shape}")
    finite(name, array)
    return array


def real_array(name: str, value: Numbers, axes: str) -> Array:
    """Return ``value`` as a float array, or raise ``ValueError`` unless it holds real numbers."""
    try:
        with jax.ensure_compile_time_eval():  # data stay concrete inside a compiled function
            array = jnp.asarray(value)
            if jnp.issubdtype(array.dtype, np.complexfloating):
                raise TypeError("complex numbers")
            return array.astype(float)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{name}: expected numbers of shape {axes}, got {value!r:.80}") from error


def finite(name: str, array: ArrayLike) -> None:
    """Raise ``ValueError`` if an entry is infinite or NaN; a traced array passes unchecked."""
    if not isinstance(array, jax.core.Tracer) and not np.isfinite(array).all():
        raise ValueError(f"{name}: expected finite entries, got NaN or infinity")


def known(name: str, value: object) -> None:
    """Raise ``ValueError`` if JAX traces ``value``, as it does what ``jax.jit`` is given."""
    if any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves(value)):
        raise ValueError(
            f"{name}: expected numbers, got what JAX traces; let the function that is compiled "
            "close over it rather than take it as an argument"
        )


def times(value: Numbers) -> Array:
    """Return times as an array (T,), or raise ``ValueError`` unless they increase from 0 on."""
    array = finite_array("times", value, 1, "(T,)")
    if not isinstance(array, jax.core.Tracer) and (np.diff(array, prepend=0.0) < 0).any():
        raise ValueError("times: expected increasing times from 0 on")
    return array


def positive_integer(name: str, value: int) -> int:
    """Return ``value`` as an ``int`` of at least one, or raise ``ValueError``."""
    try:
        number = operator.index(value)
    except TypeError as error:
        raise ValueError(f"{name}: expected a positive integer, got {value!r}") from error
    if isinstance(value, bool | np.bool_) or number < 1:
        raise ValueError(f"{name}: expected a positive integer, got {value!r}")
    return number


def non_negative(name: str, value: Scalar) -> Scalar:
    """Return ``value`` if it is a finite number of at least zero, or raise ``ValueError``.

    A traced value passes unchecked, so that functions of it can be differentiated.
    """
    if isinstance(value, jax.core.Tracer):
        return value
    try:
        if isinstance(value, str | bytes) or np.ndim(value):
            raise TypeError("not a number")
        number = float(value)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name}: expected a number of at least 0, got {value!r:.80}") from error
    if not np.isfinite(number) or number < 0:
        raise ValueError(f"{name}: expected a finite number of at least 0, got {value!r:.80}")
    return number


def positive(name: str, value: Scalar) -> Scalar:
    """Return ``value`` unchanged if it is a finite number above zero, or raise ``ValueError``."""
    if not isinstance(value, jax.core.Tracer) and non_negative(name, value) == 0:
        raise ValueError(f"{name}: expected a number above 0, got {value!r}")
    return value


def is_list(value: Numbers) -> TypeGuard[Iterable]:
    """Return whether ``value`` is several numbers, traced ones included, not one."""
    return isinstance(value, Sequence) or getattr(value, "ndim", 0) > 0


def matrix(name: str, value: Numbers) -> Array:
    """Return ``value`` as an array of two axes, or raise ``ValueError``."""
    array = real_array(name, value, "(N_in, P)")
    if array.ndim != 2 or array.shape[1] == 0:
        raise ValueError(f"{name}: expected shape (N_in, P), got {array.shape}")
    finite(name, array)
    return array


def num_rows(name: str, found: int, expected: int) -> None:
    """Raise ``ValueError`` unless the data have the number of rows that the network has."""
    if found != expected:
        raise ValueError(f"{name}: expected {expected} rows, as the network has, got {found}")


def weight(name: str, value: Numbers, shape: tuple[int, ...]) -> None:
    """Raise ``ValueError`` unless ``value`` is an array of that shape, all entries finite."""
    if not isinstance(value, Array | np.ndarray):  # products of lists end in a bare TypeError
        raise ValueError(f"{name}: expected an array of shape {shape}, got {value!r:.80}")
    array = real_array(name, value, str(shape))
    of_shape(name, array, shape)
    finite(name, array)


def of_shape(name: str, array: Array, shape: tuple[int, ...]) -> None:
    """Raise ``ValueError`` unless an array has that shape."""
    if array.shape != shape:
        raise ValueError(f"{name}: expected shape {shape}, got {array.shape}")


def instance(name: str, value: object, kind: type | UnionType) -> None:
    """Raise ``ValueError`` unless ``value`` is of that type, or of one of several."""
    if not isinstance(value, kind):
        expected = kind.__name__ if isinstance(kind, type) else str(kind)
        raise ValueError(f"{name}: expected {expected}, got {value!r:.80}")


def several(name: str, value: Any, number: int | None = None) -> None:
    """Raise ``ValueError`` unless ``value`` is a list or the like, of that many entries."""
    kind = isinstance(value, str | bytes | Mapping) or not np.iterable(value)
    if kind or (number is not None and len(value) != number):
        expected = "several" if number is None else number
        raise ValueError(f"{name}: expected a list of {expected}, got {value!r:.80}")


def function(name: str, value: object) -> None:
    """Raise ``ValueError`` unless ``value`` can be called."""
    if not callable(value):
        raise ValueError(f"{name}: expected a function, got {value!r:.80}")


def random_key(name: str, value: Any) -> None:
    """Raise ``ValueError`` unless ``value`` is one JAX random key."""
    typed = isinstance(value, Array) and jnp.issubdtype(value.dtype, jax.dtypes.prng_key)
    raw = isinstance(value, Array) and value.dtype == np.uint32
    if not (typed and value.ndim == 0 or raw and value.ndim == 1):
        raise ValueError(f"{name}: expected a random key, as of jax.random.key, got {value!r:.80}")


def scales(scale: Scalar | Sequence[Scalar] | Mapping, places: tuple) -> list[Scalar]:
    """Return one standard deviation per place from a number, a sequence or {place: number}."""
    if isinstance(scale, Mapping):
        if set(scale) != set(places):
            raise ValueError(f"scale: expected one for each of {list(places)}, got {list(scale)}")
        scale = [scale[place] for place in places]
    scales: list = list(scale) if is_list(scale) else [scale] * len(places)
    if len(scales) != len(places):
        raise ValueError(f"scale: expected a number or {len(places)}, got {len(scales)}")
    return [non_negative("scale", sigma) for sigma in scales]


def initial_scales(scale: Scalar | Sequence[Scalar] | Mapping, places: tuple) -> list[Scalar]:
    """Return one standard deviation above zero per place: of zero weights nothing can be said.

    At zero the gradient of two layers vanishes; what small weights do depends on how small.
    """
    return [positive("scale", sigma) for sigma in scales(scale, places)]
