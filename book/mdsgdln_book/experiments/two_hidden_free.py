"""Two hidden layers: gated networks with nothing set by hand, with one stage and with none.

All have the ReLU network's width and σ. In each layer as many neurons are always on as survive the
first plateau of the ReLU network; the others of the first layer are off, those of the second make
modules with gates that are known before training: a module for every pair of contexts and, in every
context, one for each of the two halves of its items that its largest mode separates.
"""

import warnings
from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
from scipy.integrate import solve_ivp

from mdsgdln import gates, networks, statistics, sweeps, theory
from mdsgdln_book import tables
from mdsgdln_book.experiments import two_hidden
from mdsgdln_book.experiments.drop_times_relu import grown
from mdsgdln_book.experiments.two_hidden import CONTEXTS, ITEMS, PAIRS, PUBLISHED_RATE, TASKS
from mdsgdln_book.experiments.two_hidden_gates import chain
from mdsgdln_book.experiments.two_hidden_widths import NARROW, relu_of, scale_of
from mdsgdln_book.tables import Table

# With steps 8 times the published ones some losses jump near the second drop, and rounding decides
# how high; on the second task also with 4 times.
COARSER = {"trees": 4, "tree, ring, cross": 2}
SEEDS, AGAIN = 10, 100  # AGAIN: added to the seed where weights are not the ReLU network's
SIGMA = scale_of(NARROW)
XI = 1.168  # a mode of three matrices waits for Ξ/(sσ√N)
AHEAD = 0.675  # half of it is learned by AHEAD/(s w_h) before: see theory.drop_times


# What is known before training -------------------------------------------------------------------


@cache
def shares(structures: str) -> tuple[float, float]:
    """Return which share of either layer survives, a number of the task."""
    frozen = tables.load("drop_times_frozen")
    both = frozen[frozen["structures"] == structures][["first", "second"]].mean()
    return tuple(both)


@cache
def drops(structures: str) -> tuple[float, float]:
    """Return the times of the first two drops of a linear network with as many neurons."""
    on = [round(share * NARROW) for share in shares(structures)]
    with warnings.catch_warnings():  # of later modes, which are equally fast
        warnings.simplefilter("ignore")
        return tuple(theory.drop_times(TASKS[structures], (11, *on, 60), SIGMA)[:2])


@cache
def module_gates(structures: str, modules: str) -> np.ndarray:
    """Return the gates of three modules, pairs of contexts, or of nine, halves of items as well."""
    pairs = gates.context_gates(CONTEXTS, ITEMS, PAIRS)
    if modules == "pairs":
        return np.asarray(pairs, float)
    halves = np.zeros((CONTEXTS, 2, CONTEXTS, ITEMS))
    targets = np.asarray(TASKS[structures].targets).reshape(-1, CONTEXTS, ITEMS)
    for context in range(CONTEXTS):
        here = targets[:, context]
        mode = np.linalg.svd(here - here.mean(axis=1, keepdims=True))[2][0]
        mode = mode * np.sign(mode[0])  # the sign is free: the first item's half comes first
        halves[context, :, context] = mode > 0, mode < 0
    return np.concatenate([pairs, halves.reshape(2 * CONTEXTS, -1)])


def gates_of(structures, modules, survivors):
    """Return a gate for every neuron of both layers, and which neurons are in modules."""
    first, second = survivors
    rows = module_gates(structures, modules)
    after = np.ones((NARROW, ITEMS * CONTEXTS))
    after[~second] = rows[np.arange(np.sum(~second)) % len(rows)]
    return np.repeat(first[:, None] * 1.0, ITEMS * CONTEXTS, axis=1), after


def strength(structures, times):
    """Return the first mode's strength per layer at some times, and its u and v."""
    found = statistics.modes(TASKS[structures])
    s, d = found.singular_values[0], found.input_variances[0]
    half = (s / (2 * d)) ** (1 / 3)
    start = 1 / (s * (drops(structures)[0] + AHEAD / (s * half)))
    flow = solve_ivp(
        lambda _, w: w**2 * (s - d * w**3), (0, times[-1]), [start], t_eval=times, rtol=1e-6
    )
    return flow.y[0], found.left[:, 0], found.right[:, 0]


