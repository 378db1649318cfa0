"""All families of context subsets as pathways beside the common one: whose loss sums to least."""

from functools import lru_cache
from itertools import combinations, permutations

import jax
import jax.numpy as jnp
import numpy as np

from mdsgdln import gates, networks, tasks, theory
from mdsgdln.theory import integration, prediction

NUM_PARTS = 8  # the last one is filled up with the last family
HIDDEN = 100  # neurons of a pathway in the family of all but one
LENGTH, NUM_TIMES = 1.5, 301  # of a race, in units of P ln(1/a₀)/2; the slowest item mode has κ = 1


def context_subsets(num_contexts: int) -> list[tuple[int, ...]]:
    """Every non-empty set of contexts, the smallest first."""
    sizes = range(1, num_contexts + 1)
    return [s for k in sizes for s in combinations(range(num_contexts), k)]


@lru_cache
def families(num_contexts: int) -> np.ndarray:
    """One family of subsets, (families, subsets), 0 or 1, from each class of relabelled ones."""
    subsets = context_subsets(num_contexts)
    codes = np.arange(1, 2 ** len(subsets))
    members = codes[:, None] >> np.arange(len(subsets)) & 1
    smallest = codes
    for order in permutations(range(num_contexts)):
        moved = [subsets.index(tuple(sorted(order[c] for c in s))) for s in subsets]
        smallest = np.minimum(smallest, members @ (1 << np.array(moved)))
    return members[smallest == codes]


def race(num_items: int, num_contexts: int, num_hidden: int = 1):
    """The task, and the network with the common pathway and one for every subset."""
    task = tasks.contextual(num_contexts, num_items)
    subsets = [range(num_contexts), *context_subsets(num_contexts)]
    masks = np.ones((len(subsets), len(task.inputs)))
    masks[1:, num_items:] = 0  # contextual pathways see the items only
    on = gates.context_gates(num_items, num_contexts, subsets)
    return task, networks.pathways(task, on, num_hidden, masks)


def experiment(kind: str, neurons: str, scale: float, part: int) -> dict:
    """Return the mean predicted loss of an eighth of the families.

    All families run as one small system with a pathway for every subset, some of them switched
    off. ``neurons`` are the same "in all" (shared out evenly) or "per pathway".
    """
    num_items, num_contexts = (int(word) for word in kind.split() if word.isdigit())
    task, network = race(num_items, num_contexts)
    with jax.ensure_compile_time_eval():
        system = prediction.reduce(network, task, 1.0)  # as if σ = 1, one neuron a pathway
        found = theory.pathway_modes(network, task).values()
        owner = np.repeat(np.arange(len(found)), [len(modes.singular_values) for modes in found])
        parts = families(num_contexts)
        parts = np.pad(parts, ((0, -len(parts) % NUM_PARTS), (0, 0)), mode="edge")
        parts = jnp.asarray(parts).reshape(NUM_PARTS, -1, parts.shape[1])
    unit = task.num_samples * jnp.log(1 / theory.expected_start(HIDDEN, scale)) / 2
    times = jnp.linspace(0, LENGTH * unit, NUM_TIMES)

    def mean_loss(family):
        takes_part = jnp.append(1, family)[owner]  # the common pathway always does
        width = HIDDEN
        if neurons == "in all":
            width = HIDDEN * (num_contexts + 1) / (1 + family.sum())
        share = jnp.sqrt(width) * scale
        masked = system._replace(gates=system.gates * takes_part[:, None])

        def at(weights):
            return masked._replace(first=weights[0], second=weights[1])

        losses = integration.integrate(
            lambda weights: prediction.flow(at(weights)),
            (share * system.first, share * system.second),
            times,
            tolerance=1e-6,
            absolute=1e-6 * share,
            output=lambda weights: prediction.loss(at(weights)),
        )
        return jnp.mean(losses)

    return {"losses": jnp.round(jax.lax.map(mean_loss, parts[part], batch_size=64), 7)}
