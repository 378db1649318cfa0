"""The map of the equivalence: how far all-but-one networks are from ReLU networks."""

import jax
import jax.numpy as jnp

from mdsgdln import deviation, networks, tasks, theory, training
from mdsgdln_book import sweeps
from mdsgdln_book.experiments.reduced import reduce_network
from mdsgdln_book.tables import Table

SUM_STEP, MOST_STEPS = 0.004, 8000  # on the summed loss
CHUNK = 100  # steps between two looks at the loss
REDUCED = 1e-3  # σ up to which networks are trained in the space of their targets
FALLEN = 0.01  # a run ends when both losses are below this share of their start


def exactness_setting(num_contexts: int, hidden: int):
    """Return the task, trees of eight items, the ReLU network and the gated one."""
    task = tasks.contextual(num_contexts, 8)
    relu = networks.ReLUNetwork((len(task.inputs), hidden, len(task.targets)))
    width = hidden // (num_contexts + 1)  # as many neurons in all
    gated = networks.contextual_pathways(task, num_contexts, num_contexts - 1, width)
    return task, relu, gated


def max_steps(num_contexts: int, hidden: int, scale):
    """Return twice the race law's time for a mode of strength κ = 1, and 500 steps more."""
    start = theory.expected_initial_strength(hidden // (num_contexts + 1), scale)
    units = jnp.maximum(jnp.log(1 / start), 1) / 2
    return 2 * theory.learning_time(num_contexts, num_contexts - 1) * units / SUM_STEP + 500


@jax.jit
def train_until_learned(trained, rate, limit):
    """Train networks until all have learned; return their losses, padded with zeros.

    Each comes with its initial weights and its task.
    """

    def unfinished(state):
        step, _, _, now = state
        return (step < limit) & (step < MOST_STEPS) & jnp.any(now > FALLEN)

    def chunk(state):
        step, weights, losses, _ = state
        runs = [
            training.train(network, start, task, rate, CHUNK)
            for (network, _, task), start in zip(trained, weights, strict=True)
        ]
        fresh = jnp.stack([run.losses for run in runs])
        losses = jax.lax.dynamic_update_slice(losses, fresh, (0, step))
        return step + CHUNK, [run.weights for run in runs], losses, fresh[:, -1] / losses[:, 0]

    begin = jnp.zeros((len(trained), MOST_STEPS))
    state = 0, [weights for _, weights, _ in trained], begin, jnp.ones(len(trained))
    return jax.lax.while_loop(unfinished, chunk, state)[2]


def compare_networks(contexts: int, hidden: int, scale: float, seed: int) -> dict:
    """Train both networks; return the relative error of the loss, with and without sign."""
    task, relu, gated = exactness_setting(contexts, hidden)
    limit = max_steps(contexts, hidden, scale)
    keys = zip((relu, gated), jax.random.split(jax.random.key(seed)), strict=True)
    trained = [(network, network.init(key, scale), task) for network, key in keys]
    if scale <= REDUCED:
        trained = [reduce_network(*each) for each in trained]
    rate = SUM_STEP * task.num_samples
    reference, losses = train_until_learned(trained, rate, limit)
    return {
        "deviation": deviation(losses, reference),
        "signed": jnp.sum(losses - reference) / jnp.sum(reference),
    }


TABLES = {
    "exactness": Table(
        compare_networks,
        sweeps.grid(
            contexts=[2, 3, 4, 5],
            hidden=[50, 200, 700],
            scale=[1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1],
            seed=range(3),
        ),
    ),
}
