"""Why a gated network differs from the ReLU network that it imitates, part by part.

All variants start from the weights of the ReLU network and give each neuron gates of their own.
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from mdsgdln import networks, statistics, sweeps, tasks
from mdsgdln_book.experiments.exactness import setup
from mdsgdln_book.tables import Table

SUM_STEP, HIDDEN, ITEMS = 0.004, 100, 8
FALLEN, LONGER = 0.01, 1.5  # runs last so many times until this share of the loss is left
WINDOW = 20  # steps in which gates are averaged
HOPS = 3  # a sample that changes its gate so often in a window slides
LONGEST = 8000
VARIANTS = (
    "start, free",
    "start, held",
    "drop, free",
    "drop, held",
    "turn, free",
    "turn, held",
    "turn, own items, held",
    "turn, last items, held",
    "windows, held",
)


def held(w, off, reaction):
    """Return the nearest input weights at which no sample in ``off`` is above its boundary.

    In one context, item weights are cut at a level and the context weight becomes minus the level,
    such that the cuts add up to what the context weight loses; Newton's method finds it. Contexts
    take turns (Dykstra's algorithm, started from the last step's reactions). With one context
    off, a single turn is exact. Shapes: ``w`` (H, n + C), the others (H, C, n).
    """
    n = off.shape[2]
    reaction = jnp.where(off, reaction, 0)
    items, contexts = w[:, :n] - reaction.sum(axis=1), w[:, n:] - reaction.sum(axis=2)
    for k in range(off.shape[1]):
        free = items + reaction[:, k]
        context = contexts[:, k] + reaction[:, k].sum(axis=1)
        level = -context
        for _ in range(4):
            cuts = jnp.where(off[:, k], jnp.maximum(free - level[:, None], 0), 0)
            level += (cuts.sum(axis=1) - context - level) / (1 + (cuts > 0).sum(axis=1))
        cuts = jnp.where(off[:, k], jnp.maximum(free - level[:, None], 0), 0)
        items = free - cuts
        contexts = contexts.at[:, k].set(context - cuts.sum(axis=1))
        reaction = reaction.at[:, k].set(cuts)
    return jnp.concatenate([items, contexts], axis=1), reaction


def descent(w, v, on, task, rate):
    """Return the weights after a step with the gates ``on``, and the loss before it."""
    on = on.astype(w.dtype)
    hidden = on * (w @ task.inputs)
    left = task.targets - v @ hidden
    count = task.inputs.shape[1]
    change = (on * (v.T @ left)) @ task.inputs.T / count
    return w + rate * change, v + rate * left @ hidden.T / count, jnp.sum(left**2) / (2 * count)


@jax.jit
def relu_run(w, v, task, limit=LONGEST):
    """Train a ReLU network; return its losses, the gates at every step, and the steps to 1 %."""
    rate = SUM_STEP * task.inputs.shape[1]
    gates = jnp.zeros((LONGEST, len(w), task.inputs.shape[1]), bool)

    def unfinished(state):
        step, end = state[0], state[-1]
        return (step < LONGEST) & (step < limit) & (step < LONGER * end)

    def body(state):
        step, w, v, losses, gates, end = state
        on = w @ task.inputs > 0
        w, v, loss = descent(w, v, on, task, rate)
        end = jnp.where((loss < FALLEN * losses[0]) & (step > 0), jnp.minimum(end, step), end)
        return step + 1, w, v, losses.at[step].set(loss), gates.at[step].set(on), end

    state = jax.lax.while_loop(unfinished, body, (0, w, v, jnp.zeros(LONGEST), gates, LONGEST))
    steps, _, _, losses, gates, end = state
    return losses, gates, end, steps


@partial(jax.jit, static_argnames="hold")
def gated_run(w, v, task, own, until, after, steps, hold):
    """Train with the gates ``own`` (T, H, P) until a step (H, P), then with ``after``."""
    rate = SUM_STEP * task.inputs.shape[1]
    shape = len(w), len(task.inputs) - ITEMS, ITEMS

    def body(step, state):
        w, v, reaction, losses = state
        on = jnp.where(step < until, own[step], after)
        w, v, loss = descent(w, v, on, task, rate)
        if hold:
            w, reaction = held(w, ~on.reshape(shape), reaction)
        return w, v, reaction, losses.at[step].set(loss)

    state = w, v, jnp.zeros(shape), jnp.zeros(LONGEST)
    return jax.lax.fori_loop(0, steps, body, state)[-1]


def gates_in_time(gates: np.ndarray, end: int, contexts: int) -> dict[str, np.ndarray]:
    """Return gates in windows, the last ones, and when neurons leave contexts for good.

    A sample counts as on in a window where it is so most of the time and does not hop; a context
    where most of its items are. The last window is the one in which 1 % of the loss is left.
    """
    parts = gates[: len(gates) // WINDOW * WINDOW].reshape(-1, WINDOW, *gates.shape[1:])
    hops = (parts[:, 1:] != parts[:, :-1]).sum(axis=1)
    on = (parts.mean(axis=1) > 0.5) & (hops < HOPS)
    windows, neurons, _ = on.shape
    active = on.reshape(windows, neurons, contexts, ITEMS).sum(axis=3) > ITEMS / 2
    last = min(end // WINDOW, windows - 1)
    ends = WINDOW * np.arange(1, last + 2)[:, None, None]
    left = np.where(active[: last + 1], ends, 0).max(axis=0)
    final = active[last]
    # In contexts where it stays active, a neuron's own gates end when it has left the others.
    turn = np.where(final, 0, left).max(axis=1, keepdims=True)
    return {
        "windows": np.repeat(on, WINDOW, axis=0),
        "final": np.repeat(final, ITEMS, axis=1),
        "final_items": on[last],
        "turn": np.repeat(np.where(final, turn, left), ITEMS, axis=1),
    }


def first_drop(losses: np.ndarray, task) -> int:
    """Return the step at which half of the first mode's share of the loss is learned."""
    found = statistics.modes(task)
    share = found.singular_values[0] ** 2 / (2 * found.input_variances[0])
    return int(np.argmax(losses < losses[0] - share / 2))


