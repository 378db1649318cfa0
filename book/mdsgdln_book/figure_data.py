"""What figures with controls show, from the tables of results: `interactive.place(name, data)`.

A page holds it as JSON, rounded to what a screen can show.
"""

from itertools import combinations, product

import numpy as np
from scipy import optimize

from mdsgdln import gates, tasks
from mdsgdln_book import tables
from mdsgdln_book.experiments import (
    attention_race,
    imitation as imitation_runs,
    routes as route_runs,
    xor_seeds,
)


def attention() -> dict:
    """Return which part of its own drop attention and look-up table have made, in percent.

    A run's key is p, B and K; ``end`` is the time of its last point, and ``first`` the number of
    the one that made a quarter of its drop first.
    """
    runs = {}
    for run in tables.load("attention_race").itertuples():
        if run.seed == attention_race.SEEDS[0]:
            drops = {"trained": run.trained_drops, "predicted": run.predicted_drops}
            shown = {
                name: np.round(100 * np.array(some)).astype(int).tolist()
                for name, some in drops.items()
            }
            end = round(run.times[-1], 2)
            first = int(attention_race.attention_lead(np.array(run.trained_drops)) < 0)
            runs[f"{run.p:.1f} {run.B} {run.K}"] = {"end": end, "first": first} | shown
    return {"dims": 8, "tokens": 8, "runs": runs}


def imitation() -> dict:
    """Return loss curves of ReLU networks on XOR, in 10⁻⁴, without the zeros they end in.

    A run's key is its margin, log₁₀ σ and log₂ H; ``step`` is the time between two points.
    ``halves`` are the times at which half of the first loss is left, None if it is not reached.
    """
    step = imitation_runs.RATE * imitation_runs.EVERY
    curves, halves, points = {}, {}, 0
    for run in tables.load("imitation").itertuples():
        losses = np.round(1e4 * np.array(run.losses)).astype(int)
        key = f"{run.margin:.1f} {np.log10(run.scale):.0f} {np.log2(run.hidden):.0f}"
        curves[key], points = np.trim_zeros(losses, "b").tolist(), len(losses)
        half = float(xor_seeds.half_loss_time(np.array(run.losses), step * np.arange(points)))
        halves[key] = round(half, 3) if np.isfinite(half) else None
    return {"step": step, "points": points, "losses": curves, "halves": halves}


def routes() -> dict:
    """Return the errors on all routes at each stage of training, in 10⁻², input after input.

    A run's key is Q and its seed. ``means`` are those of trained and untrained routes, the second
    absent where all routes are trained, and ``course`` their curves, in 10⁻³, at equal steps until
    the last stage. ``trained`` lists the trained routes of each Q.
    """
    domains, runs = route_runs.DOMAINS, {}
    masks = {q: tasks.trained_routes(domains, q).ravel() for q in range(1, domains + 1)}
    for (q, seed), run in route_runs.train_all_routes().items():
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


def gate() -> dict:
    """Return how many patterns of four items in three contexts there are, and what they allow.

    ``drives`` has the largest drive for each choice of how many contexts each item is on in: the
    contexts of a realisable pattern are nested, so that only their order is left open.
    """
    drives = {}
    for sizes in product(range(4), repeat=4):
        pattern = np.arange(3) < np.array(sizes)[:, None]
        drives["".join(map(str, sizes))] = round(largest_drive(pattern), 4)
    return {"count": gates.count_realisable(4, 3), "drives": drives}


