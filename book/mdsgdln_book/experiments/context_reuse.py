"""In how many contexts the neurons of ReLU networks are on, with one and two hidden layers."""

import jax
import jax.numpy as jnp

from mdsgdln import discovery, networks, tasks, training
from mdsgdln_book import sweeps
from mdsgdln_book.experiments.neurons_mechanisms import share_by_context_count
from mdsgdln_book.experiments.published import HIDDEN, NUM_ITEMS, NUM_STEPS, SCALE, SUM_STEP
from mdsgdln_book.experiments.reduced import reduce_network
from mdsgdln_book.tables import Table

# Hidden layers: neurons of each, σ, step of the summed loss, steps. One is as published (MHS
# App. H), with two every step is eight times the published one and there are more of them.
SETTINGS = {
    1: ((HIDDEN,), SCALE, SUM_STEP, NUM_STEPS),
    2: ((420, 420), 6e-4, 0.008, 4500),
}


def experiment(contexts: int, hidden_layers: int, seed: int) -> dict:
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
    return {
        "untrained": layer_shares_by_context_count(relu, weights, task, contexts),
        "trained": layer_shares_by_context_count(small[0], run.weights, task, contexts),
        "energy_untrained": contexts_by_energy(weights, task, contexts),
        "energy_trained": contexts_by_energy(run.weights, task, contexts),
        "left": run.losses[-1] / run.losses[0],
    }


def layer_shares_by_context_count(relu, weights, task, contexts):
    """Return the weight share of each layer's neurons active in 0, 1, …, C contexts."""
    shares = []
    for index, gates in enumerate(relu.gates(weights, task.inputs)):
        by_item = gates.reshape(-1, contexts, NUM_ITEMS)
        mass = discovery.importance(weights[index], weights[index + 1])
        shares.append(share_by_context_count(by_item.mean(axis=2) > 0.5, mass))
    return jnp.stack(shares)


def contexts_by_energy(weights, task, contexts):
    """Return the effective share of contexts in which each layer's neurons respond, (layers,)."""
    hidden, shares = task.inputs, []
    for incoming, outgoing in zip(weights[:-1], weights[1:], strict=True):
        hidden = jax.nn.relu(incoming @ hidden)
        energy = (hidden**2).reshape(-1, contexts, NUM_ITEMS).sum(axis=2)
        square = jnp.maximum(jnp.sum(energy**2, axis=1), 1e-300)
        mass = discovery.importance(incoming, outgoing)
        shares.append(mass / mass.sum() @ (energy.sum(axis=1) ** 2 / square) / contexts)
    return jnp.stack(shares)


TABLES = {
    "context_reuse": Table(
        experiment,
        sweeps.grid(contexts=[3, 4, 5, 6], hidden_layers=[1, 2], seed=range(10, 15)),
        repeated=(4,),
    )
}