def both(case: str, scale: float, seed: int):
    """Train two ReLU networks; return the task, weights of the first, losses and its gates."""
    task, _, _ = setup(case, HIDDEN)
    relu = networks.ReLUNetwork((len(task.inputs), HIDDEN, len(task.targets)))
    w, v = relu.init(jax.random.key(seed), scale)
    losses, gates, end, steps = relu_run(w, v, task)
    second, *_ = relu_run(*relu.init(jax.random.key(seed + 1000), scale), task, steps)
    keep = int(steps)
    return task, (w, v), np.array(losses), np.array(second)[:keep], np.array(gates), int(end), keep


def experiment(case: str, scale: float, seed: int) -> dict:
    """Return relative errors and signed differences of all variants, and of a second seed."""
    task, weights, losses, second, gates, end, steps = both(case, scale, seed)
    found = gates_in_time(gates[:steps], end, int(case[0]))
    final, turn, never = found["final"], found["turn"], LONGEST
    windows = np.zeros_like(gates)
    windows[: len(found["windows"])] = found["windows"]
    drop = np.full_like(turn, first_drop(losses[:steps], task))
    settings = {  # whose gates until when, and which ones afterwards
        "start": (gates, 0 * turn, final),
        "drop": (gates, drop, final),
        "turn": (gates, turn, final),
        "turn, own items": (gates, np.where(final, never, turn), final),
        "turn, last items": (gates, turn, found["final_items"]),
        "windows": (windows, 0 * turn + len(found["windows"]), found["windows"][-1]),
    }
    curves = []
    for name in VARIANTS:
        name, _, how = name.rpartition(", ")
        curves.append(gated_run(*weights, task, *settings[name], steps, hold=how == "held"))
    curves = np.array(curves)[:, :steps]
    return differences(losses[:steps], curves, second) | {"end": end}


def differences(losses, curves, second) -> dict:
    """Return errors and signed differences, and the area under the ReLU network's loss."""
    area = losses.sum()
    return {
        "errors": np.abs(curves - losses).sum(axis=1) / area,
        "signed": (curves - losses).sum(axis=1) / area,
        "second": np.abs(second - losses).sum() / area,
        "second_signed": (second - losses).sum() / area,
        "area": area / losses[0],  # in steps
    }


