"""Dynamics that only this book uses: where small neurons go, waiting, first strengths."""

from mdsgdln_book.dynamics.first_drops import first_drop
from mdsgdln_book.dynamics.maxima import Candidate, candidates, drive
from mdsgdln_book.dynamics.relu_basins import Basin, basins
from mdsgdln_book.dynamics.starts import balanced_weights, measured_initial_strength
from mdsgdln_book.dynamics.waiting import drop_times

__all__ = [
    "Basin",
    "Candidate",
    "balanced_weights",
    "basins",
    "candidates",
    "drive",
    "drop_times",
    "first_drop",
    "measured_initial_strength",
]
