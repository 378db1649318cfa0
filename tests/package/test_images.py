"""Pictures of digits: scikit-learn's, and MNIST from a small copy of OpenML's files."""

import gzip
import hashlib
import json
import subprocess
import sys
from urllib.error import URLError

import numpy as np
import pytest

from mdsgdln import tasks

SITE = "openml/openml.org"
CLASSES = "017"


def features(num_pixels):
    """Describe the columns: every pixel an integer, the class one of ten."""
    column = {"is_ignore": "false", "is_row_identifier": "false", "number_of_missing_values": "0"}
    pixels = [
        column | {"name": f"pixel{n}", "data_type": "numeric", "is_target": "false"}
        for n in range(1, num_pixels + 1)
    ]
    digits = [str(digit) for digit in range(10)]
    target = {"name": "class", "data_type": "nominal", "is_target": "true", "nominal_value": digits}
    return [
        feature | {"index": str(index)} for index, feature in enumerate([*pixels, column | target])
    ]


def write_openml(folder, pixels, classes=CLASSES, checksum=None):
    """Lay out pictures (P, N) as scikit-learn keeps what it fetched from OpenML."""
    num_pixels = pixels.shape[1]
    header = [f"@ATTRIBUTE pixel{n} INTEGER" for n in range(1, num_pixels + 1)]
    rows = [",".join([*map(str, row), digit]) for row, digit in zip(pixels, classes, strict=True)]
    arff = "\n".join(
        ["@RELATION mnist_784", *header, "@ATTRIBUTE class {0,1,2,3,4,5,6,7,8,9}", "@DATA", *rows]
    )
    url = "https://www.openml.org/data/v1/download/52667/mnist_784.arff"
    description = {
        "id": "554",
        "name": "mnist_784",
        "version": "1",
        "format": "ARFF",
        "status": "active",
        "description": "a few pictures",
        "url": url,
        "md5_checksum": checksum or hashlib.md5(arff.encode()).hexdigest(),
    }
    qualities = [{"name": "NumberOfInstances", "value": str(len(pixels))}]
    found = {"dataset": [{"did": 554, "name": "mnist_784", "version": 1, "status": "active"}]}
    api = {
        "list/data_name/mnist_784/limit/2/data_version/1": {"data": found},
        "554": {"data_set_description": description},
        "features/554": {"data_features": {"feature": features(num_pixels)}},
        "qualities/554": {"data_qualities": {"quality": qualities}},
    }
    files = {f"api/v1/json/data/{name}": json.dumps(content) for name, content in api.items()}
    files["data/v1/download/52667/mnist_784.arff"] = arff
    for name, text in files.items():
        path = folder / SITE / f"{name}.gz"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(text.encode()))


# what scikit-learn says before it tries again, and when a checksum is wrong
pytestmark = pytest.mark.filterwarnings("ignore:A network error", "ignore:Invalid cache")


@pytest.fixture
def offline(monkeypatch):
    """Make every attempt to reach OpenML fail, at once."""

    def unreachable(*_, **__):
        raise URLError("no network")

    monkeypatch.setattr("sklearn.datasets._openml.urlopen", unreachable)
    monkeypatch.setattr("time.sleep", lambda _: None)


def test_digits_are_pixels_and_classes():
    digits = tasks.digits()
    assert digits.inputs.shape == (64, 1797) and digits.targets.shape == (10, 1797)
    assert 0 <= digits.inputs.min() and digits.inputs.max() == 1
    assert np.unique(digits.targets).tolist() == [0, 1]
    assert digits.labels[0] == str(int(np.argmax(digits.targets[:, 0])))


def test_mnist_is_read_from_the_files_in_a_folder(tmp_path, offline):
    pixels = np.random.default_rng(0).integers(0, 256, (3, 784))
    write_openml(tmp_path, pixels)
    found = tasks.mnist(tmp_path)
    np.testing.assert_allclose(found.inputs, pixels.T / 255, rtol=1e-14)
    assert found.targets.T.tolist() == np.eye(10)[[0, 1, 7]].tolist()
    assert found.labels == tuple(CLASSES)


def write_idx(file, entries):
    header = bytes([0, 0, 8, entries.ndim]) + np.array(entries.shape, ">i4").tobytes()
    file.write_bytes(header + entries.astype(np.uint8).tobytes())


def write_original(folder, size=28):
    """Write pictures in MNIST's four files, of training and then of test, and return them."""
    pixels = np.random.default_rng(0).integers(0, 256, (3, size, size))
    for part, chosen in {"train": slice(2), "t10k": slice(2, 3)}.items():
        write_idx(folder / f"{part}-images-idx3-ubyte", pixels[chosen])
        write_idx(folder / f"{part}-labels-idx1-ubyte", np.array([7, 0, 1])[chosen])
    return pixels


def test_mnist_is_read_from_its_original_files(tmp_path, offline):
    pixels = write_original(tmp_path)
    found = tasks.mnist(tmp_path)
    np.testing.assert_allclose(found.inputs.T.reshape(3, 28, 28), pixels / 255, rtol=1e-14)
    assert found.labels == ("7", "0", "1")
    assert found.targets.T.tolist() == np.eye(10)[[7, 0, 1]].tolist()


@pytest.mark.parametrize("damage", [lambda b: b[:-1], lambda b: b"\1" + b[1:], lambda b: b""])
def test_mnist_rejects_bad_original_files(tmp_path, offline, damage):
    write_original(tmp_path)
    file = tmp_path / "train-images-idx3-ubyte"
    file.write_bytes(damage(file.read_bytes()))
    with pytest.raises(ValueError, match=r"folder: .*train-images.* no whole file"):
        tasks.mnist(tmp_path)


def test_mnist_says_bad_folder_without_a_network(tmp_path, offline):
    with pytest.raises(OSError, match=rf"folder: {tmp_path}.* does not hold .*mnist_784"):
        tasks.mnist(tmp_path)


def test_mnist_says_bad_when_one_file_is_missing(tmp_path, offline):
    write_openml(tmp_path, np.zeros((3, 784), int))
    (tmp_path / SITE / "data/v1/download/52667/mnist_784.arff.gz").unlink()
    with pytest.raises(OSError, match="does not hold"):
        tasks.mnist(tmp_path)


def test_mnist_rejects_bad_pictures_of_another_size(tmp_path, offline):
    write_openml(tmp_path, np.zeros((3, 64), int))
    with pytest.raises(ValueError, match="folder: expected pictures of 784 pixels, got 64"):
        tasks.mnist(tmp_path)


def test_mnist_rejects_bad_contents(tmp_path, offline):
    write_openml(tmp_path, np.zeros((3, 784), int), checksum="0" * 32)
    with pytest.raises((OSError, ValueError), match="does not hold .* undamaged|checksum"):
        tasks.mnist(tmp_path)  # scikit-learn before 1.9.1 does not try to fetch it again


def test_importing_tasks_leaves_scikit_learn_alone():
    asked = "import sys, mdsgdln.tasks; print('sklearn' in sys.modules)"
    answer = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True)
    assert answer.stdout.strip() == "False", answer.stderr
