"""Which pathways learn what the common one leaves: by rule of training, and by equal speeds."""

from collections.abc import Callable
from functools import cache
from itertools import combinations
from math import comb

import jax
import jax.numpy as jnp
import numpy as np
import optax

import mdsgdln as md
from mdsgdln_book import linear_maps, sweeps
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
def slow_adam(epsilon: float = 1e-8, *betas: float):
    """Return Adam with descent's speed where gradients are below ε, and its number of steps."""
    steps = 500 if betas or epsilon < 1e-7 else 1200
    return optax.adam(SPEED + RATE * epsilon, *betas, eps=epsilon), steps


class Pathways(md.Network):
    """A common pathway and one for every other set of contexts, which sees items only.

    Weights are those into and out of all pathways, (K, H, N_in) and (K, N_out, H).
    """

    def __init__(self, task: md.Task, num_contexts: int, num_hidden: int):
        """Make the pathways of a contextual task, of ``hidden`` neurons each."""
        every = range(num_contexts)
        subsets = [s for size in every for s in combinations(every, size + 1)]
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

    After "Adam" come ε, β₁ and β₂ where they are not the usual ones.
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


def unit_rows(drive: np.ndarray) -> np.ndarray:
    """Return rows normalised to unit length."""
    return drive / np.maximum(np.linalg.norm(drive, axis=-1, keepdims=True), 1e-12)


def shares_at_equal_speeds(
    num_contexts: int, speed: Callable[[np.ndarray], np.ndarray]
) -> np.ndarray:
    """Return shares of half of the residual if all item modes move at a given speed.

    One neuron represents an item mode of each pathway. By symmetry pathways with k contexts are
    equal, with output weights x in the common block, y in each block of their contexts, and z in
    each of the others. ``speed`` of the gradient of (x, y, z), in an orthonormal basis of blocks,
    is their velocity: ``np.sign`` of sign descent, ``unit_rows`` of one along singular vectors.
    """
    C, k, step = num_contexts, np.arange(1, num_contexts + 1), 1e-3
    blocks = np.sqrt(np.stack([np.ones(C), k, C - k], axis=1))  # norm of equal entries
    here = np.array([comb(C - 1, size - 1) for size in k])  # pathways on in a context
    both = np.array([comb(C - 2, size - 2) if size > 1 else 0 for size in k])  # and in another
    tree = np.asarray(md.tasks.structure("tree", NUM_ITEMS))
    strengths = np.linalg.svd(tree - tree.mean(axis=1, keepdims=True), compute_uv=False)
    strengths = strengths[strengths > 1e-9]  # κ
    into = np.full((len(strengths), C), 1e-6)  # item weights
    out = np.zeros((len(strengths), C, 3))  # x, y, z
    for _ in range(round(20 / step)):
        answers = into[..., None] * out
        common = strengths - answers[..., 0] @ here
        own = strengths - answers[..., 1] @ here
        other = -(answers[..., 1] @ both + answers[..., 2] @ (here - both))
        common, own, other = common[:, None], own[:, None], other[:, None]
        drive = np.stack([k * common, own + (k - 1) * other, k * other], axis=-1)
        drive[:, -1, 2] = 0  # the common pathway has all blocks
        pull = (drive * out * blocks**2).sum(axis=-1)
        # Entries of a block are equal; in an orthonormal basis they are one coordinate.
        whole = speed(drive * blocks)
        size = np.where(blocks > 0, blocks, 1) if speed is unit_rows else 1
        out = out + step * whole / size
        into = into + step * np.where(pull == 0, 1, np.sign(pull))
        pairs = np.array([comb(C, size) for size in k]) * k * (C - k) / C
        learned = strengths @ (into * (out[..., 1] - out[..., 2])) * pairs
        if learned.sum() >= 0.5 * np.sum(strengths**2) * (C - 1):
            return learned[:-1] / learned.sum()
    raise ArithmeticError("half of the residual is never learned")


EPSILONS = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0)
DECAYS = [f"Adam 1e-8 {first:g} {second:g}" for first in (0, 0.9) for second in (0.9, 0.99, 0.999)]
SIZES = (1e-4, 1e-3, 1e-2, 0.03, 0.1, 0.2, 0.5)  # σ
THREE = [3, 4, 5]


def seeded_settings(contexts, rules, hidden, scales=(SCALE,)) -> list[dict]:
    """Return settings with five seeds each."""
    return sweeps.grid(contexts=contexts, rule=rules, hidden=[hidden], scale=scales, seed=range(5))


TABLES = {
    "people_race": Table(
        train_race,
        seeded_settings(THREE, ["descent", "momentum", "Muon", "Adam 1"], 20)
        + seeded_settings(THREE, ["sign descent", "Adam"], 100)
        + seeded_settings([3], DECAYS, 100)
        + seeded_settings([3], [f"Adam {epsilon:g}" for epsilon in EPSILONS], 100)
        + seeded_settings(THREE, ["descent"], 20, [1e-9])
        + seeded_settings([3], ["slow descent"], 20, SIZES[2:-1])
        + seeded_settings([3], ["descent"], 20, SIZES[:2])
        + seeded_settings([4, 5], ["slow descent"], 20, [0.1])
        + seeded_settings(THREE, ["slow descent"], 20, SIZES[-1:]),
    ),
}
