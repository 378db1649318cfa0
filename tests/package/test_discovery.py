"""Gates found in recorded activity: planted ones come back, whatever the order and the noise."""

import runpy
import sys
import warnings
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from bad_input import BAD_INPUT

from mdsgdln import discovery, gates, plots, tasks

mpl.use("Agg")

CONTEXTS = gates.context_gates(8, 3, [(0, 1, 2), (0, 1), (0, 2), (1, 2)])
FOUR = gates.context_gates(4, 4, [range(4), (0, 1, 2), (0, 1, 3), (0, 2, 3), (1, 2, 3)])
SINGLES = np.eye(4, dtype=int)
PAIRS = np.array([[1, 1, 0, 0], [0, 0, 1, 1]])


def as_set(found):
    return {tuple(int(entry) for entry in row) for row in np.asarray(found)}


def recorded(planted, flipped, neurons=60, seed=0):
    """Neurons of each planted gate, some entries flipped."""
    rng = np.random.default_rng(seed)
    activity = np.repeat(np.asarray(planted), neurons, axis=0)
    return np.where(rng.random(activity.shape) < flipped, 1 - activity, activity)


@pytest.mark.parametrize("planted", [CONTEXTS, FOUR, SINGLES, PAIRS, CONTEXTS[:1]])
@pytest.mark.parametrize("flipped", [0.0, 0.05])
def test_planted_gates_are_found_without_their_number(planted, flipped):
    assert as_set(discovery.discover(recorded(planted, flipped))) == as_set(planted)


def test_found_under_more_noise_and_with_groups_of_different_size():
    assert as_set(discovery.discover(recorded(CONTEXTS, 0.15))) == as_set(CONTEXTS)
    activity = np.repeat(recorded(CONTEXTS, 0.05), np.repeat([1, 2, 4, 6], 60), axis=0)
    assert as_set(discovery.discover(activity)) == as_set(CONTEXTS)


def test_real_activity_is_on_above_zero():
    on = recorded(CONTEXTS, 0.05)
    strength = np.random.default_rng(1).exponential(size=on.shape)
    expected = discovery.discover(on)
    np.testing.assert_array_equal(discovery.discover(on * strength), expected)
    np.testing.assert_array_equal(discovery.discover((2 * on - 1) * strength), expected)


def test_order_copies_and_silent_neurons_change_nothing():
    activity = recorded(FOUR, 0.1)
    found = discovery.discover(activity)
    order = np.random.default_rng(2).permutation(len(activity))
    np.testing.assert_array_equal(discovery.discover(activity[order]), found)
    np.testing.assert_array_equal(discovery.discover(np.tile(activity, (3, 1))), found)
    np.testing.assert_array_equal(discovery.discover(activity, 7 * np.ones(len(activity))), found)
    silent = np.vstack([activity, np.zeros((50, activity.shape[1]))])
    np.testing.assert_array_equal(discovery.discover(silent), found)


def test_order_of_samples_only_permutes_the_gates():
    activity = recorded(CONTEXTS, 0.05)
    order = np.random.default_rng(3).permutation(24)
    expected = as_set(CONTEXTS[:, order])
    assert as_set(discovery.discover(activity[:, order])) == expected


def test_noise_alone_is_one_pathway():
    assert len(discovery.discover(recorded(CONTEXTS[:1], 0.15, neurons=240))) == 1
    noise = np.random.default_rng(5).integers(0, 2, (300, 24))
    assert len(discovery.discover(noise)) == 1


def test_neurons_without_weight_do_not_count():
    noise = np.random.default_rng(4).integers(0, 2, (200, 24))
    activity = np.vstack([recorded(CONTEXTS, 0.05), noise])
    weights = np.concatenate([np.ones(240), np.full(200, 1e-6)])
    assert as_set(discovery.discover(activity, weights)) == as_set(CONTEXTS)
    weights[240:] = 0
    assert as_set(discovery.discover(activity, weights)) == as_set(CONTEXTS)


