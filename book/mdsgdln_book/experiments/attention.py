"""Attention that learns in context, and the linear network that it is on cubic features.

A token is (x, y). A sequence has N of them and a query x_q, whose y is asked for. A head has values
v, D + 1 of them, and a product of keys and queries (K_x; k_y), shape (D + 1, D). It answers
vᵀ (1/N Σ z zᵀ) (K_x; k_y) x_q, where z is a token. With β = mean y x over tokens, block a,
v_y K_x · (β ⊗ x_q), and block b, v_x k_yᵀ · (β ⊗ x_q), are odd in y; blocks c and d are even.
"""

from dataclasses import dataclass
from functools import cache

import jax
import jax.numpy as jnp
import numpy as np

from mdsgdln import Network, networks, theory, training
from mdsgdln.tasks import Task
from mdsgdln_book import linear_maps, sweeps
from mdsgdln_book.tables import Table

HEADS, SCALE = 8, 1e-3  # of attention and neurons of the table; σ of all weights
SEQUENCES, STEPS, EVERY = 2048, 480, 8  # of a run; steps between two losses that are kept


@dataclass(frozen=True)
class Attention(Network):
    """Merged linear attention, all its blocks, next to a look-up table of ``classes``, if any."""

    dims: int
    tokens: int
    classes: int = 0

    def init(self, key, scale):
        """Draw Gaussian weights: values, keys times queries, and both layers of the table."""
        rows = self.dims + 1
        shapes = [(HEADS, rows), (HEADS, rows, self.dims), (HEADS, self.classes), (1, HEADS)]
        generator = np.random.default_rng(np.asarray(jax.random.key_data(key)))  # compiles nothing
        return [jnp.asarray(scale * generator.normal(size=shape)) for shape in shapes]

    def apply(self, weights, inputs):
        """Return the outputs for sequences in columns (tokens stacked, then query, then class)."""
        return self.in_context(weights, inputs) + self.in_weights(weights, inputs)

    def in_context(self, weights, inputs):
        """Return the output of attention, (1, P)."""
        values, keys, *_ = weights
        tokens, query, _ = self.parts(inputs)
        products = jnp.einsum("nip,njp->ijp", tokens, tokens) / self.tokens
        return jnp.einsum("hi,ijp,hjk,kp->p", values, products, keys, query)[None]

    def in_weights(self, weights, inputs):
        """Return the output of the look-up table, (1, P)."""
        *_, first, second = weights
        return second @ (first @ self.parts(inputs)[2])

    def parts(self, inputs):
        """Return tokens (N, D + 1, P), query (D, P) and class (K, P)."""
        ends = self.tokens * (self.dims + 1), self.tokens * (self.dims + 1) + self.dims
        tokens, query, label = jnp.split(inputs, ends)
        return tokens.reshape(self.tokens, self.dims + 1, -1), query, label


network = cache(Attention)  # the same object for the same numbers: compiled once


def cubic_features(model: Attention, inputs) -> np.ndarray:
    """Return the features β ⊗ x_q of blocks a and b, shape (D², P)."""
    tokens, query, _ = map(np.asarray, model.parts(inputs))
    mean = np.mean(tokens[:, :-1] * tokens[:, -1:], axis=0)
    return (mean[:, None] * query[None]).reshape(-1, inputs.shape[1])


def block_a_weights(weights) -> list:
    """Return the weights of the linear network on cubic features that equals block a."""
    values, keys, *_ = map(np.asarray, weights)
    return [keys[:, :-1].reshape(HEADS, -1), values[:, -1][None]]


# In-context regression --------------------------------------------------------------------------
SPECTRA = {
    "white": np.ones(6),
    "graded": np.linspace(1.5, 0.5, 6),
    "steep": 2.0 ** -np.arange(6),
    "spiked": np.array([2, 0.5, 0.5, 0.5, 0.5, 0.5]),
}
TOKENS = 16


def regression_task(spectrum: str, seed: int) -> Task:
    """Return sequences of y = wᵀx with x ~ N(0, Λ), w ~ N(0, 1), and the same sequences with −w."""
    generator, sizes = np.random.default_rng(seed), SPECTRA[spectrum]
    shape = TOKENS + 1, len(sizes), SEQUENCES // 2
    x = generator.normal(size=shape) * np.sqrt(sizes)[:, None]
    y = np.einsum("nip,ip->np", x, generator.normal(size=shape[1:]))
    parts = [np.concatenate([x[:-1], sign * y[:-1, None]], axis=1) for sign in (1, -1)]
    tokens = np.concatenate(parts, axis=2).reshape(-1, SEQUENCES)
    inputs = np.concatenate([tokens, np.tile(x[-1], 2)])
    return Task(inputs, np.concatenate([y[-1:], -y[-1:]], axis=1))


def predicted_half_drop_time(sizes: np.ndarray, scale: float) -> float:
    """Return the predicted half-drop time [ln(s/(d a₀) − 1) − ln(1 + √2)]/(2s), a₀ = Hσ²/2."""
    s = np.linalg.norm(sizes**2)
    squares = sizes**2 * (1 + 1 / TOKENS) + sizes * sizes.sum() / TOKENS  # ⟨β_i²⟩
    d = np.sum(sizes**5 * squares) / s**2
    return (np.log(2 * s / (d * HEADS * scale**2) - 1) - np.log(1 + np.sqrt(2))) / (2 * s)


def train_attention(spectrum: str, scale: float, seed: int) -> dict:
    """Train attention; return its losses and the losses of block a alone."""
    task, model = regression_task(spectrum, seed), network(len(SPECTRA[spectrum]), TOKENS)
    weights, steps = model.init(jax.random.key(seed), scale), STEPS
    rate = 1.6 * predicted_half_drop_time(SPECTRA[spectrum], scale) / steps
    losses = training.train(model, weights, task, rate, steps).losses
    few = linear_maps.condense(Task(cubic_features(model, task.inputs), task.targets))
    linear = networks.LinearNetwork((len(few.inputs), HEADS, 1))
    alone = theory.predict(linear, block_a_weights(weights), few, rate, steps).losses
    times = rate * np.arange(steps)
    return {"trained": losses[::EVERY], "block_a": alone[::EVERY], "times": times[::EVERY]}


TABLES = {
    "attention": Table(
        train_attention, sweeps.grid(spectrum=list(SPECTRA), scale=[1e-3, 1e-4], seed=range(5))
    ),
}
