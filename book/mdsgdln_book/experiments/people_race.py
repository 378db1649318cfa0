"""Which pathways learn what the common one leaves, by rule of training."""

from functools import cache
from math import comb

import jax
import jax.numpy as jnp
import numpy as np
import optax

import mdsgdln as md
from mdsgdln_book import linear_maps, sweeps
from mdsgdln_book.experiments.gate_race import context_subsets
from mdsgdln_book.experiments.published import NUM_ITEMS, SCALE
from mdsgdln_book.tables import Table

RATE, SLOW = 0.2, 0.02  # of descent, from small and from large weights
SPEED = 2e-4  # of each weight where all have one
MATRICES = [optax.contrib.MuonDimensionNumbers(1, 2)] * 2  # one for each pathway
# {rule: (optimiser, steps)}
RULES = {
    "descent": (optax.sgd(RATE), 1100),
    "slow descent": (optax.sgd(SLOW), 2500),
    "momentum": (optax.sgd(RATE / 10, momentum=0.9), 1000),
    "sign descent": (optax.sign_sgd(SPEED), 500),
    "Muon": (optax.contrib.muon(1e-3, muon_weight_dimension_numbers=MATRICES), 1000),
}


@cache
def slow_adam(epsilon: float = 1e-8):
    """Return Adam with descent's speed where gradients are below ε, and its number of steps."""
    steps = 500 if epsilon < 1e-7 else 1200
    return optax.adam(SPEED + RATE * epsilon, eps=epsilon), steps


class Pathways(md.Network):
    """A common pathway and one for every other set of contexts, which sees items only.

    Weights are those into and out of all pathways, (K, H, N_in) and (K, N_out, H).
    """

    def __init__(self, task: md.Task, num_contexts: int, num_hidden: int):
        """Make the pathways of a contextual task, of ``hidden`` neurons each."""
        subsets = context_subsets(num_contexts)
        self.sizes = np.array([len(subset) for subset in subsets])  # k
        self.gates = md.gates.context_gates(num_contexts, NUM_ITEMS, subsets)
        self.seen = np.ones((len(subsets), 1, len(task.inputs)))
        self.seen[:-1, :, NUM_ITEMS:] = 0
        self.shapes = [
            (len(subsets), num_hidden, len(task.inputs)),
            (len(subsets), len(task.targets), num_hidden),
        ]

    def init(self, key, scale):
        """Draw Gaussian weights, zero from inputs that are not seen."""
        keys = jax.random.split(key)
        drawn = (jax.random.normal(k, shape) for k, shape in zip(keys, self.shapes, strict=True))
        first, second = (scale * weights for weights in drawn)
        return [first * self.seen, second]

    def hidden(self, weights, inputs):
        """Return the activity of each pathway, (K, H, P)."""
        return ((weights[0] * self.seen) @ inputs) * self.gates[:, None]

    def outputs(self, weights, inputs):
        """Return the contribution of each pathway to the outputs, (K, N_out, P)."""
        return weights[1] @ self.hidden(weights, inputs)

    def apply(self, weights, inputs):
        """Return the outputs, (N_out, P)."""
        return jnp.einsum("koh,khp->op", weights[1], self.hidden(weights, inputs))


@cache
def race_setting(num_contexts: int, num_hidden: int):
    """Return the task, its pathways, and a function for each pathway's share of the residual."""
    task = md.tasks.contextual(num_contexts, NUM_ITEMS)
    network = Pathways(task, num_contexts, num_hidden)
    residual = np.asarray(linear_maps.linear_residual(task).targets)

    @jax.jit
    def learned(weights):
        outputs = network.outputs(weights, task.inputs)
        return jnp.einsum("kop,op->k", outputs, residual) / np.sum(residual**2)

    return task, network, learned


def shares_at_half(learned: np.ndarray, sizes: np.ndarray, num_contexts: int) -> np.ndarray:
    """Return the share of pathways active in 1, …, C − 1 contexts when half is learned.

    ``learned`` by each pathway, (T, K).

    Raises:
        ArithmeticError: half of it never is.
    """
    total = learned.sum(axis=1)
    if total.max() < 0.5:
        raise ArithmeticError(f"only {total.max():.2f} of the residual is learned")
    then = learned[np.argmax(total >= 0.5)]
    return np.array([then[sizes == size].sum() for size in range(1, num_contexts)]) / then.sum()


def train_race(contexts: int, rule: str, hidden: int, scale: float, seed: int) -> dict:
    """Train the pathways; return their shares of half of the residual by number of contexts.

    After "Adam" comes ε where it is not the usual one.
    """
    task, network, learned = race_setting(contexts, hidden)
    optimiser, steps = RULES.get(rule) or slow_adam(*map(float, rule.split()[1:]))
    weights = network.init(jax.random.key(seed), scale)
    run = md.train(network, weights, task, None, steps, optimiser=optimiser, observe=learned)
    return {"shares": shares_at_half(np.asarray(run.observed), network.sizes, contexts)}


def mode_times(rule: str, hidden: int, seed: int) -> np.ndarray:
    """Return the steps until half of each item mode of the residual is learned, strongest first."""
    task, network, _ = race_setting(3, hidden)
    residual = np.asarray(linear_maps.linear_residual(task).targets)
    tree = np.asarray(md.tasks.structure("tree", NUM_ITEMS))
    _, strengths, items = np.linalg.svd(tree - tree.mean(axis=1, keepdims=True))
    levels = np.unique(strengths[strengths > 1e-9].round(6))[::-1]
    spans = [items[np.isclose(strengths, level)] for level in levels]
    modes = jnp.stack([residual @ np.kron(np.eye(3), span.T @ span) for span in spans])

    def learned(weights):
        outputs = network.apply(weights, task.inputs)
        return jnp.einsum("op,kop->k", outputs, modes) / jnp.sum(modes**2, axis=(1, 2))

    optimiser, steps = RULES.get(rule) or slow_adam()
    start = network.init(jax.random.key(seed), SCALE)
    run = md.train(network, start, task, None, steps, optimiser=optimiser, observe=learned)
    return np.argmax(np.asarray(run.observed) > 0.5, axis=0)


def shares_without_race(num_contexts: int) -> np.ndarray:
    """Return the normalised law binom(C, k) k (C − k) for k = 1, …, C − 1."""
    law = [comb(num_contexts, k) * k * (num_contexts - k) for k in range(1, num_contexts)]
    return np.array(law) / sum(law)


THREE = [3, 4, 5]


def seeded_settings(contexts, rules, hidden, scales=(SCALE,)) -> list[dict]:
    """Return settings with five seeds each."""
    return sweeps.grid(contexts=contexts, rule=rules, hidden=[hidden], scale=scales, seed=range(5))


TABLES = {
    "people_race": Table(
        train_race,
        seeded_settings(THREE, ["descent", "momentum", "Muon", "Adam 1"], 20)
        + seeded_settings(THREE, ["sign descent", "Adam"], 100)
        + seeded_settings(THREE, ["descent"], 20, [1e-9])
        + seeded_settings(THREE, ["slow descent"], 20, [0.1]),
    ),
}
