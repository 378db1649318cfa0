"""Trained and untrained routes against how many are trained, and from which scale (NRR Fig. 5c)."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from mdsgdln import networks, tasks, training
from mdsgdln_book import sweeps
from mdsgdln_book.tables import Table

CHUNK, MOST = 100, 600  # steps between two looks; looks at most
LEARNED = 1e-5  # trained error over the power of the targets at which training ends
PUBLISHED = 500  # steps of NRR Fig. 4
EDGES = [("inputs", "hidden 1"), ("hidden 1", "hidden 2"), ("hidden 2", "outputs")]


def routing_network(task, num_domains: int, num_trained: int, num_hidden: int):
    """Return the routing network with all domains as one input and one output node.

    Columns of the first and rows of the last matrix are those of the domains, side by side, and an
    output neuron is gated on where its domain is trained: the same function and the same gradient
    with three matrices in place of 2M + 1.
    """
    trained = tasks.trained_routes(num_domains, num_trained)
    gates = np.kron(trained.T, np.ones((7, 4)))  # output rows, samples
    sizes = {"inputs": 4 * num_domains, "hidden 1": num_hidden, "hidden 2": num_hidden}
    sizes |= {"outputs": 7 * num_domains}
    return networks.GatedNetwork(sizes, EDGES, node_gates={"outputs": gates})


def orthogonal_weights(key, network, num_domains: int, scale):
    """Return weights with one orthogonal block per domain, multiplied by ``scale``."""
    first, middle, last = EDGES
    keys = jax.random.split(key, 3)
    draw = jax.nn.initializers.orthogonal(scale)
    num_hidden = dict(network.graph.sizes)["hidden 1"]

    def blocks(key, shape):
        return jax.vmap(lambda each: draw(each, shape, float))(jax.random.split(key, num_domains))

    return {
        first: jnp.hstack(blocks(keys[0], (num_hidden, 4))),
        middle: draw(keys[1], (num_hidden, num_hidden), float),
        last: jnp.vstack(blocks(keys[2], (7, num_hidden))),
    }


def route_errors(outputs, num_domains: int, num_trained: int):
    """Return the relative mean squared errors on trained and on untrained routes."""
    routes = errors_by_route(outputs, num_domains)
    trained = tasks.trained_routes(num_domains, num_trained)
    untrained = jnp.sum(routes * ~trained) / max((~trained).sum(), 1)
    return jnp.stack([jnp.sum(routes * trained) / trained.sum(), untrained])


def errors_by_route(outputs, num_domains: int):
    """Return the relative mean squared error of each route, (inputs, outputs)."""
    wanted = np.tile(tasks.hierarchy().targets, (num_domains, num_domains))
    squared = ((wanted - outputs) ** 2).reshape(num_domains, 7, num_domains, 4)
    return squared.mean(axis=(1, 3)).T / np.mean(wanted**2)


def train_routes(network, weights, task, rate, measure, published: int, most: int):
    """Train until the trained routes are learned, and for at least the published steps.

    ``measure`` gives the errors of weights, the trained one first; ``most`` is the number of looks
    after which training ends anyway. Return the weights, the errors then and after the published
    number of steps, and the number of steps.
    """

    def goes_on(state):
        _, looks, now, _ = state
        return (now[0] > LEARNED) & (looks < most) | (looks < published // CHUNK)

    def go_on(state):
        weights, looks, _, early = state
        weights = training.train(network, weights, task, rate, CHUNK).weights
        now, looks = measure(weights), looks + 1
        return weights, looks, now, jnp.where(looks == published // CHUNK, now, early)

    now = measure(weights)
    weights, looks, now, early = jax.lax.while_loop(goes_on, go_on, (weights, 0, now, now))
    return weights, now, early, CHUNK * looks


@partial(jax.jit, static_argnames="kind")
def train_shared_routes(kind: str, scale: float, seed: int) -> dict:
    """Return errors when the trained routes are learned, and at step 500."""
    num_domains, num_trained, num_hidden = (int(word) for word in kind.split() if word.isdigit())
    task = tasks.routing(num_domains, num_trained)
    network = routing_network(task, num_domains, num_trained, num_hidden)
    rate = 0.05 / num_trained * 2 * num_domains / 7  # the published λ = .05/K, for our loss

    def measure(weights):
        return route_errors(network.apply(weights, task.inputs, gates={}), num_domains, num_trained)

    weights = orthogonal_weights(jax.random.key(seed), network, num_domains, scale)
    _, now, early, _ = train_routes(network, weights, task, rate, measure, PUBLISHED, MOST)
    return {
        "trained": now[0],
        "untrained": now[1],
        "trained_500": early[0],
        "untrained_500": early[1],
    }


TABLES = {
    "sharing": Table(
        train_shared_routes,
        sweeps.grid(
            kind=[f"10 domains, {q} trained, 64 neurons" for q in range(1, 11)],
            scale=[0.05, 0.1, 0.2, 0.4],
            seed=range(10),
        )
        + sweeps.grid(
            kind=[
                *(f"20 domains, {q} trained, 64 neurons" for q in (2, 4, 6, 8, 10, 12)),
                *(f"5 domains, {q} trained, 64 neurons" for q in (1, 2, 3, 4)),
            ],
            scale=[0.2],
            seed=range(5),
        ),
    ),
}
