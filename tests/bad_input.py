"""What bad input must raise: ``ValueError``, as for a user, whom no checks of types stop."""

from contextlib import contextmanager

import jaxtyping
import pytest


@contextmanager
def refused(match=None):
    """Expect a ``ValueError`` with these words, the run-time checks of types switched off."""
    jaxtyping.config.update("jaxtyping_disable", True)
    try:
        with pytest.raises(ValueError, match=match) as caught:
            yield caught
    finally:
        jaxtyping.config.update("jaxtyping_disable", False)
