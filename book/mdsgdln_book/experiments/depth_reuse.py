"""How many contexts the neurons of ReLU networks serve, with one to three hidden layers."""

import jax
import jax.numpy as jnp

from mdsgdln import discovery, networks, training
from mdsgdln_book import sweeps
from mdsgdln_book.experiments import published, two_hidden
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


def experiment(structures: str, hidden_layers: int, seed: int) -> dict:
    """Return the mean share of contexts in which the neurons of each hidden layer are active.

    Results:
        on_…: a neuron serves a context if it is on for more than half of the items there.
        energy_…: (Σe)²/(C Σe²), e the summed squares of a neuron's activity in a context.
        …_permuted: each trained neuron's activity permuted over samples, mean of permutations.
        left: of the loss.
    """
    scale, rate, num_steps = SETTINGS[hidden_layers]
    task = two_hidden.TASKS[structures]
    relu = networks.ReLUNetwork((11, *[HIDDEN] * hidden_layers, 60))
    weights = relu.init(jax.random.key(seed), scale / HIDDEN**0.5)
    run = training.train(relu, weights, task, rate, num_steps)
    keys = jax.random.split(jax.random.key(1000 + seed), PERMUTATIONS)
    found = {
        "untrained": context_share_per_layer(weights, task.inputs),
        "trained": context_share_per_layer(run.weights, task.inputs),
        "permuted": jax.vmap(lambda key: context_share_per_layer(run.weights, task.inputs, key))(
            keys
        ).mean(axis=0),
    }
    shares = {
        f"{measure}_{when}": both[index]
        for index, measure in enumerate(("on", "energy"))
        for when, both in found.items()
    }
    return shares | {"left": run.losses[-1] / run.losses[0]}


def context_share_per_layer(weights, inputs, key=None):
    """Return the shares of contexts with activity, by gates and by energy, (2, layers)."""
    hidden, shares = inputs, []
    for incoming, outgoing in zip(weights[:-1], weights[1:], strict=True):
        hidden = activity = jax.nn.relu(incoming @ hidden)
        if key is not None:
            activity = jax.random.permutation(key, hidden, axis=1, independent=True)
        by_item = activity.reshape(-1, two_hidden.CONTEXTS, two_hidden.ITEMS)
        on = jnp.mean((by_item > 0).mean(axis=2) > 0.5, axis=1)
        energy = jnp.sum(by_item**2, axis=2)
        square = two_hidden.CONTEXTS * jnp.maximum(jnp.sum(energy**2, axis=1), 1e-300)
        mass = discovery.importance(incoming, outgoing)
        shares.append(jnp.stack([on, energy.sum(axis=1) ** 2 / square]) @ (mass / mass.sum()))
    return jnp.stack(shares, axis=1)


TABLES = {
    "depth_reuse": Table(
        experiment,
        sweeps.grid(structures=list(two_hidden.TASKS), hidden_layers=[1, 2, 3], seed=range(10, 15)),
        repeated=(4,),
    )
}
