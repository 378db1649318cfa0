"""Gates found in recorded activity: planted ones come back, whatever the order and the noise."""

import warnings

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from bad_input import refused
from numpy.testing import assert_allclose as close, assert_array_equal as equal

from mdsgdln import discovery, gates
from mdsgdln.discovery import density
from mdsgdln.discovery.caveats import coarseness
from mdsgdln.discovery.density import States
from mdsgdln.discovery.evidence import surrogates, tetrachoric
from mdsgdln.discovery.kinds import in_words
from mdsgdln_book import plots

mpl.use("Agg")

FIELDS = np.random.default_rng(3).uniform(-0.5, 5.5, (2, 400, 1))  # centres of places
CONTEXTS = gates.context_gates(3, 8, [(0, 1, 2), (0, 1), (0, 2), (1, 2)])


def as_set(found):
    return {tuple(int(entry) for entry in row) for row in np.asarray(found)}


def found_gates(activity, weights=None, resamples=4):
    with warnings.catch_warnings(action="ignore", category=UserWarning):  # that conditions are few
        return discovery.find(activity, weights, resamples).gates


def recorded(planted, flipped, neurons=60, seed=0):
    """Neurons of each planted gate, some entries flipped."""
    rng = np.random.default_rng(seed)
    activity = np.repeat(np.asarray(planted), neurons, axis=0)
    return np.where(rng.random(activity.shape) < flipped, 1 - activity, activity)


@pytest.mark.parametrize("flipped", [0.0, 0.1])
def test_planted_gates_are_found_without_their_number_the_largest_first(flipped):
    found = found_gates(recorded(CONTEXTS, flipped))
    assert as_set(found) == as_set(CONTEXTS) and len(found) == len(CONTEXTS)
    assert (np.diff(found.sum(axis=1)) <= 0).all()


def test_thirteen_kinds_a_rare_one_and_outsiders():
    rng = np.random.default_rng(0)
    many = (rng.random((13, 40)) < 0.4).astype(int)
    assert as_set(found_gates(np.repeat(many, 25, axis=0))) == as_set(many)
    rare = np.repeat(CONTEXTS, [160, 160, 160, 20], axis=0)
    assert as_set(found_gates(rare)) == as_set(CONTEXTS)
    small = np.repeat(CONTEXTS, [18, 17, 17, 8], axis=0)
    with pytest.warns(UserWarning, match="4 kinds differ in 3 groups"):
        found = discovery.find(small)
    assert as_set(found.gates) == as_set(CONTEXTS)
    assert found.stability[-1] > 0.7  # three or more of the last in a half: 0.87 of all halves
    outside = np.vstack([np.repeat(CONTEXTS, 25, axis=0), rng.integers(0, 2, (100, 24))])
    outside[-1] = 0
    found = discovery.find(outside, resamples=4)
    assert as_set(found.gates) == as_set(CONTEXTS) and not found.caveats
    assert (found.gate_of[:100] >= 0).all() and (found.gate_of[100:] < 0).mean() > 0.9
    assert found.gate_of[-1] == found.gate_of.min() == -1
    equal(found.misfit[:100], 0)
    nearest = (outside[:, None] != found.gates[None]).mean(axis=2).min(axis=1)
    close(found.misfit, nearest)
    assert (found.stability > 0.9).all() and found.silhouette > found.null.max()


def test_neurons_of_a_noisy_kind_beside_clean_ones_keep_it():
    """Their trials agree, so that the kind, and not its trials, is noisy."""
    activity = np.vstack([recorded(CONTEXTS[:1], 0.15), recorded(CONTEXTS[1:3], 0)])
    differ = np.flatnonzero(CONTEXTS[0] != CONTEXTS[1])
    activity[0], activity[0, differ[:5]] = CONTEXTS[0], 0  # nearer to the gate of a clean kind
    trials, labels = np.tile(activity, 2), np.tile(np.arange(24), 2)
    found = discovery.find(discovery.activity_by_condition(trials, labels), resamples=4)
    equal(found.gates, CONTEXTS[:3])
    equal(found.gate_of, np.repeat(np.arange(3), 60))
    close(found.misfit, (activity != CONTEXTS[found.gate_of]).mean(axis=1))
    assert found.stability[0] < 0.95 < found.stability[1:].min()  # halves differ on its neurons


