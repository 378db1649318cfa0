"""Loss curves from the basins of one residual after the other, beside trained ReLU networks.

While small, neurons do not act on the residual R(t), so that many of them can be carried along at
once, each by itself. A few large ones make R(t). At each rest of the loss the large neurons that
grew are kept, and the basins of the residual that they leave give new ones.
"""

from functools import partial
from itertools import combinations

import jax
import jax.numpy as jnp
import numpy as np

from mdsgdln import reln, theory
from mdsgdln.theory.neuron_merging import in_span, merge
from mdsgdln_book.experiments.first_drop import passed, task_of, width_of
from mdsgdln_book.experiments.other_theories import padding, plateaus
from mdsgdln_book.experiments.predicted_curves import crossings, trained
from mdsgdln_book.tables import Table

SCALE = 1e-4
KINDS = ("first", "anew", "carried", "spread")
DRAWS = 128  # four neurons each
STEP, BLOCK = 0.05, 20  # over the largest rate there may be; steps
DIP, MOVED = 5, 1e-3  # a rest: so many times slower than before; least fall of a block before it
GROWN = 1e-4  # of the largest squared size
LEARNED = 1e-3  # of the initial loss
COARSE, LONG = 0.1, 1500  # steps in a residual that stands still
CLOSE, EVEN = 0.97, 3e-3  # cosine and relative difference of rates in one basin
SLOW = 0.01  # of the largest rate there may be


def velocity(z, residual, inputs):
    """Return ż of neurons z = (w, u) that see a residual, P times."""
    w, u = z[:, : len(inputs)], z[:, len(inputs) :]
    activity = w @ inputs
    push = jnp.where(activity > 0, u @ residual, 0)
    return jnp.concatenate([push @ inputs.T, jnp.maximum(activity, 0) @ residual.T], axis=1)


def residual_of(z, inputs, targets):
    """Return what neurons do not explain, (N_out, P)."""
    return targets - z[:, len(inputs) :].T @ jnp.maximum(z[:, : len(inputs)] @ inputs, 0)


@partial(jax.jit, static_argnames="steps")
def carry(large, small, inputs, targets, step, steps: int = BLOCK):
    """Follow large neurons, and small ones in the residual that these leave; return losses, too."""

    def slopes(large, small):
        residual = residual_of(large, inputs, targets)
        slope = velocity(large, residual, inputs), velocity(small, residual, inputs)
        return *slope, jnp.sum(residual**2) / (2 * inputs.shape[1])

    def one(state, _):
        large, small = state
        a, b, loss = slopes(large, small)
        c, d, _ = slopes(large + step * a, small + step * b)
        return (large + step / 2 * (a + c), small + step / 2 * (b + d)), loss

    return jax.lax.scan(one, (large, small), None, steps)


@jax.jit
def settled(z, inputs, residual):
    """Follow neurons in a residual that stands still; return directions and ln of coefficients.

    A step multiplies a neuron that has settled by the same factor; all of these are taken back.
    """

    def slope(z):
        return velocity(z, residual, inputs)

    def one(_, state):
        z, grown = state
        first = slope(z)
        z = z + COARSE / 2 * (first + slope(z + COARSE * first))
        length = jnp.linalg.norm(z, axis=1, keepdims=True)
        return z / length, grown + jnp.log(length[:, 0])

    size = jnp.linalg.norm(z, axis=1)
    z, grown = jax.lax.fori_loop(0, LONG, one, (z / size[:, None], jnp.log(size)))
    rate = jnp.sum(z * slope(z), axis=1)
    return z, rate, grown - LONG * jnp.log1p(COARSE * rate + (COARSE * rate) ** 2 / 2)


def seeds(small, inputs, targets, residual):
    """Return one neuron for each basin of a residual, with the strength of those it stands for.

    Where linear growth says that together they explain more than half of what is left, they are
    made smaller: then they were not small.
    """
    unit = np.linalg.norm(inputs, 2) * np.linalg.norm(targets, 2)
    residual = np.where(np.abs(residual) > 1e-5 * np.abs(residual).max(), residual, 0)
    small = small[np.linalg.norm(small, axis=1) > 0]
    if not len(small):
        return small
    z, rate, grown = map(np.asarray, settled(padding(small), inputs / unit, residual))
    order = np.argsort(-rate[: len(small)], kind="stable")
    order, found, speed = order[rate[order] > SLOW], [], []
    while len(order):
        first = order[0]
        near = (z[order] @ z[first] > CLOSE) & (rate[order] > rate[first] * (1 - EVEN))
        near[0] = True
        members, order = order[near], order[~near]
        part = np.exp(grown[members])
        direction = part**2 @ z[members]
        found.append(np.linalg.norm(part) * direction / np.linalg.norm(direction))
        speed.append(rate[first])
    found = np.reshape(found, (-1, small.shape[1]))
    explained = np.array(speed) @ np.sum(found**2, axis=1) / 2 * unit
    return found * np.sqrt(min(1, np.sum(residual**2) / 4 / max(explained, 1e-300)))


def shared(large, members):
    """Return neurons that grew, made as strong as the large neuron that stood for them.

    It is the one that they are nearest to. One that is next to none of them remains itself.
    """
    if not len(large):
        return members
    length = np.linalg.norm(large, axis=1)
    along = members @ (large / length[:, None]).T
    nearest = np.argmax(along, axis=1)
    squares = np.zeros(len(large))
    np.add.at(squares, nearest, np.max(along, axis=1, initial=0) ** 2)
    alone = squares == 0
    factor = length / np.sqrt(np.where(alone, 1, squares))
    return np.concatenate([factor[nearest][:, None] * members, large[alone]])


