"""Pictures of digits: the small set that scikit-learn brings, and MNIST for readers online.

scikit-learn is imported inside the functions: that takes about a second, which every import of the
package would pay.
"""

from pathlib import Path

import numpy as np

from mdsgdln import _checks as checks
from mdsgdln.tasks.task import Task


def digits() -> Task:
    """Return scikit-learn's 1797 handwritten digits: pixels (64, P) in 0 … 1, one-hot targets.

    The set is part of scikit-learn: nothing is fetched. Labels name the digit of each sample; a
    picture is a column of the inputs as 8 × 8, row by row.
    """
    from sklearn.datasets import load_digits

    found = load_digits()
    return _classes(found.data.T / 16, found.target)


def mnist(folder: str | Path | None = None) -> Task:
    """Return MNIST's 70 000 digits: pixels (784, P) in 0 … 1, one-hot targets.

    Args:
        folder: where scikit-learn keeps its data, as ``data_home`` of its ``fetch_openml``; its own
            default if not given. The first call fetches about 15 MB from OpenML into it, later
            calls read it from there; nothing in the book needs it.

    Raises:
        OSError: the folder does not hold the data, or damaged, and OpenML cannot be reached.
        ValueError: what is in the folder is not MNIST.
    """
    checks.instance("folder", folder, str | Path | None)
    from sklearn.datasets import fetch_openml, get_data_home

    folder = get_data_home(folder)
    try:
        found = fetch_openml(
            "mnist_784", version=1, as_frame=False, parser="liac-arff", data_home=folder
        )
    except OSError as error:
        raise OSError(
            f"folder: {folder} does not hold OpenML's mnist_784, version 1, undamaged, and it "
            f"could not be fetched: {error}"
        ) from error
    if found.data.shape[1] != 784:
        raise ValueError(f"folder: expected pictures of 784 pixels, got {found.data.shape[1]}")
    return _classes(found.data.T / 255, found.target.astype(int))


def _classes(pixels: np.ndarray, digits: np.ndarray) -> Task:
    """Return the task of naming the digit in each column of ``pixels``."""
    targets = np.eye(10)[digits].T
    return Task(pixels, targets, labels=tuple(str(digit) for digit in digits))
