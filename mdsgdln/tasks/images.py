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


FILES = "train-images-idx3", "t10k-images-idx3", "train-labels-idx1", "t10k-labels-idx1"


def mnist(folder: str | Path | None = None) -> Task:
    """Return MNIST's 70 000 digits: pixels (784, P) in 0 … 1, one-hot targets.

    Args:
        folder: one that holds MNIST's four original files, unpacked (the last 10 000 digits are
            the test set), or the ``data_home`` of scikit-learn's ``fetch_openml``, its default if
            not given. If it holds neither, 15 MB are fetched from OpenML into it.

    Raises:
        OSError: the folder does not hold the data, or damaged, and OpenML cannot be reached.
        ValueError: what is in the folder is not MNIST.
    """
    checks.instance("folder", folder, str | Path | None)
    files = [Path(folder or ".") / f"{name}-ubyte" for name in FILES]
    if folder is not None and all(file.exists() for file in files):
        pictures, labels = (np.concatenate([*map(_idx, pair)]) for pair in (files[:2], files[2:]))
        pixels, digits = pictures.reshape(len(pictures), -1), labels
    else:
        pixels, digits = _from_openml(folder)
    if pixels.shape[1] != 784:
        raise ValueError(f"folder: expected pictures of 784 pixels, got {pixels.shape[1]}")
    return _classes(pixels.T / 255, digits.astype(int))


def _idx(file: Path) -> np.ndarray:
    """Return the bytes of a file in MNIST's own format: 0, 0, 8, dimensions, sizes, entries."""
    content = file.read_bytes()
    start = 4 + 4 * (content[3] if content[:3] == b"\0\0\x08" and len(content) > 3 else 0)
    shape = np.frombuffer(content[4:start], ">i4")
    if start == 4 or len(content) - start != shape.prod():
        raise ValueError(f"folder: {file} is no whole file of MNIST's format")
    return np.frombuffer(content[start:], np.uint8).reshape(shape)


def _from_openml(folder: str | Path | None) -> tuple[np.ndarray, np.ndarray]:
    """Return pictures (P, pixels) and digits as scikit-learn keeps them."""
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
    return found.data, found.target


def _classes(pixels: np.ndarray, digits: np.ndarray) -> Task:
    """Return the task of naming the digit in each column of ``pixels``."""
    targets = np.eye(10)[digits].T
    return Task(pixels, targets, labels=tuple(str(digit) for digit in digits))
