"""Tests of the package compile many small programs for longer than they run them."""

import jax
import pytest


@pytest.fixture(scope="module", autouse=True)
def compiled_in_less_time():
    jax.config.update("jax_disable_most_optimizations", True)
    yield
    jax.config.update("jax_disable_most_optimizations", False)
