"""Two hidden layers: other widths, prediction, and read-outs and stages of the gated network.

σ√H is that of the published ReLU network, so that networks of any width learn at one time.
"""

import warnings
from functools import cache

import jax.numpy as jnp
import numpy as np

from mdsgdln import gates, networks, sweeps, tasks, theory
from mdsgdln_book import tables
from mdsgdln_book.experiments import two_hidden
from mdsgdln_book.experiments.two_hidden_staged import CONTEXT_START, PAIRS, begin
from mdsgdln_book.tables import Table

COARSER, SEEDS = 8, 5
WIDTHS = (50, 100, 154, 250)
WIDEST = 1000
PLATEAU = {"trees": 7200, "tree, ring, cross": 6400}  # published steps: on the first plateau
NARROW = 154  # of the gated network: seven modules of 22 neurons, like seven of 60


def scale_of(num_hidden: int) -> float:
    """Return σ at which σ√H is the published one."""
    return two_hidden.SCALE * np.sqrt(two_hidden.HIDDEN / num_hidden)


@cache
def relu_of(num_hidden: int) -> networks.ReLUNetwork:
    """Return the ReLU network of that many neurons in each hidden layer."""
    return networks.ReLUNetwork((11, num_hidden, num_hidden, 60))


def narrow(num_hidden: int, seed: int, structures: str = "trees") -> dict:
    """Return the thinned loss of a ReLU network with fewer neurons, or with more."""
    weights = relu_of(num_hidden).init(two_hidden.key_of(seed), scale_of(num_hidden))
    return {"losses": two_hidden.train(relu_of(num_hidden), weights, structures, COARSER)[1]}


def predicted(structures: str, seed: int) -> dict:
    """Return the loss of the published network as predicted, at the times of the thinned ones."""
    every = two_hidden.PUBLISHED_STEPS // two_hidden.RECORDINGS
    times = two_hidden.PUBLISHED_RATE * every * np.arange(two_hidden.RECORDINGS)
    sizes = (two_hidden.HIDDEN, two_hidden.HIDDEN)
    task, key = two_hidden.TASKS[structures], two_hidden.key_of(100 + seed)
    found = theory.predict_relu(task, sizes, two_hidden.SCALE, times, key=key)
    return {"losses": found.losses}


def merged(structures: str, seed: int) -> dict:
    """Merge the published network's neurons on the first plateau and train what is left.

    Results:
        losses, merged_losses: from that plateau on, of the network and of the merged one.
        neurons: left in each hidden layer.
    """
    relu, task = relu_of(two_hidden.HIDDEN), two_hidden.TASKS[structures]
    start = relu.init(two_hidden.key_of(seed), two_hidden.SCALE)
    steps = PLATEAU[structures]
    run = two_hidden.train(relu, start, structures, COARSER, steps=steps)[0]
    few = without_repetition(list(map(np.asarray, run.weights)), task, seed)
    sizes = (11, *[len(layer) for layer in few[:-1]], 60)
    rest = two_hidden.PUBLISHED_STEPS - steps
    curves = {
        name: two_hidden.train(network, weights, structures, COARSER, steps=rest)[1]
        for name, network, weights in (
            ("losses", relu, run.weights),
            ("merged_losses", networks.ReLUNetwork(sizes), [*map(jnp.asarray, few)]),
        )
    }
    return curves | {"neurons": np.array(sizes[1:-1])}