def test_gates_are_binary_and_distinct_with_the_largest_first():
    found = discovery.discover(recorded(CONTEXTS, 0.1))
    assert set(np.unique(found)) == {0, 1}
    assert len(as_set(found)) == len(found)
    assert (np.diff(found.sum(axis=1)) <= 0).all()


def test_cluster_with_the_planted_number_finds_the_planted_gates():
    activity = recorded(CONTEXTS, 0.05)
    assert as_set(discovery.cluster(activity, 4)) == as_set(CONTEXTS)
    assert len(discovery.cluster(activity, 2)) == 2
    assert set(np.unique(discovery.cluster(activity, 4))) == {0, 1}


def test_centroids_are_shares_of_their_clusters_with_the_largest_first():
    activity = recorded(CONTEXTS, 0.1)
    centroids = discovery.cluster(activity, 4, rounded=False)
    assert (np.diff(centroids.sum(axis=1)) <= 0).all()
    assert as_set(centroids > 0.5) == as_set(discovery.cluster(activity, 4))
    (mean,) = discovery.cluster(activity, 1, rounded=False)
    np.testing.assert_allclose(mean, activity.mean(axis=0), rtol=1e-6)


def test_centroids_of_silent_neurons_stay():
    activity = np.vstack([recorded(CONTEXTS, 0.0), np.zeros((50, 24))])
    assert len(discovery.cluster(activity, 5)) == 4
    assert len(discovery.cluster(activity, 5, rounded=False)) == 5


def test_cluster_merges_equal_gates_and_drops_empty_ones():
    silent = np.zeros((50, 24))
    activity = np.vstack([recorded(CONTEXTS, 0.0), silent])
    assert as_set(discovery.cluster(activity, 5)) == as_set(CONTEXTS)


def test_no_gate_where_no_centroid_reaches_one_half():
    assert discovery.cluster(np.eye(6), 1).shape == (0, 6)
    assert discovery.disagreement(np.empty((0, 6)), np.eye(6)) == 0.5


def test_groups_that_are_on_together_too_rarely_are_no_pathways():
    rng = np.random.default_rng(1)
    halves = np.kron(np.eye(2), np.ones((30, 20)))
    activity = halves * (rng.random(halves.shape) < 0.3)
    assert discovery.cluster(activity, 2).shape == (0, 40)
    assert len(discovery.discover(activity)) == 1


def test_cluster_weighs_neurons():
    activity = np.repeat([[1, 1, 0, 0], [1, 0, 0, 0]], [3, 1], axis=0)
    assert as_set(discovery.cluster(activity, 1)) == {(1, 1, 0, 0)}
    assert as_set(discovery.cluster(activity, 1, weights=[1, 1, 1, 9])) == {(1, 0, 0, 0)}


def test_importance_is_the_product_of_the_two_lengths():
    incoming, outgoing = [[3.0, 4.0], [0.0, 1.0]], [[5.0, 0.0], [12.0, -2.0]]
    np.testing.assert_allclose(discovery.importance(incoming, outgoing), [5 * 13, 1 * 2])


def test_disagreement_counts_differing_entries_of_matched_rows():
    assert discovery.disagreement(CONTEXTS, CONTEXTS[::-1]) == 0
    changed = CONTEXTS.copy()
    changed[1, 0] = 1 - changed[1, 0]
    assert discovery.disagreement(CONTEXTS, changed) == pytest.approx(1 / 96)
    assert discovery.disagreement(CONTEXTS, CONTEXTS[:3]) == pytest.approx(1 / 8)


