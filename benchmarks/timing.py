"""What all benchmarks share: best of five interleaved rounds, and what they were measured on."""

import os
import platform
import time
from datetime import UTC, datetime
from importlib import metadata

import jax

import mdsgdln
from mdsgdln_book.places import git

ROUNDS = 5


def interleaved(**ways):
    """Return the best seconds of each way, called in turn, after a first call that compiles."""
    best = {name: float("inf") for name in ways}
    for round_number in range(ROUNDS + 1):
        for name, way in ways.items():
            start = time.perf_counter()
            jax.block_until_ready(way())
            if round_number:
                best[name] = min(best[name], time.perf_counter() - start)
    return best


def device():
    """Return the name of what computes."""
    kind = jax.devices()[0].device_kind
    return f"{os.cpu_count()} CPU cores, {platform.machine()}" if kind == "cpu" else kind


def made_by():
    """Return the commit and the libraries that were measured."""
    libraries = ("jax", "jaxlib", "numpy", "scipy", "optax", "scikit-learn")
    return {
        "commit": git("rev-parse", "HEAD"),
        "libraries": {"mdsgdln": mdsgdln.__version__}
        | {name: metadata.version(name) for name in libraries},
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
    }
