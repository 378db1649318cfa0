"""Runs a sweep in a process of its own: ``python sweep_process.py FILE METHOD [slow]``.

With ``slow`` every record is written byte by byte, so that a process killed at a random moment is
often killed in the middle of a record. With ``HOST`` (0 or 1) and ``COORDINATOR`` in the
environment it is one of two hosts.
"""

import os
import sys
import time

import jax

from mdsgdln import records, sweeps

SETTINGS = sweeps.grid(seed=range(12), scale=[0.1, 0.3])


def append_slowly(self, record):
    """Write as ``RecordFile.append``, with a pause after each byte."""
    for byte in records.encode(record):
        self._file.write(bytes([byte]))
        self._file.flush()
        time.sleep(5e-5)


if __name__ == "__main__":
    jax.config.update("jax_enable_x64", True)
    if "HOST" in os.environ:
        jax.distributed.initialize(os.environ["COORDINATOR"], 2, int(os.environ["HOST"]))
    from sweep_experiment import experiment  # computes, so only now

    path, method, *slow = sys.argv[1:]
    if slow:
        records.RecordFile.append = append_slowly
    print("ready", flush=True)
    sweeps.sweep(experiment, SETTINGS, path, method=method, chunk_size=8, progress=False)