def test_strength_order_copies_and_silent_neurons_change_nothing():
    activity, rng = recorded(CONTEXTS, 0.05), np.random.default_rng(2)
    strength = rng.exponential(size=activity.shape)
    copied = np.vstack([np.tile(activity, (2, 1)), np.zeros((200, activity.shape[1]))])
    order = rng.permutation(activity.shape[1])
    real = (2 * activity - 1) * strength  # on above zero
    assert as_set(found_gates(real[:, order])) == as_set(CONTEXTS[:, order])
    assert as_set(found_gates(rng.permutation(copied))) == as_set(CONTEXTS)


def test_neurons_without_weight_do_not_count():
    noise = np.random.default_rng(4).integers(0, 2, (200, 24))
    activity = np.vstack([recorded(CONTEXTS, 0.05), noise])
    weights = np.repeat([1, 1e-6, 0], [240, 100, 100])
    assert as_set(found_gates(activity, weights)) == as_set(CONTEXTS)


@pytest.mark.filterwarnings("ignore:find. The 4 kinds")
def test_the_seed_decides_what_is_drawn():
    activity = recorded(CONTEXTS, 0.05, neurons=15)
    first, same, other = (discovery.find(activity, resamples=2, seed=s) for s in (0, 0, 1))
    equal(first.null, same.null)
    assert (first.null != other.null).any()


def test_what_is_found_does_not_depend_on_how_a_processor_sorts_equal_distances(monkeypatch):
    """NumPy sorts equal numbers in an order that depends on the processor."""
    activity, sort = recorded(CONTEXTS, 0.17, seed=3), np.argsort

    def other(values, axis=-1, kind=None):
        if kind == "stable" or np.ndim(values) != 1:
            return sort(values, axis=axis, kind=kind)
        return len(values) - 1 - sort(np.flip(values), kind="stable")

    def parted(values, kth, axis):  # only the entry at kth is where it belongs
        ordered = np.sort(values, axis=axis)
        parts = ordered[:, :kth][:, ::-1], ordered[:, [kth]], ordered[:, :kth:-1]
        return np.concatenate(parts, axis=axis)

    patterns = density.States.of(activity)
    before = density.mixture(patterns, 0.02).kind(patterns)
    monkeypatch.setattr(np, "argsort", other)
    monkeypatch.setattr(np, "partition", parted)
    assert len(set(before)) > 3
    equal(density.mixture(patterns, 0.02).kind(patterns), before)


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


def test_importance_is_the_product_of_the_two_lengths():
    incoming, outgoing = [[3.0, 4.0], [0.0, 1.0]], [[5.0, 0.0], [12.0, -2.0]]
    close(discovery.importance(incoming, outgoing), [5 * 13, 1 * 2])
    pairs = (incoming, [12.0, 0.0]), (outgoing, [1.0, 1.0])  # weights and biases
    close(discovery.importance(*pairs), [13 * 13, 1 * 2])


def layer(cue, seed=0):
    """An untrained ReLU layer of 3 contexts and 8 items: no kinds, whatever the cue's strength."""
    inputs = np.vstack([np.tile(np.eye(8), 3), cue * np.repeat(np.eye(3), 8, axis=1)])
    return np.maximum(np.random.default_rng(seed).normal(size=(400, 11)) @ inputs, 0)


def ring(conditions, width, seed=0):
    """Neurons that are on along an arc of a circle of conditions."""
    preferred = np.random.default_rng(seed).uniform(0, 2 * np.pi, (200, 1))
    return np.cos(2 * np.pi * np.arange(conditions) / conditions - preferred) - width


