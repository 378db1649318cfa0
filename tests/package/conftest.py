"""Set-up of the package's tests, which spend more time on compilation than on computation."""

import jax
import pytest


@pytest.fixture(autouse=True)
def quick_compilation():
    """Leave out most of XLA's optimisations; chapters and rows are computed with all of them."""
    jax.config.update("jax_disable_most_optimizations", True)
    yield
    jax.config.update("jax_disable_most_optimizations", False)
