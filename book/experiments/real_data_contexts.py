"""Contextual digits: the table beside that of plain digits, with fewer networks."""

from mdsgdln_book.experiments.real_data import experiment

__all__ = ["experiment"]
