"""What a user sees: modules and names, what completion shows, what an import does."""

import subprocess
import sys

import pytest

import mdsgdln as md

SHORT = {  # names at the top, and where they are from
    "GatedNetwork": "networks",
    "Layered": "networks",
    "LinearNetwork": "networks",
    "Network": "networks",
    "ReLUNetwork": "networks",
    "Run": "training",
    "Task": "tasks",
    "pathways": "networks",
    "predict": "theory",
    "train": "training",
}
LOSSES = "cross_entropy", "deviation", "logistic", "squared_error"
MODULES = sorted(set(md.__all__) - {*SHORT, *LOSSES})


def run(code):
    """Return what Python prints, in a process of its own."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert not done.returncode, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("name", MODULES)
def test_completion_shows_what_the_module_is_for(name):
    module = getattr(md, name)
    assert dir(module) == sorted(module.__all__)
    assert module.__doc__


def test_the_top_shows_the_modules_and_what_is_used_most():
    assert set(md.__all__) <= set(dir(md))
    for name, module in SHORT.items():
        assert getattr(md, name) is getattr(getattr(md, module), name)
    with pytest.raises(AttributeError, match="nonsense"):
        _ = md.nonsense


def test_importing_leaves_the_precision_alone():
    code = (
        "import mdsgdln as md, jax; print(jax.numpy.ones(1).dtype, md.tasks.xor(1.0).inputs.dtype)"
    )
    assert run(code) == "float32 float32"
