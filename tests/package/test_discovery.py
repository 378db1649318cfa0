"""Gates found in recorded activity: planted ones come back, whatever the order and the noise."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from bad_input import refused
from numpy.testing import assert_allclose as close, assert_array_equal as equal

from mdsgdln import discovery, gates
from mdsgdln.discovery.kinds import in_words
from mdsgdln_book import plots

mpl.use("Agg")

CONTEXTS = gates.context_gates(3, 8, [(0, 1, 2), (0, 1), (0, 2), (1, 2)])
PAIRS = np.array([[1, 1, 0, 0], [0, 0, 1, 1]])


def as_set(found):
    return {tuple(int(entry) for entry in row) for row in np.asarray(found)}


def found_gates(activity, weights=None):
    return discovery.find(activity, weights, resamples=1).gates


def recorded(planted, flipped, neurons=60, seed=0):
    """Neurons of each planted gate, some entries flipped."""
    rng = np.random.default_rng(seed)
    activity = np.repeat(np.asarray(planted), neurons, axis=0)
    return np.where(rng.random(activity.shape) < flipped, 1 - activity, activity)


@pytest.mark.filterwarnings("ignore:find. .* conditions")
@pytest.mark.parametrize(
    ("planted", "flipped"),
    [(CONTEXTS, 0.15), (PAIRS, 0.05), (CONTEXTS[:1], 0.15)],
)
def test_planted_gates_are_found_without_their_number_the_largest_first(planted, flipped):
    groups = np.repeat(np.arange(len(planted)) % 3 + 1, 60)  # of different size
    found = found_gates(np.repeat(recorded(planted, flipped), groups, axis=0))
    assert as_set(found) == as_set(planted) and len(found) == len(planted)
    assert (np.diff(found.sum(axis=1)) <= 0).all()


def test_strength_order_copies_and_silent_neurons_change_nothing():
    activity, rng = recorded(CONTEXTS, 0.05), np.random.default_rng(2)
    strength = rng.exponential(size=activity.shape)
    copied = np.vstack([np.tile(activity, (3, 1)), np.zeros((300, activity.shape[1]))])
    order = rng.permutation(activity.shape[1])
    real = (2 * activity - 1) * strength  # on above zero
    assert as_set(found_gates(real[:, order])) == as_set(CONTEXTS[:, order])
    equal_weights = 7 * np.ones(len(copied))
    assert as_set(found_gates(rng.permutation(copied), equal_weights)) == as_set(CONTEXTS)


def test_noise_alone_is_one_pathway_and_a_baseline_is_advised_only_without_silence():
    noise = np.random.default_rng(5).integers(0, 2, (300, 24))
    assert len(found_gates(noise)) == 1
    with pytest.warns(UserWarning, match="One gate, .* Subtract a baseline"):
        assert found_gates(noise + 1).all()


def test_neurons_without_weight_do_not_count():
    noise = np.random.default_rng(4).integers(0, 2, (200, 24))
    activity = np.vstack([recorded(CONTEXTS, 0.05), noise])
    weights = np.repeat([1, 1e-6, 0], [240, 100, 100])
    assert as_set(found_gates(activity, weights)) == as_set(CONTEXTS)


def test_k_means_with_their_number_finds_planted_gates_and_merges_equal_ones():
    activity = recorded(CONTEXTS, 0.05)
    assert as_set(discovery.k_means_gates(activity, 4)) == as_set(CONTEXTS)
    silent = np.vstack([recorded(CONTEXTS, 0.0), np.zeros((50, 24))])
    assert as_set(discovery.k_means_gates(silent, 5)) == as_set(CONTEXTS)
    few = np.repeat([[1, 1, 0, 0], [1, 0, 0, 0]], [3, 1], axis=0)
    assert as_set(discovery.k_means_gates(few, 1)) == {(1, 1, 0, 0)}
    assert as_set(discovery.k_means_gates(few, 1, weights=[1, 1, 1, 9])) == {(1, 0, 0, 0)}
    rare = np.kron(np.eye(2), np.ones((30, 20)))  # groups that are on together too rarely
    rare = rare * (np.random.default_rng(1).random(rare.shape) < 0.3)
    assert discovery.k_means_gates(rare, 2).shape == (0, 40)
    assert len(found_gates(rare)) == 1


def test_importance_is_the_product_of_the_two_lengths():
    incoming, outgoing = [[3.0, 4.0], [0.0, 1.0]], [[5.0, 0.0], [12.0, -2.0]]
    close(discovery.importance(incoming, outgoing), [5 * 13, 1 * 2])


def test_disagreement_counts_differing_entries_of_matched_rows():
    assert discovery.disagreement(CONTEXTS, CONTEXTS[::-1]) == 0
    changed = CONTEXTS.copy()
    changed[1, 0] = 1 - changed[1, 0]
    assert discovery.disagreement(CONTEXTS, changed) == pytest.approx(1 / 96)
    assert discovery.disagreement(CONTEXTS, CONTEXTS[:3]) == pytest.approx(1 / 8)
    assert discovery.disagreement(np.empty((0, 6)), np.eye(6)) == 0.5


def arcs():
    """Neurons that are on along an arc of a closed curve, nearly as if there were kinds."""
    rng, angle = np.random.default_rng(571), 2 * np.pi * np.arange(24) / 24
    curve = [np.cos(angle), np.sin(angle), np.cos(2 * angle)]
    rates = 12 * (rng.standard_normal((400, 3)) @ curve - 0.3)
    counts = rng.poisson(np.maximum(rates, 0) * 32) / 32
    return counts[counts.any(axis=1)]


def half_waves(neurons, conditions, features, seed):
    """Neurons of random linear weights: no kinds. All that are ever on."""
    rng = np.random.default_rng(seed)
    drive = rng.standard_normal((neurons, features)) @ rng.standard_normal((features, conditions))
    return (drive[(drive > 0).any(axis=1)] > 0).astype(float)


def single_trials(planted=CONTEXTS, neurons=15, trials=6, seed=0):
    """Poisson counts, (neurons, trials × conditions), their labels, and counts before."""
    rng = np.random.default_rng(seed)
    rates = 3 + 12 * np.repeat(planted, neurons, axis=0)
    counts = rng.poisson(np.tile(rates, (1, trials))).astype(float)
    return counts, np.tile(np.arange(planted.shape[1]), trials), rng.poisson(3.0, counts.shape)


PAIRED = [(context, item) for context in "ABC" for item in range(8)]  # what condition each is


@pytest.mark.filterwarnings("ignore:.*6 trials")
def test_single_trials_give_kinds_that_are_sure():
    counts, labels, before = single_trials()
    counts[7] = 0
    named = [PAIRED[label] for label in labels]
    recording = discovery.activity_by_condition(counts, named, before)
    found = discovery.find(recording, resamples=5)
    assert as_set(found.gates) == as_set(CONTEXTS)
    equal(np.bincount(found.gate_of), [14, 15, 15, 15])
    assert found.repeatable and found.sure.min() > 0.7 and found.halves > 0.95
    assert found.shares.sum() == pytest.approx(1)
    assert found.agreement[4] > 0.99 and found.silhouette[4] > found.null[4]
    assert found.neurons == tuple(index for index in range(60) if index != 7)
    assert found.conditions == tuple(PAIRED)
    assert "59 neurons (rows) in 24 conditions (columns): 4 kinds of neurons\n" in repr(found)
    for words in ("1: all", "2: A, B", "3: A, C", "4: B, C"):
        assert f"gate {words}\n" in repr(found) + "\n"
    left = plots.kinds(found).axes[0]
    assert [tick.get_text() for tick in left.get_xticklabels()] == ["A", "B", "C"]


def test_activity_is_the_mean_over_trials_whatever_holds_them():
    counts, labels, _ = single_trials()
    frame = pd.DataFrame(counts.T, columns=[f"unit {index}" for index in range(60)])
    pairs = [PAIRED[label] for label in labels]
    columns = pd.DataFrame(pairs, columns=["context", "item"])
    plain = discovery.activity_by_condition(counts, labels)
    close(plain.activity, frame.groupby(labels).mean().T)
    close(np.mean(plain.halves(np.random.default_rng(0)), 0), plain.activity)
    both = pd.concat([frame, columns], axis=1)
    for trials, given in (
        (counts, pairs),
        (counts, columns),
        (counts, columns.to_numpy()),
        (counts, pd.MultiIndex.from_tuples(pairs)),
        (frame, pd.Series(pairs)),
        (both, ["context", "item"]),
        (both.drop(columns="item").assign(context=pairs), "context"),
    ):
        recording = discovery.activity_by_condition(trials, given)
        equal(recording.activity, plain.activity)
        assert recording.conditions == tuple(PAIRED)
        assert recording.neurons == tuple(range(60) if trials is counts else frame.columns)
    with pytest.raises(ValueError, match="labels: .*itme"):
        discovery.activity_by_condition(both, ["context", "itme"])
    for given in (both["context"], columns):  # which would count as neurons
        with pytest.raises(ValueError, match="labels: expected columns .* by their names"):
            discovery.activity_by_condition(both.drop(columns="item"), given)
    one_column = discovery.activity_by_condition(counts, columns[["item"]])
    assert one_column.conditions == tuple(range(8))


def test_baselines_are_arrays_or_tables_read_by_name():
    counts, labels, before = single_trials()
    names = [f"unit {index}" for index in range(60)]
    frame, earlier = (pd.DataFrame(array.T, columns=names) for array in (counts, before))
    for given, table in (
        (before, earlier),
        (before, earlier[names[::-1]]),
        (before.mean(axis=1), earlier[names[::-1]].mean()),
    ):
        plain = discovery.activity_by_condition(counts, labels, given)
        close(discovery.activity_by_condition(frame, labels, table).activity, plain.activity)
    with pytest.raises(ValueError, match="baseline"):
        discovery.activity_by_condition(frame, labels, earlier[names[:5]])
    with pytest.warns(UserWarning, match="standard error"):
        discovery.activity_by_condition(counts[:, :24], labels[:24], baseline=3.0)


def test_a_gate_is_said_in_words():
    letters, pairs = list("abcd"), [("x", 1), ("x", 2), ("y", 1), ("y", 2)]
    assert in_words(np.array([1, 1, 1, 0]), letters) == "all but d"
    assert in_words(np.array([1, 0, 0, 1]), letters) == "a, d"
    assert in_words(np.array([1, 1, 0, 0]), pairs) == "x"
    assert in_words(np.array([1, 1, 1, 0]), pairs) == "all but y 2"
    many = in_words(np.repeat([1, 0], 20), range(40))
    assert many == "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, … (20)"


def test_gaps_and_silent_neurons_are_named():
    counts, labels, before = single_trials()
    before = before.astype(float)
    counts[3, ::7] = np.nan
    before[3, ::7] = np.nan
    counts[4, labels == 2] = np.nan
    counts[5] = 0
    before[6] = np.nan
    recording = discovery.activity_by_condition(counts, labels, before)
    assert (recording.silent, recording.incomplete) == ((5,), (4, 6))
    assert 3 in recording.neurons and np.isfinite(recording.activity).all()
    assert "never on: 5" in repr(recording)
    expected = np.nanmean(counts[3, labels == 0]) - np.nanmean(before[3])
    error = 2 * np.nanstd(before[3], ddof=1) / np.sqrt(np.isfinite(counts[3, labels == 0]).sum())
    assert recording.activity[3, 0] == pytest.approx(expected - error)
    for condition in range(24):
        counts[:, np.flatnonzero(labels == condition)[2:]] = np.nan
    recording = discovery.activity_by_condition(counts, labels, before)
    assert recording.fewest_trials == 2 and "2 trials each" in repr(recording)
    counts[:, labels == 0] = np.nan
    with refused("recorded in every condition"):
        discovery.activity_by_condition(counts, labels, before)


def test_z_scores_need_a_threshold():
    counts, labels, _ = single_trials()
    scores = (counts.T - counts.mean(axis=1)) / counts.std(axis=1)
    with pytest.raises(ValueError, match="threshold"):
        discovery.activity_by_condition(scores.T, labels)
    recording = discovery.activity_by_condition(scores.T, labels, threshold=-0.5)
    halves = np.mean(recording.halves(np.random.default_rng(0)), 0)
    close(halves, recording.activity)


def test_suppressed_neurons_are_on_below_their_baseline():
    counts, labels, before = single_trials(1 - CONTEXTS[1:])
    with pytest.raises(ValueError, match="suppressed"):
        discovery.activity_by_condition(counts, labels, suppressed=True)
    high = np.random.default_rng(1).poisson(15, counts.shape)
    recording = discovery.activity_by_condition(counts, labels, high, suppressed=True)
    with pytest.warns(UserWarning, match="45 neurons"):
        found = discovery.find(recording, resamples=1)
    assert as_set(found.gates) == as_set(CONTEXTS[1:])
    with pytest.warns(UserWarning, match="of 90 neurons .* suppressed=True"):
        mixed = np.vstack([counts, high + 20]), labels, np.vstack([high, high])
        discovery.activity_by_condition(*mixed)
    level = discovery.activity_by_condition(counts, labels, threshold=9, suppressed=True)
    close(level.activity[:, 0], 9 - counts[:, labels == 0].mean(axis=1))


def test_a_gate_that_is_always_on_is_warned_about_and_a_threshold_helps():
    """Rates far above their baseline in every condition, as where neurons are never silent."""
    counts, labels, before = single_trials(CONTEXTS[1:], neurons=20)
    for baseline in (None, before):
        recording = discovery.activity_by_condition(counts + 10, labels, baseline)
        with pytest.warns(UserWarning, match="open in all"):
            assert discovery.find(recording, resamples=1).gates.all()
    means = (counts + 10).mean(axis=1)
    recording = discovery.activity_by_condition(counts + 10, labels, threshold=means)
    with pytest.warns(UserWarning, match="6 trials"):
        found = discovery.find(recording, resamples=1)
    assert as_set(found.gates) == as_set(CONTEXTS[1:])


@pytest.mark.parametrize(
    ("activity", "reason"),
    [
        (arcs(), "do not repeat"),
        (np.repeat([[1, 0, 1, 1]], 60, axis=0), "one pattern"),
        (half_waves(200, 10, features=3, seed=5), "silhouette"),
    ],
)
def test_without_kinds_no_neuron_is_sure_and_the_reason_is_said(activity, reason):
    found = discovery.find(activity, resamples=1)
    assert not found.repeatable and len(found.gates) == 1 and np.isnan(found.sure).all()
    assert reason in found.reason and found.reason in repr(found)


@pytest.mark.parametrize(
    ("planted", "neurons", "said"),
    [
        (CONTEXTS, 12, "48 neurons"),
        (np.eye(8)[:4], 20, "8 conditions"),
        (np.repeat(CONTEXTS, 10, axis=1), 20, "transpose"),
    ],
)
def test_what_so_small_a_recording_cannot_tell_is_said(planted, neurons, said):
    activity = np.repeat(planted, neurons, axis=0)
    with pytest.warns(UserWarning, match=said):
        found_gates(activity)


def test_common_patterns_are_counted():
    on = np.array([[0, 1, 1]] * 3 + [[1, 0, 0]] * 6 + [[0, 0, 0]] * 90 + [[1, 1, 1]])
    found = discovery.common_patterns(on * np.arange(1.0, 101)[:, None], [*[4] * 3, *[1] * 97])
    equal(found.gates, [[0, 1, 1], [1, 0, 0]])
    close(found.shares, [12 / 109, 6 / 109])
