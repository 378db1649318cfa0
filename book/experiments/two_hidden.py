"""Networks with two hidden layers: ReLU, linear, and gated in several ways."""

from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache, partial

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
RECORDED = 1000  # seeds from here on: trainings in which fixed gates are looked for
CLUSTERS = 8  # of Algorithm 1, for gates that are not fixed

TASK = tasks.contextual(CONTEXTS, ITEMS, ["tree", "ring", "cross"])
RELU = networks.ReLUNetwork((11, HIDDEN, HIDDEN, 60))
PAIRS = gates.context_gates(ITEMS, CONTEXTS, [(0, 1), (0, 2), (1, 2)])
ON = np.ones((HIDDEN, TASK.num_samples))
BASIS = np.linalg.svd(np.asarray(TASK.targets))[0][:, :12]  # directions of most of the targets


def experiment(network: str, seed: str, coarser: str = "8") -> dict:
    """Return the thinned loss and what is observed of one training of one of ``NETWORKS``."""
    # Clustering needs numbers; a thread of its own is outside of the compilation of a sweep.
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(NETWORKS[network], int(seed), int(coarser)).result()


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
    mass = jnp.linalg.norm(incoming, axis=1) * jnp.linalg.norm(outgoing, axis=0)
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


# Gated networks ----------------------------------------------------------------------------------


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


def chain(first, second):
    """Return a gated network with a gate for every neuron of both hidden layers."""
    sizes = {"input": 11, "first": len(first), "second": len(second), "output": 60}
    edges = list(zip(list(sizes)[:-1], list(sizes)[1:], strict=True))
    return networks.GatedNetwork(sizes, edges, node_gates={"first": first, "second": second})


