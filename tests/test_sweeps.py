"""Sweeps: the table, resuming after a kill, devices, runs that fail, bad input."""

import importlib
import os
import random
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest
from bad_input import BAD_INPUT
from sweep_experiment import experiment
from sweep_process import SETTINGS

from mdsgdln import records, sweeps, tasks, versions

TESTS = Path(__file__).parent


def run_process(path, method, *slow, devices=1, **variables):
    """Start a sweep in a process of its own."""
    environment = os.environ | variables
    environment |= {
        "PYTHONPATH": os.pathsep.join([str(TESTS), str(TESTS.parent)]),
        "XLA_FLAGS": f"--xla_force_host_platform_device_count={devices}",
    }
    command = [sys.executable, str(TESTS / "sweep_process.py"), str(path), method, *slow]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE)


def finish(process):
    """Wait for a process to end well."""
    with process:
        process.communicate()
    assert process.returncode == 0


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    """The file of a sweep that nothing disturbs."""
    path = tmp_path_factory.mktemp("sweep") / "whole.jsonl"
    finish(run_process(path, "turn"))
    return path


def size(path):
    """Return the bytes that a file has so far."""
    return path.stat().st_size if path.exists() else 0


def test_grid_is_every_combination():
    assert sweeps.grid(a=[1, 2], b=["x", "y"]) == [
        {"a": 1, "b": "x"},
        {"a": 1, "b": "y"},
        {"a": 2, "b": "x"},
        {"a": 2, "b": "y"},
    ]


@pytest.mark.parametrize("method", ["turn", "batch"])
def test_table_has_one_row_a_run_with_what_the_run_gives(method):
    settings = sweeps.grid(seed=[3, 1], scale=[0.1, 0.2, 0.3])
    table = sweeps.sweep(experiment, settings, method=method, chunk_size=4, progress=False)
    assert list(table.columns) == ["seed", "scale", "losses", "strength", "failed"]
    assert table[["seed", "scale"]].to_dict("records") == settings
    for _, row in table.iterrows():
        alone = experiment(row.seed, row.scale)
        np.testing.assert_allclose(row.losses, alone["losses"], rtol=1e-12)
        assert row.strength == pytest.approx(float(alone["strength"]), rel=1e-12)
        assert row.failed == ""


def test_text_and_named_settings_are_static():
    def rows(structure, num_items, factor):
        assert len(range(num_items)) in (4, 8)  # a number that fixes shapes
        return {"rows": factor * tasks.semantic(structure, num_items).targets.sum()}

    settings = sweeps.grid(structure=["tree", "cross"], num_items=[4, 8], factor=[1.0, 2.0])
    table = sweeps.sweep(rows, settings, static=["num_items"], progress=False)
    for _, row in table.iterrows():
        expected = row.factor * tasks.semantic(row.structure, row.num_items).targets.sum()
        assert row.rows == expected
    with pytest.raises(ValueError, match="static"):
        sweeps.sweep(rows, settings, progress=False)


def test_a_diverging_run_is_marked_and_the_others_finish(tmp_path):
    settings = sweeps.grid(seed=[0], scale=[0.1], rate=[0.05, 90.0, 0.1])
    for method in ("turn", "batch"):
        path = tmp_path / method
        table = sweeps.sweep(experiment, settings, path, method=method, progress=False)
        assert (table.failed != "").tolist() == [False, True, False]
        assert "too large" in table.failed[1] and "step" in table.failed[1]
        assert np.isfinite(table.strength[[0, 2]].astype(float)).all()
        again = sweeps.sweep(experiment, settings, path, method=method, progress=False)
        pd.testing.assert_frame_equal(table, again)