def gaussian(rank, conditions, seed=0):
    """Neurons of random linear weights of a few features."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(300, rank)) @ rng.normal(size=(rank, conditions))


NOISE = np.random.default_rng(5).integers(0, 2, (300, 24))
EMPTY = {
    "noise": NOISE,
    "one pattern": np.repeat([[1, 0, 1, 1]], 60, axis=0),
    **{f"ring of {number}": ring(number, width) for number, width in ((8, 0.5), (24, 0))},
    **{f"layer with cue {cue}": layer(cue) for cue in (1, 20)},
    **{f"Gaussian of rank {rank}": gaussian(rank, 24) for rank in (2, 5)},
    "place fields": 4 - ((np.indices((6, 6)).reshape(2, 1, 36) - FIELDS) ** 2).sum(axis=0),
}


@pytest.mark.filterwarnings(
    *(f"ignore:find. {words}" for words in ("A neuron counts", "Each neuron", "Of [0-9]+ patterns"))
)
@pytest.mark.parametrize("name", EMPTY)
def test_without_kinds_no_neuron_has_one_and_the_reason_is_said(name):
    found = discovery.find(EMPTY[name], resamples=4)
    assert len(found.gates) == 0 and (found.gate_of == -1).all() and np.isnan(found.misfit).all()
    assert found.reason and found.reason in repr(found)
    plots.kinds(found)


def test_a_continuum_of_few_distinct_conditions_is_warned_about():
    with pytest.warns(UserWarning, match="2 kinds differ in 1 group of conditions"):
        assert len(discovery.find(gaussian(1, 24), resamples=1).gates) == 2
    with pytest.warns(UserWarning, match="differ in 8 groups"):
        discovery.find(np.tile(ring(8, 0.5), 3), resamples=1)
    half = np.array([[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1]])
    crossed = np.vstack([np.kron(half, np.ones(4)), np.kron(np.ones(4), half)])  # two variables
    with pytest.warns(UserWarning, match="Of the 8 kinds, 4 differ in 2 groups"):
        discovery.find(recorded(crossed, 0.02, neurons=25), resamples=1)
    items = np.unpackbits(np.uint8([[0x60], [0xBB], [0x53], [0x9E]]), axis=1).repeat(2, axis=1)
    contexts = np.kron([[1, 1, 0], [0, 1, 0], [0, 1, 1]], np.ones(16))
    planted = [contexts, np.kron(np.ones(3), items)]
    planted = np.vstack([*planted, np.ones((1, 48))])  # always on, and so of no variable
    assert not discovery.find(recorded(planted, 0.04, neurons=40), resamples=1).caveats
    three = density.mixture(States.of(recorded(CONTEXTS[:3], 0.0)), 0.02)
    assert "3 kinds differ in 2 groups of conditions" in coarseness(three.gates, 0.0, 0.0)[0]


@pytest.mark.parametrize("planted", [np.eye(3), np.eye(4), np.eye(12), CONTEXTS[:, ::8]])
def test_kinds_that_differ_in_one_or_two_conditions_are_warned_about(planted):
    counts, labels, before = single_trials(planted, neurons=30, trials=40)
    recording = discovery.activity_by_condition(counts, labels, before)
    with pytest.warns(UserWarning, match=f"Of {len(planted)} patterns .*common_patterns") as caught:
        found = discovery.find(recording, resamples=1)
    assert len(found.gates) == 0 and len(caught) == 1
    if len(planted) < 12:  # in more there is more noise
        assert as_set(discovery.common_patterns(recording).gates) == as_set(planted)


def test_what_is_said_of_far_patterns_is_not_that_they_are_close():
    """Twelve kinds, far apart, of 8 % each, with one condition each that is not decided."""
    rng = np.random.default_rng(0)
    activity = np.repeat((rng.random((12, 24)) < 0.5).astype(int), 20, axis=0)
    undecided = np.repeat(rng.integers(0, 24, 12), 20)
    activity[np.arange(240), undecided] = np.arange(240) % 2
    found = discovery.find(activity, resamples=1)
    assert "not decided" in found.reason and not found.caveats


def test_means_without_their_baseline_or_in_units_of_their_deviation_are_warned_about():
    counts, labels, before = single_trials(neurons=30)
    means = np.stack([counts[:, labels == number].mean(axis=1) for number in range(24)], axis=1)
    with pytest.warns(UserWarning, match="Where noise is above zero"):
        assert discovery.find(means - before.mean(axis=1)[:, None], resamples=1).reason
    means -= means.mean(axis=1, keepdims=True)
    with pytest.warns(UserWarning, match="as with z-scores"):
        discovery.find(means / means.std(axis=1, keepdims=True), resamples=1)
    signs = 2 * np.repeat(np.kron([[1, 1, 0, 0], [1, 0, 1, 0]], np.ones(6)), 40, axis=0) - 1
    with pytest.warns(UserWarning, match="2 kinds") as caught:  # on as often as off, exactly
        discovery.find(signs, resamples=1)
    assert len(caught) == 1 and "z-scores" not in str(caught[0].message)


def test_correlations_of_surrogates_are_those_of_the_gaussians():
    rng, planted = np.random.default_rng(0), np.array([[1, 0.7, 0], [0.7, 1, -0.5], [0, -0.5, 1]])
    drawn = rng.multivariate_normal(np.zeros(3), planted, 40000)
    thresholds = np.array([-0.5, 0.3, 0.0])
    patterns = States.of(thresholds - drawn)
    correlations, found = tetrachoric(patterns)
    close(correlations, planted, atol=0.03)
    close(found, thresholds, atol=0.03)
    *_, last = surrogates(patterns, 1, seed=0)
    close(last.on.T @ last.on / 40000, patterns.on.T @ patterns.on / 40000, atol=0.01)


def single_trials(planted=CONTEXTS, neurons=15, trials=6, seed=0):
    """Poisson counts, (neurons, trials × conditions), their labels, and counts before."""
    rng = np.random.default_rng(seed)
    rates = 3 + 12 * np.repeat(planted, neurons, axis=0)
    counts = rng.poisson(np.tile(rates, (1, trials))).astype(float)
    return counts, np.tile(np.arange(planted.shape[1]), trials), rng.poisson(3.0, counts.shape)


PAIRED = [(context, item) for context in "ABC" for item in range(8)]  # what condition each is


def test_single_trials_give_kinds():
    counts, labels, before = single_trials()
    counts[7] = 0
    named = [PAIRED[label] for label in labels]
    recording = discovery.activity_by_condition(counts, named, before)
    found = discovery.find(recording, resamples=5)
    assert as_set(found.gates) == as_set(CONTEXTS)
    equal(np.bincount(found.gate_of), [14, 15, 15, 15])
    assert not found.reason and found.stability.min() > 0.7 and found.misfit.max() < 0.1
    assert found.shares.sum() == pytest.approx(1) and found.noise.max() < 0.2
    assert found.neurons == tuple(index for index in range(60) if index != 7)
    assert found.conditions == tuple(PAIRED)
    assert "4 kinds of neurons\n" in repr(found)
    assert found.on_for == ["gate 1: all", "gate 2: A, B", "gate 3: A, C", "gate 4: B, C"]
    left, middle, _ = plots.kinds(found).axes
    for axes, borders in ((left, [14, 29, 44]), (middle, [1, 2, 3])):  # where a kind begins
        equal([line.get_ydata()[0] + 0.5 for line in axes.lines], borders)
    assert [tick.get_text() for tick in left.get_xticklabels()] == ["A", "B", "C"]


def test_activity_is_the_mean_over_trials_whatever_holds_them():
    counts, labels, _ = single_trials()
    frame = pd.DataFrame(counts.T, columns=[f"unit {index}" for index in range(60)])
    pairs = [PAIRED[label] for label in labels]
    columns = pd.DataFrame(pairs, columns=["context", "item"])
    plain = discovery.activity_by_condition(counts, labels)
    close(plain.activity, frame.groupby(labels).mean().T)
    close(np.mean(plain.halves(np.random.default_rng(0)), 0), plain.activity)
    masked = np.ma.masked_array(counts, np.random.default_rng(1).random(counts.shape) < 0.1)
    missing = frame.mask(masked.mask.T)
    for trials in (masked, missing, missing.astype("Int64")):
        recording = discovery.activity_by_condition(trials, labels)
        close(recording.activity, missing.groupby(labels).mean().T)
    shuffled = pd.Series(pairs, index=frame.index).sample(frac=1, random_state=0)
    equal(discovery.activity_by_condition(frame, shuffled).activity, plain.activity)
    with refused("labels: expected the index"):
        discovery.activity_by_condition(frame, pd.Series(pairs, index=frame.index + 1))
    with refused("labels: expected the index"):  # after a concatenation, any order would fit
        discovery.activity_by_condition(frame.set_index(frame.index % 60), pd.Series(pairs))
    with pytest.warns(UserWarning, match="'time' outweighs"):
        discovery.activity_by_condition(frame.assign(time=np.arange(len(frame)) * 100), labels)
    half = np.array([[1.0, 1.0, 1.0], [1.0, 0.0, 1.0], [1.0, 0.0, 0.0]])  # has the first neuron
    discovery.activity_by_condition(half, np.arange(3))
    with pytest.warns(UserWarning, match="0 outweighs"):
        discovery.activity_by_condition(half * [[1.1], [1.0], [1.0]], np.arange(3))
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
    words = [f"{context}{item}" for context, item in pairs]  # not names of columns
    equal(discovery.activity_by_condition(frame, words).activity, plain.activity)
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
    with refused("baseline: expected a number, one for each of the 60 neurons, or shape"):
        discovery.activity_by_condition(counts, labels, before.mean(axis=1, keepdims=True))
    with pytest.warns(UserWarning, match="standard error"):
        single = discovery.activity_by_condition(counts[:, :24], labels[:24], baseline=3.0)
    assert np.isnan(single.noise(np.random.default_rng(0))).all()
    high, later = before + 5.0, labels >= 4
    counts[:, 24:][:, ~later[24:]] = np.nan  # the first four conditions have one trial
    gaps, whole = (
        discovery.activity_by_condition(counts[:, part], labels[part], high[:, part])
        for part in (slice(None), later)
    )
    noise = [some.noise(np.random.default_rng(0)).mean() for some in (gaps, whole)]
    assert noise[0] == pytest.approx(noise[1], rel=0.1) and noise[1] > 0.01


def test_a_gate_is_said_in_words():
    letters, pairs = list("abcd"), [("x", 1), ("x", 2), ("y", 1), ("y", 2)]
    assert in_words(np.array([1, 1, 1, 0]), letters) == "all but d"
    assert in_words(np.array([1, 0, 0, 1]), letters) == "a, d"
    assert in_words(np.array([1, 1, 0, 0]), pairs) == "x"
    assert in_words(np.array([1, 1, 1, 0]), pairs) == "all but y 2"
    mixed = [("a", "y"), ("b", 1), ("c", 1), ("d", 2), ("e", 2)]
    assert in_words(np.array([1, 1, 1, 0, 0]), mixed) == "1, y"
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
    assert (recording.silent, recording.incomplete) == ((5,), (6,))
    assert "never on: 5" in repr(recording)
    for neuron in (3, 4):
        paired = [(counts - before)[neuron, labels == number] for number in range(24)]
        variance = [np.nanvar(some, ddof=1) for some in paired if np.isfinite(some).any()]
        error = np.sqrt(np.median(variance) / np.isfinite(paired[0]).sum())
        expected = np.nanmean(paired[0]) - 2 * error
        assert recording.activity[neuron, 0] == pytest.approx(expected)
    assert np.isnan(recording.activity[4, 2]) and np.isnan(recording.activity).sum() == 1
    found = discovery.find(recording, resamples=4)
    assert as_set(found.gates) == as_set(CONTEXTS) and found.gate_of[4] == 0
    for condition in range(24):
        counts[:, np.flatnonzero(labels == condition)[2 + (condition < 2) :]] = np.nan
    recording = discovery.activity_by_condition(counts, labels, before)
    assert "24 conditions, 2 to 3 trials each" in repr(recording)
    counts[:, labels < 12] = np.nan
    with refused("recorded in most conditions"):
        discovery.activity_by_condition(counts, labels, before)


def test_kinds_are_found_where_sessions_lack_conditions():
    """No recorded entry is wrong, so that gaps leave no neuron between kinds."""
    rng, kind = np.random.default_rng(0), np.arange(200) % 4
    activity = CONTEXTS[kind]
    for session in range(4):
        lacking = rng.choice(24, 5, replace=False)
        activity[np.ix_(np.arange(200) // 4 % 4 == session, lacking)] = np.nan
    trials, labels = np.tile(activity, 2), np.tile(np.arange(24), 2)
    found = discovery.find(discovery.activity_by_condition(trials, labels), resamples=4)
    assert as_set(found.gates) == as_set(CONTEXTS)
    equal(found.gates[found.gate_of], CONTEXTS[kind])


def test_what_no_neuron_of_a_kind_was_recorded_in_is_said():
    activity = np.repeat(CONTEXTS, 40, axis=0)
    activity[:40, 2:5] = np.nan
    names = [f"odour {index:02d}" for index in range(24)]
    recording = discovery.activity_by_condition(activity, names)
    with pytest.warns(UserWarning, match="off in odour 02, odour 03, odour 04 for want") as caught:
        found = discovery.find(recording, resamples=4)
    assert not found.gates[0, 2:5].any() and len(caught) == len(found.caveats) == 1
    equal(np.delete(found.gates, range(2, 5), axis=1), np.delete(CONTEXTS, range(2, 5), axis=1))


def test_modes_that_are_left_out_are_named():
    """Half of a kind's neurons are on in one condition: its gate is not decided."""
    activity = recorded(CONTEXTS, 0.0, neurons=50)
    activity[150:, 8] = np.arange(50) % 2
    with pytest.warns(UserWarning, match="are not decided: 1 .50 neurons"):
        found = discovery.find(activity, resamples=4)
    assert as_set(found.gates) == as_set(CONTEXTS[:3]) and (found.gate_of[150:] < 0).all()


