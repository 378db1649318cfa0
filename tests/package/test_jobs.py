"""Four users' jobs from import to figure: each a script, run as it is."""

import runpy
import sys
from pathlib import Path
from unittest.mock import patch

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure
from numpy.testing import assert_allclose as close

from mdsgdln import tasks

JOBS = sorted((Path(__file__).parents[1] / "jobs").glob("*.py"))


def as_set(gates):
    return set(map(tuple, np.asarray(gates).tolist()))


def expect(job, made):
    """Hold what a job has found against what is known."""
    if job == "theorist":
        assert made["error"] < 0.01
        assert made["run"].observed.shape == (15, 15, 8)
        before = made["network"].apply(made["weights"], made["task"].inputs)
        close(made["run"].observed[0], before, rtol=1e-12)
    if job == "lecturer":
        lasts = {name: float(losses[-1]) for name, losses in made["ranked"].items()}
        assert made["first"] == "two of three contexts"  # all but one context
        assert lasts["every context"] > 10 * lasts["two of three contexts"]
    if job == "engineer":
        means = made["table"].groupby("scale")["time"].mean()
        steps = np.diff(means.to_numpy())  # each tenth of σ takes as much longer
        assert (steps < 0).all() and steps[0] == pytest.approx(steps[1], rel=0.1)
    if job == "recordings":
        assert as_set(made["found"].gates) == as_set(made["gates"])
        assert Path("kinds.pdf").stat().st_size > 1000


@pytest.mark.parametrize("path", JOBS, ids=lambda path: path.stem)
def test_a_job_ends_in_a_figure(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where it saves its figure
    monkeypatch.setattr(sys, "argv", [str(path)])
    mpl.use("Agg")
    mpl.rcdefaults()
    with patch.dict(tasks.STRUCTURES):  # which a job adds to
        made = runpy.run_path(str(path), run_name="__main__")
    assert isinstance(made["figure"], Figure)
    expect(path.stem, made)