@lru_cache(maxsize=4)
def found(layer, seed, coarser, clusters=None):
    """Return the gates found in a layer, by ``discover`` if no number is given, and their shares.

    All recordings but the first tenth, of two trainings that are used for nothing else, are
    stacked, as one training does not repeat. Every seed has two of its own: how many gates there
    are differs between them.
    """
    on, mass = [], []
    for recorded in (RECORDED + 2 * seed, RECORDED + 2 * seed + 1):
        seen = record(recorded, coarser)[2]
        on.append(seen["on"][layer][RECORDINGS // 10 :: 6].reshape(-1, TASK.num_samples))
        mass.append(seen["mass"][layer][RECORDINGS // 10 :: 6].ravel())
    on, mass = np.concatenate(on).astype(int), np.concatenate(mass)
    rows = discovery.cluster(on, clusters, mass) if clusters else discovery.discover(on, mass)
    return rows, np.bincount(nearest(on, rows), mass, minlength=len(rows)) / mass.sum()


def nearest(on, rows):
    """Return the index of the gate that differs from each pattern on the fewest samples."""
    return np.argmin(np.abs(on[:, None].astype(int) - rows[None]).sum(axis=2), axis=1)


def shared_out(rows, share, neurons):
    """Return a gate for every neuron, by the gates' shares."""
    return np.repeat(rows, np.maximum(np.round(share * neurons).astype(int), 1), axis=0)


def gated(seed, coarser, network):
    """Return the loss of a gated network trained from random weights."""
    return {"losses": train(network, network.init(key_of(seed), SCALE), coarser)[1]}


def found_both(seed, coarser):
    """Gates of both layers by ``discover``; half of the neurons, as many as carry the signal."""
    results = {}
    for layer, name in enumerate(("first", "second")):
        rows, share = found(layer, seed, coarser)
        padding = discovery.MOST_PATHWAYS - len(rows)
        results[f"{name}_gates"] = np.pad(rows, ((0, padding), (0, 0)))
        results[f"{name}_shares"] = np.round(np.pad(share, (0, padding)), 4)
    halves = [shared_out(*found(layer, seed, coarser), HIDDEN // 2) for layer in (0, 1)]
    return results | gated(seed, coarser, chain(*halves))


def found_second(seed, coarser):
    """Gates of the second layer by ``discover``; the first is shared and ungated."""
    return gated(seed, coarser, chain(ON, shared_out(*found(1, seed, coarser), HIDDEN)))


def found_many(seed, coarser):
    """Gates of both layers by Algorithm 1 with 32 clusters, half of the neurons."""
    halves = [shared_out(*found(layer, seed, coarser, 32), HIDDEN // 2) for layer in (0, 1)]
    return gated(seed, coarser, chain(*halves))


def found_apart(seed, coarser):
    """Gates of the second layer by ``discover``; every pathway has a first layer of its own."""
    rows, share = found(1, seed, coarser)
    sizes, edges, node_gates = {"input": 11}, [], {}
    for index, (row, part) in enumerate(zip(rows, share, strict=True)):
        names = [f"first {index}", f"second {index}"]
        sizes |= dict.fromkeys(names, max(round(part * HIDDEN), 1))
        edges += [("input", names[0]), tuple(names), (names[1], "output")]
        node_gates[names[1]] = row
    network = networks.GatedNetwork(sizes | {"output": 60}, edges, node_gates)
    return gated(seed, coarser, network)


def found_late(seed, coarser):
    """The ReLU network's own final patterns, one gate for every neuron."""
    seen = record(seed, coarser)[2]
    return gated(seed, coarser, chain(*(layer[-1].astype(float) for layer in seen["on"])))


def refreshed(seed, coarser, gates_at):
    """Train a linear network whose gates change at every recording, from the ReLU's start."""
    weights = RELU.init(key_of(seed), SCALE)
    gates_at = [jnp.asarray(np.stack(layer), bool) for layer in gates_at]
    losses = _refreshed(weights, gates_at, PUBLISHED_RATE * coarser, coarser)
    return {"losses": np.asarray(losses)[:, 0]}


@partial(jax.jit, static_argnames="coarser")
def _refreshed(weights, gates_at, rate, coarser):
    network = networks.LinearNetwork(RELU.sizes)

    def until_next(weights, now):
        def loss(weights):
            outputs = network.apply(weights, TASK.inputs, [gate.astype(float) for gate in now])
            return jnp.sum((TASK.targets - outputs) ** 2) / (2 * TASK.num_samples)

        def step(weights, _):
            value, slope = jax.value_and_grad(loss)(weights)
            return [w - rate * s for w, s in zip(weights, slope, strict=True)], value

        return jax.lax.scan(step, weights, length=PUBLISHED_STEPS // coarser // RECORDINGS)

    return jax.lax.scan(until_next, weights, gates_at)[1]


def own_kept(seed, coarser):
    """The ReLU network's own gates, each kept from one recording to the next."""
    return refreshed(seed, coarser, record(seed, coarser)[2]["on"])


def found_over_time(seed, coarser):
    """One list of gates for the whole training; at each recording a neuron has the nearest.

    Gates with less weight than is noticeable are not in use: what is small takes the nearest gate
    of what is not, or is off.
    """
    seen, gates_at = record(seed, coarser)[2], []
    for on, mass in zip(seen["on"], seen["mass"], strict=True):
        stacked = on[::6].reshape(-1, TASK.num_samples).astype(int)
        rows = discovery.cluster(stacked, CLUSTERS, mass[::6].ravel())
        gates_at.append([in_use(*now, rows) for now in zip(on, mass, strict=True)])
    return refreshed(seed, coarser, gates_at)


def in_use(on, mass, rows):
    """Return a gate for every neuron of one recording."""
    share = np.bincount(nearest(on, rows), mass, minlength=len(rows))
    rows = np.vstack([rows[share >= discovery.SMALLEST_SHARE], np.zeros_like(rows[:1])])
    return rows[nearest(on, rows)]


NETWORKS = {
    "ReLU": relu,
    "linear, half": linear,
    "staged": staged,
    "unstaged": unstaged,
    "found, both layers": found_both,
    "found, second layer": found_second,
    "found, 32 clusters": found_many,
    "found, own first layers": found_apart,
    "final patterns": found_late,
    "own gates, kept": own_kept,
    "found over time": found_over_time,
}