def small(contexts: int, scale: float, seed: int) -> dict:
    """Return the areas under both losses, in units of time, gates from the start and free."""
    case = f"{contexts} contexts, {ITEMS} items, trees"
    task, weights, losses, _, gates, end, _ = both(case, scale, seed)
    found = gates_in_time(gates[: int(LONGER * end)], end, contexts)
    final, steps = found["final"], min(3 * end, LONGEST)
    curve = np.array(gated_run(*weights, task, gates, 0 * final, final, steps, hold=False))
    unit = SUM_STEP * task.num_samples / losses[0]
    return {"relu": unit * losses.sum(), "gated": unit * curve.sum()}


def waiting(contexts: int) -> dict[str, float]:
    """Return the area under each loss, over its start, in time per unit of ln(1/σ), as derived.

    "relu": neurons grow as always-on until they turn, and more slowly afterwards. "always": all
    item modes grow as always-on to the end. "gated": context gates from the start.
    """
    strengths = np.linalg.svd(np.asarray(tasks.structure("tree", ITEMS)), compute_uv=False)
    constant, modes, samples = strengths[0], strengths[1:], ITEMS * contexts
    task, _, _ = setup(f"{contexts} contexts, {ITEMS} items, trees", HIDDEN)
    fastest = np.linalg.norm(np.asarray(task.targets @ task.inputs.T), 2) / samples
    apart = constant * np.sqrt(ITEMS) / samples  # of a mode that tells contexts apart
    common = modes * np.sqrt(contexts * (contexts + 1)) / samples
    shared, own = (  # what is learned of a mode of strength 1 in all contexts, and in each
        (contexts + sign) / (2 * samples) / (np.sum(strengths**2) / ITEMS) for sign in (1, -1)
    )
    first = constant**2 * (shared / fastest + own / apart)
    turn = max(1 / apart, 1 / common[0])
    slower = np.sqrt((contexts + 1) / (contexts - 1))
    later = turn + slower * np.maximum(1 / common - turn, 0)
    ratio = 1 + contexts * (slower - 1)
    weights = modes**2
    return {
        "relu": first + (shared + own) * weights @ later,
        "always": first + weights @ (shared / common + own * np.maximum(1 / common, 1 / apart)),
        "gated": first + weights @ ((shared + own * ratio) / common),
    }


def growth_rate(items: int, contexts: int, active: int, hold: bool) -> float:
    """Return how fast a neuron grows on the residual of one ±1 mode, its gate given or held."""
    mode = jnp.repeat(jnp.array([1.0, -1.0]), items // 2)
    on = jnp.arange(contexts) < active
    off = jnp.repeat(~on, items).reshape(1, contexts, items)
    rate = 0.02 / items

    def step(_, state):
        w, v, reaction, _ = state
        w, v = (
            w.at[0, :items].add(rate * active * v * mode),
            v + rate * active * w[0, :items] @ mode,
        )
        if hold:
            w, reaction = held(w, off, reaction)
        size = jnp.sqrt(jnp.sum(w**2) + v**2)
        return w / size, v / size, reaction / size, jnp.log(size)

    start = jnp.concatenate([mode, jnp.where(on, 1.0, -1.0)])[None], jnp.array(1.0)
    state = *start, jnp.zeros(off.shape), 0.0
    return float(jax.lax.fori_loop(0, 8000, step, state)[-1])


TREES = {contexts: f"{contexts} contexts, {ITEMS} items, trees" for contexts in (3, 4, 5)}
MIXED = f"3 contexts, {ITEMS} items, mixed"
TABLES = {
    "apart": Table(
        experiment,
        sweeps.grid(
            seed=range(5),
            case=[TREES[3], MIXED],
            scale=[1e-6, 1e-5, 1e-4, 1e-3, 1e-2],
        )
        + sweeps.grid(seed=range(5), case=[TREES[4], TREES[5]], scale=[1e-6, 1e-4, 1e-2]),
        row=64,
    ),
    "apart_small": Table(
        small,
        sweeps.grid(seed=range(2), contexts=[3, 4, 5], scale=[1e-10, 1e-8, 1e-6, 1e-4]),
        row=15,
    ),
}