def largest_drive(pattern: np.ndarray) -> float:
    """Return the largest drive of a ReLU neuron with this pattern (items, contexts).

    It is ‖A w‖/‖w‖ over that of the best linear neuron that gets its gate for free: A takes the
    weights w to the neuron's answers in each target block, to what the common pathway leaves of
    the split of the items into two halves. Where z is the direction of the answers, the best
    weights that hold the gate are the nearest ones to Aᵀz; z then turns to their answers, and the
    drive never falls.
    """
    num_items, num_contexts = pattern.shape
    split = np.repeat([1, -1], num_items // 2) / np.sqrt(num_items)
    left = pattern * split[:, None] * (np.eye(num_contexts) - 1 / num_contexts)[:, None]
    matrix = np.concatenate([left.sum(axis=2), left.sum(axis=1)], axis=1)
    sums = [
        np.repeat(np.eye(num_items), num_contexts, 0),
        np.tile(np.eye(num_contexts), num_items).T,
    ]
    # One for all items less one for all contexts is in no sum: weights without that direction, or
    # the problem of least squares is degenerate, and solved otherwise on other processors.
    sums = np.concatenate(sums, axis=1)
    span = np.linalg.svd(sums, full_matrices=False)[2][: num_items + num_contexts - 1].T
    matrix = matrix @ span
    held = np.where(pattern.ravel()[:, None], 1, -1) * (sums @ span)  # >= 0
    best = 0.0
    for subset in product((0, 1), repeat=num_contexts):
        z, drive = np.array(subset) - np.mean(subset), 0.0
        for _ in range(500):
            wanted = matrix.T @ z
            weights = wanted + held.T @ optimize.nnls(held.T, -wanted)[0]
            answers = matrix @ weights
            size = np.linalg.norm(answers)
            if size < 1e-12 or size < (drive + 1e-14) * np.linalg.norm(weights):
                break
            z, drive = answers / size, size / np.linalg.norm(weights)
        best = max(best, drive)
    free = num_contexts // 2
    return best / np.sqrt(free * (num_contexts - free) / num_contexts)


def gating() -> list[dict]:
    """Return three tasks of few samples: for every gate its weights, or why there are none.

    ``found`` is without and with a bias. Weights are the shortest of whole numbers, and conflicts
    the fewest samples on which no neuron has the gate.
    """
    items = tasks.contextual(3, 2, [np.eye(2)] * 3, np.eye(2)).inputs
    classes = ["1100", "0011", "1000", "0010"]
    signs = ["+ +", "− −", "+ −", "− +"]
    names = ["item 1", "item 2", "context 1", "context 2", "context 3"]
    places = [f"item {item + 1}, context {c + 1}" for c in range(3) for item in range(2)]
    shown = [
        ("XOR", signs, ["x₁", "x₂"], classes, tasks.xor(1.0).inputs[:2]),
        ("with a margin of 1", signs, ["x₁", "x₂", "x₃"], classes, tasks.xor(1.0).inputs),
        ("items in contexts", places, names, ["111111", "111100", "110011", "001111"], items),
    ]
    return [
        {
            "name": name,
            "samples": samples,
            "rows": rows,
            "start": start,
            "found": [
                weights_or_conflicts([*inputs, *bias]) for bias in ([], [np.ones(len(samples))])
            ],
        }
        for name, samples, rows, start, inputs in shown
    ]


def weights_or_conflicts(inputs: list) -> dict:
    """Return weights of at most 2 for every gate on a few samples, or a conflict."""
    inputs = np.array(inputs)
    grid = np.array(list(product(range(-2, 3), repeat=len(inputs))))
    grid = grid[np.argsort((grid**2).sum(axis=1), kind="stable")]
    patterns, first = np.unique(grid @ inputs > 1e-9, axis=0, return_index=True)
    names = ["".join("01"[on] for on in pattern) for pattern in patterns.astype(int)]
    samples = range(inputs.shape[1])
    parts = [list(part) for size in samples for part in combinations(samples, size + 1)]
    conflicts = {}
    for name in map("".join, product("01", repeat=len(samples))):
        agree = patterns == (np.array([*name]) == "1")
        lonely = (part for part in parts if not agree[:, part].all(axis=1).any())
        conflict = next(lonely, None)
        if conflict:
            conflicts[name] = conflict
    return {"weights": dict(zip(names, grid[first].tolist(), strict=True)), "conflicts": conflicts}
