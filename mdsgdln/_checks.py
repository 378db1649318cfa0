"""Checks of arguments: an error names the argument, what was expected and what was received.

What JAX traces has no values yet, and passes wherever values would be checked.
"""

import operator
from collections.abc import Mapping, Sequence, Sized
from types import UnionType
from typing import Any, get_args

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, ArrayLike

Scalar = float | int | np.number | Array
Numbers = ArrayLike | Sequence  # whatever jnp.asarray takes; shapes are checked in words


def require(holds: Any, name: str, expected: str, received: object) -> None:
    if not holds:
        raise ValueError(f"{name}: expected {expected}, got {received!r:.120}")


def finite_array(
    name: str, value: Any, num_axes: int, axes: str, may_be_empty: bool = False
) -> Array:
    array = real_array(name, value, axes)
    fits = array.ndim == num_axes and (array.size or may_be_empty)
    require(fits, name, f"a non-empty array of shape {axes}", array.shape)
    finite(name, array)
    return array


def concrete_array(name: str, value: Any, num_axes: int, axes: str) -> np.ndarray:
    """Return a NumPy array; refuse what JAX traces, which has none."""
    concrete(name, value)
    return np.asarray(finite_array(name, value, num_axes, axes))


def is_traced(*values: Any) -> bool:
    """Return whether JAX traces any of these arrays or pytrees, so that they have no values yet."""
    return any(isinstance(leaf, Tracer) for leaf in jax.tree.leaves(values))


def real_array(name: str, value: Any, axes: str) -> Array:
    """Return a float array: single and double precision stay, all else becomes JAX's default."""
    dense(name, value)
    parts = value if isinstance(value, list | tuple) else ()
    require(not any(map(np.ma.is_masked, (value, *parts))), name, "numbers without a mask", value)
    if is_traced(value):  # or a list that holds traced numbers
        array = jnp.asarray(value)
        return array if jnp.issubdtype(array.dtype, np.floating) else array.astype(float)
    if isinstance(value, Array) and value.dtype == jnp.result_type(float) and not value.weak_type:
        return value  # as it is, and where it is
    if hasattr(value, "detach"):  # a PyTorch tensor, perhaps on a GPU or with a gradient
        value = value.detach().cpu()
        value = value.double() if value.element_size() < 4 else value  # NumPy has no bfloat16
    advice = ""
    try:
        array = np.asarray(value)
        if array.dtype.kind in "US":
            advice = (
                "; numpy.unique(names, return_inverse=True)[1] numbers names, and "
                "numpy.eye(K)[numbers] has their one-hot rows"
            )
        if array.dtype.kind not in "biufO" and not jnp.issubdtype(array.dtype, np.floating):
            raise TypeError(array.dtype)  # complex numbers, text, dates
        wide = array.dtype in (np.float32, np.float64)
        with jax.ensure_compile_time_eval():  # data stay concrete inside a compiled function
            # A copy, as its owner may change it, through another view of what is read here, too.
            # If JAX makes it, or is given no dtype, it compiles a program for each shape.
            dtype = jax.dtypes.canonicalize_dtype(array.dtype if wide else float)
            return jnp.asarray(np.array(array, dtype), dtype)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(
            f"{name}: expected numbers of shape {axes}, got {value!r:.80}{advice}"
        ) from error


def dense(name: str, value: Any) -> None:
    """Refuse sparse arrays at once: NumPy would convert JAX's entry by entry, for minutes."""
    for method in ("toarray", "todense"):  # of SciPy, of JAX
        if hasattr(value, method):
            raise ValueError(
                f"{name}: expected a dense array, got a sparse one: use {name}.{method}()"
            )


def finite(name: str, array: ArrayLike) -> None:
    if not is_traced(array) and not np.isfinite(array).all():
        raise ValueError(f"{name}: expected finite entries, got NaN or infinity")


def concrete(name: str, value: object) -> None:
    if is_traced(value):
        raise ValueError(
            f"{name}: expected concrete numbers, got what JAX traces; leave them out of the "
            "arguments of the compiled function, or call this outside of it"
        )


def times(value: Numbers, increasing: bool = True) -> Array:
    array = finite_array("times", value, 1, "(T,)")
    if not is_traced(array):
        steps = np.diff(array, prepend=0.0) if increasing else np.asarray(array)
        expected = f"{'increasing ' * increasing}times of at least 0"
        require((steps >= 0).all(), "times", expected, value)
    return array


def index(value: Any) -> int:
    """Return a Python integer; TypeError for Booleans, which are masks, and all else."""
    if isinstance(value, bool | np.bool_):
        raise TypeError("a Boolean")
    return operator.index(value)


