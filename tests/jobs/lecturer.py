"""A lecturer: a race between gates in class, on a structure of one's own."""

import numpy as np

import mdsgdln as md

md.tasks.STRUCTURES["chain"] = lambda num_items: np.tri(num_items)  # each item has all before it
task = md.tasks.contextual(3, 6, ["chain", "chain", "ring"], common="chain")
times = np.linspace(0, 300, 300)
candidates = {
    "every context": md.networks.pathways(task, np.ones((1, 18)), 600),
    "two of three contexts": md.networks.contextual_pathways(task, 3, 2, 150),
    "one context": md.networks.contextual_pathways(task, 3, 1, 150),
}
ranked = md.reln.rank_candidates(task, candidates, 1e-4, times)
first = next(iter(ranked))
figure, (left, right) = md.plots.panels(2)
md.plots.graph(candidates[first], left, f"first: {first}")
md.plots.curves(times, {}, ranked, right, title="the race")
