"""A small piece of every module's work, for an installed package: ``python tests/smoke.py``.

Run it in a folder without the repository. It needs what the package needs and nothing else.
"""

import tempfile
from pathlib import Path

import jax
import matplotlib
import numpy as np

import mdsgdln as md


def half(seed: int) -> dict:
    """When a small linear network has learned half."""
    task = md.tasks.semantic("tree", num_items=4)
    network = md.LinearNetwork((4, 8, task.targets.shape[0]))
    weights = network.init(jax.random.key(seed), 1e-2)
    losses = md.train(network, weights, task, learning_rate=0.05, num_steps=400).losses
    return {"half": int(np.argmax(losses < losses[0] / 2))}


def main() -> None:
    """Train, predict, sweep in two processes, find gates, draw."""
    matplotlib.use("agg")
    task = md.tasks.xor(margin=0.5)
    gates = np.eye(4)
    network = md.pathways(task, gates, num_hidden=32)
    weights = network.init(jax.random.key(0), 1e-2)
    run = md.train(network, weights, task, learning_rate=0.05, num_steps=600)
    predicted = md.predict_losses(network, task, weights, 0.05 * np.arange(600))
    deviation = md.reln.deviation(np.asarray(run.losses), np.asarray(predicted), learned=None)
    assert deviation < 0.05, deviation
    relu = md.ReLUNetwork((3, 64, 1))
    trained = md.train(relu, relu.init(jax.random.key(1), 1e-3), task, 0.1, 2000)
    found = md.discovery.discover(np.asarray(relu.activations(trained.weights, task.inputs)[0]))
    assert found.shape[1] == 4
    assert len(md.statistics.modes(task).singular_values) == 1
    assert md.gates.count_realisable(2, 3) > 0
    with tempfile.TemporaryDirectory() as folder:
        table = md.sweeps.sweep(half, md.sweeps.grid(seed=[0, 1]), Path(folder) / "a", n_jobs=2)
        assert (table.half > 0).all() and len(md.sweeps.load(Path(folder) / "a")) == 2
        md.plots.curves(np.arange(600), {"loss": run.losses}).savefig(Path(folder) / "losses.svg")
    print(f"mdsgdln {md.__version__} works: {md.__file__}")


if __name__ == "__main__":
    main()
