"""Which family of subsets of three contexts learns first, as pathways next to the common one."""

from functools import lru_cache
from itertools import combinations, permutations

import jax
import jax.numpy as jnp
import numpy as np

from mdsgdln import gates, networks, tasks, theory, training
from mdsgdln_book import dynamics, sweeps
from mdsgdln_book.experiments.published import SCALE
from mdsgdln_book.tables import Table

HIDDEN = 100  # neurons of a pathway in the family of all but one; every family has as many in all
LENGTH = 1.5  # of a race, in units of P ln(1/a₀)/2; the slowest item mode has κ = 1
NUM_STEPS = 3000


def context_subsets(num_contexts: int) -> list[tuple[int, ...]]:
    """Return every non-empty set of contexts, the smallest first."""
    sizes = range(1, num_contexts + 1)
    return [s for k in sizes for s in combinations(range(num_contexts), k)]


@lru_cache
def inequivalent_families(num_contexts: int) -> np.ndarray:
    """Return one family of context subsets, (families, subsets), per class under relabelling."""
    subsets = context_subsets(num_contexts)
    codes = np.arange(1, 2 ** len(subsets))
    members = codes[:, None] >> np.arange(len(subsets)) & 1
    smallest = codes
    for order in permutations(range(num_contexts)):
        moved = [subsets.index(tuple(sorted(order[c] for c in s))) for s in subsets]
        smallest = np.minimum(smallest, members @ (1 << np.array(moved)))
    return members[smallest == codes]


def race_setting(num_items: int, num_contexts: int, num_hidden: int):
    """Return the task and a network with a pathway for every subset of contexts."""
    task = tasks.contextual(num_contexts, num_items)
    subsets = [range(num_contexts), *context_subsets(num_contexts)]
    masks = np.ones((len(subsets), len(task.inputs)))
    masks[1:, num_items:] = 0  # contextual pathways see the items only
    on = gates.context_gates(num_contexts, num_items, subsets)
    return task, networks.pathways(task, on, num_hidden, masks)


def mean_loss_of_families(scale: float) -> dict:
    """Return the mean predicted loss of every family, with eight items in three contexts.

    All families run as one small system with a pathway for every subset, some of them switched
    off. Neurons are shared out evenly.
    """
    num_items, num_contexts = 8, 3
    room = num_items + num_contexts  # for every mode of a pathway
    task, network = race_setting(num_items, num_contexts, room)
    starts = dynamics.balanced_weights(network, task, room**-0.5)  # a₀ = ½: σ = 1, one neuron
    small = theory.stand_in(network, starts, task)
    members = inequivalent_families(num_contexts)
    _, *contextual = theory.pathway_modes(network, task).values()
    numbers = [len(modes.singular_values) for modes in contextual]
    takes_part = np.repeat(members, numbers, axis=1)  # neurons of the contextual pathways
    width = HIDDEN * (num_contexts + 1) / (1 + members.sum(axis=1))
    unit = task.num_samples * jnp.log(1 / theory.expected_initial_strength(HIDDEN, scale)) / 2
    rate = LENGTH * unit / NUM_STEPS
    means = mean_losses(*small, takes_part, np.sqrt(width) * scale, rate)
    return {"losses": jnp.round(means, 7)}


@jax.jit
def mean_losses(network, weights, task, takes_part, shares, rate):
    """Return the mean loss of each family, with its contextual neurons and their share."""
    (common, contextual), graph = jax.tree.flatten(network)  # gates

    def mean_loss(family):
        takes_part, share = family
        some = jax.tree.unflatten(graph, [common, contextual * takes_part[:, None]])
        start = {edge: share * weight for edge, weight in weights.items()}
        return jnp.mean(training.train(some, start, task, rate, NUM_STEPS).losses)

    return jax.lax.map(mean_loss, (takes_part, shares), batch_size=64)


TABLES = {
    "gate_race": Table(
        mean_loss_of_families, sweeps.grid(scale=[SCALE, 1e-3, 1e-2]), repeated=(2,)
    ),
}
