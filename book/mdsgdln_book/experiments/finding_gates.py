"""Gates found by clustering and by density; how well networks built on them imitate."""

import warnings
from functools import cache, partial
from typing import NamedTuple

import jax
import numpy as np

from mdsgdln import deviation, discovery, networks, tasks, theory, training
from mdsgdln.discovery.clusters import k_means_centroids, rounded
from mdsgdln.gates import context_gates
from mdsgdln_book import dynamics, sweeps
from mdsgdln_book.experiments.found_kinds import disagreement
from mdsgdln_book.experiments.published import (
    HIDDEN,
    NUM_ITEMS,
    NUM_STEPS,
    PATHWAY_HIDDEN,
    SCALE,
    SUM_STEP,
)
from mdsgdln_book.experiments.reduced import project_targets, reduce_network
from mdsgdln_book.tables import Table

NUM_TRAININGS, CLUSTERS, MOST_PATHWAYS = 3, range(2, 13), 20
DRAWN = (3, 4, 5)  # numbers of clusters whose centroids are kept to be drawn


class TrainingCase(NamedTuple):
    """A task and how its ReLU network is trained: MHS App. H and C."""

    task: tasks.Task
    hidden: int  # neurons of the ReLU network
    scale: float  # σ of all initial weights
    rate: float
    num_steps: int
    seen: int  # steps between two values of the loss
    sampled: int  # steps between two recordings of the hidden layer
    pathway: int | None  # neurons of a pathway; None: the ReLU network's neurons, shared out
    room: int  # neurons of the reduced system, so that it is compiled once


def _contexts(structures) -> TrainingCase:
    task = tasks.contextual(len(structures), NUM_ITEMS, structures)
    return TrainingCase(
        task, HIDDEN, SCALE, SUM_STEP * task.num_samples, NUM_STEPS, 20, 400, PATHWAY_HIDDEN, 170
    )


CASES = {
    "3 contexts": _contexts(["tree"] * 3),
    "tree, ring, cross": _contexts(["tree", "ring", "cross"]),
    "4 contexts": _contexts(["tree"] * 4),
    "5 contexts": _contexts(["tree"] * 5),
    "XoR, margin 2": TrainingCase(tasks.xor(2.0), 128, 2e-4, 0.01, 4001, 10, 40, None, 40),
    "XoR, margin 0.2": TrainingCase(tasks.xor(0.2), 128, 2e-4, 0.01, 4001, 10, 40, None, 40),
}


class Recording(NamedTuple):
    """What is recorded of several trainings.

    Attributes:
        activity: 1 where a neuron is active, trainings and times stacked, (recorded neurons, P).
        weights: each neuron's share of ‖w_in‖ ‖w_out‖ at its time, (recorded neurons,).
        losses: mean over trainings, (T,).
        outputs: the same, in the space of the targets, (T, rank, P).
    """

    activity: np.ndarray
    weights: np.ndarray
    losses: np.ndarray
    outputs: np.ndarray