@pytest.mark.parametrize(
    "function", [discovery.discover, lambda a, **k: discovery.cluster(a, 2, **k)]
)
@pytest.mark.parametrize(
    ("activity", "weights", "name"),
    [
        (np.ones(4), None, "activity"),
        (np.zeros((3, 4)), None, "activity"),
        (-np.ones((3, 4)), None, "activity"),
        (CONTEXTS, [1.0, 1.0], "weights"),
        (CONTEXTS, [0.0, 0.0, 0.0, 0.0], "activity"),
    ],
)
def test_bad_recordings_are_named(function, activity, weights, name):
    with pytest.raises(BAD_INPUT, match=name):
        function(activity, weights=weights)


@pytest.mark.parametrize("number", [99])
def test_bad_numbers_of_clusters_are_named(number):
    with pytest.raises(BAD_INPUT, match="num_clusters"):
        discovery.cluster(CONTEXTS, number)


def relu_activity(num_contexts, seed, hidden=150, scale=1e-5, rate=0.005):
    """Activity of a ReLU network that was trained in plain NumPy."""
    task = tasks.contextual(num_contexts, 8)
    inputs, targets = np.asarray(task.inputs), np.asarray(task.targets)
    rng = np.random.default_rng(seed)
    first = scale * rng.standard_normal((hidden, len(inputs)))
    second = scale * rng.standard_normal((len(targets), hidden))
    for _ in range(2500):
        active = np.maximum(first @ inputs, 0)
        error = second @ active - targets
        back = second.T @ error * (active > 0)
        second, first = second - rate * error @ active.T, first - rate * back @ inputs.T
    return np.maximum(first @ inputs, 0)


@pytest.mark.parametrize("trials", [32, 128])
def test_spikes_of_a_network_made_elsewhere_have_all_four_kinds(trials):
    activity = relu_activity(3, seed=7)
    rates = 10 * activity / activity[activity > 0.01 * activity.max()].mean()
    counts = np.random.default_rng(8).poisson(rates * trials) / trials
    found = discovery.discover(counts)
    assert len(found) == 4
    assert discovery.disagreement(CONTEXTS, found) <= 0.05


def test_eight_conditions_have_the_patterns_that_one_can_count():
    rng = np.random.default_rng(9)
    often = np.array([[1, 1, 1, 0, 0, 0, 0, 1], [1, 1, 0, 0, 0, 0, 0, 1], [0, 0, 1, 1, 1, 1, 0, 0]])
    rare = rng.integers(0, 2, (12, 8))
    activity = np.vstack([np.repeat(often, [60, 20, 40], axis=0), rare])
    assert as_set(discovery.discover(activity)) == as_set(often)


@pytest.mark.parametrize("kind", ["ring", "plane", "half-waves"])
def test_tuning_curves_manifolds_and_noise_have_no_kinds(kind):
    rng, place = np.random.default_rng(10), np.arange(24) / 24
    rates = {
        "ring": np.exp(3 * np.cos(2 * np.pi * (place - rng.random((150, 1))))) - 3,
        "plane": 8 * rng.standard_normal((150, 2)) @ rng.standard_normal((2, 24)),
        "half-waves": 10 * rng.standard_normal((150, 24)),
    }[kind]
    counts = rng.poisson(np.maximum(rates, 0) * 8) / 8
    found = discovery.find(counts[counts.any(axis=1)], resamples=1)
    assert not found.repeatable
    assert len(found.gates) == 1
    assert "no kinds" in repr(found)


def test_a_closed_curve_is_divided_into_no_kinds():
    """Arcs of this one repeat, with six clusters, but hardly farther apart than surrogates."""
    rng, angle = np.random.default_rng(571), np.linspace(0, 2 * np.pi, 24, endpoint=False)
    curve = np.array([np.cos(angle), np.sin(angle), np.cos(2 * angle)])
    rates = np.maximum(12 * (rng.standard_normal((400, 3)) @ curve - 0.3), 0)
    counts = rng.poisson(rates * 32) / 32
    assert len(discovery.discover(counts[counts.any(axis=1)])) == 1


