"""A bar of progress where somebody watches."""

import sys
from collections.abc import Generator, Iterable
from typing import Any

from tqdm import tqdm

DELAY = 3  # seconds before a bar appears that nobody asked for


class _Bar(tqdm):
    """A bar without tqdm's thread, which waits for ever if Ctrl-C leaves the lock of bars taken."""

    monitor_interval = 0


def watched(looks: Iterable[Any], num_steps: int, shown: bool | None) -> Generator[Any, None, None]:
    """Yield each look at a run, whose bar is shown, or if None in a terminal or a notebook."""
    if not (is_watched() if shown is None else shown):
        yield from looks
        return
    with _Bar(total=num_steps, unit="step", delay=DELAY if shown is None else 0) as bar:
        for look in looks:
            yield look
            bar.update(int(look.step) - bar.n)


def is_watched() -> bool:
    """Return whether a person sees what is written: not in a log or an executed page.

    A kernel is asked to execute a cell together with whether somebody could answer a question.
    Front ends say yes; what executes whole pages (nbclient, nbval, papermill) says no.
    """
    if "IPython" in sys.modules:
        kernel = getattr(sys.modules["IPython"].get_ipython(), "kernel", None)
        if kernel is not None:
            return kernel.get_parent().get("content", {}).get("allow_stdin", False)
    return sys.stderr is not None and sys.stderr.isatty()