def test_suppressed_neurons_are_on_below_their_baseline():
    counts, labels, before = single_trials(1 - CONTEXTS[1:])
    with pytest.raises(ValueError, match="suppressed"):
        discovery.activity_by_condition(counts, labels, suppressed=True)
    high = np.random.default_rng(1).poisson(15, counts.shape)
    recording = discovery.activity_by_condition(counts, labels, high, suppressed=True)
    assert as_set(found_gates(recording)) == as_set(CONTEXTS[1:])
    with pytest.warns(UserWarning, match='of 90 neurons .* suppressed="both"'):
        mixed = np.vstack([counts, high + 20]), labels, np.vstack([high, high])
        discovery.activity_by_condition(*mixed)
    rates, names, resting = mixed
    rates = np.vstack([rates[:45], 30 - rates[:45]])  # what falls, mirrored
    mirrored = np.vstack([resting[:45], 30 - resting[:45]])
    both = discovery.activity_by_condition(rates, names, mirrored, suppressed="both")
    equal(both.suppressed, np.repeat([True, False], 45))
    close(both.activity[:45], both.activity[45:])
    level = discovery.activity_by_condition(counts, labels, threshold=9, suppressed=True)
    close(level.activity[:, 0], 9 - counts[:, labels == 0].mean(axis=1))