def positive_integer(name: str, value: int) -> int:
    try:
        number = index(value)
    except TypeError:
        number = 0
    require(number > 0, name, "a positive integer", value)
    return number


def seed(value: int) -> None:
    instance("seed", value, int | np.integer)
    require(value >= 0, "seed", "an integer of at least 0", value)


def positive(name: str, value: Scalar, or_zero: bool = False) -> Scalar:
    if is_traced(value):
        return value
    try:
        number = np.nan if isinstance(value, str | bytes) or np.ndim(value) else float(value)
    except (TypeError, ValueError):
        number = np.nan
    holds = 0 < number < np.inf or (number == 0 and or_zero)
    require(holds, name, f"a finite number {'of at least' if or_zero else 'above'} 0", value)
    return number


def one_per_place(name: str, value: Any, number: int) -> list:
    """Return a value per place, from a list of them or one for all."""
    is_list = isinstance(value, Sequence) or getattr(value, "ndim", 0) > 0
    values = list(value) if is_list else [value] * number
    require(len(values) == number, name, f"one or {number}", value)
    return values


def of_shape(name: str, array: Array | np.ndarray, shape: tuple[int, ...]) -> None:
    require(array.shape == shape, name, f"shape {shape}", array.shape)


def weight(name: str, value: Numbers, shape: tuple[int, ...]) -> None:
    """Accept arrays only: products of nested lists end in a bare ``TypeError``."""
    instance(name, value, Array | np.ndarray)
    of_shape(name, finite_array(name, value, len(shape), str(shape)), shape)


def instance(name: str, value: object, kind: type | UnionType) -> None:
    expected = " or ".join(each.__name__ for each in get_args(kind) or (kind,))
    require(isinstance(value, kind), name, expected, value)


def function(name: str, value: object) -> None:
    require(callable(value), name, "a function", value)


def several(name: str, value: Any, number: int | None = None) -> None:
    text = isinstance(value, str | bytes | Mapping)
    length = len(value) if isinstance(value, Sized) and np.iterable(value) else None
    fits = not text and np.iterable(value) and number in (None, length)
    require(fits, name, "a list" if number is None else f"a list of length {number}", value)


def single_or_double(array: Any) -> Any:
    """Return half precision, in which small updates vanish, and integers in JAX's default."""
    kind = getattr(array, "dtype", np.dtype(float))
    low = (
        jnp.issubdtype(kind, np.integer) or jnp.issubdtype(kind, np.floating) and kind.itemsize < 4
    )
    return jnp.asarray(array, float) if low else array


def rows_of_samples(name: str, outputs: Any) -> Array:
    """Return outputs (P, N_out), or (P,) of a single output, with an axis of outputs."""
    axes = "(P, N_out) or (P,)"
    array = real_array(name, outputs, axes)
    return finite_array(name, array[:, None] if array.ndim == 1 else array, 2, axes)


def sample_indices(name: str, columns: Numbers | slice, num_samples: int) -> np.ndarray | Array:
    """Return the samples of indices, a slice or a Boolean mask, as indices."""
    if is_traced(columns):
        return columns  # type: ignore[return-value]  # an array
    try:
        columns = list(columns) if isinstance(columns, tuple) else columns
        indices = np.atleast_1d(np.arange(num_samples)[columns])  # type: ignore[index]  # or an error
    except (IndexError, TypeError) as error:
        raise ValueError(
            f"{name}: expected indices of {num_samples} samples, got {columns!r:.80}"
        ) from error
    require(indices.ndim == 1 and indices.size, name, "at least one sample", columns)
    return indices


def random_key(name: str, value: Any) -> None:
    typed = isinstance(value, Array) and jnp.issubdtype(value.dtype, jax.dtypes.prng_key)
    raw = isinstance(value, Array) and value.dtype == np.uint32
    single = typed and value.ndim == 0 or raw and value.ndim == 1
    require(single, name, "a random key, as of jax.random.key", value)


def neuron_per_mode(node: object, num_modes: int, neurons: int, advice: str = "") -> None:
    expected = f"a neuron per mode, {num_modes}, in {node!r}{advice}"
    require(num_modes <= neurons, "network", expected, neurons)


def scales(
    scale: Scalar | Sequence[Scalar] | Mapping, places: tuple, or_zero: bool = True
) -> list[Scalar]:
    """Return one standard deviation per place, from a number, a sequence or {place: number}."""
    if isinstance(scale, Mapping):
        require(set(scale) == set(places), "scale", f"one for each of {list(places)}", [*scale])
        scale = [scale[place] for place in places]
    scales = one_per_place("scale", scale, len(places))
    return [positive("scale", sigma, or_zero) for sigma in scales]
