"""Utility of small neurons: faces, condition (C), basins with their masses, the first drop."""

import jax
import numpy as np
import pytest
from numpy.testing import assert_allclose as close, assert_array_equal as equal

from mdsgdln import statistics, tasks
from mdsgdln_book import dynamics
from mdsgdln_book.dynamics.maxima import list_faces, steepest_slope

pytestmark = [
    pytest.mark.usefixtures("compiled_in_less_time"),
    pytest.mark.xdist_group("basins"),  # its programs are compiled once
]
KEY = jax.random.key(0)
ISOLATED = 3 / 16 + 1 / (8 * np.pi)  # mass of a sample that meets no other


def random_task(seed, num_inputs=3, num_samples=8, num_outputs=2):
    rng = np.random.default_rng(seed)
    signs = rng.choice([-1.0, 1.0], size=(num_outputs, num_samples))
    return tasks.Task(rng.normal(size=(num_inputs, num_samples)), signs)


def basins(task, num_neurons=512):
    return dynamics.basins(task, key=KEY, num_neurons=num_neurons)


def maxima(task):
    return [found for found in dynamics.candidates(task) if found.climb < 1e-9 * found.rate]


def climb(task, w):
    return steepest_slope(np.asarray(task.inputs), np.asarray(task.targets), w)


def signs(found):
    return tuple(np.where(found.gate, 1, np.where(found.boundary, 0, -1)).tolist())


# Faces ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [3, 5])
def test_planes_in_general_position_have_as_many_faces_as_counted(number):
    """P(P − 1) rays, twice as many parts of planes, P(P − 1) + 2 regions, and the origin."""
    faces = list_faces(np.asarray(random_task(0, 3, number).inputs))
    assert len(np.unique(faces, axis=0)) == len(faces) == 4 * number * (number - 1) + 3


# Condition (C) ----------------------------------------------------------------------------------


def test_climb_is_the_steepest_direction():
    task, angles = random_task(0, 2, 6), np.linspace(0, 2 * np.pi, 721)
    found = dynamics.candidates(task)
    assert any(c.climb > 0.01 and c.boundary.any() for c in found)
    for candidate in found:
        w = candidate.input_weights
        near = w + 1e-7 * np.stack([np.cos(angles), np.sin(angles)], axis=1)
        slopes = (dynamics.drive(task, near) - dynamics.drive(task, [w])) / 1e-7
        assert max(slopes.max(), 0) == pytest.approx(candidate.climb, rel=1e-4, abs=1e-6)


def test_maxima_beat_their_neighbours_and_the_winner_beats_random_weights():
    task, rng = random_task(4, num_samples=6), np.random.default_rng(0)
    best = dynamics.drive(task, rng.normal(size=(200_000, 3))).max()
    winner = dynamics.candidates(task)[0]
    assert winner.rate * 0.999 < best <= winner.rate
    assert dynamics.drive(task, [winner.input_weights])[0] == pytest.approx(winner.rate)
    for maximum in maxima(task):
        drives = dynamics.drive(task, maximum.input_weights + 1e-3 * rng.normal(size=(500, 3)))
        assert drives.max() <= maximum.rate * (1 + 1e-9)


def test_winner_of_a_non_negative_task():
    rng = np.random.default_rng(0)
    inputs = rng.uniform(size=(4, 6)) * (rng.uniform(size=(4, 6)) < 0.4)
    targets = rng.uniform(size=(3, 6)) * (rng.uniform(size=(3, 6)) < 0.4)
    correlations = targets @ inputs.T / 6
    winner = dynamics.candidates(tasks.Task(inputs, targets))[0]
    assert winner.rate == pytest.approx(np.linalg.norm(correlations, 2))
    assert (winner.input_weights > -1e-9).all()
    # on where an input has weight in the fastest block, on the boundary elsewhere
    top = np.linalg.svd(correlations)[2][0]
    equal(winner.gate, np.abs(top) @ inputs > 1e-9)
    assert (winner.gate | winner.boundary).all()


# Basins -----------------------------------------------------------------------------------------


def test_ascents_end_at_the_enumerated_maxima_and_grow_along_themselves():
    """z = (w, u) grows along itself, at the rate s: the gradient of U by JAX."""
    task = random_task(1)
    found, exact = basins(task), maxima(task)
    assert found[0].rate == pytest.approx(exact[0].rate, rel=1e-9)
    assert set(map(signs, found)) <= set(map(signs, exact))

    @jax.jit
    @jax.grad
    def slope(z):
        return z[1] @ task.targets @ jax.nn.relu(z[0] @ task.inputs) / 8

    inside = 0
    for basin in found:
        w, u = basin.input_weights, basin.output_weights
        assert climb(task, w) < 1e-9
        assert u @ task.targets @ basin.activity / 8 == pytest.approx(basin.rate)
        close(basin.activity, np.maximum(w @ task.inputs, 0), atol=1e-9)
        if not basin.boundary.any():
            for by, part in zip(slope((w, u)), (w, u), strict=True):
                close(by, basin.rate * part, atol=1e-9)
            inside += 1
    assert inside


