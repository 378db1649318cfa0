"""Units whose gate has weights of its own: who escapes first, and when."""

from dataclasses import dataclass
from operator import itemgetter

import jax
import jax.numpy as jnp
import numpy as np
import optax

from mdsgdln import gates, networks, tasks, training
from mdsgdln_book import linear_maps, sweeps
from mdsgdln_book.experiments.gate_race import context_subsets
from mdsgdln_book.experiments.letting_go_tasks import contextual_task
from mdsgdln_book.experiments.reduced import (
    keep_weights,
    project_targets,
    train_until_learned,
)
from mdsgdln_book.tables import Table

RATE, EVERY = 0.2, 5  # of descent; steps between two records
ESCAPED = 0.1  # of the largest strength that a unit reaches alone
GATES = {"ReGLU": jax.nn.relu, "SwiGLU": jax.nn.silu, "bilinear": jax.nn.identity}


@dataclass(frozen=True)
class Units(networks.Network):
    """A hidden layer of units of one kind, ŷ = U h(x).

    Attributes:
        sizes: (N_in, H, N_out).
        kind: of GATES, h = φ(g·x)(w·x); "power", relu(w·x)^p; "scaled", s relu(w·x); "given scaled"
            and "given bilinear", s w·x and (g·x)(w·x) of the items, with given gates.
        power: p.
        contexts: of the given gates, an equal number of units for every set of contexts.
    """

    sizes: tuple[int, int, int]
    kind: str
    power: float = 1.0
    contexts: int = 0

    @property
    def sets(self) -> list[tuple[int, ...]]:
        """The set of contexts in which each unit is open, where gates are given."""
        sets = context_subsets(self.contexts)
        return [some for some in sets for _ in range(self.sizes[1] // len(sets))]

    @property
    def degree(self) -> float:
        """The degree of h in the inputs, 1 where h is not homogeneous."""
        if self.kind == "power":
            return self.power
        return 2.0 if self.kind.endswith(("ReGLU", "bilinear")) else 1.0

    def hidden(self, weights, inputs):
        """Return h, (H, P)."""
        first, second = weights[0], weights[1]
        if self.kind in GATES:
            return GATES[self.kind](first @ inputs) * (second @ inputs)
        if self.kind == "power":
            return jax.nn.relu(first @ inputs) ** self.power
        if self.kind == "scaled":
            return second * jax.nn.relu(first @ inputs)
        items = self.sizes[0] - self.contexts
        some = slice(0, items)
        other = second if self.kind == "given scaled" else second[:, some] @ inputs[some]
        on = gates.context_gates(self.contexts, items, self.sets)
        return on * other * (first[:, some] @ inputs[some])

    def apply(self, weights, inputs):
        """Return the outputs, (N_out, P)."""
        return weights[-1] @ self.hidden(weights, jnp.asarray(inputs))

    def init(self, key, scale):
        """Draw Gaussian weights of standard deviation ``scale``."""
        num_inputs, hidden, outputs = self.sizes
        second = (hidden, 1 if self.kind.endswith("scaled") else num_inputs)
        shapes = [(hidden, num_inputs), second, (outputs, hidden)]
        shapes = shapes[::2] if self.kind == "power" else shapes
        return networks.network.draw_gaussian(key, shapes, [scale] * len(shapes))


def alone(network, weights, task):
    """Return the loss of every unit as if it were the only one, summed over units."""
    hidden, out = network.hidden(weights, task.inputs), weights[-1]
    agree = jnp.sum(out * (task.targets @ hidden.T))
    power = jnp.sum(out**2, axis=0) @ jnp.sum(hidden**2, axis=1)
    return (power / 2 - agree) / task.num_samples


def strengths(weights):
    """Return ‖g‖ ‖w‖ ‖u‖ of every unit, (H,)."""
    *into, out = weights
    norms = [jnp.linalg.norm(some, axis=1) for some in into]
    return jnp.prod(jnp.stack([*norms, jnp.linalg.norm(out, axis=0)]), axis=0)


def cosines(weights):
    """Return |cos(g, w)| of every unit, (H,)."""
    g, w, _ = weights
    norms = jnp.linalg.norm(g, axis=1) * jnp.linalg.norm(w, axis=1)
    return jnp.abs(jnp.sum(g * w, axis=1)) / norms


def contribution(network, weights, task) -> np.ndarray:
    """Return what units contribute: ‖u‖ times the root mean square of h, (H,)."""
    hidden = np.asarray(network.hidden(weights, task.inputs))
    return np.linalg.norm(weights[-1], axis=0) * np.sqrt((hidden**2).mean(axis=1))


def setting(kind, structure, contexts, items, scale, seed, hidden=200, power=1.0, targets="whole"):
    """Return a network, its initial weights and a task of items in contexts."""
    generator = np.random.default_rng(seed)
    if structure == "each sample":  # properties drawn for each sample, whatever item and context
        inputs = contextual_task("tree", contexts, items, seed).inputs
        task = tasks.Task(inputs, generator.integers(0, 2, (15, contexts * items)).astype(float))
    elif structure == "product":  # whitened inputs, x₁² − x₂²/2, a product of two forms
        x = np.linalg.qr(generator.standard_normal((60, 4)))[0].T * 60**0.5
        task = tasks.Task(x, [x[0] ** 2 - x[1] ** 2 / 2])
    else:
        task = contextual_task(structure, contexts, items, seed)
    if targets == "linear":
        task = linear_maps.linear_part(task)
    task = project_targets(task)
    given = contexts if kind.startswith("given") else 0
    network = Units((len(task.inputs), hidden, len(task.targets)), kind, power, given)
    return network, network.init(jax.random.key(seed), scale), task


def crossings(grown, level):
    """Return when strengths (T, H) first exceed a level, in steps, infinite where they never do.

    Between two records S^(-1/3), a line in time while a unit grows alone, is interpolated.
    """
    grown = np.maximum(np.asarray(grown), 1e-300) ** (-1 / 3)
    beyond = grown < level ** (-1 / 3)
    after = np.maximum(beyond.argmax(axis=0), 1)
    low, high = (grown[after - back, np.arange(len(after))] for back in (1, 0))
    part = (low - level ** (-1 / 3)) / np.maximum(low - high, 1e-300)
    return np.where(beyond.any(axis=0), EVERY * (after - 1 + part), np.inf)


def times_alone(network, weights, task, scale):
    """Return when each unit would escape alone, in steps, and what strength counts as escape."""
    steps = int(1.4 / (scale * RATE * (0.5 if network.kind == "SwiGLU" else 1)))
    rule = {"optimiser": optax.sgd(RATE), "loss": alone}
    run = training.train(
        network, weights, task, None, steps, observe=strengths, every=EVERY, **rule
    )
    level = ESCAPED * float(run.observed[-1].max())
    return crossings(run.observed, level), level


def first_escape(kind: str, structure: str, scale: float, seed: int) -> dict:
    """Foretell who escapes first and when, and train.

    ``times`` foretold and measured, as learning rate × step; ``named``, whether the winner is the
    one that is first alone; ``rank`` of the winner in the order of initial drives; ``equal``, its
    |cos(g, w)| when it escapes.
    """
    network, weights, task = setting(kind, structure, 3, 8, scale, seed)
    steps, level = times_alone(network, weights, task, scale)
    run = training.train(
        network, weights, task, RATE, int(1.3 * steps.min()), observe=keep_weights, every=EVERY
    )
    measured = crossings(jax.vmap(strengths)(run.observed), level)
    winner, now = int(measured.argmin()), int(measured.min() / EVERY) + 1
    drive = np.sum(
        weights[-1] * (task.targets @ network.hidden(weights, task.inputs).T), axis=0
    ) / strengths(weights)
    at = jax.tree.map(itemgetter(now), run.observed)
    return {
        "times": RATE * np.array([steps.min(), measured.min()]),
        "named": float(winner == steps.argmin()),
        "rank": float(np.sum(drive > drive[winner]) + 1),
        "equal": float(cosines(at)[winner]),
    }


def who_works(kind: str, contexts: int, scale: float, seed: int) -> dict:
    """Return how many units hold 90 % in the end, and the share of them among the earliest alone.

    ``other`` is this share by the times of another network's units.
    """
    network, weights, task = setting(kind, "tree", contexts, 8, scale, seed)
    end = contribution(network, train_until_learned(network, weights, task, optax.sgd(RATE)), task)
    order = np.argsort(-end)
    number = int(np.searchsorted(np.cumsum(end[order]), 0.9 * end.sum())) + 1
    found = {"number": number}
    for name, key in (("among", seed), ("other", seed + 100)):
        steps, _ = times_alone(network, network.init(jax.random.key(key), scale), task, scale)
        found[name] = np.isin(order[:number], np.argsort(steps)[:number]).mean()
    return found


SEEDS = range(60, 65)
STRUCTURES = ["tree", "ring", "cross", "random", "tree, ring, cross"]
TABLES = {
    "own_gate_escapes": Table(
        first_escape,
        sweeps.grid(
            kind=["ReGLU", "bilinear"], structure=STRUCTURES, scale=[0.01, 0.002], seed=SEEDS
        )
        + sweeps.grid(kind=["SwiGLU"], structure=["tree"], scale=[0.01], seed=SEEDS)
        + sweeps.grid(kind=["ReGLU"], structure=["tree"], scale=[0.05], seed=SEEDS),
    ),
    "own_gate_works": Table(
        who_works,
        sweeps.grid(kind=["ReGLU"], contexts=[3, 4], scale=[0.01], seed=SEEDS)
        + sweeps.grid(kind=["bilinear"], contexts=[3], scale=[0.01], seed=SEEDS),
    ),
}
