"""Units whose gate has weights of its own: when gate and signal part, and how many contexts."""

from operator import itemgetter

import jax
import numpy as np
import optax

from mdsgdln import training
from mdsgdln_book import sweeps
from mdsgdln_book.experiments.own_gate import (
    RATE,
    SEEDS,
    Units,
    contribution,
    cosines,
    setting,
    times_alone,
)
from mdsgdln_book.experiments.reduced import keep_weights, train_until_learned
from mdsgdln_book.tables import Table

RULES = ("no item", "fewer than half", "mainly")  # of a context; where a unit counts as silent


def equality(kind: str, structure: str, scale: float, rule: str, seed: int) -> dict:
    """Return the mean |cos(g, w)|, weighted by contribution, at 80 times, and the loss left."""
    network, weights, task = setting(kind, structure, 3, 8, scale, seed, hidden=100)
    steps, optimiser = int((5 / scale + 100) / RATE), optax.sgd(RATE)
    if rule == "Adam":
        steps, optimiser = 4000, optax.adam(1e-3)
    every = steps // 80
    run = training.train(
        network, weights, task, None, steps, optimiser=optimiser, observe=keep_weights, every=every
    )
    equal, left = [], []
    for now in range(80):
        at = jax.tree.map(itemgetter(now), run.observed)
        equal.append(np.average(cosines(at), weights=contribution(network, at, task)))
        left.append(float(run.losses[now * every] / run.losses[0]))
    return {"equal": equal, "left": left, "times": RATE * every * np.arange(80)}


def parting(structure: str, scale: float, seed: int) -> dict:
    """Follow the bilinear unit that would be first, alone, and the same one with g = ±w throughout.

    ``rates`` of parting: foretold, −μ of the tied unit at its end, and measured, while ‖b‖/‖a‖
    grows from .02 to .1; ``after``, the time from escape until ‖b‖/‖a‖ > .1 (0: never);
    ``exponent``, 1 + λ_min/Λ of the raw targets; ``parted``, the largest ‖b‖/‖a‖ after escape.
    """
    network, weights, task = setting("bilinear", structure, 3, 8, 0.02, seed, hidden=60)
    steps, _ = times_alone(network, weights, task, 0.02)
    one = Units((network.sizes[0], 1, network.sizes[2]), "bilinear")
    first, rate = int(steps.argmin()), 0.05
    g, w, u = (scale / 0.02 * np.asarray(some) for some in weights)
    g, w, u = g[[first]], w[[first]], u[:, [first]]
    x, y = np.asarray(task.inputs), np.asarray(task.targets)
    total = int(1.3 * steps.min() * RATE * 0.02 / scale / rate) + int(200 / rate)

    def follow(start):
        run = training.train(one, start, task, rate, total, observe=keep_weights)
        now = [np.asarray(some) for some in run.observed]
        return now[0][:, 0], now[1][:, 0], now[2][:, :, 0]

    free = follow([g, w, u])
    size = np.prod([np.linalg.norm(some, axis=1) for some in free], axis=0)
    early = int((size > 1e-3 * size.max()).argmax())
    sign = np.sign(free[0][early] @ free[1][early])
    tied = follow([(g + sign * w) / 2, sign * (g + sign * w) / 2, u])

    def form(state, error):  # sign · M restricted to the inputs' span
        basis = np.linalg.svd(x)[0][:, : np.linalg.matrix_rank(x)]
        m = sign * (x * (state[2] @ error)) @ x.T / x.shape[1]
        return np.linalg.eigvalsh(basis.T @ m @ basis)

    grown = np.prod([np.linalg.norm(some, axis=1) for some in tied], axis=0)
    young = [some[int((grown > 1e-3 * grown[-1]).argmax())] for some in tied]
    old = [some[-1] for some in tied]
    raw = form(young, y)
    left = form(old, y - np.outer(old[2], (old[0] @ x) * (old[1] @ x)))
    b, a = (np.linalg.norm(free[0] + by * sign * free[1], axis=1) for by in (-1, 1))
    escape = int((size > 0.1 * grown[-1]).argmax())
    low = escape // 2 + int((b / a)[escape // 2 :].argmin())
    later = np.arange(len(b)) > low
    start, end = (int(((b / a > q) & later).argmax()) for q in (0.02, 0.1))
    time = rate * np.arange(len(b))
    slope = np.log(b[end] / b[start]) / (time[end] - time[start]) if end > start else 0.0
    return {
        "rates": [-left[0], slope],
        "after": time[end] - time[escape] if end else 0.0,
        "exponent": 1 + raw[0] / raw[-1],
        "parted": (b / a)[escape + 400 :].max(),
    }


