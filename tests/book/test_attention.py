"""Attention is trained as attention: on tokens, with all its blocks, never as its linear twin."""

import jax
import numpy as np
import pytest

from mdsgdln import training
from mdsgdln_book.experiments import attention, attention_race


@pytest.fixture(autouse=True)
def as_for_readers():
    with jax.numpy_rank_promotion("allow"):
        yield


@pytest.fixture
def race():
    """A race of attention and look-up table: network, sequences, and weights of order one."""
    model = attention.network(8, 8, 32)
    sequences = attention_race.draw_sequences(8, 32, 8, 2, 0)
    return model, sequences, model.init(jax.random.key(0), 1.0)


def blocks(model, weights, inputs):
    """The four blocks a, b, c and d of attention, one head and one sequence after the other."""
    values, keys, *_ = map(np.asarray, weights)
    tokens, queries, _ = map(np.asarray, model.parts(inputs))
    found = np.zeros((4, queries.shape[1]))
    for p, query in enumerate(queries.T):
        x, y = tokens[:, :-1, p], tokens[:, -1, p]
        for v, product in zip(values, keys, strict=True):
            read, last = product[:-1] @ query, product[-1] @ query
            found[:, p] += [
                v[-1] * np.mean(y * (x @ read)),
                np.mean(y * (x @ v[:-1])) * last,
                np.mean((x @ v[:-1]) * (x @ read)),
                v[-1] * np.mean(y**2) * last,
            ]
    return found


def test_attention_is_the_sum_of_its_blocks_and_the_linear_network_is_the_first(race):
    model, sequences, weights = race
    inputs = sequences.task(0.4).inputs[:, :200]
    a, b, c, d = blocks(model, weights, inputs)
    features = attention.cubic_features(model, inputs)
    first, second = attention.block_a_weights(weights)
    near = {"rtol": 0, "atol": 1e-10}
    np.testing.assert_allclose(model.in_context(weights, inputs)[0], a + b + c + d, **near)
    np.testing.assert_allclose((second @ first @ features)[0], a, **near)
    assert min(np.abs(block).max() for block in (a, b, c, d)) > 0.1


def test_every_weight_of_every_block_is_trained(race):
    model, sequences, weights = race
    run = training.train(model, weights, sequences.task(0.4), 0.01, 2)
    assert all((now != was).all() for now, was in zip(run.weights, weights, strict=True))


def test_experiments_train_attention_on_tokens(race, monkeypatch):
    model, sequences, _ = race
    seen, train = [], training.train

    def noted(network, weights, task, *args, **options):
        seen.append((network, len(task.inputs), task.num_samples))
        return train(network, weights, task, *args, **options)

    monkeypatch.setattr(training, "train", noted)
    monkeypatch.setattr(attention, "STEPS", 16)
    attention_race.predict_race(model, sequences, 0.4, 0, 0.1)
    attention.train_attention("white", 1e-3, 0)
    of_attention = [run for run in seen if isinstance(run[0], attention.Attention)]
    (raced, rows, samples), (attending, tokens, _) = of_attention
    assert (raced, rows) == (model, 8 * 9 + 8 + 32) and samples > 1900
    assert (attending, tokens) == (attention.network(6, 16), 16 * 7 + 6)


def test_classes_are_as_the_formula_assumes():
    """Unit vectors with Σ y x = 0, B copies of the query's class, labels drawn anew at rate p."""
    sequences = attention_race.draw_sequences(8, 32, 8, 2, 3)
    np.testing.assert_allclose(np.linalg.norm(sequences.vectors, axis=0), 1)
    np.testing.assert_allclose(sequences.vectors @ sequences.labels, 0, atol=1e-3)
    tokens, query = sequences.chosen[:-1], sequences.chosen[-1]
    assert ((tokens == query).sum(axis=0) == 2).all()
    assert np.mean(sequences.chance < 0.4) == pytest.approx(0.4, abs=1e-3)
    model = attention.network(8, 8, 32)
    few = [attention_race.condense_to_moments(model, sequences.task(p)) for p in (0.2, 0.4, 0.6)]
    leads = [np.subtract(*attention_race.pathway_rates(model, each)) for each in few]
    assert leads[0] < leads[1] < leads[2] and leads[0] < 0 < leads[2]  # p* = 0.45
