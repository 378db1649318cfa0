"""How many contexts the neurons of ReLU networks serve, with one to three hidden layers."""

import jax
import jax.numpy as jnp

from mdsgdln import networks, training
from mdsgdln_book import sweeps
from mdsgdln_book.experiments import published, two_hidden
from mdsgdln_book.experiments.context_reuse import context_shares
from mdsgdln_book.tables import Table

HIDDEN = 154  # neurons of each hidden layer
# Hidden layers: σ √H, step on the mean loss, steps. With one and two σ √H is the published one.
# With three it is such that the loss first falls at about the time at which it does with two.
SETTINGS = {
    1: (published.SCALE * published.HIDDEN**0.5, 0.024, published.NUM_STEPS),
    2: (two_hidden.SCALE * two_hidden.HIDDEN**0.5, 0.192, 4500),
    3: (0.1, 0.096, 9000),
}
PERMUTATIONS = 20


def measure_reuse_by_depth(structures: str, hidden_layers: int, seed: int) -> dict:
    """Return the mean share of contexts in which the neurons of each hidden layer are active.

    Results:
        on_…: a neuron serves a context if it is on for more than half of the items there.
        energy_…: (Σe)²/(C Σe²), e the summed squares of a neuron's activity in a context.
        …_permuted: each trained neuron's activity permuted over samples, mean of permutations.
    """
    scale, rate, num_steps = SETTINGS[hidden_layers]
    task = two_hidden.TASKS[structures]
    relu = networks.ReLUNetwork((11, *[HIDDEN] * hidden_layers, 60))
    weights = relu.init(jax.random.key(seed), scale / HIDDEN**0.5)
    run = training.train(relu, weights, task, rate, num_steps)
    keys = jax.random.split(jax.random.key(1000 + seed), PERMUTATIONS)
    permuted = jax.vmap(lambda key: shares_of_contexts(run.weights, task.inputs, key))(keys)
    found = {
        "untrained": shares_of_contexts(weights, task.inputs),
        "trained": shares_of_contexts(run.weights, task.inputs),
        "permuted": permuted.mean(axis=0),
    }
    return {
        **{f"on_{when}": on for when, (on, _) in found.items()},
        **{f"energy_{when}": energy for when, (_, energy) in found.items()},
    }


def shares_of_contexts(weights, inputs, key=None):
    """Return the shares of contexts with activity, by gates and by energy, (2, layers)."""
    by_count, energy = context_shares(weights, inputs, two_hidden.CONTEXTS, key)
    return jnp.stack([by_count @ jnp.linspace(0, 1, two_hidden.CONTEXTS + 1), energy])


TABLES = {
    "depth_reuse": Table(
        measure_reuse_by_depth,
        sweeps.grid(structures=list(two_hidden.TASKS), hidden_layers=[1, 2, 3], seed=range(10, 15)),
        repeated=(4,),
    )
}
