"""In how many contexts the neurons of ReLU networks are on, with one and two hidden layers."""

import jax
import jax.numpy as jnp

from mdsgdln import discovery, networks, tasks, training
from mdsgdln_book import sweeps
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
    untrained, energy_untrained = context_shares(weights, task.inputs, contexts)
    trained, energy_trained = context_shares(run.weights, task.inputs, contexts)
    return {
        "untrained": untrained,
        "trained": trained,
        "energy_untrained": energy_untrained,
        "energy_trained": energy_trained,
    }


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


TABLES = {
    "context_reuse": Table(
        measure_context_reuse,
        sweeps.grid(contexts=[3, 4, 5, 6], hidden_layers=[1, 2], seed=range(10, 15)),
        repeated=(4,),
    )
}
