"""Set-up of all tests: double precision, strict broadcasting, shapes checked at run time."""

import os

import jax
import pytest
from jaxtyping import install_import_hook

os.environ["BOOK_STRICT"] = "yes"  # in chapters, a claim outside its bound is an error
jax.config.update("jax_enable_x64", True)
jax.config.update("jax_numpy_rank_promotion", "raise")

# Before anything imports mdsgdln: its annotations are then checked at every call. The kernels that
# nbval starts are processes of their own, so chapters run as they do for a reader.
install_import_hook("mdsgdln", "beartype.beartype")

# Not compared by nbval: pictures and HTML, and what third parties write to stderr. Numbers recorded
# for the ledger are compared (application/papermill.record/text/plain).
NOT_COMPARED = (
    "stderr",
    "text/html",
    "image/svg+xml",
    "application/papermill.record/text/html",
    "application/papermill.record/image/png",
    "application/papermill.record/image/svg+xml",
)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers():
    """Tell `-n auto` how many processes; where the book is not, pytest-xdist decides."""
    try:
        from _ext.cores import cores
    except ModuleNotFoundError:
        return None
    return cores()


def pytest_collectstart(collector):
    """Tell nbval's notebooks what not to compare; the size of a figure is no result."""
    if hasattr(collector, "skip_compare"):
        collector.skip_compare += NOT_COMPARED
        collector.sanitize_patterns[r"<Figure size \d+x\d+"] = "<Figure"


@pytest.fixture(scope="module")
def compiled_in_less_time():
    """Without most optimisations, which round otherwise; chapters are compared with all of them."""
    jax.config.update("jax_disable_most_optimizations", True)
    yield
    jax.config.update("jax_disable_most_optimizations", False)
    jax.clear_caches()  # or other modules run what was compiled so
