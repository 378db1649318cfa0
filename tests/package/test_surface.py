"""What a user sees: what completion shows, and what an import does."""

import subprocess
import sys
from types import ModuleType

import pytest

import mdsgdln as md

MODULES = [name for name in md.__all__ if isinstance(getattr(md, name), ModuleType)]


@pytest.mark.parametrize("name", MODULES)
def test_completion_shows_what_the_module_is_for(name):
    module = getattr(md, name)
    assert dir(module) == sorted(module.__all__)
    assert module.__doc__


def test_importing_leaves_the_precision_alone():
    code = (
        "import mdsgdln as md, jax; print(jax.numpy.ones(1).dtype, md.tasks.xor(1.0).inputs.dtype)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "float32 float32", done.stderr
