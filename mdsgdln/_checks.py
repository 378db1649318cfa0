"""Clear words for bad input: every check names the argument, what was expected and what came."""

import operator
from collections.abc import Iterable, Mapping, Sequence, Sized
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
    """Return ``value`` as a float array; single and double precision stay what they are."""
    if isinstance(value, Tracer):
        return value if jnp.issubdtype(value.dtype, np.floating) else value.astype(float)
    if hasattr(value, "toarray"):
        raise ValueError(f"{name}: expected a dense array, got a sparse one: use {name}.toarray()")
    advice = ""
    try:
        array = np.asarray(value)
        if array.dtype.kind in "US":
            advice = "; name classes by one-hot rows, as numpy.eye(K)[labels]"
        if array.dtype.kind not in "biufO" and not jnp.issubdtype(array.dtype, np.floating):
            raise TypeError(array.dtype)  # complex numbers, texts, dates
        wide = array.dtype in (np.float32, np.float64)
        with jax.ensure_compile_time_eval():  # data stay concrete inside a compiled function
            # Without a dtype JAX compiles a program for each shape.
            return jnp.asarray(array, jax.dtypes.canonicalize_dtype(array.dtype if wide else float))
    except (TypeError, ValueError, OverflowError) as error:
        if any(isinstance(leaf, Tracer) for leaf in jax.tree.leaves(value)):
            return jnp.asarray(value, float)  # a list that holds traced numbers
        raise ValueError(
            f"{name}: expected numbers of shape {axes}, got {value!r:.80}{advice}"
        ) from error


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


def _number(value: Scalar) -> float:
    """Return ``value`` as a number, NaN if it is none."""
    try:
        return np.nan if isinstance(value, str | bytes) or np.ndim(value) else float(value)
    except (TypeError, ValueError):
        return np.nan


def non_negative(name: str, value: Scalar) -> Scalar:
    """Return ``value`` as a finite number of at least zero; a traced one passes unchecked."""
    if isinstance(value, Tracer):
        return value
    if not 0 <= _number(value) < np.inf:
        raise ValueError(f"{name}: expected a finite number of at least 0, got {value!r:.80}")
    return float(value)


def positive(name: str, value: Scalar) -> Scalar:
    """Return ``value`` unchanged, a finite number above zero; a traced one passes unchecked."""
    if not isinstance(value, Tracer) and not 0 < _number(value) < np.inf:
        raise ValueError(f"{name}: expected a finite number above 0, got {value!r:.80}")
    return value


def is_list(value: Any) -> TypeGuard[Iterable]:
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
    text = isinstance(value, str | bytes | Mapping)
    length = len(value) if isinstance(value, Sized) and np.iterable(value) else None
    if text or not np.iterable(value) or number not in (None, length):
        expected = "several" if number is None else number
        raise ValueError(f"{name}: expected a list of {expected}, got {value!r:.80}")


def rows_of_samples(name: str, outputs: Any) -> Array:
    """Return outputs (P, N_out), or (P,) of a single one, as rows, or raise ``ValueError``."""
    array = real_array(name, plain(outputs), "(P, N_out) or (P,)")
    array = array[:, None] if array.ndim == 1 else array
    return finite_array(name, array, 2, "(P, N_out) or (P,)")


def sample_indices(name: str, columns: Numbers | slice, num_samples: int) -> np.ndarray | Array:
    """Return indices, a slice or a Boolean mask of samples as indices; traced ones unchecked."""
    if isinstance(columns, Tracer):
        return columns
    try:
        indices = np.atleast_1d(np.arange(num_samples)[columns])  # type: ignore[index]  # or an error
    except (IndexError, TypeError) as error:
        raise ValueError(
            f"{name}: expected indices of {num_samples} samples, got {columns!r:.80}"
        ) from error
    if indices.ndim != 1 or indices.size == 0:
        raise ValueError(f"{name}: expected at least one sample, got {columns!r:.80}")
    return indices


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