def single_trials(planted=CONTEXTS, neurons=15, trials=6, seed=0):
    """Poisson counts, (trials × conditions, neurons), their labels, and counts before."""
    rng = np.random.default_rng(seed)
    rates = 3 + 12 * np.repeat(planted, neurons, axis=0)
    counts = rng.poisson(np.tile(rates.T, (trials, 1))).astype(float)
    return counts, np.tile(np.arange(planted.shape[1]), trials), rng.poisson(3.0, counts.shape)


def test_single_trials_give_kinds_that_are_sure():
    counts, labels, before = single_trials()
    recording = discovery.activity_by_condition(counts, labels, before)
    found = discovery.find(recording, resamples=5)
    assert as_set(found.gates) == as_set(CONTEXTS)
    np.testing.assert_array_equal(np.bincount(found.gate_of), [15, 15, 15, 15])
    assert found.repeatable and found.sure.min() > 0.7 and found.halves > 0.95
    assert found.shares.sum() == pytest.approx(1)
    assert found.agreement[4] > 0.99 and found.silhouette[4] > found.null[4]
    assert "4 kinds" in repr(found)
    assert plots.kinds(found).axes


def test_activity_is_the_mean_over_trials_whatever_holds_them():
    counts, labels, _ = single_trials()
    names = [f"unit {index}" for index in range(counts.shape[1])]
    frame = pd.DataFrame(counts, columns=names)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that all neurons are on
        plain = discovery.activity_by_condition(counts, labels)
        for table, by in ((frame, pd.Series(labels)), (frame.assign(item=labels), "item")):
            recording = discovery.activity_by_condition(table, by)
            np.testing.assert_allclose(recording.activity, plain.activity)
            assert list(recording.neurons) == names
    np.testing.assert_allclose(plain.activity, frame.groupby(labels).mean().T)
    np.testing.assert_allclose(np.mean(plain.halves(np.random.default_rng(0)), 0), plain.activity)


def test_gaps_and_silent_neurons_are_named():
    counts, labels, before = single_trials()
    counts[::7, 3] = np.nan
    counts[labels == 2, 4] = np.nan
    counts[:, 5] = 0
    recording = discovery.activity_by_condition(counts, labels, before)
    assert (recording.silent, recording.incomplete) == ((5,), (4,))
    assert 3 in recording.neurons and np.isfinite(recording.activity).all()
    assert "never on: 5" in repr(recording)
    expected = np.nanmean(counts[labels == 0, 3]) - before[:, 3].mean()
    error = 2 * before[:, 3].std(ddof=1) / np.sqrt(np.isfinite(counts[labels == 0, 3]).sum())
    assert recording.activity[3, 0] == pytest.approx(expected - error)


def test_z_scores_need_a_threshold():
    counts, labels, _ = single_trials()
    scores = (counts - counts.mean(axis=0)) / counts.std(axis=0)
    with pytest.raises(ValueError, match="threshold"):
        discovery.activity_by_condition(scores, labels)
    recording = discovery.activity_by_condition(scores, labels, threshold=-0.5)
    assert recording.activity.shape == (60, 24)


def test_a_missing_baseline_and_single_trials_are_warned_about():
    counts, labels, _ = single_trials()
    with pytest.warns(UserWarning, match="baseline"):
        discovery.activity_by_condition(counts + 1, labels)
    with pytest.warns(UserWarning, match="standard error"):
        discovery.activity_by_condition(counts[:24], labels[:24], baseline=3.0)


def test_the_job_of_a_neuroscientist_runs(tmp_path, monkeypatch, capsys):
    script = Path(__file__).parents[1] / "jobs" / "recordings.py"
    monkeypatch.setattr(sys, "argv", [str(script), str(tmp_path / "kinds.pdf")])
    runpy.run_path(str(script))
    assert "4 kinds of neurons" in capsys.readouterr().out
    assert (tmp_path / "kinds.pdf").stat().st_size > 1000
