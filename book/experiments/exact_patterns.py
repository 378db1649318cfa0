"""How well gates that never change imitate a ReLU network, with few or many patterns."""

import jax
import jax.numpy as jnp

from mdsgdln import networks, reln, tasks, training

# MHS App. H: hidden neurons, σ, steps, step of the summed loss
HIDDEN, SCALE, NUM_STEPS, SUM_STEP = 700, 0.005 / 700, 8001, 0.001
STRUCTURES = {"3 contexts": ["tree"] * 3, "tree, ring, cross": ["tree", "ring", "cross"]}


def heaviest(gates, masses, number):
    """Give every neuron the nearest of the ``number`` patterns with most mass, of two the heavier.

    Shapes: gates (H, P), one row a neuron; masses (H,). The result is (H, P).
    """
    same = (gates[:, None] == gates[None]).all(axis=2)
    first = jnp.argmax(same, axis=1) == jnp.arange(len(gates))  # one neuron stands for its pattern
    mass = jnp.where(first, same @ masses, -1)
    rank = jnp.argsort(jnp.argsort(-mass))
    kept = rank < jnp.minimum(number, first.sum())
    distance = jnp.abs(gates[:, None] - gates[None]).sum(axis=2) + rank[None] / len(gates)
    return gates[jnp.argmin(jnp.where(kept[None], distance, jnp.inf), axis=1)]


def experiment(case: str, number: int, seed: int) -> dict:
    """Train anew, from the same weights, with the ``number`` heaviest gates of the end fixed."""
    task = tasks.contextual(3, 8, STRUCTURES[case])
    rate = SUM_STEP * task.num_samples
    relu = networks.ReLUNetwork((len(task.inputs), HIDDEN, len(task.targets)))
    weights = relu.init(jax.random.key(seed), SCALE)
    reference = training.train(relu, weights, task, rate, NUM_STEPS)
    (gates,) = relu.gates(reference.weights, task.inputs)
    gates = heaviest(gates, (reference.weights[0] ** 2).sum(axis=1), number)
    edges = [("input", "hidden"), ("hidden", "output")]
    sizes = dict(zip(("input", "hidden", "output"), relu.sizes, strict=True))
    gated = networks.GatedNetwork(sizes, edges, {"hidden": gates})
    losses = training.train(
        gated, dict(zip(edges, weights, strict=True)), task, rate, NUM_STEPS
    ).losses
    return {
        "deviation": reln.deviation(losses, reference.losses),
        "summed_loss": losses.sum() / reference.losses.sum(),
    }
