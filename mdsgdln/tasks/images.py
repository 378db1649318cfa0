"""Pictures of digits: the small set that scikit-learn brings, and MNIST for readers online."""

from pathlib import Path

import numpy as np
from sklearn import datasets

from mdsgdln.tasks.task import Task


def digits() -> Task:
    """Return scikit-learn's 1797 handwritten digits: pixels (64, P) in 0 … 1, one-hot targets.

    The set is part of scikit-learn: nothing is fetched. Labels name the digit of each sample.
    """
    found = datasets.load_digits()
    return _classes(found.data.T / 16, found.target)


def mnist(folder: str | Path | None = None) -> Task:
    """Return MNIST's 70 000 digits: pixels (784, P) in 0 … 1, one-hot targets.

    Args:
        folder: where scikit-learn keeps its data; its own default if not given. The first call
            fetches about 55 MB from OpenML; nothing in the book needs it.

    Raises:
        OSError: neither the folder nor OpenML has it.
    """
    found = datasets.fetch_openml(
        "mnist_784", version=1, as_frame=False, parser="liac-arff", data_home=folder
    )
    return _classes(found.data.T / 255, found.target.astype(int))


def _classes(pixels: np.ndarray, classes: np.ndarray) -> Task:
    """Return the task of naming the class of each column of ``pixels``."""
    targets = np.eye(classes.max() + 1)[classes].T
    return Task(pixels, targets, labels=tuple(str(digit) for digit in classes))