def without_repetition(weights: list, task: tasks.Task, seed: int) -> list:
    """Return fewer neurons: in each hidden layer those of one gate by a basis of their weights.

    Of a group only what the inputs reach and what reaches the targets is kept: with layers below
    and above multiplied, the first order of a Krylov space. Replacements are a random rotation of
    the basis in which all have equal shares of the mean activity, so that they keep the gate.
    """
    rng, inputs = np.random.default_rng(seed), np.asarray(task.inputs)
    left, s, _ = np.linalg.svd(np.asarray(task.targets))
    wanted = left[:, : np.sum(s > 1e-9 * s[0])].T
    weights = list(weights)
    for layer in range(2):
        below = inputs if layer == 0 else np.maximum(weights[0] @ inputs, 0)
        reached = np.eye(len(inputs)) if layer == 0 else weights[0]
        above = weights[2] if layer == 1 else weights[2] @ weights[1]
        activity = np.maximum(weights[layer] @ below, 0)
        gates_of, group = np.unique(activity > 0, axis=0, return_inverse=True)
        into, out = [], []
        for index, gate in enumerate(gates_of):
            some = group.ravel() == index
            if not gate.any():
                continue  # never on: nothing is passed on
            kept = [activity[some].mean(axis=1, keepdims=True)]
            kept += [weights[layer][some] @ reached, (wanted @ above[:, some]).T]
            turn = rotation(np.hstack([part / np.linalg.norm(part) for part in kept]), rng)
            into.append(turn @ weights[layer][some])
            out.append(weights[layer + 1][:, some] @ turn.T)
        weights[layer], weights[layer + 1] = np.vstack(into), np.hstack(out)
    return weights


