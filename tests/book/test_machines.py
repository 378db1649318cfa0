"""Machines of others: what they set changes nothing, and is named."""

import os
import subprocess

import pytest

from mdsgdln_book import fingerprints
from mdsgdln_book.places import ROOT

# What numbers, figures, the kernel or an installation would depend on, and what stays.
LEFT_OUT = {
    "JAX_ENABLE_X64": "1",
    "JUPYTER_PATH": "/elsewhere",
    "MPLBACKEND": "TkAgg",
    "NPY_DISABLE_CPU_FEATURES": "AVX2",
    "OPENBLAS_CORETYPE": "Nehalem",
    "PIP_TARGET": "/elsewhere",
    "PYTEST_ADDOPTS": "--exitfirst",
    "PYTHONPATH": "/opt/ros/python",
    "XLA_FLAGS": "--xla_cpu_enable_fast_math=true",
}
STAYS = {"PIP_INDEX_URL": "https://mirror", "OMP_NUM_THREADS": "2"}
SHOW = "include Makefile\nshow:\n\t@env\n"


def test_a_readers_settings_are_left_out_and_named():
    inside = {name for name in os.environ if name.startswith(("MAKE", "MFLAGS"))}
    here = {name: text for name, text in os.environ.items() if name not in inside}
    options = {"cwd": ROOT, "input": SHOW, "capture_output": True, "text": True, "check": True}
    command = ["make", "--silent", "--file=-", "show"]
    done = subprocess.run(command, env=here | LEFT_OUT | STAYS, **options)
    said, *shown = done.stdout.splitlines()
    assert set(LEFT_OUT) <= set(said.partition("your ")[2].split())
    assert not {f"{name}={text}" for name, text in LEFT_OUT.items()} & set(shown)
    assert {f"{name}={text}" for name, text in STAYS.items()} <= set(shown)


@pytest.mark.parametrize("change", ["a variable", "a library", "another processor", "a GPU"])
def test_another_machine_is_another_name(tmp_path, monkeypatch, change):
    before = fingerprints.surroundings()
    if change == "a variable":
        monkeypatch.setenv("OMP_NUM_THREADS", "7")
    elif change == "a library":
        (tmp_path / "jax_cuda13_plugin-0.10.1.dist-info").mkdir()
        monkeypatch.setattr(fingerprints.sysconfig, "get_path", lambda _: str(tmp_path))
    elif change == "another processor":
        (tmp_path / "cpuinfo").write_text("flags\t: fpu avx512f\n")
        monkeypatch.setattr(fingerprints, "PROCESSOR", tmp_path / "cpuinfo")
    else:
        (tmp_path / "0").mkdir()
        (tmp_path / "0/information").write_text("Model: H100")
        monkeypatch.setattr(fingerprints, "GPUS", tmp_path)
    assert fingerprints.surroundings() != before
    monkeypatch.undo()
    monkeypatch.setenv("TERM", "dumb")
    assert fingerprints.surroundings() == before
