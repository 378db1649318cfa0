"""What neuroscientists measure on a representation, on ReLU, gated and untrained networks."""

from functools import partial
from itertools import combinations

import jax
import jax.numpy as jnp
import numpy as np

from mdsgdln import networks, sweeps, tasks, training
from mdsgdln_book.experiments import neurons_mechanisms
from mdsgdln_book.tables import Table

NUM_ITEMS, HIDDEN, PATHWAY_HIDDEN, SCALE = 8, 400, 100, 1e-5
NUM_STEPS, SUM_STEP = 5000, 0.004
NOISES = (0.1, 0.2, 0.4)  # standard deviation in any direction, over that of the conditions in all
NUM_DICHOTOMIES = 300


def experiment(kind: str, seed: int) -> dict:
    """Return the measures of one network, "C contexts, name", after training.

    Names: "ReLU", "untrained", "linear", "costly" (a ReLU network whose activity has a cost, three
    contexts only), or "k on", gated, with a common pathway and one for each subset of k contexts.
    """
    num_contexts, name = int(kind.split()[0]), kind.split(", ")[1]
    task = tasks.contextual(num_contexts, NUM_ITEMS)
    sizes = (len(task.inputs), HIDDEN, len(task.targets))
    key = jax.random.key(seed)
    if name == "costly":
        weights, _ = neurons_mechanisms.train("cost of activity", 0.3, key, SCALE, NUM_STEPS)
        return measures(jax.nn.relu(weights[0] @ task.inputs), num_contexts)
    if name.endswith(" on"):
        size = int(name.split()[0])
        network = networks.contextual_pathways(task, num_contexts, size, PATHWAY_HIDDEN)
    else:
        network = (networks.LinearNetwork if name == "linear" else networks.ReLUNetwork)(sizes)
    weights = network.init(key, SCALE)
    if name != "untrained":
        rate = SUM_STEP * task.num_samples
        weights = training.train(network, weights, task, rate, NUM_STEPS).weights
    if name.endswith(" on"):
        activity = network.activations(weights, task.inputs)
        hidden = jnp.concatenate([activity[path[1]] for path in network.graph.paths])
        return measures(hidden, num_contexts)
    return measures(network.activations(weights, task.inputs)[0], num_contexts)


@partial(jax.jit, static_argnames="num_contexts")
def measures(hidden, num_contexts: int) -> dict:
    """Return all measures of a representation, hidden neurons × (items in contexts)."""
    count = hidden.shape[1]
    centred = hidden - hidden.mean(axis=1, keepdims=True)
    gram = centred.T @ centred
    gram = gram * count / jnp.trace(gram)  # mean squared distance from the mean: one
    parts = anova(gram, num_contexts)
    found = {
        "dimension": jnp.trace(gram) ** 2 / jnp.sum(gram**2),  # (Σλ)² / Σλ²
        "item": parts[0],
        "context": parts[1],
        "interaction": parts[2],
    }
    for name, (labels, train, test) in decoders(num_contexts).items():
        found[name] = jax.vmap(
            lambda noise, of=(labels, train, test): jnp.mean(accuracy(gram, *of, noise))
        )(jnp.array(NOISES))
    return found


def anova(gram, num_contexts: int):
    """Shares of the variance that are due to the item, the context, and both together."""
    mean = [np.full((n, n), 1 / n) for n in (num_contexts, NUM_ITEMS)]
    rest = [np.eye(len(one)) - one for one in mean]
    kinds = [(mean[0], rest[1]), (rest[0], mean[1]), (rest[0], rest[1])]
    return [jnp.sum(np.kron(*pair) * gram) / jnp.trace(gram) for pair in kinds]


def decoders(num_contexts: int) -> dict:
    """Labels ±1 (D, P) with training and test conditions (D, ·) of every family of decoders."""
    count = num_contexts * NUM_ITEMS
    number = np.arange(count).reshape(num_contexts, NUM_ITEMS)
    halves = [h for h in combinations(range(NUM_ITEMS), NUM_ITEMS // 2) if 0 in h]
    split = np.array([np.where(np.isin(np.arange(NUM_ITEMS), h), 1, -1) for h in halves])
    items = []  # trained in all contexts but one, tested in that one
    for labels in split:
        for held in range(num_contexts):
            others = np.delete(number, held, axis=0).ravel()
            items.append((np.tile(labels, num_contexts), others, number[held]))
    contexts = []  # trained on half of the items in two contexts, tested on the other half
    for pair in combinations(range(num_contexts), 2):
        labels = np.zeros(count)
        labels[number[pair[0]]], labels[number[pair[1]]] = 1, -1
        for one in [*split, *-split]:
            both = number[list(pair)]
            contexts.append((labels, both[:, one > 0].ravel(), both[:, one < 0].ravel()))
    rng = np.random.default_rng(0)
    every = np.arange(count)
    balanced = [
        (rng.permutation(np.repeat([1, -1], count // 2)), every, every)
        for _ in range(NUM_DICHOTOMIES)
    ]
    families = {
        "item_generalises": items,
        "tree_generalises": items[:num_contexts],  # items 0 to 3 against 4 to 7
        "context_generalises": contexts,
        "dichotomies": balanced,
    }
    return {k: tuple(map(np.array, zip(*found, strict=True))) for k, found in families.items()}


def accuracy(gram, labels, train, test, noise):
    """Accuracy, on noisy responses, of the least-squares decoder for responses as noisy."""

    def one(labels, train, test):
        known = labels[train]
        mean = gram[:, train].mean(axis=1)
        cross = gram[test][:, train] - mean[test][:, None]  # from the mean of those trained on
        cross = cross - mean[train] + mean[train].mean()
        inner = gram[train][:, train] - mean[train][:, None] - mean[train] + mean[train].mean()
        ridge = len(train) * noise**2 * jnp.eye(len(train))
        alpha = inverse(inner + ridge) @ (known - known.mean())
        reading = cross @ alpha + known.mean()
        spread = noise * jnp.sqrt(alpha @ inner @ alpha)
        return jnp.mean(jax.scipy.stats.norm.cdf(labels[test] * reading / spread))

    return jax.vmap(one)(jnp.asarray(labels, float), jnp.asarray(train), jnp.asarray(test))


def inverse(matrix):
    """Return the inverse of a positive definite matrix, by Newton and Schulz: products alone."""
    identity = jnp.eye(len(matrix))

    def better(found, _):
        return found @ (2 * identity - matrix @ found), None

    return jax.lax.scan(better, identity / jnp.trace(matrix), length=30)[0]


TABLES = {
    "neurons_geometry": Table(
        experiment,
        sweeps.grid(
            kind=[
                *(f"3 contexts, {n}" for n in ("ReLU", "costly", "untrained", "linear")),
                *(f"3 contexts, {n}" for n in ("1 on", "2 on")),
                *(f"4 contexts, {n}" for n in ("ReLU", "1 on", "2 on", "3 on")),
            ],
            seed=range(5),
        ),
    )
}
