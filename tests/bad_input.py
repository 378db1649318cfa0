"""What bad input must raise.

A wrong shape or value raises ``ValueError``. A wrong *type* does too for a user; under the run-time
type checks of these tests it stops earlier, with jaxtyping's ``TypeError``. ``make test`` runs the
tests of bad input without the type checks, where only ``ValueError`` will do.
"""

import os

CHECKED = os.environ.get("TYPECHECK", "on") == "on"
BAD_INPUT = (ValueError, TypeError) if CHECKED else ValueError
