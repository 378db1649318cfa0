"""What figures with controls show, from the tables of results: `interactive.place(name, data)`.

A page holds it as JSON, rounded to what a screen can show.
"""

import jax
import numpy as np

from mdsgdln import discovery, tasks, theory, training
from mdsgdln_book import tables
from mdsgdln_book.experiments import (
    finding_gates as finding_runs,
    imitation as imitation_runs,
    letting_go as letting_runs,
    letting_go_crowd as crowd,
    routes as route_runs,
)


def clusters() -> dict:
    """Return errors of networks with K clusters as gates, and with the gates that come back.

    Errors of the outputs are over the mean of the smallest K; a row is a seed.
    """
    shown = []
    for name, runs in tables.load("finding_gates").groupby("case", sort=False):
        output, loss = (
            np.stack(runs[f"plain_{kind}"].to_list()) for kind in ("output", "deviation")
        )
        unit = output[:, 0].mean()
        found = {"output": runs["output"] / unit, "loss": runs["deviation"]}
        shown.append(
            {
                "name": name,
                "output": np.round(output / unit, 4).tolist(),
                "loss": np.round(loss, 4).tolist(),
                "found": {kind: errors.round(4).tolist() for kind, errors in found.items()}
                | {"gates": runs["pathways"].tolist()},
            }
        )
    return {"numbers": list(finding_runs.CLUSTERS), "tasks": shown}


def imitation() -> dict:
    """Return loss curves of ReLU networks on exclusive or, in 10⁻⁴, without the zeros they end in.

    A run's key is its margin, log₁₀ σ and log₂ H; ``step`` is the time between two points.
    """
    curves, points = {}, 0
    for run in tables.load("imitation").itertuples():
        losses = np.round(1e4 * np.array(run.losses)).astype(int)
        key = f"{run.margin:.1f} {np.log10(run.scale):.0f} {np.log2(run.hidden):.0f}"
        curves[key], points = np.trim_zeros(losses, "b").tolist(), len(losses)
    step = imitation_runs.RATE * imitation_runs.EVERY
    return {"step": step, "points": points, "losses": curves}


def routes() -> dict:
    """Return the errors on all routes at each stage of training, in 10⁻², input after input.

    A run's key is Q and its seed. ``means`` are those of trained and untrained routes, the second
    absent where all routes are trained, and ``course`` their curves, in 10⁻³, at equal steps until
    the last stage. ``trained`` lists the trained routes of each Q.
    """
    domains, runs = route_runs.DOMAINS, {}
    masks = {q: tasks.trained_routes(domains, q).ravel() for q in range(1, domains + 1)}
    for (q, seed), run in route_runs.every_run().items():
        chosen, errors = masks[q], run["errors"].reshape(len(run["errors"]), -1)
        parts = [errors[:, chosen], errors[:, ~chosen]]
        means = np.stack([part.mean(axis=1) for part in parts if part.size], axis=1)
        runs[f"{q} {seed}"] = {
            "times": np.round(run["times"], 1).tolist(),
            "means": [[float(f"{mean:.2g}") for mean in stage] for stage in means],
            "errors": np.round(100 * errors).astype(int).tolist(),
            "course": np.round(1000 * run["course"].T[: len(means[0])]).astype(int).tolist(),
        }
    trained = {q: np.flatnonzero(chosen).tolist() for q, chosen in masks.items()}
    return {"domains": domains, "trained": trained, "runs": runs}


def sliding(flow: theory.ReLUFlow, count: int = 8) -> dict:
    """Return the largest neurons of a flow that observed its weights: gates and weights over time.

    A state is "o" off, "/" sliding, "x" on, a letter for each sample; weights and losses are in
    10⁻³.
    """
    first, second = flow.observed
    strength = np.asarray(discovery.importance(first[-1], second[-1]))
    neurons = [
        {
            "states": ["".join("o/x"[state + 1] for state in row) for row in flow.states[:, n]],
            "weights": np.round(1e3 * first[:, n]).astype(int).tolist(),
        }
        for n in np.argsort(-strength)[:count]
    ]
    losses = np.round(1e3 * flow.losses).astype(int).tolist()
    return {"times": flow.times.tolist(), "losses": losses, "neurons": neurons}


def letting(network, weights, task, contexts, neurons: list[int], every: int = 50) -> dict:
    """Return preferences and activity of some neurons, as trained and with something changed.

    ``active`` has a text for each neuron: of each record, a hexadecimal digit for four samples.
    """
    num_contexts, num_steps = len(np.unique(contexts)), 1500
    least = theory.context_preference(network, weights, task, contexts).argmin(axis=1)
    one = np.ones_like(least)
    starts = {"nothing": 0 * one, "turned": one, "turned twice": 2 * one, "told": -least}
    starts = {name: letting_runs.turned(weights, task, contexts, by) for name, by in starts.items()}
    kept = jax.jit(lambda weights: weights[0])
    courses = {}
    for name, start in starts.items():
        rate = letting_runs.SUM_STEP * task.num_samples
        run = training.train(network, start, task, rate, num_steps, observe=kept, every=every)
        courses[name] = start, run.observed
    block = tasks.structure("tree", task.num_samples // num_contexts)
    scale = float(np.std(np.asarray(weights[0])))
    for without in ("contexts", "rest"):
        now, linear = tuple(weights), crowd.linear_network(task, len(weights[0]), scale)
        parts, course = crowd.levels(task, block), []
        for _ in range(0, num_steps, every):
            course.append(now[0])
            now, linear, _ = crowd.follow(now, linear, task, parts, num_contexts, without, every)
        courses[without] = weights, course
    inputs = np.asarray(task.inputs)
    shown = {}
    for name, (start, course) in courses.items():
        preference = theory.context_preference(network, start, task, contexts)[neurons]
        on = np.stack([np.asarray(first)[neurons] @ inputs > 0 for first in course], axis=1)
        digits = on.reshape(len(neurons), -1, 4) @ np.array([8, 4, 2, 1])
        shown[name] = {
            "preference": np.round(
                preference / np.abs(preference).max(axis=1)[:, None], 2
            ).tolist(),
            "active": ["".join(f"{digit:x}" for digit in row) for row in digits],
        }
    return {"contexts": num_contexts, "every": every, "runs": shown}
