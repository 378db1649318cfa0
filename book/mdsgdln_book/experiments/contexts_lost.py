"""How many contexts pathways and neurons lose: with σ, and if only the remaining error is learned.

A gated network with a pathway for every set of contexts, and a ReLU network, learn one task.
"""

from itertools import combinations

import jax
import numpy as np
import optax

from mdsgdln import discovery, gates, networks, squared_error
from mdsgdln_book import linear_maps, sweeps
from mdsgdln_book.experiments import letting_go
from mdsgdln_book.experiments.letting_go_tasks import SIZES, contextual_setting
from mdsgdln_book.experiments.reduced import project_targets, train_until_learned
from mdsgdln_book.tables import Table

OF_A_PATHWAY = 8  # neurons, enough for the modes of eight items


def contexts_lost_by_neurons(network, weights, task, contexts: int) -> dict:
    """Return how many contexts neurons lose, in the mean over the weight of those that lose any.

    ``lost`` after and ``before`` training, by each of letting_go.RULES.
    """
    rule = optax.sgd(letting_go.SUM_STEP * task.num_samples)
    after, counts = train_until_learned(network, weights, task, rule), {}
    for name, now in (("before", weights), ("lost", after)):
        off, mass = letting_go.lost_contexts(now, task, contexts)
        counts[name] = [
            letting_go.weighted_mean(mass * letting_go.is_contextual(some), some.sum(axis=1))
            for some in off
        ]
    return counts


def contexts_lost_by_pathways(task, contexts: int, scale: float, seed: int) -> dict:
    """Return how many contexts pathways other than the common one lose, in the mean over weight.

    There is a pathway for every set of contexts, and the contextual ones see the items alone.
    """
    task = project_targets(task)
    num_items = task.num_samples // contexts
    subsets = [s for k in range(1, contexts + 1) for s in combinations(range(contexts), k)]
    lost = np.repeat([contexts - len(subset) for subset in subsets], OF_A_PATHWAY)
    on = np.repeat(gates.context_gates(contexts, num_items, subsets), OF_A_PATHWAY, axis=0)
    seen = np.ones((len(on), len(task.inputs)))
    seen[lost > 0, num_items:] = 0
    into, out = ("input", "hidden"), ("hidden", "output")
    sizes = {"input": len(task.inputs), "hidden": len(on), "output": len(task.targets)}
    network = networks.GatedNetwork(sizes, [into, out], {"hidden": on})

    def of_items(network, weights, task):
        return squared_error(network, weights | {into: seen * weights[into]}, task)

    weights = network.init(jax.random.key(seed), scale)
    weights |= {into: seen * weights[into]}
    rule = optax.sgd(letting_go.SUM_STEP * task.num_samples)
    after = train_until_learned(network, weights, task, rule, of_items)
    mass = np.asarray(discovery.importance(after[into], after[out]))
    return {"lost": letting_go.weighted_mean(mass * (lost > 0), lost)}


def contexts_lost(
    who: str, structure: str, contexts: int, scale: float, targets: str, seed: int
) -> dict:
    """Count the contexts that pathways or neurons lose, on the whole task or what is left of it."""
    network, weights, task, _ = contextual_setting(structure, contexts, "300", seed)
    if targets == "remaining":
        task = linear_maps.linear_residual(task)
    if who == "pathways":
        return contexts_lost_by_pathways(task, contexts, scale, seed)
    weights = [layer * (scale / SIZES["300"][1]) for layer in weights]
    return contexts_lost_by_neurons(network, weights, task, contexts)


SEEDS = range(40, 45)
STRUCTURES = ["tree", "ring", "random"]
TABLES = {
    "contexts_lost": Table(
        contexts_lost,
        sweeps.grid(
            who=["neurons", "pathways"],
            structure=STRUCTURES,
            contexts=[3, 6],
            scale=[1e-2, 1e-4, 1e-8],
            targets=["whole"],
            seed=SEEDS,
        )
        + sweeps.grid(
            who=["neurons"],
            structure=STRUCTURES,
            contexts=[3, 6],
            scale=[1e-4],
            targets=["remaining"],
            seed=SEEDS,
        ),
    ),
}