def test_killed_twenty_times_the_sweep_ends_as_if_undisturbed(tmp_path, uninterrupted):
    path, chance = tmp_path / "killed.jsonl", random.Random(0)
    kills = torn = 0
    while kills < 20:
        before = size(path)
        with run_process(path, "turn", "slow") as process:
            process.stdout.readline()
            while kills % 2 and size(path) <= before and process.poll() is None:
                time.sleep(0.001)  # every other one is killed while it writes
            time.sleep(chance.uniform(0.0, 0.2))
            killed = process.poll() is None
            process.send_signal(signal.SIGKILL)
        kills += killed
        torn += path.exists() and not path.read_bytes().endswith(b"\n")
        if not killed:
            path.unlink()  # it finished first: begin again, so that there is something to kill
    assert torn > 0  # some were killed in the middle of a record
    finish(run_process(path, "turn"))
    assert sorted(path.read_bytes().splitlines()) == sorted(uninterrupted.read_bytes().splitlines())


def test_a_record_cut_at_any_byte_is_done_again(tmp_path, uninterrupted):
    whole = uninterrupted.read_bytes()
    header, *lines = whole.splitlines(keepends=True)
    for cut in range(0, len(lines[0]), 7):
        path = tmp_path / f"cut{cut}"
        path.write_bytes(header + lines[1] + lines[0][:cut])
        with records.RecordFile(path, records.decode(header)) as file:
            assert list(file) == [records.decode(lines[1])]
            file.append(records.decode(lines[0]))
        assert path.read_bytes() == header + lines[1] + lines[0]


def test_a_changed_record_is_recognised(tmp_path, uninterrupted):
    path = tmp_path / "changed"
    content = uninterrupted.read_bytes()
    number = content.rindex(b"strength") + 14
    digit = b"7" if content[number : number + 1] != b"7" else b"3"
    path.write_bytes(content[:number] + digit + content[number + 1 :])
    assert len(records.read(path)[1]) == len(SETTINGS) - 1


def test_finished_runs_are_not_repeated_and_new_settings_are_added(tmp_path):
    path = tmp_path / "file"

    def counted(seed):
        return {"double": 2 * seed}

    first = sweeps.sweep(counted, sweeps.grid(seed=[1, 2]), path, progress=False)
    size = path.stat().st_size
    again = sweeps.sweep(counted, sweeps.grid(seed=[2, 1]), path, progress=False)
    assert path.stat().st_size == size
    assert first.double.tolist() == [2, 4] and again.double.tolist() == [4, 2]
    more = sweeps.sweep(counted, sweeps.grid(seed=[1, 2, 3]), path, progress=False)
    assert more.double.tolist() == [2, 4, 6]


def test_results_of_other_code_settings_or_method_are_refused(tmp_path):
    path = tmp_path / "file"

    def make(factor):
        return lambda seed: {"value": factor * seed}

    settings = sweeps.grid(seed=[1])
    sweeps.sweep(make(2.0), settings, path, progress=False)
    sweeps.sweep(make(2.0), settings, path, progress=False)
    for change in (
        lambda: sweeps.sweep(make(3.0), settings, path, progress=False),
        lambda: sweeps.sweep(lambda seed: {"value": seed}, settings, path, progress=False),
        lambda: sweeps.sweep(make(2.0), settings, path, method="batch", progress=False),
    ):
        before = path.read_bytes()
        with pytest.raises(ValueError, match="something else"):
            change()
        assert path.read_bytes() == before


FACTOR = 2.0


def read_global(seed):
    return {"value": FACTOR * seed}


def test_a_changed_value_is_computed_with_and_not_only_recorded(tmp_path, monkeypatch):
    monkeypatch.setattr(read_global, "__module__", "__main__")  # as if defined in a notebook
    settings = sweeps.grid(seed=[1])
    assert sweeps.sweep(read_global, settings, progress=False).value[0] == 2.0
    monkeypatch.setattr(sys.modules[__name__], "FACTOR", 3.0)
    assert sweeps.sweep(read_global, settings, progress=False).value[0] == 3.0


def test_one_writer_at_a_time(tmp_path):
    with (
        records.RecordFile(tmp_path / "file", {"a": 1}),
        pytest.raises(ValueError, match="another process"),
    ):
        records.RecordFile(tmp_path / "file", {"a": 1})


@pytest.fixture(scope="module")
def one_device(tmp_path_factory):
    """The results of all runs at once on one device."""
    path = tmp_path_factory.mktemp("devices") / "one.jsonl"
    finish(run_process(path, "batch"))
    return results_of(path)


