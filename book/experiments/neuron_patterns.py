"""Which samples the hidden neurons of a ReLU network are on for, from the start to the end."""

from itertools import combinations

import jax
import jax.numpy as jnp

from mdsgdln import gates, networks, tasks, training

NUM_ITEMS, NUM_CONTEXTS, HIDDEN = 8, 3, 700  # MHS App. H
NUM_STEPS, SUM_STEP, EVERY = 8001, 0.001, 400
STRUCTURES = {"trees": ["tree"] * 3, "tree, ring, cross": ["tree", "ring", "cross"]}
FARTHEST = (0, 1, 2, 4, NUM_ITEMS * NUM_CONTEXTS)  # samples by which a pattern may differ


def experiment(case: str, scale: float, seed: int) -> dict:
    """Return shares of the weight norm by kind of pattern, every 400 steps.

    A neuron's norm is ‖input weights‖ ‖output weights‖. ``contextual`` (times, 3, 5): on in one,
    two or three contexts, whichever is nearest, and different on 0, 1, 2, up to 4, more samples.
    """
    task = tasks.contextual(NUM_CONTEXTS, NUM_ITEMS, STRUCTURES[case])
    network = networks.ReLUNetwork((len(task.inputs), HIDDEN, len(task.targets)))
    subsets = [list(combinations(range(NUM_CONTEXTS), k)) for k in (1, 2, 3)]
    ideal = [gates.context_gates(NUM_ITEMS, NUM_CONTEXTS, some) for some in subsets]

    def shares(weights):
        first, second = weights
        norm = jnp.linalg.norm(first, axis=1) * jnp.linalg.norm(second, axis=0)
        norm = norm / norm.sum()
        on = (first @ task.inputs > 0).astype(float)
        distance = jnp.stack(  # to the nearest pattern that is on in 1, 2, 3 contexts
            [jnp.abs(on[:, None] - some[None]).sum(axis=2).min(axis=1) for some in ideal], axis=1
        )
        nearest = jax.nn.one_hot(jnp.argmin(distance, axis=1), 3)
        band = jnp.searchsorted(jnp.array(FARTHEST), distance.min(axis=1))
        by_item = on.reshape(-1, NUM_CONTEXTS, NUM_ITEMS).sum(axis=1)
        item_only = ((by_item == 0) | (by_item == NUM_CONTEXTS)).all(axis=1) & (distance[:, 2] > 0)
        return {
            "contextual": jnp.einsum("h,hk,hb->kb", norm, nearest, jax.nn.one_hot(band, 5)),
            "two_within_four": jnp.sum(norm * (distance[:, 1] <= 4)),
            "single": jnp.sum(norm * (on.sum(axis=1) == 1)),
            "item_only": jnp.sum(norm * item_only),
        }

    weights = network.init(jax.random.key(seed), scale)
    rate = SUM_STEP * task.num_samples
    run = training.train(network, weights, task, rate, NUM_STEPS, observe=shares, every=EVERY)
    return run.observed | {"losses": run.losses[::EVERY]}