def stages(task, width: int, scale: float, end: float, kind: str):
    """Return times, losses, and the largest number of large neurons.

    Kinds:
        first: a neuron for each basin of the targets, and no others later.
        anew: at each rest, one for each basin of the residual, from weights as small as at first.
        carried: the same from the small neurons as they are then.
        spread: also, neurons that have grown are replaced by few that keep Σ z zᵀ for each gate.
    """
    sides = np.asarray(task.inputs), np.asarray(task.targets)
    drawn = jax.random.normal(jax.random.key(0), (DRAWS, sum(map(len, sides))))
    drawn = np.split(np.asarray(drawn, float), [len(sides[0])], axis=1)
    (w, x), (u, y) = map(in_span, drawn, sides)
    size = scale * np.sqrt(width / (4 * DRAWS))
    start = size * np.concatenate([np.hstack([p * w, q * u]) for p in (1, -1) for q in (1, -1)])
    unit = np.linalg.norm(x, 2) * np.linalg.norm(y, 2)
    samples = x.shape[1]
    step = STEP * samples / unit
    power = np.sum(y**2) / (2 * samples)
    kept, small, grown = start[:0], start, 0.0
    large, most, peak, active = seeds(start, x, y, y), 0, 0.0, kind != "first"
    losses = np.zeros(0)
    while len(losses) * step < end:
        most = max(most, len(large))
        (after, small), part = carry(padding(large), small, x, y, step / samples)
        large, small = np.array(after)[: len(large)], np.array(small)
        losses = np.concatenate([losses, part])
        speed = (part[0] - part[-1]) / power
        peak = max(peak, speed)
        if not active or peak < MOVED or speed > peak / DIP:
            continue
        peak = 0.0
        if kind == "spread":
            kept, ahead = large[: len(kept)], large[len(kept) :]
            squares = np.sum(ahead**2, axis=1)
            grown = max(grown, squares.max(initial=0))
            new = np.sum(small**2, axis=1) > GROWN * grown / len(small)
            ahead = ahead[squares > GROWN * grown]
            kept = np.concatenate([kept, merge(shared(ahead, small[new]), x, size, -1.0)[0]])
            small[new] = 0
        else:
            squares = np.sum(large**2, axis=1)
            kept = large[squares > GROWN * squares.max()]
            small = start if kind == "anew" else small
        still, _ = carry(padding(kept), small[:1], x, y, 2 * step / samples, 1500)
        residual = np.asarray(residual_of(still[0], x, y))
        active = np.sum(residual**2) / (2 * samples) > LEARNED * power
        large = np.concatenate([kept, seeds(small, x, y, residual)]) if active else kept
    return step * np.arange(len(losses)), losses, most


def later(task: str) -> dict:
    """Return how far curves of several kinds are from those of trained networks.

    A fall lies between two rests of the mean loss of five networks; its time is that of the mean of
    their losses. Kinds are in the order of the code.

    Results:
        error: relative, of the loss curve, (kinds,).
        scatter: median of that between two of five networks.
        neurons: largest number of neurons, (kinds,).
        predicted: times of 90, 70, 50, 30, 10 % of the loss, 0 where it stays above, (kinds, 5).
        measured: those of the mean loss, (5,).
        falls: times of its falls, (falls,).
        predicted_falls: times of the same losses, 0 where it stays above, (kinds, falls).
        seed_falls: those of each network, (seeds, falls).
    """
    data, width = task_of(task), width_of(task)
    rate = theory.basins(data, key=jax.random.key(0))[0].rate
    times, networks = trained(data, width, SCALE, rate)
    mean = networks.mean(axis=0)
    levels = np.concatenate([[1], plateaus(mean), [mean[-1] / mean[0]]])
    middles = mean[0] * (levels[1:] + levels[:-1]) / 2
    pairs = [np.abs(a - b).sum() / mean.sum() for a, b in combinations(networks, 2)]

    def falls(losses):
        return [times[1] * passed(losses, middle) for middle in middles]

    error, neurons, predicted, predicted_falls = [], [], [], []
    for kind in KINDS:
        own, losses, most = stages(data, width, SCALE, times[-1], kind)
        losses = np.interp(times, own, losses)
        error.append(reln.deviation(losses, mean, learned=None))
        neurons.append(most)
        predicted.append(crossings(times, losses, mean[0]))
        predicted_falls.append(falls(losses))
    return {
        "error": error,
        "scatter": np.median(pairs),
        "neurons": neurons,
        "predicted": predicted,
        "measured": crossings(times, mean, mean[0]),
        "falls": falls(mean),
        "predicted_falls": predicted_falls,
        "seed_falls": [falls(one) for one in networks],
    }


TRIED = ["xor 1", "decision 0", "pictures 0"]
TRIED += [f"{word} {seed}" for word in ("gaussian", "groups") for seed in range(3)]
CONTEXTS = [f"trees {contexts}" for contexts in (2, 3, 4, 5)] + ["mixed 3"]
UNTRIED = [f"signs {seed}" for seed in range(8)] + [f"groups {seed}" for seed in range(10, 14)]
TABLES = {
    "later_basins": Table(
        later, [{"task": name} for name in [*TRIED, *CONTEXTS, *UNTRIED]], row=25
    ),
}
