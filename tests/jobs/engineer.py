"""An engineer: a sweep over seeds and scales in two processes, as a figure."""

import jax
import numpy as np

import mdsgdln as md
from mdsgdln_book import plots, sweeps


def experiment(seed: int, scale: float) -> dict[str, float]:
    network, task = md.ReLUNetwork((3, 64, 1)), md.tasks.xor(0.5)
    run = md.train(network, network.init(jax.random.key(seed), scale), task, 0.02, 2000)
    return {"time": float(run.times[np.argmax(np.asarray(run.losses) < 0.25)])}


if __name__ == "__main__":
    settings = sweeps.grid(seed=range(3), scale=[1e-2, 1e-3, 1e-4])
    table = sweeps.sweep(experiment, settings, n_jobs=2, progress=False)
    times = table.pivot(index="seed", columns="scale", values="time")
    figure, (axes,) = plots.panels(1)
    axes.semilogx(times.columns, times.to_numpy().T, "o-")
    axes.set(xlabel="initial scale σ", ylabel="time to half of the loss")
