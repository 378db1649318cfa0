"""Two hidden layers: the ReLU network and what its layers do."""

from functools import cache, partial

import jax
import jax.numpy as jnp
import numpy as np

from mdsgdln import discovery, gates, networks, tasks, training
from mdsgdln_book.experiments.reduced import orthonormal_span

ITEMS, CONTEXTS = 8, 3
# Of the published code: neurons of a hidden layer, σ
HIDDEN, SCALE = 420, 6e-4
PUBLISHED_STEPS, PUBLISHED_RATE = 30_000, 0.024  # 0.001 on the summed loss of 24 samples
DRAWN = (15_000, 22_000)  # published steps at which the outputs are drawn: plateaus of trees
COARSER = 8  # steps so many times as large, and as few
THIN = 200  # published steps between two recordings of layers and loss

# The published code asks for no different structures: trees. Those of MHS §4 are the second task.
TASKS = {
    "trees": tasks.contextual(CONTEXTS, ITEMS),
    "tree, ring, cross": tasks.contextual(CONTEXTS, ITEMS, ["tree", "ring", "cross"]),
}
RELU = networks.ReLUNetwork((11, HIDDEN, HIDDEN, 60))
PAIRS, SINGLES = ((0, 1), (0, 2), (1, 2)), ((0,), (1,), (2,))  # contexts in which modules are on

BASES = {name: orthonormal_span(task.targets) for name, task in TASKS.items()}


def train_coarsely(network, weights, structures, steps=PUBLISHED_STEPS, **options):
    """Train with steps ``COARSER`` times the published size; return the run and thinned losses."""
    every = THIN // COARSER
    rate = None if options.get("optimiser") else PUBLISHED_RATE * COARSER  # one has its own
    task = TASKS[structures]
    run = training.train(network, weights, task, rate, steps // COARSER, every=every, **options)
    return run, np.asarray(run.losses[::every])


@cache
def output_observer(network, structures):
    """Return a function of weights that gives a network's outputs in the span of the targets."""
    basis, inputs = BASES[structures], TASKS[structures].inputs
    return jax.jit(lambda weights: basis.T @ network.apply(weights, inputs))


def outputs_on_plateaus(structures, recorded):
    """Return the outputs at the published plateau steps, for trees only."""
    if structures != "trees":
        return {}
    return {"outputs": np.round([recorded[s // THIN] for s in DRAWN], 4)}


# What the layers of a ReLU network do ------------------------------------------------------------


def describe_layers(structures, weights):
    """Return how linear, constant, contextual and mixed each layer of a ReLU network is.

    Results, but for ``outputs``, are shares: of the activity of the first layer, or of the weight
    of a layer. They are linear; constant, on all or on no sample; contextual, within four samples
    of a gate by context; mixed, on some samples and no such gate; or crossed, gates that one layer
    cannot have.
    """
    first, second, third = weights
    inputs = TASKS[structures].inputs
    one = jnp.maximum(first @ inputs, 0)
    on = [(first @ inputs > 0), (second @ one > 0)]
    mass = [discovery.importance(first, second), discovery.importance(second, third)]
    mass = [one_layer / one_layer.sum() for one_layer in mass]
    linear = one @ jnp.linalg.pinv(inputs) @ inputs
    centred = one - one.mean(axis=1, keepdims=True)
    ideal = gates.context_gates(CONTEXTS, ITEMS, [*SINGLES, *PAIRS, (0, 1, 2)])
    distance = jnp.abs(on[1][:, None] - ideal[None]).sum(axis=2).min(axis=1)
    table = on[1].reshape(-1, CONTEXTS, ITEMS)
    alone = jnp.einsum("hci,hcj->hij", table.astype(int), 1 - table) > 0  # a context i has, j not
    crossed = (alone & alone.swapaxes(1, 2)).any(axis=(1, 2))
    constant = on[0].all(axis=1) | ~on[0].any(axis=1)
    split = (on[1].any(axis=1) & ~on[1].all(axis=1)) & (distance > 4)
    return {
        "outputs": output_observer(RELU, structures)(weights),
        "first_constant": jnp.sum(mass[0] * constant),
        "first_linear": 1 - jnp.sum((one - linear) ** 2) / jnp.sum(centred**2),
        "second_contextual": jnp.sum(mass[1] * (distance <= 4)),
        "second_mixed": jnp.sum(mass[1] * split),
        "second_crossed": jnp.sum(mass[1] * crossed),
    }


@cache
def layer_observer(structures):
    """Return ``describe_layers`` for a task: one function per task, so that it is compiled once."""
    return jax.jit(partial(describe_layers, structures))


def train_relu(structures, seed):
    """Train the ReLU network; return its losses and observations."""
    weights = RELU.init(jax.random.key(seed), SCALE)
    run, losses = train_coarsely(RELU, weights, structures, observe=layer_observer(structures))
    seen = {name: np.asarray(value) for name, value in run.observed.items()}
    kept = outputs_on_plateaus(structures, seen.pop("outputs"))
    return kept | {"losses": losses} | {n: np.round(v[::3], 4) for n, v in seen.items()}


def train_linear(structures, seed):
    """Train a linear network of half the width; return its losses."""
    network = networks.LinearNetwork((11, HIDDEN // 2, HIDDEN // 2, 60))
    weights = network.init(jax.random.key(seed), SCALE)
    return {"losses": train_coarsely(network, weights, structures)[1]}
