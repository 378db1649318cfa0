"""A race of attention, which reads labels in context, with a look-up table, which keeps them.

Classes have unit vectors x_k and labels y_k = ±1. The class of the query stands B times among N
tokens; with probability p a sequence has labels of its own. Two pathways of one gated network
represent both, with rates s_C ≈ [B/N − (1 − p)(1 − B/N)/(K − 1)]‖Σ_x‖_F, where ‖Σ_x‖²_F = 1/D + 1/K
− 1/(KD), and s_W = (1 − p)/√K.
"""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from mdsgdln import networks, theory, training
from mdsgdln.tasks import Task
from mdsgdln_book import linear_maps, sweeps
from mdsgdln_book.experiments.attention import (
    HEADS,
    SCALE,
    SEQUENCES,
    Attention,
    block_a_weights,
    cubic_features,
    network,
)
from mdsgdln_book.experiments.reduced import keep_weights
from mdsgdln_book.tables import Table

STEPS, EVERY = 120, 2  # to the time at which the faster one is half learned; between two records
QUARTER = 0.25  # of a drop, at which the two are compared
TENTHS = [round(0.1 * number, 1) for number in range(1, 10)]
SEEDS = [1, 2, 3]


class Sequences(NamedTuple):
    """Sequences of classes with labels, for any probability that labels are redrawn."""

    vectors: np.ndarray  # of the classes, of unit length, (D, K)
    labels: np.ndarray  # those to be remembered, (K,)
    chosen: np.ndarray  # classes of tokens, and last of the query, (N + 1, P)
    fresh: np.ndarray  # labels of a sequence, if redrawn, (K, P)
    chance: np.ndarray  # labels are redrawn where this is below p, (P,)

    def task(self, p: float) -> Task:
        """Return the task at a probability p of new labels."""
        labels = np.where(self.chance < p, self.fresh, self.labels[:, None])
        y = np.take_along_axis(labels, self.chosen, axis=0)
        x = self.vectors[:, self.chosen].transpose(1, 0, 2)  # (N + 1, D, P)
        tokens = np.concatenate([x, y[:, None]], axis=1)[:-1].reshape(-1, len(self.chance))
        known = np.eye(len(self.labels))[:, self.chosen[-1]]
        return Task(np.concatenate([tokens, x[-1], known]), y[-1:])