def results_of(path):
    """Return {setting: results} of a file."""
    return {str(record["setting"]): record["results"] for record in records.read(path)[1]}


def assert_same(found, expected):
    """Compare every result of every setting to 1e-12."""
    assert set(found) == set(expected) and len(found) == len(SETTINGS)
    for setting, results in expected.items():
        for name, value in results.items():
            np.testing.assert_allclose(found[setting][name], value, rtol=1e-12, atol=1e-12)


def test_four_devices_give_the_numbers_of_one(tmp_path, one_device):
    finish(run_process(tmp_path / "four", "batch", devices=4))
    assert_same(results_of(tmp_path / "four"), one_device)


def test_two_hosts_give_the_numbers_of_one(tmp_path, one_device):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        coordinator = f"127.0.0.1:{free.getsockname()[1]}"
    hosts = [
        run_process(tmp_path / "two", "batch", HOST=host, COORDINATOR=coordinator) for host in "01"
    ]
    for host in hosts:
        finish(host)
    assert_same(results_of(tmp_path / "two"), one_device)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: sweeps.grid(), "values"),
        (lambda: sweeps.sweep(experiment, [{"seed": 1}, {"scale": 1}]), "settings"),
        (lambda: sweeps.sweep(experiment, [{"seed": 1}, {"seed": 1}]), "several times"),
        (lambda: sweeps.sweep(experiment, [{"seed": jnp.ones(2)}]), "seed"),
        (lambda: sweeps.sweep(experiment, [{"seed": 1}], static=["rate"]), "static"),
        (lambda: sweeps.sweep(lambda seed: seed, [{"seed": 1}], progress=False), "experiment"),
    ],
)
def test_bad_input_is_named(call, name):
    with pytest.raises(BAD_INPUT, match=name):
        call()


MODULE = '''
"""A module."""
from mdsgdln import reln

FACTOR = 2

def run(seed):
    """Do it."""
    return {"value": FACTOR * seed}  # twice
'''


def test_digest_follows_the_code_and_not_its_words(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)

    def digest(name, source):
        (tmp_path / f"{name}.py").write_text(source)
        module = __import__(name)
        return versions.code_digest(module.run)

    plain = digest("plain_module", MODULE)
    words = (
        MODULE.replace("Do it.", "Does it well.").replace("# twice", "# again").replace("A m", "M")
    )
    assert digest("words_module", words) == plain
    typed = MODULE.replace("FACTOR =", "from typing import Any\n\nFACTOR: int =")
    assert digest("typed_module", typed.replace("(seed)", "(seed: Any) -> dict")) == plain
    assert digest("code_module", MODULE.replace("FACTOR = 2", "FACTOR = 3")) != plain
    assert digest("import_module", MODULE.replace("reln", "tasks")) != plain


def test_digest_is_the_same_on_every_python():
    """The text of parsed code does not show which fields a Python version knows."""
    expected = (
        "Module(body=[FunctionDef(name='f', args=arguments(args=[arg(arg='x')]), "
        "body=[Return(value=List(elts=[Name(id='x', ctx=Load()), Constant(value=0)], ctx=Load()))"
        "])])"
    )
    assert versions._meaning("def f(x):\n    return [x, 0]") == expected


def test_digest_knows_a_field_from_a_value_of_a_class():
    field = versions._meaning("class A:\n    x: int = 3")
    assert field == versions._meaning("class A:\n    x: float = 3")
    assert field != versions._meaning("class A:\n    x = 3")


def test_digest_follows_imports_within_the_function_s_own_package(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    digests = []
    for name, factor in (("first_package", 2), ("second_package", 3)):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "__init__.py").touch()
        (folder / "helper.py").write_text(f"FACTOR = {factor}\n")
        source = f"from {name} import helper\n\n\ndef run():\n    return helper.FACTOR\n"
        (folder / "work.py").write_text(source)
        module = importlib.import_module(f"{name}.work")
        digests.append(versions.code_digest(module.run))
        (folder / "helper.py").write_text("FACTOR = 4\n")
        digests.append(versions.code_digest(module.run))
    assert digests[0] != digests[1] and digests[2] != digests[3]
