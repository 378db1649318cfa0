"""What might make ReLU networks less mixed: costs, noise, blocks, slowness."""

from functools import partial

import jax
import jax.numpy as jnp

from mdsgdln import discovery, networks, tasks
from mdsgdln_book import linear_maps, sweeps
from mdsgdln_book.tables import Table

NUM_ITEMS, NUM_CONTEXTS, HIDDEN = 8, 3, 200
SUM_STEP, NUM_STEPS, EVERY, SCALE = 0.004, 6000, 20, 1e-5
LEVELS = {
    "weight decay": (0.05, 0.1, 0.2, 0.4, 0.6),
    "decay with use": (0.03, 0.05, 0.1, 0.2, 0.3),
    "cost of activity": (0.01, 0.03, 0.1, 0.3, 0.6),
    "dropout": (0.05, 0.1, 0.2, 0.5, 0.7),
    "mean dropout": (0.05, 0.1, 0.2, 0.5, 0.7),
    "blocks": (1.0, 10.0, 100.0, 300.0, 1000.0),
    "learning rate": (2.0, 1.0, 0.7, 0.5, 0.25),
    "initial scale": (1e-7, 1e-6, 1e-5, 1e-4, 1e-3),
}


@partial(jax.jit, static_argnames="mechanism")
def train_under_mechanism(mechanism: str, level: int, seed: int) -> dict:
    """Train a ReLU network under one mechanism; return its speed and its mixed selectivity."""
    strength = jnp.asarray(LEVELS[mechanism])[level]
    key = jax.random.key(seed)
    scale = strength if mechanism == "initial scale" else SCALE
    weights, (learned, losses) = train_mixed_network(mechanism, strength, key, scale, NUM_STEPS)
    half = jnp.argmax(learned > 0.5)
    unit = SUM_STEP * (strength if mechanism == "learning rate" else 1.0)
    inputs = tasks.contextual(NUM_CONTEXTS, NUM_ITEMS).inputs
    contexts, samples = effective_numbers(weights, inputs)
    return {
        "time": jnp.where(learned.max() > 0.5, unit * EVERY * half, -1.0),
        "left": losses[-1] / losses[0],
        "specialists": specialist_share(weights, inputs),
        "contexts": contexts,
        "samples": samples,
    }


@partial(jax.jit, static_argnames=("mechanism", "num_steps"))
def train_mixed_network(mechanism: str, strength: float, key, scale: float, num_steps: int):
    """Train a ReLU network; return its final weights and the course of learning.

    Mechanisms, with what ``strength`` means. "weight decay": its rate, in units of 1/P. "decay with
    use": the same for each context in which a neuron is active. "cost of activity": β/P of a
    penalty β/2 ⟨‖h‖²⟩, with a weight decay of the output weights in the same way. "dropout": the
    share of neurons that are silent, redrawn for every sample and step; "mean dropout": the penalty
    that this is on average. "blocks": steps on one context at a time. "learning rate": a factor.
    "initial scale": none.
    """
    task = tasks.contextual(NUM_CONTEXTS, NUM_ITEMS)
    inputs, targets, count = task.inputs, task.targets, task.num_samples
    relu = networks.ReLUNetwork((len(inputs), HIDDEN, len(targets)))
    rate = SUM_STEP * count * (strength if mechanism == "learning rate" else 1.0)
    residual = linear_maps.linear_residual(task).targets

    def loss(weights, index):
        first, second = weights
        on = (first @ inputs > 0).astype(float)
        if mechanism == "dropout":
            kept = jax.random.bernoulli(jax.random.fold_in(key, index), 1 - strength, on.shape)
            on = on * kept / (1 - strength)
        shown = jnp.ones(count)
        if mechanism == "blocks":
            context = (index // strength).astype(int) % NUM_CONTEXTS
            shown = NUM_CONTEXTS * jnp.repeat(jnp.arange(NUM_CONTEXTS) == context, NUM_ITEMS)
        hidden = on * (first @ inputs)
        error = targets - second @ hidden
        return jnp.sum(error**2 * shown) / (2 * count) + cost(first, second, on, hidden)

    def cost(first, second, on, hidden):
        into, out = jnp.sum(first**2, axis=1), jnp.sum(second**2, axis=0)
        activity = jnp.sum(hidden**2, axis=1)
        costs = {
            "weight decay": into + out,
            "decay with use": on.sum(axis=1) / NUM_ITEMS * (into + out),
            "cost of activity": activity + out,
            "mean dropout": activity * out / (1 - strength),
        }
        return strength / (2 * count) * jnp.sum(costs.get(mechanism, 0 * out))

    def step(weights, index):
        slope = jax.grad(loss)(weights, index)
        return jax.tree.map(lambda w, g: w - rate * g, weights, slope), None

    def record(weights, start):
        outputs = relu.apply(list(weights), inputs)
        learned = jnp.sum(residual * outputs) / jnp.sum(residual**2)
        loss = jnp.sum((targets - outputs) ** 2) / (2 * count)
        after = jax.lax.scan(step, weights, start + jnp.arange(EVERY))[0]
        return after, (learned, loss)

    starts = EVERY * jnp.arange(num_steps // EVERY)
    return jax.lax.scan(record, tuple(relu.init(key, scale)), starts)


def share_by_context_count(on, mass):
    """Return the weight share of neurons active in 0, 1, …, C contexts.

    Shapes: on (H, C), True where a neuron is active in a context; mass (H,).
    """
    return mass / mass.sum() @ jax.nn.one_hot(on.sum(axis=1), on.shape[1] + 1)


def specialist_share(weights, inputs):
    """Return the share of one-context neurons in the weight of one- and two-context neurons.

    A neuron is for the contexts in which it is on for most items.
    """
    on = (weights[0] @ inputs > 0).reshape(-1, NUM_CONTEXTS, NUM_ITEMS)
    share = share_by_context_count(on.mean(axis=2) > 0.5, discovery.importance(*weights))
    return share[1] / jnp.maximum(share[1:NUM_CONTEXTS].sum(), 1e-12)


def effective_numbers(weights, inputs):
    """Return the effective numbers of active contexts and samples."""
    mass, energy = discovery.importance(*weights), jax.nn.relu(weights[0] @ inputs) ** 2
    of_contexts = energy.reshape(-1, NUM_CONTEXTS, NUM_ITEMS).sum(axis=2)
    return [effective_number(part, mass) for part in (of_contexts, energy)]


def effective_number(energy, mass):
    """Return the mean over neurons of (Σe)²/Σe², e = h² in each context or sample, (H, n)."""
    squares = jnp.maximum(jnp.sum(energy**2, axis=1), 1e-300)
    return mass / mass.sum() @ (energy.sum(axis=1) ** 2 / squares)


TABLES = {
    "neurons_mechanisms": Table(
        train_under_mechanism, sweeps.grid(mechanism=list(LEVELS), level=range(5), seed=range(5))
    ),
}
