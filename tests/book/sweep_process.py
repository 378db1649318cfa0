"""Sweeps of functions of ``__main__``, in a process: ``python sweep_process.py``."""

import json

import jax
import jax.numpy as jnp

from mdsgdln_book import sweeps

SETTINGS = sweeps.grid(seed=range(12), scale=[0.1, 0.3])
QUIET = {"progress": False}


def trained(seed, scale):
    """Train, with what the process was told of JAX."""
    from sweep_experiment import TASK, experiment

    assert jax.config.values["jax_default_matmul_precision"] == "highest"
    assert jax.config.values["jax_numpy_rank_promotion"] == "raise"
    return experiment(seed, scale) | {"double": TASK.inputs.dtype == jnp.float64}


def everywhere():
    """Start in single precision, switch, and sweep here and in processes."""

    def width(seed):
        return {"bits": 8 * jnp.zeros(seed).dtype.itemsize}

    def bits(**options):
        table = sweeps.sweep(width, [{"seed": 1}, {"seed": 2}], **options, **QUIET)
        return table.bits.tolist()

    found = {"single": bits()}
    with jax.enable_x64(True):
        found["within"] = bits(n_jobs=2)
    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_default_matmul_precision", "highest")
    jax.config.update("jax_numpy_rank_promotion", "raise")
    here = sweeps.sweep(trained, SETTINGS, **QUIET)
    processes = sweeps.sweep(trained, SETTINGS, n_jobs=2, **QUIET)
    return found | {"double": bool(here.double.all()), "processes": here.equals(processes)}


def numbers(seed, scale):
    """Return some numbers at once."""
    return {"losses": [scale / (seed + k + 1) for k in range(5)], "strength": seed / 3}


if __name__ == "__main__":
    print(json.dumps(everywhere()))
