"""In how many contexts the neurons of ReLU networks are on, with one to three hidden layers."""

import jax
import jax.numpy as jnp

from mdsgdln import discovery, networks, tasks, training
from mdsgdln_book import sweeps
from mdsgdln_book.experiments import two_hidden
from mdsgdln_book.experiments.neurons_mechanisms import effective_number, share_by_context_count
from mdsgdln_book.experiments.published import HIDDEN, NUM_ITEMS, NUM_STEPS, SCALE, SUM_STEP
from mdsgdln_book.experiments.reduced import reduce_network
from mdsgdln_book.tables import Table

# Hidden layers: neurons of each, σ, step of the summed loss, steps. One is as published (MHS
# App. H), with two every step is eight times the published one and there are more of them.
SETTINGS = {
    1: ((HIDDEN,), SCALE, SUM_STEP, NUM_STEPS),
    2: ((420, 420), 6e-4, 0.008, 4500),
}


def measure_context_reuse(contexts: int, hidden_layers: int, seed: int) -> dict:
    """Return the weight share of neurons active in 0, 1, …, C contexts, before and after training.

    ``untrained`` and ``trained`` have a row for each hidden layer, (layers, C + 1). A neuron is
    active in a context if it is active for more than half of the items there; it weighs ‖w_in‖
    ‖w_out‖. ``energy_…`` (layers,): the share of the contexts by (Σe)²/(C Σe²), e the summed
    squares of a neuron's activity in a context, which needs no threshold.
    """
    hidden, scale, sum_step, num_steps = SETTINGS[hidden_layers]
    task = tasks.contextual(contexts, NUM_ITEMS)
    relu = networks.ReLUNetwork((len(task.inputs), *hidden, len(task.targets)))
    weights = relu.init(jax.random.key(seed), scale)
    # Through two layers, what is beside the targets changes which gates are found.
    small = reduce_network(relu, weights, task) if hidden_layers == 1 else (relu, weights, task)
    run = training.train(*small, sum_step * task.num_samples, num_steps)
    before, after = (context_shares(w, task.inputs, contexts) for w in (weights, run.weights))
    counts = {"untrained": before[0], "trained": after[0]}
    return counts | {"energy_untrained": before[1], "energy_trained": after[1]}


def context_shares(weights, inputs, contexts: int, key=None):
    """Return each layer's shares of the weight by number of active contexts, and the energy share.

    With a ``key``, each neuron's activity is permuted over samples. (layers, C + 1), (layers,).
    """
    hidden, counts, energies = inputs, [], []
    for incoming, outgoing in zip(weights[:-1], weights[1:], strict=True):
        hidden = activity = jax.nn.relu(incoming @ hidden)
        if key is not None:
            activity = jax.random.permutation(key, hidden, axis=1, independent=True)
        by_item = activity.reshape(-1, contexts, NUM_ITEMS)
        mass = discovery.importance(incoming, outgoing)
        counts.append(share_by_context_count((by_item > 0).mean(axis=2) > 0.5, mass))
        energies.append(effective_number(jnp.sum(by_item**2, axis=2), mass) / contexts)
    return jnp.stack(counts), jnp.stack(energies)


# The same number of neurons in each of one to three layers ---------------------------------------

NARROW = 154  # neurons of each hidden layer
# Hidden layers: σ √H, step on the mean loss, steps. With one and two σ √H is the published one.
# With three it is such that the loss first falls at about the time at which it does with two.
BY_DEPTH = {
    1: (SCALE * HIDDEN**0.5, 0.024, NUM_STEPS),
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
    scale, rate, num_steps = BY_DEPTH[hidden_layers]
    task = two_hidden.TASKS[structures]
    relu = networks.ReLUNetwork((11, *[NARROW] * hidden_layers, 60))
    weights = relu.init(jax.random.key(seed), scale / NARROW**0.5)
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
    "context_reuse": Table(
        measure_context_reuse,
        sweeps.grid(contexts=[3, 4, 5, 6], hidden_layers=[1, 2], seed=range(10, 15)),
        repeated=(4,),
    ),
    "depth_reuse": Table(
        measure_reuse_by_depth,
        sweeps.grid(structures=list(two_hidden.TASKS), hidden_layers=[1, 2, 3], seed=range(10, 15)),
        repeated=(4,),
    ),
}
