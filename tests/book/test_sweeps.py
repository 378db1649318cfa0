"""Sweeps: the table and the file, resuming after a kill, processes, runs that fail."""

import importlib
import json
import os
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import jax
import numpy as np
import pandas as pd
import pytest
from bad_input import refused
from numpy.testing import assert_array_equal as equal
from sweep_experiment import experiment
from sweep_process import SETTINGS, numbers

from mdsgdln import __version__
from mdsgdln_book import sweeps

TESTS = Path(__file__).parent


def run_process():
    """Return what ``sweep_process.py`` prints, in single precision and with JAX's defaults."""
    paths = os.pathsep.join([str(TESTS), str(TESTS.parents[1])])
    environment = os.environ | {"PYTHONPATH": paths, "JAX_PLATFORMS": "cpu"}
    command = [sys.executable, str(TESTS / "sweep_process.py")]
    process = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
    return json.loads(process.stdout.splitlines()[-1])


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
    content = path.read_bytes()
    again = run(counted, sweeps.grid(scale=[0.5], seed=[2, 1]), path)
    assert path.read_bytes() == content
    assert first.double.tolist() == [2, 4] and again.double.tolist() == [4, 2]
    more = run(counted, sweeps.grid(seed=[1, 2, 1.0], scale=[0.5]), path)
    assert more.double.tolist() == [2, 4, 2] and done == [1, 2, 1.0]
    assert path.read_bytes().startswith(content)
    headers = [line.startswith('{"header"') for line in path.read_text().splitlines()]
    assert headers == [True, False, False, True, False]


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
    for again in (run(fails, sweeps.grid(seed=range(5)), path), sweeps.load(path)):
        pd.testing.assert_frame_equal(table, again)

    def refuse(constant):
        raise ValueError(f"{constant} is not JSON")

    for line in path.read_text().splitlines():
        json.loads(line, parse_constant=refuse)
    rows = pd.read_json(path, lines=True)
    assert list(rows.columns) == ["header", "setting", "results", "failed", "seconds"]
    rows = rows[rows.header.isna()]
    assert pd.DataFrame(rows.setting.tolist()).seed.tolist() == table.seed.tolist()
    assert rows.failed.tolist() == table.failed.tolist() and (rows.seconds >= 0).all()


@pytest.mark.filterwarnings("ignore:[0-9]+ tasks:UserWarning")  # joblib's, of others
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_any_other_exception_stops_the_sweep_and_finished_rows_are_kept(tmp_path, n_jobs):
    def breaks(seed):
        if seed == 6:
            raise KeyError("no such thing")
        return {"value": seed}

    with pytest.raises(KeyError, match="no such thing"):
        run(breaks, sweeps.grid(seed=range(9)), tmp_path / "file", n_jobs=n_jobs)
    kept = sweeps.load(tmp_path / "file")
    assert len(kept) >= 1 and (kept.seed == kept.value).all() and 6 not in kept.seed.tolist()


def sort(table):
    """Return a table in the order of ``SETTINGS``."""
    return table.sort_values(["seed", "scale"], ignore_index=True)


def test_a_line_cut_at_any_byte_is_done_again(tmp_path):
    path, settings = tmp_path / "file", sweeps.grid(seed=[1, 2])

    def seventh(seed):
        return {"value": seed / 7}

    table = run(seventh, settings, path)
    *whole, last = path.read_bytes().splitlines(keepends=True)
    for cut in range(0, len(last), 7):
        path.write_bytes(b"".join(whole) + last[:cut])
        assert [row["setting"]["seed"] for row in sweeps.read(path)] == [1]
        again = run(seventh, settings, path)
        assert again.equals(table) and len(sweeps.read(path)) == 2
    path.write_text('{"header": {}}\n{"setting": {"seed"\n')
    with refused("line 2 of"):
        sweeps.load(path)


def test_header_says_what_makes_the_rows_below_it(tmp_path):
    def header(name):
        run(partial(fails), [{"seed": 0}], tmp_path / name)
        return sweeps.read(tmp_path / name)[-1]["header"]

    first = header("first")
    versions = {"mdsgdln": __version__, "jax": jax.__version__, "numpy": np.__version__}
    assert first["libraries"] == versions
    assert first["x64"] is True and first["platform"] == jax.default_backend()
    with jax.enable_x64(False):
        assert header("second")["x64"] is False


MODULE = """
def helper(seed):
    return {value}

def experiment(seed, given=0):
    return {{"value": helper(seed)}}
"""


