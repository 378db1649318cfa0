"""Clear words for bad input: every check names the argument, what was expected and what came."""

import operator
from collections.abc import Iterable, Mapping, Sequence
from types import UnionType
from typing import Any, TypeGuard

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
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
    """Return ``value`` as a float array of ``num_axes`` axes, all entries finite."""
    array = real_array(name, value, axes)
    if array.ndim != num_axes or (array.size == 0 and not may_be_empty):
        raise ValueError(f"{name}: expected a non-empty array of shape {axes}, got {array.shape}")
    finite(name, array)
    return array


def real_array(name: str, value: Numbers, axes: str) -> Array:
    """Return ``value`` as a float array, which only real numbers can be."""
    try:
        with jax.ensure_compile_time_eval():  # data stay concrete inside a compiled function
            array = jnp.asarray(value)
            if jnp.issubdtype(array.dtype, np.complexfloating):
                raise TypeError("complex numbers")
            if isinstance(array, Tracer) or jnp.issubdtype(array.dtype, np.floating):
                return array.astype(float)
            return jnp.asarray(np.asarray(array), float)  # whole numbers, without compiling
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{name}: expected numbers of shape {axes}, got {value!r:.80}") from error


def finite(name: str, array: ArrayLike) -> None:
    """Refuse infinite entries and NaN; a traced array passes unchecked."""
    if not isinstance(array, Tracer) and not np.isfinite(array).all():
        raise ValueError(f"{name}: expected finite entries, got NaN or infinity")


def known(name: str, value: object) -> None:
    """Refuse what JAX traces, as it does what ``jax.jit`` is given."""
    advice = "let the function that is compiled close over it rather than take it as an argument"
    if any(isinstance(leaf, Tracer) for leaf in jax.tree.leaves(value)):
        raise ValueError(f"{name}: expected numbers, got what JAX traces; {advice}")


def times(value: Numbers) -> Array:
    """Return times as an array (T,), which increase from 0 on."""
    array = finite_array("times", value, 1, "(T,)")
    if not isinstance(array, Tracer) and (np.diff(array, prepend=0.0) < 0).any():
        raise ValueError("times: expected increasing times from 0 on")
    return array


def positive_integer(name: str, value: int) -> int:
    """Return ``value`` as an ``int`` of at least one."""
    try:
        number = 0 if isinstance(value, bool | np.bool_) else operator.index(value)
    except TypeError:
        number = 0
    if number < 1:
        raise ValueError(f"{name}: expected a positive integer, got {value!r:.80}")
    return number


def non_negative(name: str, value: Scalar) -> Scalar:
    """Return ``value`` as a finite number of at least zero; a traced one passes unchecked."""
    if isinstance(value, Tracer):
        return value
    try:
        number = np.nan if isinstance(value, str | bytes) or np.ndim(value) else float(value)
    except (TypeError, ValueError):
        number = np.nan
    if not 0 <= number < np.inf:
        raise ValueError(f"{name}: expected a finite number of at least 0, got {value!r:.80}")
    return number


def positive(name: str, value: Scalar) -> Scalar:
    """Return ``value`` unchanged, a finite number above zero; a traced one passes unchecked."""
    if not isinstance(value, Tracer) and non_negative(name, value) == 0:
        raise ValueError(f"{name}: expected a number above 0, got {value!r}")
    return value


def is_list(value: Numbers) -> TypeGuard[Iterable]:
    """Return whether ``value`` is several numbers, traced ones included, not one."""
    return isinstance(value, Sequence) or getattr(value, "ndim", 0) > 0


def num_rows(name: str, found: int, expected: int) -> None:
    """Refuse data that have not as many rows as the network."""
    if found != expected:
        raise ValueError(f"{name}: expected {expected} rows, as the network has, got {found}")


def of_shape(name: str, array: Array, shape: tuple[int, ...]) -> None:
    """Refuse an array of another shape."""
    if array.shape != shape:
        raise ValueError(f"{name}: expected shape {shape}, got {array.shape}")


def weight(name: str, value: Numbers, shape: tuple[int, ...]) -> None:
    """Refuse all but an array of that shape: products of lists end in a bare ``TypeError``."""
    instance(name, value, Array | np.ndarray)
    array = real_array(name, value, str(shape))
    of_shape(name, array, shape)
    finite(name, array)


def instance(name: str, value: object, kind: type | UnionType) -> None:
    """Refuse what is not of that type, or of one of several."""
    if not isinstance(value, kind):
        expected = kind.__name__ if isinstance(kind, type) else str(kind)
        raise ValueError(f"{name}: expected {expected}, got {value!r:.80}")


def several(name: str, value: Any, number: int | None = None) -> None:
    """Refuse what is not a list or the like, of that many entries."""
    kind = isinstance(value, str | bytes | Mapping) or not np.iterable(value)
    if kind or (number is not None and len(value) != number):
        expected = "several" if number is None else number
        raise ValueError(f"{name}: expected a list of {expected}, got {value!r:.80}")


def function(name: str, value: object) -> None:
    """Refuse what cannot be called."""
    if not callable(value):
        raise ValueError(f"{name}: expected a function, got {value!r:.80}")


def random_key(name: str, value: Any) -> None:
    """Refuse all but one random key of JAX, of either kind."""
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
    """Return one standard deviation per place, above zero, where the gradient vanishes."""
    return [positive("scale", sigma) for sigma in scales(scale, places)]
