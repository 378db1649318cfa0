"""A neuroscientist's job: from spike counts of single trials to kinds of neurons and a figure."""

import sys

import numpy as np

from mdsgdln import discovery
from mdsgdln_book import plots

rng = np.random.default_rng(0)
gates = np.kron([[1, 1, 1], [1, 1, 0], [1, 0, 1], [0, 1, 1]], np.ones(8))  # what is to be found
rates = 2 + np.repeat(gates, 20, axis=0) * rng.gamma(4, 2, (80, 24))  # 80 neurons, 24 conditions
labels = [(context, item) for context in "ABC" for item in range(8)] * 10
counts = rng.poisson(np.tile(rates, 10))  # (80 neurons, 240 trials)
before = rng.poisson(2.0, counts.shape)  # the same time before the stimulus

recording = discovery.activity_by_condition(counts, labels, baseline=before)
found = discovery.find(recording)
print(recording, found, sep="\n")
figure = plots.kinds(found, "condition: context A | B | C")
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "kinds.pdf")
