"""A theorist: a network of one's own, trained, observed, and held against theory."""

import jax
import jax.numpy as jnp

import mdsgdln as md
from mdsgdln_book import plots


class Skip(md.Network):
    """A two-layer linear network with a fixed shortcut from input to output."""

    def init(self, key: jax.Array, scale: float) -> list[jax.Array]:
        return md.LinearNetwork((8, 64, 15)).init(key, scale)

    def apply(self, weights: list[jax.Array], inputs: jax.Array) -> jax.Array:
        return weights[1] @ (weights[0] @ inputs) + 0.1 * jnp.eye(15, 8) @ inputs


task, network = md.tasks.semantic("tree", 8), Skip()
weights = network.init(jax.random.key(0), 1e-3)
run = md.train(network, weights, task, 0.1, 1500, observe="outputs", every=100)
rest = md.Task(task.inputs, task.targets - 0.1 * jnp.eye(15, 8) @ task.inputs)  # what is learned
predicted = md.predict(md.LinearNetwork((8, 64, 15)), weights, rest, 0.1, 1500).losses
error = md.deviation(predicted, run.losses)
figure = plots.curves(run.times, {"own network": run.losses}, {"theory": predicted})
