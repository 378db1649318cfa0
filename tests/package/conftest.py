"""For tests that compile many programs for longer than they run them."""

import jax
import pytest


@pytest.fixture(scope="module")
def compiled_in_less_time():
    """Without most optimisations, which round otherwise; chapters are compared with all of them."""
    jax.config.update("jax_disable_most_optimizations", True)
    yield
    jax.config.update("jax_disable_most_optimizations", False)
