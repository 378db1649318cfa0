"""Gradient flow with sliding gates: against descent, in pieces, and with the gates of a moment.

Tasks go by the names of ``first_drop``; "random" and a seed is three contexts of random structures.
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from mdsgdln import discovery, networks, reln, sweeps, tasks, theory, training
from mdsgdln.theory.neuron_utility import span
from mdsgdln_book.experiments.first_drop import KNOWN, task_of
from mdsgdln_book.tables import Table

FRACTIONS = (0.16, 0.04, 0.02)  # step · fastest rate of the task, where steps are compared
HALVED = (0.16, 0.08, 0.04, 0.02)  # where the errors alone are
FRACTION = 0.04  # elsewhere
LONGEST, LEARNED = 150, 0.02  # over that rate; share of the loss at which a run ends
LEVELS = (0.95, 0.5, 0.2, 0.05)  # of the initial loss: moments whose gates are kept


def task_named(name: str) -> tasks.Task:
    """Return a task by its name; random structures are 15 properties, of half of the items."""
    word, seed = name.split()
    if word != "random":
        return task_of(name)
    blocks = np.random.default_rng(int(seed)).integers(0, 2, (4, 15, 8)).astype(float)
    return tasks.contextual(3, 8, list(blocks[1:]), blocks[0])


def begun(name: str, width: int, scale: float, seed: int = 0):
    """Return task, network, weights, fastest rate, and the time at which it has learned."""
    task = task_named(name)
    network = networks.ReLUNetwork((len(task.inputs), width, len(task.targets)))
    weights = network.init(jax.random.key(seed), scale)
    norms = (np.linalg.norm(matrix, 2) for matrix in (task.inputs, task.targets))
    rate = float(np.prod(list(norms))) / task.num_samples
    step = FRACTIONS[0] / rate
    run = training.train(network, weights, task, step, round(LONGEST / FRACTIONS[0]))
    losses = np.asarray(run.losses)
    low = losses < LEARNED * losses[0]
    end = step * float(np.argmax(low) if low.any() else len(low))
    return task, network, weights, rate, end


def strengths(weights) -> np.ndarray:
    """Return each neuron's share of the weight ‖w‖‖v‖."""
    found = np.asarray(discovery.importance(*weights))
    return found / found.sum()


def by_weight(pairs: np.ndarray, weights) -> float:
    """Return the mean of (steps, neurons, samples), neurons by weight."""
    return float(pairs.mean(axis=(0, 2)) @ strengths(weights))


def steps(task: str, fractions: tuple[float, ...] = FRACTIONS) -> dict:
    """Compare flow and descent with the same steps, of some sizes; a list over sizes each.

    Results:
        error: relative, of the loss.
        flips, hops: pairs that change in a step after 5 % of the loss, in flow and in descent.
        sliding: share of pairs that slide, at these times.
        repelled: share of the weight that came near a boundary that repels.
        residual: the largest of the box problem, over ‖w‖.
    """
    data, network, weights, rate, end = begun(task, 64, 1e-4)
    found: dict = {name: [] for name in ("error", "flips", "hops", "sliding", "repelled")}
    residual = 0.0
    for fraction in fractions:
        step = fraction / rate
        number = round(end / step)

        def gates(weights):
            return (weights[0] @ data.inputs > 0).astype(jnp.int8)

        run = training.train(network, weights, data, step, number, observe=gates)
        flow = theory.relu_flow(network, weights, data, step * np.arange(number), step=step)
        late = int(np.argmax(np.asarray(run.losses) < 0.95 * float(run.losses[0])))
        states, hops = flow.states[late:], np.asarray(run.observed)[late:]
        found["error"].append(reln.deviation(flow.losses, run.losses, learned=None))
        found["flips"].append(by_weight(states[1:] != states[:-1], flow.weights))
        found["hops"].append(by_weight(hops[1:] != hops[:-1], run.weights))
        found["sliding"].append(by_weight(states == 0, flow.weights))
        found["repelled"].append(flow.repelled)
        residual = max(residual, flow.residual)
    return found | {"residual": residual}