def test_a_threshold_lies_below_a_baseline_as_far_as_above():
    counts, labels, _ = single_trials(CONTEXTS[1:])
    scores = (counts - 3) * np.repeat([[1], [-1]], [30, 15], axis=0)
    recording = discovery.activity_by_condition(scores, labels, threshold=4, suppressed="both")
    equal(recording.suppressed, np.repeat([False, True], [30, 15]))
    assert as_set(found_gates(recording)) == as_set(CONTEXTS[1:])


def test_neurons_that_are_excited_and_suppressed_are_noticed():
    change = 6 * np.kron([[1, -1, 0], [0, 1, -1], [-1, 0, 1]], np.ones(8))
    rng = np.random.default_rng(0)
    counts = rng.poisson(np.tile(8 + np.repeat(change, 20, axis=0), 10))
    both = counts, np.tile(np.arange(24), 10), rng.poisson(8.0, counts.shape)
    with pytest.warns(UserWarning, match="60 of 60 neurons are often both above and below"):
        discovery.activity_by_condition(*both, suppressed="both")


def test_events_that_neurons_share_are_no_conditions():
    rng = np.random.default_rng(0)
    events = np.zeros((4, 240))
    for each in events:
        each[rng.choice(240, 8, replace=False)] = 5
    counts = rng.poisson(np.repeat(events, 30, axis=0))
    recording = discovery.activity_by_condition(counts, np.tile(np.arange(24), 10))
    with pytest.warns(UserWarning, match="differ between random halves of the trials: 4"):
        discovery.find(recording, resamples=1)


