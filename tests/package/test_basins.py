"""Utility of small neurons: faces, condition (C), basins with their masses, the first drop."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from bad_input import BAD_INPUT
from scipy.optimize import linprog

from mdsgdln import networks, statistics, tasks, theory, training

KEY = jax.random.key(0)
ISOLATED = 3 / 16 + 1 / (8 * np.pi)


def random_task(seed, num_inputs=3, num_samples=8, num_outputs=2):
    rng = np.random.default_rng(seed)
    signs = rng.choice([-1.0, 1.0], size=(num_outputs, num_samples))
    return tasks.Task(rng.normal(size=(num_inputs, num_samples)), signs)


def maxima(task):
    return [found for found in theory.candidates(task) if found.climb < 1e-9 * found.rate]


def signs(found):
    return np.where(found.gate, 1, np.where(found.boundary, 0, -1))


def slope_by_hand(task, w, delta, size=1e-6):
    """One-sided slope of the drive, from two of its values."""
    before, after = theory.drive(task, np.stack([w, w + size * delta]))
    return (after - before) / size


# Faces ------------------------------------------------------------------------------------------


def exists(inputs, pattern):
    """Whether linear programming finds w with these signs."""
    on, off, at = (inputs[:, pattern == sign].T for sign in (1, -1, 0))
    above = np.concatenate([-on, off])
    program = linprog(
        np.zeros(len(inputs)),
        A_ub=above if len(above) else None,
        b_ub=-np.ones(len(above)) if len(above) else None,
        A_eq=at if len(at) else None,
        b_eq=np.zeros(len(at)) if len(at) else None,
        bounds=(None, None),
    )
    return program.status == 0


@pytest.mark.parametrize("name", ["random", "xor", "dependent"])
def test_faces_are_what_linear_programming_finds(name):
    inputs = {
        "random": random_task(0, 3, 5).inputs,
        "xor": tasks.xor(0.5).inputs,
        "dependent": [[1, -2, 0, 0, 1], [0, 0, 1, 0, 1]],  # antiparallel, zero, a sum
    }[name]
    inputs = np.asarray(inputs, float)
    patterns = itertools.product((-1, 0, 1), repeat=inputs.shape[1])
    expected = {p for p in patterns if exists(inputs, np.array(p))}
    found = theory.faces(inputs)
    assert len(found) == len(expected)
    assert {tuple(row) for row in found.tolist()} == expected


def test_faces_are_exact_in_single_precision():
    """Three samples on one line and one beside it, which rounding would take apart."""
    inputs = [[0.1, 0.3, -0.7, -0.13], [0.2, 0.6, -1.4, 0.3], [0.7, 2.1, -4.9, 0.1]]
    with jax.enable_x64(False):
        assert len(theory.faces(inputs)) == 9


# Condition (C) ----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_climb_is_the_steepest_direction(seed):
    task = random_task(seed, num_inputs=2, num_samples=6)
    angles = np.linspace(0, 2 * np.pi, 721)
    found = theory.candidates(task)
    assert any(c.climb > 0.01 and c.boundary.any() for c in found)
    for candidate in found:
        w = candidate.input_weights
        near = w + 1e-7 * np.stack([np.cos(angles), np.sin(angles)], axis=1)
        slopes = (theory.drive(task, near) - theory.drive(task, [w])) / 1e-7
        assert max(slopes.max(), 0) == pytest.approx(candidate.climb, rel=1e-4, abs=1e-6)


def test_climb_anywhere_is_the_gradient():
    task = random_task(3)
    w = np.random.default_rng(0).normal(size=(4, 3))
    inputs, targets = task.inputs, task.targets

    def drive(w):
        return jnp.linalg.norm(targets @ jax.nn.relu(w @ inputs)) / jnp.linalg.norm(w) / 8

    gradients = jax.vmap(jax.grad(drive))(jnp.asarray(w))
    lengths = np.linalg.norm(w, axis=1)
    expected = np.linalg.norm(gradients, axis=1) * lengths  # at length 1
    np.testing.assert_allclose(theory.climb(task, w), expected, rtol=1e-6)


def test_a_push_down_is_not_enough_for_a_maximum():
    task = tasks.Task([[1, -0.6], [0, 0.8]], [[1, -0.1]])
    w = np.array([0.8, 0.6])  # sample 2 on its boundary, pushed down
    assert theory.climb(task, [w])[0] == pytest.approx(0.3)
    assert slope_by_hand(task, w, np.array([0.6, -0.8])) == pytest.approx(0.3, abs=1e-4)
    assert [signs(m).tolist() for m in maxima(task)] == [[1, -1], [-1, 1]]


def test_a_push_up_does_not_exclude_a_maximum():
    task = tasks.Task([[1, 0, 0], [-2, 1, -1]], [[1, 1, -3]])
    w = np.array([1.0, 0.0])  # sample 2 on its boundary, pushed up
    assert theory.climb(task, [w])[0] < 1e-12
    for angle in np.linspace(0, 2 * np.pi, 40):
        near = w + 1e-3 * np.array([np.cos(angle), np.sin(angle)])
        assert theory.drive(task, [near])[0] <= theory.drive(task, [w])[0] + 1e-12


def test_condition_with_zero_slope_leaves_it_open():
    """Orthogonal samples: (C) holds at both, and only the larger one is a maximum."""
    task = tasks.Task(np.eye(2), np.diag([1.0, 2.0]))
    np.testing.assert_allclose(theory.climb(task, np.eye(2)), 0, atol=1e-12)
    small, larger = theory.drive(task, [[1, 0], [1, 0.01]])
    assert larger > small


def test_maxima_beat_all_their_neighbours():
    for seed in range(3):
        task = random_task(seed)
        found = maxima(task)
        assert found
        near = np.random.default_rng(0).normal(size=(500, 3))
        for maximum in found:
            drives = theory.drive(task, maximum.input_weights + 1e-3 * near)
            assert drives.max() <= maximum.rate * (1 + 1e-9)


def test_the_winner_beats_random_weights():
    task = random_task(4)
    w = np.random.default_rng(0).normal(size=(200_000, 3))
    best = theory.drive(task, w).max()
    winner = theory.candidates(task)[0]
    assert winner.rate * 0.999 < best <= winner.rate
    assert theory.drive(task, [winner.input_weights])[0] == pytest.approx(winner.rate)


# Always on --------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
def test_winner_of_a_non_negative_task(seed):
    rng = np.random.default_rng(seed)
    inputs = rng.uniform(size=(4, 7)) * (rng.uniform(size=(4, 7)) < 0.4)
    targets = rng.uniform(size=(3, 7)) * (rng.uniform(size=(3, 7)) < 0.4)
    task = tasks.Task(inputs, targets)
    correlations = targets @ inputs.T / 7
    winner = theory.candidates(task)[0]
    assert winner.rate == pytest.approx(np.linalg.norm(correlations, 2))
    assert (winner.input_weights > -1e-9).all()
    # on where an input has weight in the fastest block, on the boundary elsewhere
    top = np.linalg.svd(correlations)[2][0]
    np.testing.assert_array_equal(winner.gate, np.abs(top) @ inputs > 1e-9)
    assert (winner.gate | winner.boundary).all()


def test_always_on_is_found_and_needs_one_block():
    trees = theory.basins(tasks.contextual(2, 4), key=KEY, num_neurons=512)
    assert trees[0].gate.all()
    apart = theory.candidates(tasks.Task(np.eye(2), np.diag([2.0, 1.0])))
    assert signs(apart[0]).tolist() == [1, 0]


# Basins -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_ascents_end_at_the_enumerated_maxima(seed):
    task = random_task(seed, num_inputs=4, num_samples=9)
    found, exact = theory.basins(task, key=KEY, num_neurons=1024), maxima(task)
    assert found[0].rate == pytest.approx(exact[0].rate, rel=1e-9)
    assert {tuple(signs(b)) for b in found} <= {tuple(signs(m)) for m in exact}
    for basin in found:
        w = basin.input_weights
        assert theory.climb(task, [w])[0] < 1e-9
        assert theory.utility(task, [w], [basin.output_weights])[0] == pytest.approx(basin.rate)
        np.testing.assert_allclose(basin.activity, np.maximum(w @ task.inputs, 0), atol=1e-9)


def test_a_basin_solves_the_equations_of_growth():
    """z = (w, u) grows along itself, at the rate s: the gradient of U by JAX."""
    task = random_task(1)
    found = theory.basins(task, key=KEY, num_neurons=512)
    basin = next(b for b in found if not b.boundary.any())

    def utility(w, u):
        return u @ task.targets @ jax.nn.relu(w @ task.inputs) / 8

    w, u = jnp.asarray(basin.input_weights), jnp.asarray(basin.output_weights)
    by_w, by_u = jax.grad(utility, (0, 1))(w, u)
    np.testing.assert_allclose(by_w, basin.rate * w, atol=1e-9)
    np.testing.assert_allclose(by_u, basin.rate * u, atol=1e-9)


def test_basins_of_exclusive_or_are_known():
    for margin, rate, variance, gated in ((0.5, 0.375, 0.5625, 1), (1.0, 0.5, 0.5, 2)):
        found = theory.basins(tasks.xor(margin), key=KEY)
        first = [b for b in found if b.gate.sum() == gated]
        assert len(found) == 6 and len(first) == 4 // gated
        assert found[0].gate.sum() == gated
        for basin in first:
            assert basin.rate == pytest.approx(rate, rel=1e-6)
            assert basin.variance == pytest.approx(variance, rel=1e-6)
        spread = np.std([b.mass for b in first])
        assert spread < 4 * first[0].mass_error


def sliding_xor(num_neurons=50_000, step=0.02, end=8.0):
    """Mass of each basin of exclusive or without a margin: activities are held at 0 exactly."""
    rng = np.random.default_rng(1)
    own, u = np.abs(rng.normal(size=(2, num_neurons))), rng.normal(size=num_neurons)
    own, other = own

    def velocity(own, other, u):
        return u, -u, own - other

    for _ in range(round(end / step)):
        first = velocity(own, other, u)
        middle = [z + step / 2 * v for z, v in zip((own, other, u), first, strict=True)]
        middle[:2] = [np.maximum(z, 0) for z in middle[:2]]
        own, other, u = (
            z + step * v for z, v in zip((own, other, u), velocity(*middle), strict=True)
        )
        own, other = np.maximum(own, 0), np.maximum(other, 0)
    growth = (1 + step + step**2 / 2) ** round(end / step)
    c = np.where(u > 0, own + u, 0) / np.sqrt(2) / growth
    return np.mean(c**2) / 2 / 2, np.std(c**2) / 4 / np.sqrt(num_neurons)


def test_mass_with_samples_that_slide():
    expected, error = sliding_xor()
    found = theory.basins(tasks.xor(0.0), key=KEY)
    assert [b.boundary.sum() for b in found] == [2] * 4
    mean = np.mean([b.mass for b in found])
    assert abs(mean - expected) < 3 * np.hypot(error, found[0].mass_error / 2)


def test_mass_of_isolated_samples():
    angle = np.linspace(-np.pi, np.pi, 100_001)[:-1]
    lives = (np.cos(angle) > 0) & (np.cos(angle) + np.sin(angle) > 0)
    by_quadrature = np.mean(lives * (np.cos(angle) + np.sin(angle)) ** 2) / 2
    assert by_quadrature == pytest.approx(ISOLATED, rel=1e-4)
    found = theory.basins(tasks.Task(np.eye(2), np.diag([2.0, 1.0])), key=KEY, num_neurons=256)
    assert [b.mass_error for b in found] == [0, 0]
    np.testing.assert_allclose([b.mass for b in found], [ISOLATED, 5 / 8 * ISOLATED])
    np.testing.assert_allclose([b.share for b in found], [3 / 8, 15 / 64])


def test_a_flat_maximum_is_one_basin():
    (found,) = theory.basins(tasks.Task(np.eye(3), np.eye(3)), key=KEY)
    assert found.flatness == 3
    assert abs(found.mass - 3 * ISOLATED) < 4 * found.mass_error
    assert found.share == pytest.approx(1 - (5 / 8) ** 3, abs=0.03)


def test_mass_of_a_linear_pathway_is_a_half():
    """Samples in pairs x and −x with targets y and −y: one side or the other is always on."""
    x, y = np.array([[1.0, 0.3], [0.0, 1.0]]), np.array([[1.0, 1.2]])
    task = tasks.Task(np.concatenate([x, -x], axis=1), np.concatenate([y, -y], axis=1))
    found = theory.basins(task, key=KEY)
    s = statistics.modes(task).singular_values[0]
    np.testing.assert_allclose([b.rate for b in found], s / 2)
    total = sum(b.mass for b in found)
    assert abs(total - 0.5) < 4 * np.hypot(*[b.mass_error for b in found])


def test_residual_and_units():
    task = random_task(1)
    twice = theory.basins(task, 2 * task.targets, key=KEY, num_neurons=512)
    once = theory.basins(task, key=KEY, num_neurons=512)
    np.testing.assert_allclose([b.rate for b in twice], [2 * b.rate for b in once])
    np.testing.assert_allclose([b.mass for b in twice], [b.mass for b in once], rtol=1e-6)
    np.testing.assert_allclose([b.variance for b in twice], [b.variance for b in once])


def test_one_hot_samples_are_parked():
    """Off stays off where no other input moves it: not only maxima are reached."""
    task = tasks.Task(np.eye(2), [[1.0, 2.0]])
    found = theory.basins(task, key=KEY, num_neurons=1024)
    both, larger, smaller = found
    assert both.gate.all() and both.climb < 1e-9
    assert both.rate == pytest.approx(np.sqrt(5) / 2)
    assert [tuple(signs(b)) for b in (larger, smaller)] == [(0, 1), (1, 0)]
    assert larger.climb == pytest.approx(1 / 2) and smaller.climb == pytest.approx(1)
    # half of the neurons that are on for the one sample start off for the other
    assert larger.mass == pytest.approx(ISOLATED / 2, abs=4 * larger.mass_error)
    assert smaller.mass == pytest.approx(ISOLATED / 2, abs=4 * smaller.mass_error)
    assert len(maxima(task)) == 1


def test_rounding_wakes_no_parked_sample():
    """All pairs of two groups of three; on the third one the pushes of the others cancel."""
    first, second = [0, 1, 2, 2, 0, 2, 1, 1, 0], [1, 2, 0, 2, 0, 1, 0, 1, 2]
    targets = [[1, 1, 1, -1, 1, 1, -1, 1, 1], [-1, -1, 1, -1, -1, 1, 1, 1, 1]]
    task = tasks.Task(np.vstack([np.eye(3)[:, first], np.eye(3)[:, second]]), targets)
    found = theory.basins(task, key=KEY, num_neurons=1024)
    assert found[0].gate.all() and found[0].climb < 1e-9
    (parked,) = [b for b in found if b.climb > 1e-6]
    assert parked.gate.sum() == 8 and parked.boundary[2]
    assert 0.9 < parked.rate / found[0].rate < 1 and parked.share > 0.15


SMALL_INTEGERS = {  # whose correlations cancel up to rounding on some gate
    "three": ([[-1, 1, 1], [1, 1, 1], [0, 0, 1]], [[0, 2, -1], [0, 2, -2]]),
    "five": ([[0, 0, -1, -1, 0], [0, -1, 0, 1, 0]], [[-1, 2, -2, -1, 2]]),
    "six": (
        [[0, 0, -1, -1, 0, 1], [0, -1, 0, -1, -1, 1]],
        [[-1, -1, 0, 1, 2, -2], [1, 1, 1, 0, 1, 2]],
    ),
}


@pytest.mark.parametrize("name", SMALL_INTEGERS)
def test_gates_on_which_the_residual_cancels(name):
    task = tasks.Task(*SMALL_INTEGERS[name])
    found = theory.basins(task, key=KEY, num_neurons=128)
    assert found
    for basin in found:
        assert basin.rate > 1e-6 and basin.mass > 0
        assert np.isfinite(basin.input_weights).all() and np.isfinite(basin.mass)
        np.testing.assert_allclose(np.linalg.norm(basin.output_weights), 1)


@pytest.mark.parametrize(
    "inputs, targets, name",
    [
        ([[1, 1, 1], [2, 2, 2]], [[0.1, 0.2, -0.3]], "residual"),
        ([[1, 1], [2, 2]], [[1, -1]], "residual"),
        ([[1.0]], [[1.0]], "num_neurons"),
    ],
)
def test_no_neuron_that_lives_is_named(inputs, targets, name):
    keys = [KEY] if name == "residual" else jax.random.split(KEY, 8)
    dead = 0
    for key in keys:
        try:
            theory.basins(tasks.Task(inputs, targets), key=key, num_neurons=1)
        except BAD_INPUT as error:
            assert str(error).startswith(f"{name}: ")
            dead += 1
    assert dead


def gaussian_task(rng, num_samples=10):
    signs = rng.choice([-1.0, 1.0], size=(2, num_samples))
    return rng.normal(size=(3, num_samples)), signs


def test_samples_without_a_residual_change_units_alone():
    """They neither push a neuron nor set the time that it is followed."""
    rng = np.random.default_rng(0)
    inputs, targets = gaussian_task(rng)
    large = np.hstack([inputs, 300 * rng.normal(size=(3, 2)), np.zeros((3, 1))])
    more = np.hstack([targets, np.zeros((2, 2)), np.ones((2, 1))])
    alone = theory.basins(tasks.Task(inputs, targets), key=KEY, num_neurons=256)
    found = theory.basins(tasks.Task(large, more), key=KEY, num_neurons=256)
    np.testing.assert_allclose([b.rate for b in found], [b.rate * 10 / 13 for b in alone])
    np.testing.assert_allclose([b.mass for b in found], [b.mass for b in alone], rtol=1e-6)


def test_one_strong_sample_takes_three_eighths_of_the_others():
    inputs, targets = gaussian_task(np.random.default_rng(1))
    alone = theory.basins(tasks.Task(inputs, targets), key=KEY, num_neurons=512)
    task = tasks.Task(
        np.block([[inputs, np.zeros((3, 1))], [np.zeros((1, 10)), 1]]),
        np.block([[targets, np.zeros((2, 1))], [np.zeros((1, 10)), 3000]]),
    )
    strong, *others = theory.basins(task, key=KEY, num_neurons=512)
    assert strong.mass == pytest.approx(ISOLATED) and len(others) == len(alone)
    for basin, before in zip(others, alone, strict=True):
        assert basin.rate == pytest.approx(before.rate * 10 / 11, rel=1e-6)
        spread = np.hypot(basin.mass_error, 5 / 8 * before.mass_error)
        assert abs(basin.mass - 5 / 8 * before.mass) < 4 * spread


# First drop -------------------------------------------------------------------------------------


def test_first_drop_of_one_basin_is_logistic():
    basin = theory.basins(tasks.Task([[2.0]], [[1.5]]), key=KEY, num_neurons=64)[0]
    start = 100 * 1e-6 * ISOLATED
    s, d = 3.0, 4.0
    reached = s / d * (1 - np.sqrt(0.5))  # half of the drop
    expected = np.log(reached * (s / d - start) / (start * (s / d - reached))) / (2 * s)
    assert theory.first_drop([basin], 100, 1e-3) == pytest.approx(expected, rel=1e-6)
    assert theory.first_drop([basin], 100, (1e-3, 1e-3)) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("name", ["xor", "random", "contexts"])
def test_first_drop_of_trained_networks(name):
    task = {
        "xor": tasks.xor(1.0),
        "random": random_task(0, 4, 8),
        "contexts": tasks.contextual(2, 4),
    }
    task, width, scale = task[name], 500, 1e-4
    found = theory.basins(task, key=KEY, num_neurons=2048)
    initial = float(jnp.sum(task.targets**2)) / (2 * task.num_samples)
    predicted = theory.first_drop(found, width, scale, 0.05 * initial)
    rate = found[0].rate
    network = networks.ReLUNetwork((len(task.inputs), width, len(task.targets)))
    step = 0.02 / rate
    weights = network.init(jax.random.key(1), scale)
    run = training.train(network, weights, task, step, round(1.3 * predicted / step))
    steps = np.argmax(run.losses < 0.95 * initial)
    assert steps
    assert steps * np.log1p(0.02) / rate == pytest.approx(predicted, rel=0.05)


def test_large_weights_warn():
    basin = theory.basins(tasks.Task([[2.0]], [[1.5]]), key=KEY, num_neurons=64)
    with pytest.warns(UserWarning, match="not small"):
        theory.first_drop(basin, 500, 0.02)


def test_rates_too_close_to_decide_warn():
    task = tasks.Task(np.eye(4), np.diag(1 - 0.05 * np.arange(4)))
    found = theory.basins(task, key=KEY, num_neurons=64)
    assert [b.mass_error for b in found] == [0] * 4
    with pytest.warns(UserWarning, match="nearly as fast"):
        theory.first_drop(found, 400, 1e-3)
    apart = theory.basins(tasks.Task(np.eye(2), np.diag([2.0, 1.0])), key=KEY, num_neurons=64)
    theory.first_drop(apart, 400, 1e-3)


def test_climb_of_a_flat_face_is_that_of_one_of_its_vectors():
    task = tasks.Task(np.eye(4), [[1, 0, 1, -1], [0, 1, -0.5, 0.2]])
    flat = [found for found in theory.candidates(task) if found.flatness > 1]
    assert flat
    for found in flat:
        assert theory.climb(task, [found.input_weights])[0] == pytest.approx(found.climb)


def test_first_drop_names_what_is_wrong():
    found = theory.basins(tasks.xor(1.0), key=KEY, num_neurons=64)
    other = theory.basins(tasks.Task(np.eye(2), np.eye(2)), key=KEY, num_neurons=64)
    for basins, scale, amount, message in [
        (found, 1e-3, 1e-12, "amount: expected more than what the initial"),
        (found, (1e-3, 1e-4), None, "scale: expected that of both layers"),
        (found + other, 1e-3, None, "basins: expected those of one task"),
        ([b._replace(mass=0.0) for b in found], 1e-3, None, "basins: .* a mass above 0"),
    ]:
        with pytest.raises(BAD_INPUT, match=message):
            theory.first_drop(basins, 10, scale, amount)


def test_bad_input_is_named():
    task = random_task(0)
    with pytest.raises(BAD_INPUT, match="residual"):
        theory.basins(task, np.zeros((2, 8)), key=KEY)
    with pytest.raises(BAD_INPUT, match="residual"):
        theory.drive(task, np.eye(3), np.ones((2, 5)))
    with pytest.raises(BAD_INPUT, match="residual"):
        theory.drive(task, np.eye(3), np.ones((3, 8)))
    with pytest.raises(BAD_INPUT, match="input_weights"):
        theory.climb(task, np.zeros((1, 3)))
    with pytest.raises(BAD_INPUT, match="output_weights"):
        theory.utility(task, np.eye(3), np.ones((2, 2)))
    with pytest.raises(BAD_INPUT, match="at most 16"):
        theory.faces(np.ones((2, 17)))
    with pytest.raises(BAD_INPUT, match="basins"):
        theory.first_drop([], 10, 0.1)
    found = theory.basins(task, key=KEY, num_neurons=256)
    with pytest.raises(BAD_INPUT, match="amount"):
        theory.first_drop(found, 10, 1e-4, 100.0)