@cache
def growth(structures: str, modules: str, deep: bool) -> np.ndarray:
    """Return ∫ s dt of every module until the second drop, s the rate at which its gate leaks.

    While the first mode is learned, s is that of its share of the error: on the shared first
    layer's activity or, ``deep``, on the inputs, which a first layer of its own sees.
    """
    times = np.linspace(0, drops(structures)[1], 1000)
    task, rates = TASKS[structures], []
    inputs, targets = np.asarray(task.inputs), np.asarray(task.targets)
    grown_to, u, v = strength(structures, times)
    for w in grown_to:
        error = targets - w**3 * np.outer(u, v @ inputs)
        seen = inputs if deep else w * (v @ inputs)[None]
        mean = [
            (row * error) @ seen.T / task.num_samples for row in module_gates(structures, modules)
        ]
        rates.append([np.linalg.norm(matrix, 2) for matrix in mean])
    return np.trapezoid(rates, times, axis=0)


# Which neurons survive ---------------------------------------------------------------------------


def always_on(structures, weights):
    """Return which neurons of either layer are on for all samples."""
    first, second, _ = map(np.asarray, weights)
    early = first @ np.asarray(TASKS[structures].inputs)
    late = second @ np.maximum(early, 0)
    return (early > 0).all(axis=1), (late > 0).all(axis=1)