def halved(task: str) -> dict:
    """Return what ``steps`` does of error, repulsion and residual, with the step halved thrice."""
    found = steps(task, HALVED)
    return {name: found[name] for name in ("error", "repelled", "residual")}


# The law of a gate that is held ------------------------------------------------------------------


def law(task: str, scale: float, fraction: float = FRACTION) -> dict:
    """Check the running maximum, for neurons that are off in a context, at three times.

    Half of the time until 5 % of the loss is learned, when half is, and at the end. An implicit
    step keeps a sliding sample at its boundary however long it is: ``fraction`` is that of a step.

    Results:
        follow: share of the weight of all (neuron, context off) that follow it to 1e-6 of ‖w‖.
        pairs: how many there are.
    """
    data, network, weights, rate, end = begun(task, 60, scale)
    times = np.arange(0, end, fraction / rate)
    flow = theory.relu_flow(
        network, weights, data, times, observe=lambda w: (w[0], jnp.linalg.norm(w[1], axis=0))
    )
    w, outer = flow.observed
    relative = flow.losses / flow.losses[0]
    moments = [np.argmax(relative < 0.95) // 2, np.argmax(relative < 0.5), len(times) - 1]
    follow, pairs = [], []
    for now in moments:
        weight, held = [], []
        for context in range(data.num_samples // 8):
            off = (flow.states[: now + 1, :, 8 * context : 8 * context + 8] < 1).all(axis=2)
            for neuron in np.flatnonzero(off[-1]):
                on = np.flatnonzero(~off[:, neuron])
                path = w[on[-1] + 1 if on.size else 0 : now + 1, neuron]
                predicted = -max(-path[0, 8 + context], path[:, :8].max())
                size = np.linalg.norm(path[-1])
                held.append(abs(path[-1, 8 + context] - predicted) <= 1e-6 * size)
                weight.append(size * outer[now, neuron])
        follow.append(float(np.average(held, weights=weight)) if held else 1.0)
        pairs.append(len(held))
    return {"follow": follow, "pairs": pairs}


# Single neurons between their events -------------------------------------------------------------


def segments(task: str) -> dict:
    """Follow single neurons between their events as gated linear ones with projections.

    Results:
        gap: largest difference of (w, v) at the end of a segment, over its length.
        number: of segments of ten steps or more, with a sliding sample.
    """
    data, network, weights, rate, end = begun(task, 24, 1e-3)
    step = FRACTION / rate
    times = np.arange(0, end, step)
    flow = theory.relu_flow(network, weights, data, times, step=step, observe=lambda w: w)
    first, second = flow.observed
    inputs, num_samples = np.asarray(data.inputs), data.num_samples
    residuals = [
        data.targets - network.apply([w, v], inputs) for w, v in zip(first, second, strict=True)
    ]
    residuals = np.asarray(residuals)
    step, gaps = flow.step, []
    for neuron in range(24):
        states = flow.states[:, neuron]
        ends = np.flatnonzero((states[1:] != states[:-1]).any(axis=1))
        for begin, stop in zip(ends[:-1] + 2, ends[1:], strict=True):
            on, slides = states[begin] == 1, states[begin] == 0
            if stop - begin < 10 or not slides.any():
                continue
            project = projection(inputs, slides)
            w, v = project @ first[begin, neuron], second[begin, :, neuron]
            for residual in residuals[begin:stop]:
                push = on * (residual.T @ v) / num_samples
                w, v = (
                    w + step * project @ (inputs @ push),
                    v + step * residual @ (on * (w @ inputs)) / num_samples,
                )
            both = np.concatenate([w, v])
            last = np.concatenate([first[stop, neuron], second[stop, :, neuron]])
            gaps.append(np.linalg.norm(both - last) / np.linalg.norm(last))
    return {"gap": max(gaps), "number": len(gaps)}


def projection(inputs: np.ndarray, slides: np.ndarray) -> np.ndarray:
    """Return what removes the inputs of sliding samples."""
    left, *_ = span(inputs[:, slides])
    return np.eye(len(inputs)) - left @ left.T


# The gates of a moment ---------------------------------------------------------------------------


@partial(jax.jit, static_argnames="number")
def kept(weights, gates, projections, inputs, targets, step, number: int):
    """Return losses with gates (H, P) that stay, and input weights that stay in a subspace."""

    def one(weights, _):
        w, v = weights
        hidden = gates * (w @ inputs)
        residual = targets - v @ hidden
        push = gates * (v.T @ residual) / inputs.shape[1]
        turn = jnp.einsum("hnm,hm->hn", projections, push @ inputs.T)
        new = w + step * turn, v + step * residual @ hidden.T / inputs.shape[1]
        return new, jnp.sum(residual**2) / (2 * inputs.shape[1])

    return jax.lax.scan(one, weights, length=number)[1]


def moments(task: str, seed: int) -> dict:
    """Keep the gates of four moments, and compare the rest of the loss curve with the flow's.

    Results, a list over moments each:
        two: relative error of the rest with gates as read at the moment, on or off.
        three: with sliding samples off and their inputs projected out.
        crossing, sliding: share of pairs, by weight, that leave on or off later, that slide then.
    """
    data, network, weights, rate, end = begun(task, 100, 1e-4, seed)
    step = FRACTION / rate
    times = step * np.arange(round(end / step))
    flow = theory.relu_flow(network, weights, data, times, step=step)
    marks = [int(np.argmax(flow.losses < level * flow.losses[0])) for level in LEVELS]
    at = theory.relu_flow(
        network, weights, data, times[marks], step=step, observe=lambda w: w
    ).observed
    inputs, targets = np.asarray(data.inputs), np.asarray(data.targets)
    found: dict = {name: [] for name in ("two", "three", "crossing", "sliding")}
    for index, mark in enumerate(marks):
        now, states = tuple(layer[index] for layer in at), flow.states[mark]
        free = np.tile(np.eye(len(inputs)), (100, 1, 1))
        removed = np.stack([projection(inputs, row == 0) for row in states])
        for name, gates, projections in (
            ("two", now[0] @ inputs > 0, free),
            ("three", states == 1, removed),
        ):
            # The length is that of the whole run, so that all moments are one program.
            losses = kept(now, 1.0 * gates, projections, inputs, targets, step, len(times))
            rest = flow.losses[mark:]
            found[name].append(reln.deviation(losses[: len(rest)], rest, learned=None))
        crosses = (flow.states[mark:] == -states).any(axis=0) & (states != 0)
        found["crossing"].append(by_weight(crosses[None], now))
        found["sliding"].append(by_weight((states == 0)[None], now))
    return found


COMPARED = ["xor 0.5", "trees 2", "trees 3", "mixed 3", "decision 0"]
COMPARED += ["gaussian 0", "gaussian 1", "groups 0"]
LAW = ["trees 2", "trees 3", "trees 5", "mixed 3"]
LAW_LONG = ["trees 4", "trees 6", "random 0", "random 1", "random 2"]  # with longer steps
MARGINS = [f"xor {margin}" for margin in (0.1, 0.3, 0.5, 1, 1.5, 2.5)]

TABLES = {
    "sliding_steps": Table(steps, sweeps.grid(task=COMPARED), row=4),
    "sliding_halved": Table(halved, sweeps.grid(task=KNOWN), row=0),
    "sliding_law": Table(law, sweeps.grid(task=LAW, scale=[1e-6, 1e-4, 1e-2]), row=11),
    "sliding_law_long": Table(
        partial(law, fraction=HALVED[0]),
        sweeps.grid(task=LAW_LONG, scale=[1e-6, 1e-4, 1e-2]),
        row=11,
    ),
    "sliding_segments": Table(segments, sweeps.grid(task=["trees 3"])),
    "sliding_moments": Table(
        moments,
        [*sweeps.grid(task=MARGINS, seed=[0]), *sweeps.grid(task=["trees 3"], seed=range(5))],
        row=0,
    ),
}