def rotation(vectors: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return rows that span some columns, all with one share of the first: (rank, neurons)."""
    if len(vectors) <= vectors.shape[1] - 1:
        return np.eye(len(vectors))  # nothing to gain
    first = vectors[:, :1] / np.linalg.norm(vectors[:, 0])
    others = np.linalg.svd(vectors[:, 1:] - first @ (first.T @ vectors[:, 1:]))
    rank = np.sum(others.S > 1e-9 * others.S[0])
    basis = np.hstack([first, others.U[:, :rank]])
    equal = np.linalg.qr(np.hstack([np.ones((rank + 1, 1)), rng.normal(size=(rank + 1, rank))]))[0]
    return equal * np.sign(equal[0, 0]) @ basis.T


def boundaries(seed: int) -> dict:
    """Return which layer's learning moves the boundaries of the second layer's gates.

    Between neighbouring recordings, 200 published steps apart and after the second drop, gates of
    the second layer are computed with the later weights of one layer alone.

    Results:
        first, second: share of the second layer's weight whose gate on a sample flips between two
            recordings if only that layer takes the change, sum over recordings and samples.
    """
    weights = relu_of(NARROW).init(two_hidden.key_of(seed), scale_of(NARROW))
    run = two_hidden.train(
        relu_of(NARROW), weights, "trees", COARSER, observe=lambda weights: weights
    )[0]
    first, second, last = map(np.asarray, run.observed)
    mass = np.linalg.norm(second, axis=2) * np.linalg.norm(last, axis=1)
    mass /= mass.sum(axis=1, keepdims=True)
    activity = np.maximum(first @ np.asarray(two_hidden.TASKS["trees"].inputs), 0)
    now = second[:-1] @ activity[:-1] > 0
    changed = {
        "first": second[:-1] @ activity[1:] > 0,
        "second": second[1:] @ activity[:-1] > 0,
    }
    every = two_hidden.PUBLISHED_STEPS // two_hidden.RECORDINGS
    later = slice(round(second_drop() / every) + 1, None)
    return {
        layer: np.sum((mass[:-1, :, None] * (gates_then != now))[later])
        for layer, gates_then in changed.items()
    }


@cache
def second_drop() -> float:
    """Return the published step of the ReLU network's second drop, from task, σ and width.

    It is that of a linear network with the neurons that stay on, whose share is a number of the
    task (``drop_times_frozen``).
    """
    frozen = tables.load("drop_times_frozen")
    shares = frozen[frozen["structures"] == "trees"][["first", "second"]].mean()
    on = [round(share * two_hidden.HIDDEN) for share in shares]
    with warnings.catch_warnings():  # of later modes, which are equally fast
        warnings.simplefilter("ignore")
        times = theory.drop_times(two_hidden.TASKS["trees"], (11, *on, 60), two_hidden.SCALE)
    return float(times[1] / two_hidden.PUBLISHED_RATE)


@cache
def modular() -> networks.GatedNetwork:
    """Return the published gated network with fewer neurons."""
    rows = gates.context_gates(two_hidden.CONTEXTS, two_hidden.ITEMS, PAIRS)
    modules = {f"pair {index}": row for index, row in enumerate(rows)}
    sizes = {"input": 11, "first": NARROW, "common": 4 * NARROW // 7}
    sizes |= dict.fromkeys(modules, NARROW // 7) | {"output": 60}
    edges = [("input", "first"), ("first", "common"), ("common", "output")]
    edges += [edge for name in modules for edge in (("first", name), (name, "output"))]
    return networks.GatedNetwork(sizes, edges, node_gates=modules)


@cache
def without_modules() -> networks.GatedNetwork:
    """Return the gated network with its modules off."""
    graph, rows = modular().graph, modular().node_gates
    off = {name: np.zeros_like(row) for name, row in rows.items()}
    return networks.GatedNetwork(graph.neurons, graph.edges, node_gates=off)


def staged(readouts: float, stage: str, seed: int) -> dict:
    """Return the thinned loss of the gated network.

    ``readouts`` is how many times larger the modules' read-outs are at the start. ``stage`` says
    when modules begin: at once (none), at the published step (by hand; nothing learns before step
    500), or at the second drop of the ReLU network (derived).
    """
    network, sigma = modular(), scale_of(NARROW)
    scale = {
        edge: sigma * (readouts if edge[0] in network.node_gates else 1)
        for edge in network.graph.edges
    }
    weights, losses = network.init(two_hidden.key_of(seed), scale), []
    switch = {"none": 0, "by hand": CONTEXT_START, "derived": second_drop()}[stage]
    thin = two_hidden.PUBLISHED_STEPS // two_hidden.RECORDINGS
    switch = round(switch / thin) * thin  # losses are kept every so many steps
    if switch:
        waits = {"optimiser": begin(COARSER, False)} if stage == "by hand" else {}
        run, losses = two_hidden.train(
            without_modules(), weights, "trees", COARSER, steps=switch, **waits
        )
        weights = run.weights
    left = two_hidden.PUBLISHED_STEPS - switch
    after = two_hidden.train(network, weights, "trees", COARSER, steps=left)[1]
    return {"losses": np.concatenate([losses, after])}


TABLES = {
    "two_hidden_widths": Table(
        narrow,
        sweeps.grid(num_hidden=list(WIDTHS), seed=range(SEEDS))
        # more networks: how far one set of them is from another
        + sweeps.grid(num_hidden=[NARROW], seed=range(SEEDS, 2 * SEEDS)),
        row=3,
    ),
    "two_hidden_independence": Table(
        narrow,
        sweeps.grid(structures=["tree, ring, cross"], num_hidden=list(WIDTHS), seed=range(SEEDS))
        + sweeps.grid(structures=list(two_hidden.TASKS), num_hidden=[WIDEST], seed=[0]),
        row=4,
    ),
    "two_hidden_predicted": Table(
        predicted,
        # none of the keys that were tried while `theory.predict_relu` was made
        sweeps.grid(structures=list(two_hidden.TASKS), seed=range(100, 100 + SEEDS)),
        row=6,
    ),
    "two_hidden_merged": Table(
        merged, sweeps.grid(structures=list(two_hidden.TASKS), seed=range(SEEDS)), row=9
    ),
    "two_hidden_boundaries": Table(boundaries, sweeps.grid(seed=range(SEEDS)), row=2),
    "two_hidden_readouts": Table(
        staged,
        sweeps.grid(readouts=[8, 1], stage=["none", "by hand", "derived"], seed=range(SEEDS)),
        row=15,
    ),
}