def recorded(structures, weights):
    """Return the neurons that are on for all samples half way between the first two drops."""
    steps = round(np.mean(drops(structures)) / PUBLISHED_RATE)
    steps -= steps % (two_hidden.PUBLISHED_STEPS // two_hidden.RECORDINGS)
    run, _ = two_hidden.train(
        relu_of(NARROW), weights, structures, COARSER[structures], steps=steps
    )
    return always_on(structures, run.weights)


def predicted(structures, weights):
    """Return the neurons that are on for all samples if the error stays as it is at first."""
    layers = [np.asarray(layer) / (SIGMA * np.sqrt(NARROW)) for layer in weights]
    return always_on(structures, grown(structures, layers)[1])


def counted(structures, _):
    """Return as many neurons as survive, no matter which."""
    return tuple(np.arange(NARROW) < round(share * NARROW) for share in shares(structures))


# Networks ----------------------------------------------------------------------------------------


@jax.tree_util.register_pytree_node_class
class Sliding:
    """A chain whose modules do not see the first layer's mean activity h̄.

    A neuron that slides on the mean sample has wᵀh̄ = 0 and keeps it: what moves w along h̄ is
    projected out. The projection is as old as the weights, and no gradient passes through it.
    """

    def __init__(self, first, second, in_module):
        self.gates = first, second, in_module

    def tree_flatten(self):
        """Return the gates as leaves."""
        return self.gates, None

    @classmethod
    def tree_unflatten(cls, _, gates):
        """Return the network of some gates."""
        return cls(*gates)

    def init(self, key, scale):
        """Draw weights as the ReLU network does."""
        return relu_of(NARROW).init(key, scale)

    def apply(self, weights, inputs):
        """Return the outputs for ``inputs``."""
        on_first, on_second, in_module = self.gates
        first, second, last = weights
        hidden = on_first * (first @ inputs)
        mean = jax.lax.stop_gradient(hidden.mean(axis=1))
        along = jnp.outer(second @ mean / (mean @ mean), mean @ hidden)
        return last @ (on_second * (second @ hidden - in_module[:, None] * along))


def staged(structures, modules, seed, choose, same):
    """Return the loss with modules that begin at the second drop."""
    weights = relu_of(NARROW).init(two_hidden.key_of(seed + (0 if same else AGAIN)), SIGMA)
    survivors = choose(structures, weights)
    first, second = gates_of(structures, modules, survivors)
    before, after = chain(first, second * survivors[1][:, None]), chain(first, second)
    weights = dict(zip(after.graph.edges, weights, strict=True))
    thin = two_hidden.PUBLISHED_STEPS // two_hidden.RECORDINGS
    switch = round(drops(structures)[1] / PUBLISHED_RATE / thin) * thin
    run, losses = two_hidden.train(before, weights, structures, COARSER[structures], steps=switch)
    left = two_hidden.PUBLISHED_STEPS - switch
    rest = two_hidden.train(after, run.weights, structures, COARSER[structures], steps=left)[1]
    return {"losses": np.concatenate([losses, rest])}


def unstaged(structures, modules, seed, way):
    """Return the loss with modules that learn from the first step on.

    They start as the others do (``equal``), smaller by what leaks until the second drop
    (``smaller``), or do not see the mean (``sliding``).
    """
    survivors = counted(structures, None)
    first, second = gates_of(structures, modules, survivors)
    inside = ~survivors[1]
    weights = relu_of(NARROW).init(two_hidden.key_of(seed + AGAIN), SIGMA)
    if way == "smaller":
        leaked = growth(structures, modules, deep=False)
        factor = np.ones(NARROW)
        factor[inside] = np.exp(-leaked)[np.arange(inside.sum()) % len(leaked)]
        weights = [weights[0], factor[:, None] * weights[1], weights[2] * factor]
    if way == "sliding":
        network = Sliding(jnp.asarray(first), jnp.asarray(second), jnp.asarray(inside * 1.0))
    else:
        network = chain(first, second)
        weights = dict(zip(network.graph.edges, weights, strict=True))
    return {"losses": two_hidden.train(network, weights, structures, COARSER[structures])[1]}


def own_layers(structures, modules, seed):
    """Return the loss with modules that have first layers of their own.

    Such a chain grows quadratically, and the σ of its weights is the one with which it waits until
    the second drop: Ξ/∫ s dt = σ√n for n neurons a layer.
    """
    one, two = (round(share * NARROW) for share in shares(structures))
    rows = module_gates(structures, modules)
    each = (NARROW - two) // len(rows)
    sizes, edges, node_gates, scale = {"input": 11, "first": one, "common": two}, [], {}, {}
    edges += [("input", "first"), ("first", "common"), ("common", "output")]
    scale |= dict.fromkeys(edges, SIGMA)
    for index, (row, area) in enumerate(zip(rows, growth(structures, modules, True), strict=True)):
        names = f"first {index}", f"module {index}"
        sizes |= dict.fromkeys(names, each)
        own = [("input", names[0]), names, (names[1], "output")]
        edges += own
        scale |= dict.fromkeys(own, XI / area / np.sqrt(each))
        node_gates[names[1]] = row
    network = networks.GatedNetwork(sizes | {"output": 60}, edges, node_gates)
    weights = network.init(two_hidden.key_of(seed + AGAIN), scale)
    return {"losses": two_hidden.train(network, weights, structures, COARSER[structures])[1]}


def free(structures: str, way: str, modules: str, seed: int) -> dict:
    """Return the thinned loss of one network; ``modules`` says which it has: nine or pairs.

    The ways are the ReLU network itself; one stage, with neurons on that survive as ``recorded``,
    as ``predicted`` from the initial weights, or with as many (``counted``); and without a stage
    ``equal``, ``smaller``, ``sliding`` and ``own layers``.
    """
    if way == "ReLU":
        weights = relu_of(NARROW).init(two_hidden.key_of(seed), SIGMA)
        return {
            "losses": two_hidden.train(relu_of(NARROW), weights, structures, COARSER[structures])[1]
        }
    if way == "own layers":
        return own_layers(structures, modules, seed)
    choices = {"recorded": recorded, "predicted": predicted, "counted": counted}
    if way in choices:
        return staged(structures, modules, seed, choices[way], same=way != "counted")
    return unstaged(structures, modules, seed, way)


ONE_STAGE = ["recorded", "predicted", "counted"]
NO_STAGE = ["equal", "smaller", "own layers", "sliding"]
TABLES = {
    "two_hidden_free": Table(
        free,
        sweeps.grid(structures=list(TASKS), way=["ReLU"], modules=["none"], seed=range(SEEDS))
        + sweeps.grid(
            structures=list(TASKS), way=ONE_STAGE + NO_STAGE, modules=["nine"], seed=range(SEEDS)
        )
        + sweeps.grid(
            structures=list(TASKS), way=["counted", "sliding"], modules=["pairs"], seed=range(SEEDS)
        ),
        row=40,
    ),
}