def draw_sequences(D: int, K: int, N: int, B: int, seed: int, free: bool = False) -> Sequences:
    """Draw sequences of N tokens that contain the query's class, one of K, B times.

    Half of the labels are 1. Class vectors in D dimensions are random with Σ y x = 0, unless
    ``free``.
    """
    generator = np.random.default_rng(seed)
    labels = generator.permutation(np.resize([1.0, -1.0], K))
    vectors = generator.normal(size=(D, K))
    for _ in range(1 if free else 200):  # lengths 1 and Σ y x = 0 are met in turn
        vectors -= 0 if free else np.outer(vectors @ labels, labels) / K
        vectors /= np.linalg.norm(vectors, axis=0)
    # A round asks for each class once, with the same steps from it to other tokens. These come in
    # permutations, so that rounds whose labels are kept show every class beside every other.
    rounds = SEQUENCES // (2 * K)
    orders = [generator.permutation(K - 1) + 1 for _ in range(rounds * (N - B) // (K - 1) + 1)]
    steps = np.concatenate(orders)[: rounds * (N - B)].reshape(rounds, N - B)
    query = np.tile(np.arange(K), rounds)
    others = (query + np.repeat(steps, K, axis=0).T) % K
    chosen = np.concatenate([np.tile(query, (B, 1)), others, query[None]])
    within = np.concatenate([generator.permutation(K) + 0.5 for _ in range(rounds)])
    chance = (np.repeat(np.arange(rounds), K) + within / K) / rounds
    fresh = generator.choice([-1.0, 1.0], (K, len(query)))
    # Each sequence also occurs with its new labels reversed: what is even in them has no drive.
    fresh = np.concatenate([fresh, -fresh], axis=1)
    return Sequences(vectors, labels, np.tile(chosen, 2), fresh, np.tile(chance, 2))


def tie_probability_of_copies(D: int, K: int, N: int, B: int) -> float:
    """Return p* = 1 − (B/N)S, S = √(1 + (K − 1)/D), which ignores tokens of other classes."""
    return 1 - B / N * np.sqrt(1 + (K - 1) / D)


def predicted_tie_probability(D: int, K: int, N: int, B: int) -> float:
    """Return p* = 1 − (B/N)S/[1 + S(1 − B/N)/(K − 1)], where both rates are equal."""
    silent = 1 - tie_probability_of_copies(D, K, N, B)
    return 1 - silent / (1 + silent * (N / B - 1) / (K - 1))


PATHWAYS = {"context": ("products", "context"), "weights": ("class", "weights")}


def condense_to_moments(model: Attention, task: Task) -> Task:
    """Return few samples with the second moments of cubic features, classes and targets."""
    features = cubic_features(model, task.inputs), np.asarray(model.parts(task.inputs)[2])
    return linear_maps.condense(Task(np.concatenate(features), task.targets))


def pathway_inputs(model: Attention, few: Task) -> list[np.ndarray]:
    """Return the inputs of both pathways: cubic features and classes."""
    return np.split(np.asarray(few.inputs), [model.dims**2])


def pathway_rates(model: Attention, few: Task) -> np.ndarray:
    """Return s_C and s_W, the singular values of both pathways."""
    y = np.asarray(few.targets)
    return np.array([np.linalg.norm(x @ y.T) / y.size for x in pathway_inputs(model, few)])


def least_losses(model: Attention, few: Task) -> np.ndarray:
    """Return the least loss that each pathway can reach alone."""
    parts = [Task(x, few.targets) for x in pathway_inputs(model, few)]
    left = [np.square(linear_maps.linear_residual(part).targets).sum() for part in parts]
    return np.array(left) / (2 * few.targets.size)


def two_pathways(model: Attention, few: Task, weights, only: str = "") -> tuple:
    """Return the gated network equivalent to attention and look-up table, with its weights.

    One pathway sees the cubic features, one the class. With ``only`` one, the other cannot learn.
    """
    sizes = {"products": model.dims**2, "class": model.classes, "context": HEADS, "weights": HEADS}
    given = {}
    layers = block_a_weights(weights), map(np.asarray, weights[2:])
    for (name, edge), (first, second) in zip(PATHWAYS.items(), layers, strict=True):
        learns = only in ("", name)
        given |= {edge: learns * first, (name, "output"): learns * second}
    gated = networks.GatedNetwork(sizes | {"output": 1}, list(given))
    return theory.stand_in(gated, given, few)


def losses_of_answers(parts, targets) -> list:
    """Return the losses of the summed output and of each output alone."""
    return [jnp.mean((targets - part) ** 2) / 2 for part in (sum(parts), *parts)]


def train_two_pathways(network, weights, task: Task, rate: float, steps: int, every: int) -> list:
    """Train the reduced network; return losses of both pathways together and of each alone."""
    run = training.train(network, weights, task, rate, steps, observe=keep_weights, every=every)
    return pathway_losses(network, run.observed, task)


@jax.jit
def pathway_losses(network, records, task: Task) -> list:
    """Return the loss of both pathways together and of each alone, for each record."""
    rows = network.graph.node_rows

    def one(weights):
        parts = [
            weights[hidden, "output"]
            @ (weights[source, hidden] @ task.inputs[jnp.array(rows[source])])
            for source, hidden in PATHWAYS.values()
        ]
        return losses_of_answers(parts, task.targets)

    return jax.lax.map(one, records)


@partial(jax.jit, static_argnames="model")
def recorded_losses(model: Attention, records, inputs, targets) -> list:
    """Return the loss of a network, of its attention and of its table, for each record."""

    def one(weights):
        return losses_of_answers(
            [part(weights, inputs) for part in (model.in_context, model.in_weights)], targets
        )

    return jax.lax.map(one, records)


def predict_race(
    model: Attention, sequences: Sequences, p: float, seed: int, end: float, train: bool = True
) -> dict:
    """Predict the race and, if ``train``, run it; return losses and completed fractions of drops.

    ``end`` is in units of the time at which the faster one is half learned.
    """
    task, weights = sequences.task(p), model.init(jax.random.key(seed), SCALE)
    few, steps = condense_to_moments(model, task), int(STEPS * end)
    rate = end * np.log(1 / (HEADS * SCALE**2)) / (2 * pathway_rates(model, few).max()) / steps
    times = rate * np.arange(steps)[::EVERY]
    found = {"times": times}
    curves = {
        "predicted": train_two_pathways(*two_pathways(model, few, weights), rate, steps, EVERY)
    }
    if train:
        run = training.train(model, weights, task, rate, steps, observe=keep_weights, every=EVERY)
        curves["trained"] = recorded_losses(model, run.observed, task.inputs, task.targets)
        found["weights"] = run.weights
    highest, lowest = np.mean(np.asarray(task.targets) ** 2) / 2, least_losses(model, few)[:, None]
    for name, of_name in curves.items():
        both, *alone = map(np.asarray, of_name)
        drops = (highest - np.stack(alone)) / (highest - lowest)
        found |= {f"{name}_losses": both, f"{name}_drops": drops}
    return found


def attention_lead(drops: np.ndarray) -> float:
    """Return the lead of attention when the faster pathway has completed a quarter of its drop."""
    after = int(np.argmax(drops.max(axis=0) >= QUARTER))
    pair = drops[:, after - 1 : after + 1]
    part = (QUARTER - pair[:, 0].max()) / (pair[:, 1].max() - pair[:, 0].max())
    return float((1 - part) * (pair[0, 0] - pair[1, 0]) + part * (pair[0, 1] - pair[1, 1]))


def race_curves(p: float, B: int, K: int, seed: int) -> dict:
    """Return trained and predicted losses and drops of a race at D = N = 8, thinned."""
    model = network(8, 8, K)
    found = predict_race(model, draw_sequences(8, K, 8, B, seed), p, seed, end=2)
    return {name: found[name][..., ::3] for name in found if name != "weights"}


def train_after_race(p: float, seed: int) -> dict:
    """Train long after the race at D = N = 8, K = 32, B = 2; ``drops`` are the completed fractions.

    ``unseen`` is how often attention alone has the label of classes that it never saw, and
    ``table`` how often it is right by chance: what the look-up table would answer.
    """
    model = network(8, 8, 32)
    found = predict_race(model, draw_sequences(8, 32, 8, 2, seed), p, seed, end=5)
    unseen = draw_sequences(8, 32, 8, 2, seed + 100).task(1.0)
    right = [
        np.mean(np.sign(part(found["weights"], unseen.inputs)) == np.sign(unseen.targets))
        for part in (model.in_context, model.in_weights)
    ]
    return {"drops": found["trained_drops"], "unseen": right[0], "table": right[1]}


TABLES = {
    "attention_race": Table(
        race_curves,
        sweeps.grid(p=TENTHS, B=[1, 2, 3], K=[16, 32, 64], seed=[1])
        + sweeps.grid(p=[0.3, 0.5], B=[2], K=[32], seed=[2]),
    ),
    "attention_after": Table(train_after_race, sweeps.grid(p=[0.2], seed=SEEDS)),
}
