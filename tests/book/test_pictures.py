"""Pictures that experiments read: MNIST from its original files."""

import numpy as np

from mdsgdln_book.experiments import pictures


def write(file, entries):
    """Write a file as MNIST has them: 0, 0, 8, dimensions, sizes, entries."""
    header = bytes([0, 0, 8, entries.ndim]) + np.array(entries.shape, ">i4").tobytes()
    file.write_bytes(header + entries.astype(np.uint8).tobytes())


def test_mnist_is_read_from_its_original_files(tmp_path, monkeypatch):
    pixels = np.random.default_rng(0).integers(0, 256, (3, 28, 28))
    for part, chosen in {"train": slice(2), "t10k": slice(2, 3)}.items():
        write(tmp_path / f"{part}-images-idx3-ubyte", pixels[chosen])
        write(tmp_path / f"{part}-labels-idx1-ubyte", np.array([7, 0, 1])[chosen])
    monkeypatch.setenv("MNIST", str(tmp_path))
    found = pictures.load_mnist()
    np.testing.assert_allclose(found.inputs.T.reshape(3, 28, 28), pixels / 255, rtol=1e-14)
    assert found.targets.T.tolist() == np.eye(10)[[7, 0, 1]].tolist()
