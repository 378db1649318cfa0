"""Machines of others: what they set changes nothing, and is named."""

import os
import subprocess

import pytest

from mdsgdln_book import fingerprints
from mdsgdln_book.places import ROOT

# What numbers, figures or the kernel would depend on.
NUMBERS = {
    "JAX_DEFAULT_PRNG_IMPL": "rbg",
    "JAX_DISABLE_JIT": "1",
    "JAX_ENABLE_X64": "1",
    "JAX_PLATFORMS": "cuda",
    "JAX_THREEFRY_PARTITIONABLE": "0",
    "JUPYTER_PATH": "/elsewhere",
    "MATPLOTLIBRC": "/elsewhere",
    "MPLBACKEND": "TkAgg",
    "NPY_DISABLE_CPU_FEATURES": "AVX2",
    "OPENBLAS_CORETYPE": "Nehalem",
    "PYTHONOPTIMIZE": "2",
    "PYTHONPATH": "/opt/ros/python",
    "XLA_FLAGS": "--xla_cpu_enable_fast_math=true",
}
# What would be installed, or checked.
OTHERS = {"CDPATH": "/elsewhere", "PIP_TARGET": "/elsewhere", "PIP_USER": "1"}
OTHERS |= {"PYTEST_ADDOPTS": "--exitfirst", "PYTHONHOME": "/elsewhere"}
KEPT = {"HOME": "/elsewhere", "PIP_INDEX_URL": "https://mirror", "OMP_NUM_THREADS": "1"}
KEPT |= {"JAX_COMPILATION_CACHE_DIR": "/elsewhere"}
SHOW = "include Makefile\nshow:\n\t@env\n"


def make(*arguments, **variables):
    """What make prints, as on a reader's command line."""
    inside = {name for name in os.environ if name.startswith(("MAKE", "MFLAGS"))}
    clean = {name: text for name, text in os.environ.items() if name not in inside}
    command = ["make", "--silent", "--file=-", *arguments]
    options = {"cwd": ROOT, "input": SHOW, "capture_output": True, "text": True, "check": True}
    return subprocess.run(command, env=clean | variables, **options).stdout.splitlines()


def test_a_readers_settings_are_left_out_and_named():
    said, *shown = make("show", **NUMBERS, **OTHERS, **KEPT)
    named = said.partition("your ")[2].split()
    assert {*NUMBERS, *OTHERS} <= {*named}
    for name, text in {**NUMBERS, **OTHERS}.items():
        assert f"{name}={text}" not in shown, name
    for name, text in KEPT.items():
        assert f"{name}={text}" in shown and name not in named
    assert "PIP_USER=0" in shown and "JAX_PLATFORMS=cpu" in shown


@pytest.mark.parametrize("name", [*NUMBERS, "NPROC", "OMP_NUM_THREADS"])
def test_what_numbers_depend_on_counts_for_what_is_kept(name):
    assert fingerprints.counts(name)


# What is kept -----------------------------------------------------------------------------------


def test_another_processor_gpu_or_library_is_another_name(tmp_path, monkeypatch):
    names = {fingerprints.surroundings()}
    cpuinfo, gpu, libraries = tmp_path / "cpuinfo", tmp_path / "gpus/0", tmp_path / "libraries"
    cpuinfo.write_text("flags\t: fpu avx512f\nbogomips: 4000\n")
    gpu.mkdir(parents=True)
    (gpu / "information").write_text("Model: H100")
    (libraries / "jax_cuda13_plugin-0.10.1.dist-info").mkdir(parents=True)
    for change in (
        lambda: monkeypatch.setattr(fingerprints, "PROCESSOR", cpuinfo),
        lambda: cpuinfo.write_text("flags\t: fpu\nbogomips: 4000\n"),
        lambda: monkeypatch.setattr(fingerprints, "GPUS", tmp_path / "gpus"),
        lambda: monkeypatch.setattr(fingerprints.sysconfig, "get_path", lambda _: str(libraries)),
        lambda: monkeypatch.setenv("XLA_FLAGS", "--xla_cpu_enable_fast_math=true"),
    ):
        change()
        assert fingerprints.surroundings() not in names
        names.add(fingerprints.surroundings())
    cpuinfo.write_text("flags\t: fpu\nbogomips: 4001\n")
    monkeypatch.setenv("TERM", "dumb")
    assert fingerprints.surroundings() in names
