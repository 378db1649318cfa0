"""How many contexts pathways and neurons lose: with σ, and if only the remaining error is learned.

A gated network with a pathway for every set of contexts, and a ReLU network, learn one task.
"""

from collections.abc import Callable
from itertools import combinations

import jax
import jax.numpy as jnp
import numpy as np

from mdsgdln import discovery, gates, networks, squared_error, tasks, training
from mdsgdln_book import linear_maps, sweeps
from mdsgdln_book.experiments import letting_go
from mdsgdln_book.experiments.letting_go_tasks import contextual_setting
from mdsgdln_book.experiments.reduced import project_targets
from mdsgdln_book.tables import Table

LEFT = 0.03  # of the loss when one counts
HIDDEN, OF_A_PATHWAY = 300, 8  # neurons; eight are enough for the modes of eight items
SUM_STEP, CHUNK, MOST = (
    0.004,
    500,
    40,
)  # learning rate of the summed loss, steps and numbers of them


def train_until_learned(network, weights, task, loss: Callable = squared_error):
    """Return the weights when 3 % of the loss is left.

    Raises:
        ArithmeticError: it never is.
    """
    first = loss(network, weights, task)
    for _ in range(MOST):
        rate = SUM_STEP * task.num_samples
        weights = training.train(network, weights, task, rate, CHUNK, loss=loss).weights
        if loss(network, weights, task) <= LEFT * first:
            return weights
    raise ArithmeticError(f"more than {LEFT} of the loss is left")


def contexts_lost_by_neurons(
    structure: str, contexts: int, scale: float, targets: str, seed: int
) -> dict:
    """Return how many contexts neurons lose, in the mean over the weight of those that lose any.

    ``lost`` after and ``before`` training, by each of letting_go.RULES; ``letting`` is the share of
    the weight that loses some contexts, but not all.
    """
    network, weights, task, _ = contextual_setting(structure, contexts, "300", seed)
    weights = [layer * (scale / 1e-4) for layer in weights]
    if targets == "remaining":
        task = tasks.Task(task.inputs, linear_maps.linear_residual(task).targets)
    after = train_until_learned(network, weights, task)
    counts = {}
    for name, now in (("before", weights), ("lost", after)):
        share = letting_go.active_share_per_context(now, task, contexts)
        weight = np.asarray(discovery.importance(*now))
        off = letting_go.inactive_contexts_by_rule(share).values()
        counts[name] = [
            letting_go.weighted_mean(weight * letting_go.is_contextual(some), some.sum(axis=1))
            for some in off
        ]
        counts["letting"] = [weight @ letting_go.is_contextual(some) / weight.sum() for some in off]
    return counts


def contexts_lost_by_pathways(
    structure: str, contexts: int, scale: float, targets: str, seed: int
) -> dict:
    """Return how many contexts pathways other than the common one lose, in the mean over weight.

    There is a pathway for every set of contexts, and the contextual ones see the items alone.
    """
    _, _, task, _ = contextual_setting(structure, contexts, "300", seed)
    if targets == "remaining":
        task = tasks.Task(task.inputs, linear_maps.linear_residual(task).targets)
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
    after = train_until_learned(network, weights | {into: seen * weights[into]}, task, of_items)
    weight = np.asarray(jnp.linalg.norm(after[into], axis=1) * jnp.linalg.norm(after[out], axis=0))
    return {"lost": letting_go.weighted_mean(weight * (lost > 0), lost)}


def contexts_lost(
    who: str, structure: str, contexts: int, scale: float, targets: str, seed: int
) -> dict:
    """Count the contexts that pathways or neurons lose, in the mean over their weight."""
    count = {"neurons": contexts_lost_by_neurons, "pathways": contexts_lost_by_pathways}[who]
    return count(structure, contexts, scale, targets, seed)


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
