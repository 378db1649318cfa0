"""Tasks: facts of the papers, selection of samples, bad input."""

from unittest.mock import patch

import jax
import numpy as np
import pytest
from bad_input import refused
from jax.experimental.sparse import BCOO
from numpy.testing import assert_allclose as close, assert_array_equal as equal
from scipy.sparse import csr_array, csr_matrix

from mdsgdln import discovery, tasks
from mdsgdln.tasks import Task


def test_xor_is_the_published_task():
    task = tasks.xor(0.5)
    columns = np.vstack([task.inputs, task.targets]).T
    samples = {tuple(map(float, column)) for column in columns}
    assert samples == {(1, 1, 0.5, 1), (-1, -1, 0.5, 1), (1, -1, -0.5, -1), (-1, 1, -0.5, -1)}


def test_tree_of_four_items_is_the_published_hierarchy():
    expected = [
        [1, 1, 1, 1],
        [1, 1, 0, 0],
        [0, 0, 1, 1],
        [1, 0, 0, 0],
        [0, 1, 0, 0],
        [0, 0, 1, 0],
        [0, 0, 0, 1],
    ]
    equal(tasks.structure("tree", 4), expected)
    equal(tasks.semantic("tree", 4).targets, expected)
    equal(tasks.semantic("tree", 4).inputs, np.eye(4))


def test_ring_bump_moves_left_around_the_ring():
    rows = tasks.structure("ring", 8)
    close(rows[1], [0, 1 / 3, 2 / 3, 1, 1, 2 / 3, 1 / 3, 0])
    close(rows[2], [1 / 3, 2 / 3, 1, 1, 2 / 3, 1 / 3, 0, 0])
    equal(rows[1:8], rows[8:])


def test_cross_cutting_pairs():
    pairs = [set(np.flatnonzero(row)) for row in tasks.structure("cross", 8)[3:7]]
    assert pairs == [{0, 2}, {1, 3}, {4, 6}, {5, 7}]
    others = [0, 1, 2, *range(7, 15)]
    equal(tasks.structure("cross", 8)[others], tasks.structure("tree", 8)[others])


def test_contextual_is_context_major_and_block_diagonal():
    common, crossed = np.eye(15, 8), tasks.structure("cross", 8)  # names or arrays
    task = tasks.contextual(3, 8, ["tree", "ring", crossed], common)
    assert task.inputs.shape == (11, 24) and task.targets.shape == (60, 24)
    item, context = 5, 2
    sample = context * 8 + item
    assert np.flatnonzero(task.inputs[:, sample]).tolist() == [item, 8 + context]
    assert np.unique(task.inputs).tolist() == [0, 1]
    equal(task.targets[:15, sample], common[:, item])
    equal(task.targets[15:45, sample], 0)
    equal(task.targets[45:, sample], crossed[:, item])


def test_digits_are_pixels_and_classes():
    digits = tasks.digits()
    assert digits.inputs.shape == (64, 1797) and digits.targets.shape == (10, 1797)
    assert 0 <= digits.inputs.min() and digits.inputs.max() == 1
    assert np.unique(digits.targets).tolist() == [0, 1]
    assert digits.labels[0] == str(int(np.argmax(digits.targets[:, 0])))


@pytest.mark.parametrize(
    "columns", [[2, 0], slice(1, 3), np.array([True, False, True, True]), np.array([-1])]
)
def test_take_selects_samples(columns):
    task = tasks.xor(1.0)
    part = task.take(columns)
    equal(part.inputs, np.asarray(task.inputs)[:, columns])
    equal(part.targets, np.asarray(task.targets)[:, columns])
    assert part.labels == tuple(np.array(task.labels)[columns])


def test_a_batch_may_be_traced():
    task = Task(np.arange(12.0).reshape(3, 4), np.ones((1, 4)), list("wxyz"))
    part = jax.jit(lambda task, columns: task.take(columns))(task, np.array([2, 0]))
    equal(part.inputs, np.asarray(task.inputs)[:, [2, 0]])
    assert part.labels is None
    assert task.labels == tuple("wxyz")


def test_samples_may_be_rows_as_in_scikit_learn():
    from sklearn.datasets import load_diabetes, load_linnerud

    data = load_linnerud()
    task = Task.from_samples(data.data, data.target, labels=list("abcdefghijklmnopqrst"))
    assert task.num_samples == 20 and task.labels[3] == "d"
    equal(task.inputs, data.data.T)
    equal(task.targets, data.target.T)
    frame, column = load_diabetes(as_frame=True, return_X_y=True)
    equal(Task.from_samples(frame, column).targets, [column])
    with refused("Y: expected the index of X"):
        Task.from_samples(frame, column[::-1])
    with refused("Y: expected the index of X"):
        Task.from_samples(frame[:400], column[20:420])
    other = column[20:420].set_axis(range(1000, 1400))  # of other labels, by position
    equal(Task.from_samples(frame[:400], other).targets, [other])


def test_rows_that_are_probably_samples_are_noticed():
    data, target = np.ones((20, 3)), np.ones((20, 3))
    with pytest.warns(UserWarning, match="20 rows and 3 columns.*from_samples"):
        Task(data, target)
    Task(data, target, labels=tuple("abc"))  # three labels: three samples
    with pytest.raises(ValueError, match="from_samples"):
        Task(data, target[:, :2])


@pytest.mark.parametrize("labels", [np.array(list("abcd")), np.arange(4), tuple("abcd")])
def test_labels_of_numpy_are_text(labels):
    task = Task(np.eye(4), np.eye(4), labels=labels)
    assert task.labels == tuple(map(str, labels))
    assert all(type(label) is str for label in task.labels)
    assert task.take([2]).labels == (str(labels[2]),)


def test_numbers_that_change_later_do_not_change_a_task(tmp_path):
    np.save(tmp_path / "inputs.npy", np.ones((3, 64)))
    read, write = (np.load(tmp_path / "inputs.npy", mmap_mode=mode) for mode in ("r", "r+"))
    task = Task(read, np.ones((1, 64)))
    write[:] = 7.0
    equal(read, 7.0)
    equal(task.inputs, 1.0)


def test_precision_is_kept_and_what_cannot_be_read_is_named():
    single = Task(np.eye(4, dtype=np.float32), np.eye(4, dtype=np.float32))
    assert single.inputs.dtype == single.targets.dtype == np.float32
    assert Task(np.eye(4, dtype=np.float16), np.eye(4, dtype=int)).inputs.dtype == float
    objects = np.array([[1, 2.5], [0, 1]], dtype=object)
    equal(Task(objects, objects).inputs, objects.astype(float))
    with refused(r"Y: expected numbers.*one-hot rows"):
        Task.from_samples(np.eye(3), ["a", "b", "c"])


@pytest.mark.parametrize(
    ("sparse", "dense"),
    [(csr_array, "toarray"), (csr_matrix, "toarray"), (BCOO.fromdense, "todense")],
)
def test_sparse_arrays_are_refused_at_once(sparse, dense):
    array = sparse(np.eye(3))
    with patch.object(type(array), "__getitem__", side_effect=AssertionError("read by entries")):
        with refused(rf"inputs: expected a dense array, .* use inputs\.{dense}\(\)"):
            Task(array, np.eye(3))
        with refused(rf"Y: .* use Y\.{dense}\(\)"):
            Task.from_samples(np.eye(3), array)
        with refused(rf"trials: .* use trials\.{dense}\(\)"):
            discovery.activity_by_condition(array, [0, 1, 2])
