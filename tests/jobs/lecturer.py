"""A lecturer: a race between gates in class, on a structure of one's own."""

import numpy as np

import mdsgdln as md
from mdsgdln_book import plots

md.tasks.STRUCTURES["chain"] = lambda num_items: np.tri(num_items)  # each item has all before it
task = md.tasks.contextual(3, 6, ["chain", "chain", "ring"], common="chain")
candidates = {
    "every context": md.networks.pathways(task, np.ones((1, 18)), 600),
    "two of three contexts": md.networks.contextual_pathways(task, 3, 2, 150),
    "one context": md.networks.contextual_pathways(task, 3, 1, 150),
}
ranked = {name: md.predict(one, 1e-4, task, 0.1, 3000).losses for name, one in candidates.items()}
first = min(ranked, key=lambda name: ranked[name].sum())
figure, (left, right) = plots.panels(2)
plots.graph(candidates[first], left, f"first: {first}")
plots.curves(0.1 * np.arange(3000), {}, ranked, right, title="the race")