def record_training(case: TrainingCase, seed: int) -> Recording:
    """Train the ReLU network from several seeds; record hidden activity, losses and outputs."""
    task = case.task
    relu = networks.ReLUNetwork((len(task.inputs), case.hidden, len(task.targets)))
    kept, parts = slice(None, None, case.sampled // case.seen), []
    for key in jax.random.split(jax.random.key(seed), NUM_TRAININGS):
        small = reduce_network(relu, relu.init(key, case.scale), task)
        run = _train(*small, case.rate, case.num_steps, case.seen)
        gates, mass, outputs = map(np.asarray, run.observed)
        gates = gates[kept].reshape(-1, task.num_samples)
        losses = np.asarray(run.losses[:: case.seen])
        parts.append((gates, mass[kept].ravel(), losses, outputs))
    activity, weights, losses, outputs = zip(*parts, strict=True)
    activity, weights = np.concatenate(activity), np.concatenate(weights)
    return Recording(activity, weights, np.mean(losses, axis=0), np.mean(outputs, axis=0))


@partial(jax.jit, static_argnames=("num_steps", "every"))
def _train(network, start, task, rate, num_steps, every):

    def observe(weights):
        (gates,) = network.gates(weights, task.inputs)
        mass = discovery.importance(*weights)
        return gates.astype(bool), mass / mass.sum(), network.apply(weights, task.inputs)

    return training.train(network, start, task, rate, num_steps, observe=observe, every=every)


def predict_with_gates(case: TrainingCase, gates, scale=None):
    """Return the predicted losses and outputs of the gated network with these gates.

    They follow from the gates and σ alone, a neuron for each mode; neurons that do nothing
    fill the hidden layer up to ``case.room``, so that it is compiled once.
    """
    task = case.task
    network = networks.pathways(task, gates, case.pathway or case.hidden // len(gates))
    weights = dynamics.balanced_weights(network, task, scale or case.scale)
    small = pad_with_idle_neurons(*theory.stand_in(network, weights, task), case.room)
    seen = {"observe": "outputs", "every": case.seen}
    run = training.train(*small, case.rate, case.num_steps, **seen)
    back = np.asarray(project_targets(task).targets) @ np.linalg.pinv(small[2].targets)
    return np.asarray(run.losses[:: case.seen]), back @ np.asarray(run.observed)


def pad_with_idle_neurons(network, weights, task, room):
    """Pad a one-hidden-layer network with silent neurons to ``room`` in all."""
    into, out = network.graph.path_edges(network.graph.paths[0])
    (gate,) = network.node_gates.values()
    idle = (0, room - len(weights[into])), (0, 0)
    sizes = network.graph.neurons | {into[1]: room}
    gates = {into[1]: np.pad(np.broadcast_to(gate, (len(weights[into]), task.num_samples)), idle)}
    layers = {into: np.pad(weights[into], idle), out: np.pad(weights[out], idle[::-1])}
    return networks.GatedNetwork(sizes, layers, gates), layers, task


def imitation_errors(case: TrainingCase, gates, recording: Recording) -> tuple[float, float]:
    """Return the relative error of the loss and the mean squared error of the outputs."""
    losses, outputs = predict_with_gates(case, gates)
    error = np.sum((outputs - recording.outputs) ** 2, axis=1).mean() / len(case.task.targets)
    return deviation(losses, recording.losses), float(error)


def find_gates(recording: Recording) -> np.ndarray:
    """Return the gates of the kinds; without kinds the common patterns, or the commonest one."""
    with warnings.catch_warnings(action="ignore", category=UserWarning):  # XOR has four samples
        found = discovery.find(recording.activity, recording.weights, resamples=1)
    if not found.reason:
        return found.gates
    common = discovery.common_patterns(recording.activity, recording.weights).gates
    return common if len(common) else np.ones((1, recording.activity.shape[1]), int)


def compare_discovery_methods(case: str, seed: int) -> dict:
    """Return errors and numbers of pathways of Algorithm 1, K = 2 … 12, and of ``find``."""
    recording, results = record_training(CASES[case], seed), {}

    @cache
    def measured(*gates):  # several numbers of clusters may end in the same
        return imitation_errors(CASES[case], np.array(gates), recording)

    equal = np.ones(len(recording.weights))
    for name, weights in (("plain", equal), ("weighted", recording.weights)):
        found = [discovery.k_means_gates(recording.activity, K, weights) for K in CLUSTERS]
        of_each = [measured(*map(tuple, gates)) for gates in found]
        results[f"{name}_deviation"], results[f"{name}_output"] = np.transpose(of_each)
    gates = find_gates(recording)
    results["deviation"], results["output"] = measured(*map(tuple, gates))
    results["pathways"] = len(gates)
    results["gates"] = np.pad(gates, ((0, MOST_PATHWAYS - len(gates)), (0, 0)))
    return results


def centroid_errors(case: str, seed: int) -> dict:
    """Return output errors with raw and with rounded centroids as gates, K = 2 … 12.

    Recordings are taken every 100 steps, as in Algorithm 1; ``drawn K`` are centroids.
    """
    chosen = CASES[case]._replace(sampled=100)
    recording = record_training(chosen, seed)
    found = {K: k_means_centroids(recording.activity, K) for K in CLUSTERS}
    found = {K: some[np.argsort(-some.sum(axis=1))] for K, some in found.items()}  # largest first
    sets = {"centroids": found, "rounded": {K: rounded(g) for K, g in found.items()}}
    results = {f"drawn {K}": np.round(found[K], 4) for K in DRAWN}
    for name, gates in sets.items():
        results[name] = np.array(
            [imitation_errors(chosen, gates[K], recording)[1] for K in CLUSTERS]
        )
    return results


def compare_with_published_gates(case: str, seed: int) -> dict:
    """Cluster a published recording into 3 … 8 groups; compare the gates with those of MHS §4.

    ``wrong``: share of the entries that differ from the common pathway and the three that are
    active in two contexts. ``common``: whether a gate is on for every sample.
    """
    recording = record_training(CASES[case]._replace(sampled=100), seed)
    published = context_gates(3, 8, [(0, 1, 2), (0, 1), (0, 2), (1, 2)])
    found = [discovery.k_means_gates(recording.activity, number) for number in range(3, 9)]
    return {
        "wrong": np.array([disagreement(published, some) for some in found]),
        "common": np.array([some.all(axis=1).any() for some in found], float),
    }


TABLES = {
    "finding_gates": Table(
        compare_discovery_methods, sweeps.grid(case=list(CASES), seed=range(5, 10)), repeated=(24,)
    ),
    "finding_elbow": Table(
        centroid_errors,
        sweeps.grid(case=["tree, ring, cross", "4 contexts"], seed=range(20, 25))
        + sweeps.grid(case=["XoR, margin 2"], seed=[20]),  # cheap, the same on all processors
        repeated=(10,),
    ),
    "published_gates": Table(
        compare_with_published_gates,
        sweeps.grid(case=["3 contexts", "tree, ring, cross"], seed=range(5)),
        repeated=(9,),
    ),
}
