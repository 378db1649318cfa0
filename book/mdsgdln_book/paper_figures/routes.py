"""Short trainings of routing networks (NRR Figs. 4, 5 and 6), each done once in a process."""

from functools import cache
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from mdsgdln import statistics, tasks, training
from mdsgdln_book.experiments import race_or_lazy, sharing

DOMAINS, TRAINED, ROUTING_SCALE, LAMBDA = 7, 4, 0.2, 0.02
ROUTING_STEPS, LOOK = 500, 5
THETA = 1.19968  # θ* tanh θ* = 1


class Strengths(NamedTuple):
    """Loss, and strengths of the modes in an input, the hidden and an output matrix.

    Attributes:
        losses: (T,).
        values: (T, 3, modes).
    """

    losses: np.ndarray
    values: np.ndarray


def reduced_race(starts, shared: int, trained: int, step: float, num_steps: int) -> Strengths:
    """Iterate the race of ``shared`` domains through one hidden path (NRR Eq. 15).

    Each domain is trained with ``trained`` outputs; ``starts`` are those of the three layers.
    """
    modes = statistics.modes(tasks.hierarchy())
    s, d = np.asarray(modes.singular_values), np.asarray(modes.input_variances)
    rates = step * trained / shared * np.array([[1.0], [shared], [1.0]])
    values = np.empty((num_steps, 3, len(s)))
    now = np.outer(starts, np.ones(len(s)))
    for index in range(num_steps):
        values[index] = now
        product = now[0] * now[1] * now[2]
        now = now + rates * (s - d * product) * product / now
    left = s - d * values.prod(axis=1)
    return Strengths(trained * np.sum(left**2 / (2 * d), axis=1), values)


def decoupled_start(shared: int, num_hidden: int, scale: float) -> dict:
    """Return weights whose modes are aligned through all layers, all of one strength."""
    modes = statistics.modes(tasks.hierarchy())
    rng = np.random.default_rng(0)
    one, two = (np.linalg.qr(rng.standard_normal((num_hidden, 4)))[0] for _ in range(2))
    parts = (
        np.tile(one @ modes.right.T, shared),
        two @ one.T,
        np.tile((modes.left @ two.T).T, shared).T,
    )
    return {
        edge: jnp.asarray(scale * part) for edge, part in zip(sharing.EDGES, parts, strict=True)
    }


def singular_values(weights):
    """Return the four largest ones of the first input, the hidden and the first output matrix."""
    first, hidden, last = (weights[edge] for edge in sharing.EDGES)
    parts = first[:, :4], hidden, last[:7]
    return jnp.stack([jnp.linalg.svd(part, compute_uv=False)[:4] for part in parts])


class RoutingRuns(NamedTuple):
    """The trained routing networks of NRR Fig. 4, and what the reduction says."""

    random: list[Strengths]  # ten random starts
    decoupled: Strengths
    reduced: Strengths  # from the decoupled start
    fitted: Strengths  # from σ₀/2.5, as published
    derived: Strengths  # from σ₀/θ*
    similarity: np.ndarray  # of the first hidden layer, one random start
    outputs: np.ndarray  # of the same network


@cache
def train_routing_networks() -> RoutingRuns:
    """Train from ten random starts and a decoupled one; reduce from three starts."""
    task, rate = tasks.routing(DOMAINS, TRAINED), LAMBDA * 2 * DOMAINS / 7
    network = sharing.routing_network(task, DOMAINS, TRAINED, 64)

    def train(start):
        return training.train(
            network, start, task, rate, ROUTING_STEPS, observe=singular_values, every=LOOK
        )

    def race(outer, hidden):
        return reduced_race([outer, hidden, outer], DOMAINS, TRAINED, rate, ROUTING_STEPS)

    def seen(run):
        return Strengths(np.asarray(run.losses), np.asarray(run.observed))

    keys = [jax.random.key(seed) for seed in range(10)]
    runs = [train(sharing.orthogonal_weights(key, network, DOMAINS, ROUTING_SCALE)) for key in keys]
    weights, scale = runs[0].weights, ROUTING_SCALE
    return RoutingRuns(
        [seen(run) for run in runs],
        seen(train(decoupled_start(DOMAINS, 64, scale))),
        race(scale, scale),
        race(scale / 2.5, scale / 2.5),
        race(scale / THETA / DOMAINS**0.5, scale / THETA),
        np.corrcoef(np.asarray(weights[sharing.EDGES[0]]).T),
        np.asarray(network.apply(weights, task.inputs, gates={})),
    )


@cache
def train_shared_group(degree: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Train ``degree`` of ten domains, which share a path, from a decoupled start of 0.1.

    Return times (one route per sample, as NRR counts), and the strength of the first mode in the
    hidden matrix, trained and reduced.
    """
    num_steps = {1: 28000, 2: 12000, 5: 4000, 10: 2000}[degree]
    task, rate = tasks.routing(degree), 0.0005 * degree
    network = sharing.routing_network(task, degree, degree, 8)
    every = num_steps // 400

    def value(weights):
        return jnp.linalg.norm(weights[sharing.EDGES[1]], ord=2)

    start = decoupled_start(degree, 8, 0.1)
    run = training.train(network, start, task, rate, num_steps, observe=value, every=every)
    race = reduced_race([0.1] * 3, degree, degree, rate, num_steps)
    times = 0.05 * np.arange(0, num_steps, every)
    return times, np.asarray(run.observed), race.values[::every, 1, 0]


class LazyRun(NamedTuple):
    """A routing network trained from one initial scale for the published 700 steps."""

    losses: np.ndarray  # over that of an empty network
    similarity: np.ndarray
    outputs: np.ndarray


@cache
def train_from_scale(scale: float) -> LazyRun:
    """Train the routing network of NRR Fig. 6 from an initial scale."""
    task = tasks.routing(DOMAINS, TRAINED)
    network = sharing.routing_network(task, DOMAINS, TRAINED, 64)
    start = sharing.orthogonal_weights(jax.random.key(0), network, DOMAINS, scale)
    rate = float(race_or_lazy.stable_rate(start, scale))
    run = training.train(network, start, task, rate, race_or_lazy.PUBLISHED)
    empty = np.sum(np.square(task.targets)) / (2 * task.num_samples)
    similarity = np.corrcoef(np.asarray(run.weights[sharing.EDGES[0]]).T)
    outputs = np.asarray(network.apply(run.weights, task.inputs, gates={}))
    return LazyRun(np.asarray(run.losses) / empty, similarity, outputs)