def shares(
    kind: str,
    power: float,
    structure: str,
    contexts: int,
    items: int,
    scale: float,
    rule: str,
    targets: str,
    seed: int,
) -> dict:
    """Train, and return the share of what units contribute by the number of contexts they serve.

    ``shares`` in 0, 1, …, C contexts, by each of RULES: a unit is silent in a context if no item
    (fewer than half) gives 1 % of its largest input, or if its mean response there is at most half
    of that in its best context (it answers "mainly" elsewhere). ``given``, by given gates. Inputs
    are roots of responses: these are of degree p in them, of gated units of degree 2.
    """
    hidden = 210 if kind.startswith("given") else 200  # a multiple of the seven sets of contexts
    network, weights, task = setting(
        kind, structure, contexts, items, scale, seed, hidden, power, targets
    )
    optimiser = optax.adam(1e-3) if rule == "Adam" else optax.sgd(RATE)
    end = train_until_learned(network, weights, task, optimiser)
    weight = contribution(network, end, task)
    response = np.abs(np.asarray(network.hidden(end, task.inputs)))
    least = 0.01**network.degree * response.max(axis=1, keepdims=True)
    on = (response > least).reshape(len(weight), contexts, -1)
    mean = response.reshape(on.shape).mean(axis=2)
    served = {
        "no item": on.any(axis=2),
        "fewer than half": on.mean(axis=2) >= 0.5,
        "mainly": mean > 0.5 * mean.max(axis=1, keepdims=True),
    }

    def count(numbers):
        return np.bincount(numbers, weight, minlength=contexts + 1) / weight.sum()

    found = {"shares": [count(served[name].sum(axis=1)) for name in RULES]}
    if network.contexts:
        found["given"] = count(np.array([len(some) for some in network.sets]))
    return found


USUAL = {
    "power": 1.0,
    "structure": "tree",
    "contexts": 3,
    "items": 8,
    "scale": 0.003,
    "rule": "descent",
    "targets": "whole",
}
CASES = [
    *({"kind": "power", "power": p} for p in (1.0, 1.1, 1.25, 1.5, 2.0)),
    {"kind": "power", "power": 3.0, "scale": 0.03},
    *({"kind": kind} for kind in ("scaled", "ReGLU", "bilinear")),
    *({"kind": kind, "scale": 0.01} for kind in ("given scaled", "given bilinear")),
    *({"kind": "power", "power": p, "rule": "Adam"} for p in (1.0, 2.0)),
    *({"kind": "power", "power": p, "targets": "linear"} for p in (1.0, 2.0)),
    *({"kind": "power", "power": 2.0, "scale": scale} for scale in (0.03, 0.3)),
    *({"kind": "scaled", "scale": scale} for scale in (0.01, 0.03)),
    *({"kind": "power", "power": 2.0, "items": items} for items in (4, 16)),
    *({"kind": "power", "power": 2.0, "structure": name} for name in ("ring", "random")),
    {"kind": "power", "power": 2.0, "contexts": 4},
]
TABLES = {
    "own_gate_equality": Table(
        equality,
        sweeps.grid(
            kind=["bilinear"],
            structure=["tree", "each sample"],
            scale=[0.05, 0.01, 0.002],
            rule=["descent"],
            seed=SEEDS,
        )
        + sweeps.grid(
            kind=["ReGLU", "SwiGLU"],
            structure=["tree", "each sample"],
            scale=[0.01],
            rule=["descent"],
            seed=SEEDS,
        )
        + sweeps.grid(kind=["ReGLU"], structure=["tree"], scale=[0.01], rule=["Adam"], seed=SEEDS),
    ),
    "own_gate_parting": Table(
        parting,
        sweeps.grid(structure=["product", "each sample", "tree"], scale=[0.02, 0.002], seed=SEEDS)
        + sweeps.grid(structure=["product", "each sample"], scale=[0.0002], seed=SEEDS),
    ),
    "own_gate_shares": Table(
        shares, [USUAL | case | {"seed": seed} for case in CASES for seed in SEEDS]
    ),
}