def test_kinds_that_another_draw_of_neurons_does_not_have_are_warned_about():
    weights = np.random.default_rng(5).lognormal(sigma=1.2, size=200)  # worth few neurons
    with pytest.warns(UserWarning, match="by their weights has 4 kinds, 3 of them"):
        discovery.find(recorded(CONTEXTS, 0.1, neurons=50), weights, resamples=1)


def test_kinds_of_a_minority_are_warned_about():
    """Neurons tuned to one of several periods of a position, as in grids."""
    rng = np.random.default_rng(101)
    period, phase = rng.choice([2, 3, 4, 6], (300, 1)), rng.random((300, 1))
    activity = np.cos(2 * np.pi * (period * np.arange(24) / 24 + phase))
    with pytest.warns(UserWarning, match="Most neurons have no kind"):
        discovery.find(np.maximum(activity, 0), resamples=1)


def test_a_gate_that_is_always_on_is_warned_about_and_a_threshold_helps():
    """Rates far above their baseline in every condition, as where neurons are never silent."""
    counts, labels, before = single_trials(CONTEXTS[1:], neurons=20)
    for baseline in (None, before):
        recording = discovery.activity_by_condition(counts + 10, labels, baseline)
        with pytest.warns(UserWarning, match="hardly ever silent, subtract a threshold"):
            assert discovery.find(recording, resamples=1).reason
    seldom = np.random.default_rng(0).poisson(0.1, counts.shape)  # spikes at rest
    recording = discovery.activity_by_condition(counts * (counts > 6) + seldom, labels)
    with pytest.warns(UserWarning, match="Where noise is above zero"):
        assert discovery.find(recording, resamples=1).reason
    means = (counts + 10).mean(axis=1)
    recording = discovery.activity_by_condition(counts + 10, labels, threshold=means)
    assert as_set(found_gates(recording)) == as_set(CONTEXTS[1:])


def test_a_recording_the_other_way_round_is_named():
    with pytest.warns(UserWarning, match="transpose"):
        discovery.find(np.repeat(CONTEXTS, 10, axis=1)[:, :90], resamples=1)


def test_common_patterns_are_counted():
    on = np.array([[0, 1, 1]] * 3 + [[1, 0, 0]] * 6 + [[0, 0, 0]] * 90 + [[1, 1, 1]])
    found = discovery.common_patterns(on * np.arange(1.0, 101)[:, None], [*[4] * 3, *[1] * 97])
    equal(found.gates, [[0, 1, 1], [1, 0, 0]])
    close(found.shares, [12 / 109, 6 / 109])
