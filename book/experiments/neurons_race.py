"""Pathways for every number of contexts race in one gated network while their weights decay."""

from itertools import combinations

import jax
import jax.numpy as jnp
import numpy as np

from mdsgdln import gates, statistics, tasks

NUM_ITEMS, HIDDEN = 2, 20  # neurons of a pathway
SUM_STEP, NUM_STEPS, EVERY = 0.02, 14000, 20


def experiment(kind: str, cost: float, scale: float) -> dict:
    """Return what pathways that are on in 1, 2, … contexts have, through training.

    ``kind`` is "C contexts, who pays": weights decay at the rate ``cost`` κ/P (κ = 1), "uniform";
    or times the number of contexts in which the pathway is on, in "contextual" pathways only, or in
    "all". Results are sums over the pathways of one size: ``strengths`` of the item mode (sizes,
    times), when a hundredth of the largest sum is there, and at the end; and ``quarter``, what they
    have learned of the residual of the best linear map when a quarter of it is, at ``time`` in
    units of P (−1: never).
    """
    num_contexts, payers = int(kind.split()[0]), kind.split(", ")[1]
    task = tasks.contextual(num_contexts, NUM_ITEMS)
    inputs, targets, count = task.inputs, task.targets, task.num_samples
    contexts = range(num_contexts)  # all of them are the common pathway, the last one
    subsets = [s for size in contexts for s in combinations(contexts, size + 1)]
    sizes = np.array([len(subset) for subset in subsets])
    on = np.repeat(gates.context_gates(NUM_ITEMS, num_contexts, subsets), HIDDEN, axis=0)
    seen = np.ones((len(on), len(inputs)))
    seen[:-HIDDEN, NUM_ITEMS:] = 0  # the others see the items only
    paying = {"uniform": 1 + 0 * sizes, "contextual": sizes * (sizes < num_contexts), "all": sizes}
    decay = np.repeat(paying[payers], HIDDEN) * cost / count
    modes = statistics.modes(task)
    fit = modes.left * (modes.singular_values / modes.input_variances) @ modes.right.T
    residual = targets - fit @ inputs
    item = np.zeros(len(inputs))
    item[:2] = 1 / np.sqrt(2), -1 / np.sqrt(2)
    of_size = jnp.asarray(sizes[:, None] == np.arange(1, num_contexts + 1)).astype(float)

    def step(weights, _):
        first, second = weights
        hidden = on * (first @ inputs)
        error = (targets - second @ hidden) / count
        first_slope = seen * ((on * (second.T @ error)) @ inputs.T) - decay[:, None] * first
        second_slope = error @ hidden.T - decay * second
        rate = SUM_STEP * count
        return (first + rate * first_slope, second + rate * second_slope), None

    def record(weights, _):
        first, second = weights
        answer = (second * (first @ item)).reshape(len(targets), -1, HIDDEN).sum(axis=2)
        learned = jnp.sum((second.T @ residual) * on * (first @ inputs), axis=1)
        learned = learned.reshape(-1, HIDDEN).sum(axis=1) / jnp.sum(residual**2)
        found = jnp.linalg.norm(answer, axis=0) @ of_size, learned @ of_size
        return jax.lax.scan(step, weights, length=EVERY)[0], found

    keys = jax.random.split(jax.random.key(0))
    first = scale * seen * jax.random.normal(keys[0], seen.shape)
    second = scale * jax.random.normal(keys[1], (len(targets), len(on)))
    _, (strengths, learned) = jax.lax.scan(record, (first, second), length=NUM_STEPS // EVERY)
    total, known = strengths.sum(axis=1), learned.sum(axis=1)
    first = jnp.argmax(total > 0.01 * total.max())
    quarter, reached = jnp.argmax(known > 0.25), known.max() > 0.25
    return {
        "first": strengths[first],
        "quarter": jnp.round(jnp.where(reached, learned[quarter], 0.0), 9),  # some are round-off
        "time": jnp.where(reached, SUM_STEP * EVERY * quarter, -1.0),
        "last": jnp.round(strengths[-1], 9),
        "strengths": jnp.round(strengths[::35].T, 3),
    }
