"""The machine beneath: what a library has got wrong on some of them."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest


@pytest.mark.parametrize(("dtype", "number"), [(np.float64, 16_385), (np.float32, 32_769)])
def test_a_sum_of_squares_under_vmap_is_right(dtype, number):
    """jaxlib 0.10.2 is wrong on CPUs, by 1 % in the last row (JAX issue 39103)."""
    rows = np.arange(number)[:, None] * np.eye(3)[0].astype(dtype)
    matrix = jnp.eye(3, dtype=dtype)
    found = jax.jit(jax.vmap(lambda row: jnp.sum((matrix @ row) ** 2)))(rows)
    np.testing.assert_allclose(found, np.sum(rows.astype(float) ** 2, axis=1), rtol=1e-6)
