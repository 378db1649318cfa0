"""Two hidden layers: the ReLU network, what its layers do, and the published networks beside it."""

from functools import lru_cache

import jax
import jax.numpy as jnp
import numpy as np
import optax

from mdsgdln import discovery, gates, networks, statistics, tasks, training

ITEMS, CONTEXTS = 8, 3
HIDDEN, SCALE, MODULE = 420, 6e-4, 60  # MHS App. H; of a hidden layer, σ, neurons of a module
PUBLISHED_STEPS, PUBLISHED_RATE = 30_000, 0.024  # 0.001 on the summed loss of 24 samples
START, CONTEXT_START = 500, 12_000  # published steps at which the stages begin
READOUT = 8  # published: contextual readouts start that much larger
RECORDINGS = 150  # of layers and loss in a training

TASK = tasks.contextual(CONTEXTS, ITEMS, ["tree", "ring", "cross"])
RELU = networks.ReLUNetwork((11, HIDDEN, HIDDEN, 60))
PAIRS = gates.context_gates(ITEMS, CONTEXTS, [(0, 1), (0, 2), (1, 2)])
BASIS = np.linalg.svd(np.asarray(TASK.targets))[0][:, :12]  # directions of most of the targets


def train(network, weights, coarser, observe=None, **options):
    """Train with steps ``coarser`` times the published ones; thin the losses."""
    steps = PUBLISHED_STEPS // coarser
    run = training.train(
        network,
        weights,
        TASK,
        PUBLISHED_RATE * coarser,
        steps,
        observe=observe,
        every=steps // RECORDINGS,
        **options,
    )
    return run, np.asarray(run.losses[:: steps // RECORDINGS])


def key_of(seed):
    """Return the random key of a seed."""
    return jax.random.key(seed)


@lru_cache
def outputs(network):
    """Return what observes a network's outputs, in the space of most of the targets."""
    return lambda weights: BASIS.T @ network.apply(weights, TASK.inputs)


def at_plateaus(losses, recorded):
    """Return the first two plateaus' losses, steps and outputs: slowest change below the start."""
    coarse = losses
    slope = np.abs(np.gradient(np.log(coarse)))
    result = {}
    for name, low, high in (("first", 0.6, 0.8), ("second", 0.1, 0.58)):
        inside = (coarse > low * coarse[0]) & (coarse < high * coarse[0])
        index = int(np.argmin(np.where(inside, slope, np.inf)))
        result[f"{name}_loss"] = coarse[index]
        result[f"{name}_step"] = index * PUBLISHED_STEPS // RECORDINGS
        result[f"{name}_outputs"] = np.round(np.asarray(recorded[index]), 4)
    return result


# What the layers of a ReLU network do ------------------------------------------------------------


def shares(incoming, outgoing):
    """Return each neuron's share of ‖w_in‖ ‖w_out‖."""
    mass = discovery.importance(incoming, outgoing)
    return mass / mass.sum()


def alignment(vectors, squares, basis, values):
    """Return how well singular vectors (columns) lie in single modes of the data, 0 to 1.

    Modes with equal singular values count as one, as their basis is free.
    """
    overlaps = (basis.T @ vectors) ** 2
    group = np.cumsum(np.append(0, np.abs(np.diff(values)) > 1e-6 * values[0]))
    summed = jax.ops.segment_sum(overlaps, group, int(group[-1]) + 1)
    return jnp.sum(squares * summed.max(axis=0)) / jnp.sum(squares)


def layers(weights):
    """Observe gates, shares, linearity and alignment of a network with two hidden layers."""
    first, second, third = weights
    one = jnp.maximum(first @ TASK.inputs, 0)
    on = [(first @ TASK.inputs > 0), (second @ one > 0)]
    mass = [shares(first, second), shares(second, third)]
    inputs = TASK.inputs
    linear = one @ jnp.linalg.pinv(inputs) @ inputs
    centred = one - one.mean(axis=1, keepdims=True)
    ideal = gates.context_gates(
        ITEMS, CONTEXTS, [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)]
    )
    distance = jnp.abs(on[1][:, None] - ideal[None]).sum(axis=2).min(axis=1)
    table = on[1].reshape(-1, CONTEXTS, ITEMS)
    alone = jnp.einsum("hci,hcj->hij", table.astype(int), 1 - table) > 0  # a context i has, j not
    crossed = (alone & alone.swapaxes(1, 2)).any(axis=(1, 2))
    modes = statistics.modes(TASK)
    in_squares, right = jnp.linalg.eigh(first.T @ first)
    out_squares, left = jnp.linalg.eigh(third @ third.T)
    constant = on[0].all(axis=1) | ~on[0].any(axis=1)
    split = (on[1].any(axis=1) & ~on[1].all(axis=1)) & (distance > 4)
    return {
        "on": on,
        "mass": mass,
        "outputs": BASIS.T @ RELU.apply(weights, TASK.inputs),
        "first_constant": jnp.sum(mass[0] * constant),
        "first_linear": 1 - jnp.sum((one - linear) ** 2) / jnp.sum(centred**2),
        "second_contextual": jnp.sum(mass[1] * (distance <= 4)),
        "second_always": jnp.sum(mass[1] * on[1].all(axis=1)),
        "second_mixed": jnp.sum(mass[1] * split),
        "second_crossed": jnp.sum(mass[1] * crossed),
        "aligned_in": alignment(right, in_squares, modes.right, modes.singular_values),
        "aligned_out": alignment(left, out_squares, modes.left, modes.singular_values),
    }


def relu(seed, coarser):
    """Return losses and observations of the ReLU network."""
    run, losses, seen = record(seed, coarser)
    kept = {
        name: np.round(value[::3], 4)
        for name, value in seen.items()
        if name not in ("on", "mass", "outputs")
    }
    return kept | {"losses": losses} | at_plateaus(losses, seen["outputs"])


@lru_cache(maxsize=32)
def record(seed, coarser):
    """Train the ReLU network and record its layers."""
    run, losses = train(RELU, RELU.init(key_of(seed), SCALE), coarser, layers)
    return run, losses, jax.tree.map(np.asarray, run.observed)


def linear(seed, coarser):
    """Return the loss of a linear network with half of the neurons of each hidden layer."""
    network = networks.LinearNetwork((11, HIDDEN // 2, HIDDEN // 2, 60))
    return {"losses": train(network, network.init(key_of(seed), SCALE), coarser)[1]}


# The published gated network ---------------------------------------------------------------------


@lru_cache
def modular(first=HIDDEN, common=4 * MODULE, contextual=MODULE):
    """Return the published gated network, the scale of its edges and their stages."""
    modules = {"off in 3": PAIRS[0], "off in 2": PAIRS[1], "off in 1": PAIRS[2]}
    sizes = {"input": 11, "first": first, "common": common}
    sizes |= dict.fromkeys(modules, contextual) | {"output": 60}
    edges = [("input", "first"), ("first", "common"), ("common", "output")]
    edges += [edge for name in modules for edge in (("first", name), (name, "output"))]
    network = networks.GatedNetwork(sizes, edges, node_gates=modules)
    scale = {edge: SCALE * (READOUT if edge[0] in modules else 1) for edge in edges}
    stage = {edge: "contextual" if set(edge) & set(modules) else "common" for edge in edges}
    return network, scale, stage


@lru_cache
def in_stages(coarser, starts):
    """Return gradient descent that begins at given published steps, stage by stage."""

    def begin(at):
        rate = PUBLISHED_RATE * coarser
        return optax.sgd(lambda step: jnp.where(step >= at / coarser, rate, 0.0))

    stages = dict(zip(("common", "contextual"), map(begin, starts), strict=True))
    return optax.multi_transform(stages, modular()[2])


def staged(seed, coarser, starts=(START, CONTEXT_START)):
    """Return the loss of the published network with the published stages."""
    network, scale, _ = modular()
    weights, optimiser = network.init(key_of(seed), scale), in_stages(coarser, starts)
    run, losses = train(network, weights, coarser, outputs(network), optimiser=optimiser)
    return {"losses": losses} | at_plateaus(losses, run.observed)


def unstaged(seed, coarser):
    """Return the loss of the published network, all of it trained from the start."""
    return staged(seed, coarser, (0, 0))