@pytest.fixture
def edited(tmp_path, monkeypatch):
    """A file with half of the rows of an experiment; goes on with it, its module as it is then."""
    monkeypatch.syspath_prepend(tmp_path)

    def written(value):
        (tmp_path / "edited.py").write_text(MODULE.format(value=value))
        sys.modules.pop("edited", None)
        importlib.invalidate_caches()
        return importlib.import_module("edited").experiment

    def resumed(value=1, **given):
        experiment = partial(written(value), **given) if given else written(value)
        return run(experiment, sweeps.grid(seed=[1, 2]), tmp_path / "rows").value.tolist()

    run(written(1), [{"seed": 1}], tmp_path / "rows")
    return resumed


def test_a_sweep_goes_on_with_the_same_code(edited):
    assert edited() == [1, 1]


def test_a_sweep_does_not_go_on_with_rows_of_other_code(edited, monkeypatch):
    for changed in ({"value": 2}, {"given": 1}):
        with refused("path"):
            edited(**changed)
    monkeypatch.setenv("XLA_FLAGS", "--xla_cpu_enable_fast_math=true")
    with refused("path"):
        edited()
    monkeypatch.undo()


def test_a_sweep_does_not_go_on_with_rows_of_another_package_or_precision(edited, monkeypatch):
    with jax.enable_x64(False), refused("path"):
        edited()
    monkeypatch.setattr(sweeps, "code_files", lambda: [Path(__file__)])
    with refused("path"):
        edited()


def test_parts_make_the_whole_and_the_last_of_two_rows_wins(tmp_path):
    parts = [tmp_path / f"part{task}" for task in range(3)]
    shown = [len(run(numbers, SETTINGS[:4][task::3], part)) for task, part in enumerate(parts)]
    assert shown == [2, 1, 1]
    pd.testing.assert_frame_equal(sort(sweeps.load(*parts)), run(numbers, SETTINGS[:4]))
    run(lambda seed, scale: {"strength": -1.0}, SETTINGS[:1], tmp_path / "newer")
    assert sweeps.load(*parts, tmp_path / "newer").strength[0] == -1.0
    assert sweeps.load(tmp_path / "newer", *parts).strength[0] == 0.0


def test_a_second_writer_is_refused_where_the_platform_can_tell(tmp_path, monkeypatch):
    path = tmp_path / "file"

    def writes(seed):
        run(lambda number: {"value": number}, [{"number": 1}], path)
        return {}

    with pytest.raises(ValueError, match="path: .* is being written"):
        run(writes, [{"seed": 1}], path)
    assert sweeps.read(path) == []
    monkeypatch.setitem(sys.modules, "fcntl", None)  # as on Windows
    assert run(numbers, SETTINGS[:2], tmp_path / "other").failed.tolist() == ["", ""]


def test_processes_have_the_code_of_now(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    module = tmp_path / "edited_experiment.py"
    module.write_text("def run(seed):\n    return {'value': 1}\n")
    import edited_experiment

    settings = sweeps.grid(seed=range(2))
    assert run(edited_experiment.run, settings, n_jobs=2).value.tolist() == [1, 1]
    module.write_text("def run(seed):\n    return {'value': 22}\n")
    importlib.reload(edited_experiment)
    assert run(edited_experiment.run, settings, n_jobs=2).value.tolist() == [22, 22]


def test_a_process_has_one_thread_of_xla_and_one_of_blas(monkeypatch):
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "2")  # for this process, not for others

    def busy(seed):
        """Count the threads that do a large product, by their share of the time of the CPU."""

        def times():
            stats = Path("/proc/self/task").glob("*/stat")
            fields = [path.read_text().rpartition(")")[2].split() for path in stats]
            return np.array([int(field[11]) for field in fields])

        def threads(product):
            product()
            before, start = times(), time.process_time()
            while time.process_time() - start < 0.5:
                product()
            spent = times()[: len(before)] - before
            return int((spent > 0.2 * spent.sum()).sum())

        matrix = np.ones((600, 600))
        multiply = jax.jit(lambda x: x @ x)
        with jax.default_device("cpu"):  # where there is a GPU, too
            xla = threads(lambda: multiply(matrix).block_until_ready())
        return {
            "xla": xla,
            "blas": threads(lambda: matrix @ matrix),
            "pid": os.getpid(),
        }

    table = run(busy, sweeps.grid(seed=range(2)), n_jobs=2)
    assert table.xla.tolist() == [1, 1] and table.blas.tolist() == [1, 1]
    assert os.getpid() not in table.pid.tolist()


def test_precision_is_the_same_everywhere_also_where_it_is_switched_while_a_program_runs():
    """In a process of its own, with functions of ``__main__``."""
    assert run_process() == {
        "single": [32, 32],
        "within": [64, 64],
        "double": True,
        "processes": True,
    }
