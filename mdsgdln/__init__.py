"""Gated deep linear networks in JAX: what is learned, by what, how, and what the data predict.

The modules are a short walk, and imports run one way along it: ``tasks`` and ``graphs`` →
``networks`` → ``training``; ``statistics`` → ``theory``; ``reln`` compares; ``plots`` draws and
computes nothing.
"""

__version__ = "0.1.0"
