"""Sweeps of functions of ``__main__``, in a process: ``python sweep_process.py FILE``."""

import json
import os
import signal
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import joblib

from mdsgdln_book import sweeps

SETTINGS = sweeps.grid(seed=range(12), scale=[0.1, 0.3])
QUIET = {"progress": False}


def trained(seed, scale, deadly=None):
    """Train; if ``deadly`` is a file that is not there yet, make it and kill this process."""
    from sweep_experiment import TASK, experiment

    if seed == 5 and deadly and not Path(deadly).exists():
        Path(deadly).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    assert jax.config.values["jax_default_matmul_precision"] == "highest"
    assert jax.config.values["jax_numpy_rank_promotion"] == "raise"
    return experiment(seed, scale) | {"double": TASK.inputs.dtype == jnp.float64}


def everywhere(path):
    """Start in single precision, switch, and sweep here, in processes and on a cluster."""
    from dask.distributed import Client, LocalCluster

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
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with (
        LocalCluster(host="127.0.0.1", **options) as cluster,
        Client(cluster),
        joblib.parallel_config("dask"),
    ):
        deadly = [setting | {"deadly": path + ".deadly"} for setting in SETTINGS]
        there = sweeps.sweep(trained, deadly, path, **QUIET).drop(columns="deadly")
        with jax.enable_x64(False):
            found["cluster, single"] = bits()
    found |= {
        "double": bool(here.double.all()),
        "processes": here.equals(processes),
        "cluster": here.equals(there),
        "killed": Path(path + ".deadly").exists(),
        "rows": len(sweeps.read(path)),
    }
    return found


def devices(path):
    """Sweep over seeds on all devices, in chunks that do not come out even."""
    from sweep_experiment import experiment

    used, vectorised = [], sweeps._vectorised

    def watched(*arguments):
        results = vectorised(*arguments)
        used.append(len(results["strength"].sharding.device_set))
        return results

    sweeps._vectorised = watched
    table = sweeps.over_seeds(experiment, range(13), at_once=6)
    table.to_json(path, orient="split", double_precision=14)
    return used


def numbers(seed, scale):
    """Return some numbers at once."""
    return {"losses": [scale / (seed + k + 1) for k in range(5)], "strength": seed / 3}


if __name__ == "__main__":
    print(json.dumps(everywhere(sys.argv[1]) | {"devices": devices(sys.argv[1] + ".seeds")}))