def test_basins_of_exclusive_or_are_known():
    for margin, rate, variance, gated in ((0.5, 0.375, 0.5625, 1), (1.0, 0.5, 0.5, 2)):
        found = dynamics.basins(tasks.xor(margin), key=KEY)
        first = [b for b in found if b.gate.sum() == gated]
        assert len(found) == 6 and len(first) == 4 // gated
        assert found[0].gate.sum() == gated
        close([(b.rate, b.variance) for b in first], [(rate, variance)] * len(first), rtol=1e-6)
        assert np.std([b.mass for b in first]) < 4 * first[0].mass_error


def sliding_xor(num_neurons=50_000, step=0.02, end=8.0):
    """Mass of each basin of exclusive or without a margin: activities are held at 0 exactly."""
    rng = np.random.default_rng(1)
    z = np.stack([*np.abs(rng.normal(size=(2, num_neurons))), rng.normal(size=num_neurons)])

    def velocity(z):
        return np.stack([z[2], -z[2], z[0] - z[1]])

    def held(z):
        return np.stack([np.maximum(z[0], 0), np.maximum(z[1], 0), z[2]])

    for _ in range(round(end / step)):
        z = held(z + step * velocity(held(z + step / 2 * velocity(z))))
    growth = (1 + step + step**2 / 2) ** round(end / step)
    c = np.where(z[2] > 0, z[0] + z[2], 0) / np.sqrt(2) / growth
    return np.mean(c**2) / 2 / 2, np.std(c**2) / 4 / np.sqrt(num_neurons)


def test_mass_with_samples_that_slide():
    expected, error = sliding_xor()
    found = dynamics.basins(tasks.xor(0.0), key=KEY)
    assert [b.boundary.sum() for b in found] == [2] * 4
    mean = np.mean([b.mass for b in found])
    assert abs(mean - expected) < 3 * np.hypot(error, found[0].mass_error / 2)


def test_a_flat_maximum_is_one_basin():
    (found,) = basins(tasks.Task(np.eye(2), np.eye(2)))
    assert found.flatness == 2
    assert abs(found.mass - 2 * ISOLATED) < 4 * found.mass_error
    assert found.share == pytest.approx(1 - (5 / 8) ** 2, abs=0.03)


def test_mass_of_a_linear_pathway_is_a_half():
    """Samples in pairs x and −x with targets y and −y: one side or the other is always on."""
    x, y = np.array([[1.0, 0.3], [0.0, 1.0]]), np.array([[1.0, 1.2]])
    task = tasks.Task(np.concatenate([x, -x], axis=1), np.concatenate([y, -y], axis=1))
    found = dynamics.basins(task, key=KEY)
    close([b.rate for b in found], statistics.modes(task).singular_values[0] / 2)
    error = np.hypot(*[b.mass_error for b in found])
    assert abs(sum(b.mass for b in found) - 0.5) < 4 * error


def test_one_hot_samples_are_parked():
    """Off stays off where no other input moves it: not only maxima are reached."""
    task = tasks.Task(np.eye(2), [[1.0, 2.0], [0.0, 0.0]])
    both, larger, smaller = basins(task)
    assert both.gate.all() and climb(task, both.input_weights) < 1e-9 and len(maxima(task)) == 1
    assert both.rate == pytest.approx(np.sqrt(5) / 2)
    assert (signs(larger), signs(smaller)) == ((0, 1), (1, 0))
    assert climb(task, larger.input_weights) == pytest.approx(1 / 2)
    assert climb(task, smaller.input_weights) == pytest.approx(1)
    # half of the neurons that are on for the one sample start off for the other
    for one in (larger, smaller):
        assert one.mass == pytest.approx(ISOLATED / 2, abs=4 * one.mass_error)


def test_rounding_wakes_no_parked_sample():
    """All pairs of two groups of three; on the third one the pushes of the others cancel."""
    first, second = [0, 1, 2, 2, 0, 2, 1, 1, 0], [1, 2, 0, 2, 0, 1, 0, 1, 2]
    targets = [[1, 1, 1, -1, 1, 1, -1, 1, 1], [-1, -1, 1, -1, -1, 1, 1, 1, 1]]
    task = tasks.Task(np.vstack([np.eye(3)[:, first], np.eye(3)[:, second]]), targets)
    found = basins(task)
    assert found[0].gate.all() and climb(task, found[0].input_weights) < 1e-9
    (parked,) = [b for b in found if climb(task, b.input_weights) > 1e-6]
    assert parked.gate.sum() == 8 and parked.boundary[2]
    assert 0.9 < parked.rate / found[0].rate < 1 and parked.share > 0.15


# First drop -------------------------------------------------------------------------------------


def test_first_drop_of_one_basin_is_logistic_and_large_weights_warn():
    (basin,) = basins(tasks.Task([[2.0]], [[1.5]]), num_neurons=64)
    start = 100 * 1e-6 * basin.mass
    s, d = 3.0, 4.0
    reached = s / d * (1 - np.sqrt(0.5))  # half of the drop
    expected = np.log(reached * (s / d - start) / (start * (s / d - reached))) / (2 * s)
    assert dynamics.first_drop([basin], 100, 1e-3) == pytest.approx(expected, rel=1e-6)
    with pytest.warns(UserWarning, match="not small"):
        dynamics.first_drop([basin], 500, 0.02)
