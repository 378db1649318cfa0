"""Sweeps: the table and the file, going on after a crash, processes, runs that fail."""

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
from bad_input import refused
from numpy.testing import assert_array_equal as equal

from mdsgdln import networks, tasks, training
from mdsgdln_book import sweeps

TASK = tasks.semantic(num_items=4)  # processes that import this module make arrays at once
NETWORK = networks.LinearNetwork((4, 5, 7))


def experiment(seed, scale=0.1, rate=0.05):
    """Train a small linear network; some losses and the map that is learned."""
    weights = NETWORK.init(jax.random.key(seed), scale)
    run = training.train(NETWORK, weights, TASK, rate, 40)
    first, second = run.weights
    return {"losses": run.losses[::10], "strength": jnp.linalg.norm(second @ first)}


def run(experiment, settings, path=None, **options):
    return sweeps.sweep(experiment, settings, path, progress=False, **options)


def test_table_has_one_row_for_every_combination_with_what_the_run_gives():
    settings = sweeps.grid(seed=[3, 1], scale=[0.1, 0.2])
    pairs = [(3, 0.1), (3, 0.2), (1, 0.1), (1, 0.2)]
    assert settings == [{"seed": seed, "scale": scale} for seed, scale in pairs]
    table = run(experiment, settings)
    assert list(table.columns) == ["seed", "scale", "losses", "strength", "failed"]
    assert table[["seed", "scale"]].to_dict("records") == settings
    for row in table.itertuples():
        alone = experiment(row.seed, row.scale)
        assert row.losses == alone["losses"].tolist() and row.strength == alone["strength"]
        assert row.failed == ""


def test_finished_runs_are_not_repeated_and_new_settings_are_added(tmp_path):
    path, done = tmp_path / "folder" / "file", []

    def counted(seed, scale):
        done.append(seed)
        return {"double": 2 * seed}

    first = run(counted, sweeps.grid(seed=[1, 2], scale=[0.5]), path)
    again = run(counted, sweeps.grid(scale=[0.5], seed=[2, 1]), path)
    assert first.double.tolist() == [2, 4] and again.double.tolist() == [4, 2]
    more = run(counted, sweeps.grid(seed=np.arange(1, 4), scale=[0.5]), path)
    assert more.double.tolist() == [2, 4, 6] and done == [1, 2, 3]


def fails(seed):
    if seed == 1:
        return {"loss": np.array([1.0, np.nan, -np.inf]), "count": 3}
    if seed == 2:
        return experiment(0, 0.1, 90.0)
    return {"loss": [1.0, seed / (3 - seed), 0.0], "count": 4}


def test_a_failed_run_is_marked_with_its_reason_and_the_others_finish(tmp_path):
    path = tmp_path / "file"
    table = run(fails, sweeps.grid(seed=range(5)), path)
    assert table.failed[[0, 4]].tolist() == ["", ""]
    assert table.failed[1] == "not finite: loss"
    assert "too large" in table.failed[2] and "step" in table.failed[2]
    assert table.failed[3] == "division by zero"
    equal(table.loss[1], [1.0, np.nan, np.nan])
    assert table["count"].isna().tolist() == [False, False, True, True, False]
    pd.testing.assert_frame_equal(table, run(fails, sweeps.grid(seed=range(5)), path))


def test_a_line_cut_off_is_done_again(tmp_path):
    path, settings = tmp_path / "file", sweeps.grid(seed=[1, 2])

    def seventh(seed):
        return {"value": seed / 7}

    table = run(seventh, settings, path)
    *whole, last = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(whole) + last[:-5])
    assert [row["setting"]["seed"] for row in sweeps.read(path)] == [1]
    again = run(seventh, settings, path)
    assert again.equals(table) and len(sweeps.read(path)) == 2
    path.write_text('{"setting": {"seed"\n')
    with refused("path"):
        sweeps.read(path)


def bits(seed):
    return {"bits": 8 * jax.numpy.zeros(seed).dtype.itemsize}


def test_processes_compute_in_the_double_precision_of_this_one():
    """Without being told, they would compute in single precision."""
    assert run(bits, sweeps.grid(seed=[1, 2]), n_jobs=2).bits.tolist() == [64, 64]
