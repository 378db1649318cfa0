"""A bar of progress where somebody watches."""

import sys

from tqdm import tqdm

DELAY = 3  # seconds before a bar appears that nobody asked for


def bar_of_steps(num_steps: int, shown: bool | None) -> tqdm:
    """Return a bar of ``num_steps``; None shows it in a terminal or a notebook, if it lasts."""
    disabled = not (is_watched() if shown is None else shown)
    delay = DELAY if shown is None else 0
    return tqdm(total=num_steps, unit="step", disable=disabled, delay=delay)


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
