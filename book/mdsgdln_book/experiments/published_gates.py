"""Does Algorithm 1 find the gates of MHS §4, on the task of Fig. 8 and recorded as published?"""

import numpy as np

from mdsgdln import discovery, gates
from mdsgdln_book import sweeps
from mdsgdln_book.experiments.finding_gates import CASES, record_training
from mdsgdln_book.tables import Table

NUMBERS = range(3, 9)


def compare_with_published_gates(case: str, seed: int) -> dict:
    """Cluster one recording into 3 … 8 groups and compare the gates with those of MHS §4.

    ``wrong``: share of the entries that differ from the common pathway and the three that are
    active in two contexts. ``common``: whether a gate is on for every sample.
    """
    recording = record_training(CASES[case]._replace(sampled=100), seed)
    published = gates.context_gates(3, 8, [(0, 1, 2), (0, 1), (0, 2), (1, 2)])
    found = [discovery.k_means_gates(recording.activity, number) for number in NUMBERS]
    return {
        "wrong": np.array([discovery.disagreement(published, some) for some in found]),
        "common": np.array([some.all(axis=1).any() for some in found], float),
    }


TABLES = {
    "published_gates": Table(
        compare_with_published_gates,
        sweeps.grid(case=["3 contexts", "tree, ring, cross"], seed=range(5)),
        repeated=(9,),
    )
}
