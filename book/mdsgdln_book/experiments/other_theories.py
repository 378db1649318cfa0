"""Other theories on one set of tasks: alternating flows, saddles, kernels, the exact solution.

All networks have one hidden layer. A neuron is z = (w, u), input and output weights; its input
weights may be masked, and it is rectified or linear. Tasks go by name as in ``first_drop``; two
more are those on which the alternating flows were published: "linear" and "diagonal".
"""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from mdsgdln import discovery, reln, statistics, sweeps, tasks, theory
from mdsgdln_book.experiments import first_drop
from mdsgdln_book.tables import Table

SMALL = (1e-4, 1e-8, 1e-16, 1e-32)
TINY = 1e-16  # where several modes share a neuron: numbers of 16 digits lose parts of 1e-32
SMALL_ENOUGH = 1e-3  # σ of networks for which alternating flows are tried
LARGER = (1e-4, 1e-2, 0.1, 1.0, 3.0)
RELU = ["xor 1", "decision 0", "trees 3"]
RELU += ["gaussian 0", "gaussian 1", "gaussian 2", "groups 0", "groups 2"]
LINEAR = ["linear 0", "diagonal 0"]
STEP, BLOCK, MOST_BLOCKS = 0.05, 400, 250  # over the largest rate; steps a block
FALLEN = 0.01  # of the initial loss: curves are compared up to twice the time of this
ACTIVE = 64  # neurons that alternating flows may activate
FINER = 4  # steps of their minimisation, as neurons grow large
STILL = 1e-6  # fall of the loss in a block, over the initial one, that ends it
MOST_STILL = 200  # blocks of a minimisation
WIDTHS, STARTS = (1, 2, 3, 4, 8), 8  # narrower networks whose stationary losses are listed
DIP = 5  # a loss rests where it falls this many times more slowly than before and after
APART = 0.02  # of the initial loss: rests that are less apart are one


class Setup(NamedTuple):
    """A network and what it learns: inputs (N_in, P), targets, masks (H, N_in) or (1, 1), kind."""

    inputs: np.ndarray
    targets: np.ndarray
    width: int
    masks: np.ndarray
    linear: bool


def setup_of(name: str) -> Setup:
    """Return the task and the kind of network by its name."""
    match name.split()[0]:
        case "linear":  # the hierarchy with one-hot items
            data = tasks.semantic("tree", 4)
            return Setup(
                np.asarray(data.inputs), np.asarray(data.targets), 100, np.ones((1, 1)), True
            )
        case "diagonal":  # one weight pair for each of six correlated inputs
            rng = np.random.default_rng([int(name.split()[1]), 8])
            inputs = rng.normal(size=(6, 24))
            targets = np.array([[2.0, -1.5, 1, 0.6, 0, 0]]) @ inputs
            return Setup(inputs, targets, 6, np.eye(6), True)
    data = first_drop.task_of(name)
    width = 128 if name.startswith("xor") else 200
    return Setup(np.asarray(data.inputs), np.asarray(data.targets), width, np.ones((1, 1)), False)


def draw(setup: Setup, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return unit Gaussian weights (w, u), (H, N_in) and (H, N_out)."""
    rng = np.random.default_rng([seed, 77])
    w = rng.normal(size=(setup.width, len(setup.inputs))) * setup.masks
    return w, rng.normal(size=(setup.width, len(setup.targets)))


# Gradient flow ---------------------------------------------------------------------------------


def residual_of(w, u, inputs, targets, linear):
    """Return what the network does not explain, (N_out, P)."""
    activity = w @ inputs
    return targets - u.T @ jnp.where(linear, activity, jnp.maximum(activity, 0))


def velocity(w, u, residual, inputs, masks, linear):
    """Return ẇ and u̇ of neurons that see a residual."""
    activity = w @ inputs
    on = (activity > 0) | linear
    push = jnp.where(on, u @ residual, 0)
    samples = inputs.shape[1]
    return masks * (push @ inputs.T) / samples, jnp.where(on, activity, 0) @ residual.T / samples


@partial(jax.jit, static_argnames="linear")
def flow_block(w, u, inputs, targets, masks, linear, step):
    """Follow gradient flow for a block of Heun steps; return weights, and losses before each."""

    def slope(w, u):
        residual = residual_of(w, u, inputs, targets, linear)
        return velocity(w, u, residual, inputs, masks, linear), residual

    def one(state, _):
        w, u = state
        (dw, du), residual = slope(w, u)
        (ew, eu), _ = slope(w + step * dw, u + step * du)
        loss = jnp.sum(residual**2) / (2 * inputs.shape[1])
        return (w + step / 2 * (dw + ew), u + step / 2 * (du + eu)), loss

    return jax.lax.scan(one, (w, u), None, length=BLOCK)


def flow(setup: Setup, seed: int, scale: float, step: float):
    """Return weights and losses of a network, up to twice the time at which FALLEN is left."""
    w, u = (scale * part for part in draw(setup, seed))
    arguments = setup.inputs, setup.targets, setup.masks, setup.linear, step
    losses = np.zeros(0)
    for _ in range(MOST_BLOCKS):
        (w, u), part = flow_block(w, u, *arguments)
        losses = np.concatenate([losses, part])
        end = 2 * int(np.argmax(losses < FALLEN * losses[0]))
        if 0 < end <= len(losses):
            return (np.asarray(w), np.asarray(u)), losses[:end]
    raise ValueError(f"scale: the loss of {seed} did not fall in {len(losses)} steps")


# Alternating gradient flows --------------------------------------------------------------------


class Staircase(NamedTuple):
    """What alternating gradient flows say: jump times, losses after them, neurons active then."""

    times: np.ndarray
    losses: np.ndarray
    w: np.ndarray
    u: np.ndarray


@partial(jax.jit, static_argnames="linear")
def wait(z, size, dormant, residual, inputs, masks, linear, step, longest):
    """Let dormant neurons climb their utility until the first of them has size 1, or for too long.

    Each direction follows the flow on a residual that stands still; ln size grows by 2U dt.
    """
    rows = len(inputs)

    def slope(z):
        dw, du = velocity(z[:, :rows], z[:, rows:], residual, inputs, masks, linear)
        return jnp.concatenate([dw, du], axis=1)

    def one(state):
        z, size, time, _ = state
        first = slope(z)
        new = z + step / 2 * (first + slope(z + step * first))
        stretch = jnp.linalg.norm(new, axis=1)
        return new / stretch[:, None], size + jnp.log(stretch), time + step, jnp.log(stretch)

    def goes_on(state):
        _, size, time, _ = state
        return (jnp.max(jnp.where(dormant, size, -jnp.inf)) < 0) & (time < longest)

    z, size, time, grown = jax.lax.while_loop(goes_on, one, (z, size, 0.0, jnp.zeros(len(z))))
    first = jnp.argmax(jnp.where(dormant, size, -jnp.inf))
    # The last step went a little too far.
    late = jnp.where(grown[first] > 0, step * size[first] / grown[first], 0.0)
    late = jnp.clip(late, 0.0, step)  # none if it was there already, with another one
    return z, size, time - late, first


@partial(jax.jit, static_argnames="linear")
def minimise(w, u, inputs, targets, masks, linear, step, most=MOST_STILL):
    """Let active neurons follow gradient flow until the loss stands still, or for too long.

    Returns:
        w, u, the loss, and its fall in the last block over the initial loss.
    """
    power = jnp.sum(targets**2) / (2 * inputs.shape[1])

    def block(carry):
        w, u, last, _, count = carry
        (w, u), losses = flow_block(w, u, inputs, targets, masks, linear, step / FINER)
        return w, u, losses[-1], last - losses[-1], count + 1

    def goes_on(carry):
        return ((carry[3] > STILL * power) | (carry[4] < 2)) & (carry[4] < most)

    w, u, loss, fall, _ = jax.lax.while_loop(goes_on, block, (w, u, power, power, 0))
    return w, u, loss, fall / power


def alternating_flows(
    setup: Setup, drawn, scale: float, step: float, longest: float, most: int = ACTIVE
) -> Staircase:
    """Return the staircase of alternating gradient flows for given initial weights.

    Dormant neurons climb their utility on the residual that the active ones leave. One whose
    accumulated utility ∫ 2U dt passes ln(1/size) joins the active ones, with size 1, and for good.
    These minimise the loss, in no time. At most so many jumps are followed.
    """
    inputs, targets, masks, linear = setup.inputs, setup.targets, setup.masks, setup.linear
    z = np.concatenate(drawn, axis=1)
    size = np.log(scale) + np.log(np.linalg.norm(z, axis=1))
    z = z / np.linalg.norm(z, axis=1, keepdims=True)
    rows, dormant = len(inputs), np.ones(len(z), bool)
    weights = np.zeros_like(z)
    power = np.sum(targets**2) / (2 * inputs.shape[1])
    time, times, losses = 0.0, [], []
    for _ in range(most):
        active = np.flatnonzero(~dormant)
        residual = residual_of(*np.split(weights[active], [rows], 1), inputs, targets, linear)
        z, size, waited, first = wait(
            z, size, dormant, residual, inputs, masks, linear, step, longest - time
        )
        z, size, first = np.array(z), np.array(size), int(first)
        time += float(waited)
        if size[first] < 0 or time >= longest:
            break
        dormant[first] = False
        weights[first] = z[first]
        active = np.flatnonzero(~dormant)
        padded = padding(weights[active])
        mask = masks if len(masks) == 1 else padding(masks[active])
        w, u, loss, _ = minimise(
            padded[:, :rows], padded[:, rows:], inputs, targets, mask, linear, step
        )
        weights[active] = np.concatenate([w, u], axis=1)[: len(active)]
        times.append(time)
        losses.append(float(loss))
        if loss < FALLEN / 10 * power:
            break
    return Staircase(
        np.array(times), np.array(losses), *np.split(weights[~dormant], [rows], axis=1)
    )


def padding(rows: np.ndarray) -> np.ndarray:
    """Return rows and rows of zeros below, so that few sizes are compiled."""
    size = max(8, 2 ** int(np.ceil(np.log2(len(rows)))))
    return np.concatenate([rows, np.zeros((size - len(rows), rows.shape[1]))])


def stairs(found: Staircase, initial: float, times) -> np.ndarray:
    """Return the loss of a staircase at some times."""
    levels = np.concatenate([[initial], found.losses])
    return levels[np.searchsorted(found.times, times, side="right")]


# The tangent kernel, modes, basins -------------------------------------------------------------


def kernel_of(setup: Setup, w, u) -> np.ndarray:
    """Return the tangent kernel of a ReLU network over P, (P N_out, P N_out), samples first."""
    inputs, samples = setup.inputs, setup.inputs.shape[1]
    activity = w @ inputs
    on = activity > 0
    activity = activity * on
    outputs = len(setup.targets)
    signals = (on.T[:, None, :] * u.T[None]).reshape(samples * outputs, -1)
    kernel = signals @ signals.T * np.kron(inputs.T @ inputs, np.ones((outputs, outputs)))
    return (kernel + np.kron(activity.T @ activity, np.eye(outputs))) / samples


def kernel_losses(setup: Setup, kernel, w, u, times) -> np.ndarray:
    """Return the losses of a network whose tangent kernel stays what it is at the start."""
    rates, modes = np.linalg.eigh(kernel)
    residual = np.asarray(residual_of(w, u, setup.inputs, setup.targets, setup.linear))
    parts = (modes.T @ residual.T.reshape(-1)) ** 2
    decay = np.exp(-2 * np.outer(times, np.maximum(rates, 0)))
    return decay @ parts / (2 * setup.inputs.shape[1])


def mode_losses(setup: Setup, scale: float, times) -> np.ndarray:
    """Return the losses of a linear network of the same width, mode by mode."""
    data = tasks.Task(setup.inputs, setup.targets)
    found = statistics.modes(data)
    start = setup.width * scale**2 / 2
    strengths = theory.mode_trajectory(times, found.singular_values, found.input_variances, start)
    return np.asarray(theory.mode_losses(data, found, strengths))


def basin_network(setup: Setup, found, scale: float, step: float, num_steps: int):
    """Return weights and losses of a network with one neuron for each basin."""
    strength = np.sqrt(setup.width * scale**2 * np.array([basin.mass for basin in found]))
    w, u = (
        strength[:, None] * np.array([getattr(basin, part) for basin in found])
        for part in ("input_weights", "output_weights")
    )
    losses = np.zeros(0)
    while len(losses) < num_steps:
        (w, u), part = flow_block(
            w, u, setup.inputs, setup.targets, setup.masks, setup.linear, step
        )
        losses = np.concatenate([losses, part])
    return (np.asarray(w), np.asarray(u)), losses[:num_steps]


# Side by side ----------------------------------------------------------------------------------


def step_of(setup: Setup) -> float:
    """Return the step of the flow: STEP over the largest drive of random neurons."""
    data = tasks.Task(setup.inputs, setup.targets)
    if setup.linear:
        return STEP / np.linalg.norm(setup.targets @ setup.inputs.T, 2) * setup.inputs.shape[1]
    directions = np.random.default_rng(0).normal(size=(2000, len(setup.inputs)))
    return STEP / (1.1 * theory.drive(data, directions).max())


def as_long(losses: np.ndarray, length: int) -> np.ndarray:
    """Return a curve cut, or held at its last value, to a length."""
    return np.concatenate([losses, np.full(length, losses[-1])])[:length]


def half(losses) -> int:
    """Return the step at which half of the initial loss is left, the last one if it never is."""
    below = np.asarray(losses) <= losses[0] / 2
    return int(np.argmax(below)) if below.any() else len(below)


def errors(curve: np.ndarray, reference: np.ndarray) -> dict:
    """Return the relative errors of a curve and of its half time, 1 if it never gets there."""
    measured, found = half(reference), half(curve)
    late = 1.0 if found == len(curve) else abs(found / measured - 1)
    return {"curve": reln.deviation(curve, reference), "half": late}


def share_near(gates: np.ndarray, w: np.ndarray, u: np.ndarray, inputs: np.ndarray) -> float:
    """Return which share of Σ‖w‖‖u‖ has one of some gates, but for an eighth of the samples."""
    weight = np.asarray(discovery.importance(w, u.T))
    own = (w @ inputs > 0).astype(float)
    away = own @ (1 - gates.T) + (1 - own) @ gates.T
    return float(weight @ (away.min(axis=1) <= inputs.shape[1] // 8) / weight.sum())


def compare(task: str, scale: float) -> dict:
    """Return how near several theories come to a network: of its curve, its half time, its gates.

    The share of the trained weight that is near a predicted gate is an excess over that of the same
    network before training.

    Results:
        NAME_curve, NAME_half, NAME_gates: of another random seed, the kernel at the start, linear
            modes, the basins, a network of one neuron for each (few), and of alternating flows
            where weights are small; not all of them have curves or gates.
            Of compressed mean field (predict) and a designed network of as many neurons (designed)
            there, too.
        neurons: that compressed mean field is left with.
        first: time of the first jump of alternating flows from σ = 1e-32, over ln(1/σ).
        rate: of the fastest basin.
        gates: how many different ones these have, in the order of the code.
    """
    setup = setup_of(task)
    data, drawn, results = tasks.Task(setup.inputs, setup.targets), draw(setup, 0), {}
    start = [scale * part for part in drawn]
    kernel = kernel_of(setup, *start)
    step = min(step_of(setup), 4 * STEP / np.linalg.norm(kernel, 2))  # stable for large weights
    weights, losses = flow(setup, 0, scale, step)
    other, second = flow(setup, 1, scale, step)
    times = step * np.arange(len(losses))
    found = theory.basins(data, key=jax.random.key(0))
    few, few_losses = basin_network(setup, found, scale, step, len(losses))
    curves = {
        "other": as_long(second, len(losses)),
        "kernel": kernel_losses(setup, kernel, *start, times),
        "modes": mode_losses(setup, scale, times),
        "few": few_losses,
    }
    gates = {
        "other": (other[0] @ setup.inputs > 0) * 1.0,
        "basins": np.array([basin.gate for basin in found]) * 1.0,
        "few": (few[0] @ setup.inputs > 0) * 1.0,
    }
    if scale < SMALL_ENOUGH:  # elsewhere all neurons are active at once
        stair = alternating_flows(setup, drawn, scale, step, times[-1])
        curves["flows"] = stairs(stair, losses[0], times)
        gates["flows"] = (stair.w @ setup.inputs > 0) * 1.0
        about = data, setup.width, scale, times
        predicted = theory.predict_relu(*about, key=jax.random.key(0))
        number = max(predicted.neurons, 4)
        null = theory.predict_relu(*about, key=jax.random.key(0), num_neurons=number, cosine=1)
        curves["predict"] = np.asarray(predicted.losses)
        curves["designed"] = np.asarray(null.losses)
        results["neurons"] = predicted.neurons
        jump = alternating_flows(setup, drawn, SMALL[-1], step, np.inf, most=1)
        results["first"] = jump.times[0] / np.log(1 / SMALL[-1])
    for name, curve in curves.items():
        results |= {f"{name}_{kind}": e for kind, e in errors(curve, losses).items()}
    for name, patterns in gates.items():
        if len(patterns):
            near = [share_near(patterns, *part, setup.inputs) for part in (weights, start)]
            results[f"{name}_gates"] = near[0] - near[1]
    results["rate"] = found[0].rate
    results["gates"] = [len(np.unique(p, axis=0)) for p in gates.values()]
    return results


def flows_alone(task: str, scale: float) -> dict:
    """Return what alternating gradient flows say of a network, and what it does.

    Results:
        curve, half: relative errors of the curve and of the half time.
        jumps, levels: of linear networks: jump times over ln(1/σ), and losses after them over the
            initial loss.
        falls: times over ln(1/σ) at which they pass the middle of each jump.
    """
    setup = setup_of(task)
    step = step_of(setup)
    _, losses = flow(setup, 0, scale, step)
    times = step * np.arange(len(losses))
    stair = alternating_flows(setup, draw(setup, 0), scale, step, times[-1])
    curve = stairs(stair, losses[0], times)
    results = errors(curve, losses)
    if setup.linear:
        levels = np.concatenate([[1], stair.losses / losses[0]])
        middles = (levels[1:] + levels[:-1]) / 2
        falls = times[[int(np.argmax(losses <= middle * losses[0])) for middle in middles]]
        unit = np.log(1 / scale)
        results |= {"jumps": stair.times / unit, "levels": levels[1:], "falls": falls / unit}
    return results


# Saddles ---------------------------------------------------------------------------------------


def plateaus(losses: np.ndarray) -> np.ndarray:
    """Return where a loss rests, over its initial value: where its fall slows down and speeds up.

    A rest is a minimum of the speed, a moving mean over ten steps, that is DIP times slower than
    the fall before it and the fall after it. A last, slow approach is none.
    """
    loss = losses / losses[0]
    speed = np.convolve(loss[:-1] - loss[1:], np.ones(10) / 10, mode="same")
    found, peak, rest = [], 0.0, None
    for place, now in enumerate(speed):
        if rest is None:
            peak = max(peak, now)
            if now < peak / DIP:
                rest = place
        elif now < speed[rest]:
            rest = place
        elif now > DIP * speed[rest]:
            found.append(loss[rest])
            peak, rest = now, None
    found = np.array([level for level in found if FALLEN < level < 0.99])
    return found[np.diff(found, prepend=2) < -APART]  # the first of several that are one


def stationary(setup: Setup, step: float) -> np.ndarray:
    """Return the losses, over the initial one, at which narrower networks come to rest."""
    inputs, targets = setup.inputs, setup.targets
    power = np.sum(targets**2) / (2 * inputs.shape[1])
    found = []
    for width in WIDTHS:
        rng = np.random.default_rng([width, 5])
        w = 1e-3 * rng.normal(size=(STARTS, width, len(inputs)))
        u = 1e-3 * rng.normal(size=(STARTS, width, len(targets)))
        _, _, losses, falls = jax.vmap(
            lambda w, u: minimise(w, u, inputs, targets, setup.masks, setup.linear, step, 25)
        )(w, u)
        found.append(np.asarray(losses)[np.asarray(falls) <= STILL] / power)
    return np.concatenate(found)


def saddles(task: str) -> dict:
    """Return at which losses a network of very small weights rests, and narrower networks end.

    Results:
        plateaus: of the network, over its initial loss.
        distance: of each plateau from the nearest rest of a narrower network.
        linear: of each plateau from the nearest loss of the best linear map of some rank.
        levels: different rests, at least 0.01 apart.
        chance: mean distance of a random loss, uniform in 0.01 … 0.99, from the nearest level.
    """
    setup = setup_of(task)
    step = step_of(setup)
    _, losses = flow(setup, 0, TINY, step)
    found = plateaus(losses)
    rests = np.sort(stationary(setup, step))
    rests = rests[(rests > FALLEN) & (rests < 0.99)]
    data = statistics.modes(tasks.Task(setup.inputs, setup.targets))
    power = np.sum(setup.targets**2) / setup.inputs.shape[1]
    ranks = 1 - np.cumsum(data.singular_values**2 / data.input_variances) / power
    anywhere = np.linspace(FALLEN, 0.99, 500)
    return {
        "plateaus": found,
        "distance": np.abs(found[:, None] - rests).min(axis=1, initial=1),
        "linear": np.abs(found[:, None] - ranks).min(axis=1, initial=1),
        "levels": 1 + np.sum(np.diff(rests) > 0.01) if len(rests) else 0,
        "chance": np.abs(anywhere[:, None] - rests).min(axis=1, initial=1).mean(),
    }


# Balanced linear networks ----------------------------------------------------------------------


def balanced_start(rng, num_hidden: int, task, scale: float, imbalance: float):
    """Return W₁ (H, N_in) and W₂ (N_out, H) with W₁W₁ᵀ − W₂ᵀW₂ = λI.

    The layer with the smaller weights is Gaussian; the other has a root of its square plus |λ|. It
    needs H directions: H ≤ N_in for λ > 0, H ≤ N_out for λ < 0.
    """
    sizes = len(task.inputs), len(task.targets)
    small, large = sizes[::-1] if imbalance >= 0 else sizes
    first = scale * rng.normal(size=(num_hidden, small))
    values, vectors = np.linalg.eigh(first @ first.T + abs(imbalance) * np.eye(num_hidden))
    basis, _ = np.linalg.qr(rng.normal(size=(large, num_hidden)))
    second = (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T @ basis.T
    return (second, first.T) if imbalance >= 0 else (first, second.T)


def exact_maps(task, first, second, times) -> np.ndarray:
    """Return W₂W₁ at rising times, (T, N_out, N_in), for Σ^x = dI and λ-balanced layers.

    Q = √d [W₁ᵀ; W₂] obeys Q̇ = FQ − ½QQᵀQ with F = [[½dλ, Σᵀ], [Σ, −½dλ]], so that
    QQᵀ = e^{Ft} Q₀ C⁻¹ Q₀ᵀ e^{Ft}, C = I + Q₀ᵀ ∫₀ᵗ e^{2Fs} ds Q₀. Over a long time C mixes strong
    modes with weak ones, which rounding loses. So it is used for short times in turn: any root of
    QQᵀ serves as the next Q₀, such as e^{Ft} Q₀ L⁻ᵀ with C = LLᵀ.
    """
    correlations = np.asarray(task.targets @ task.inputs.T) / task.num_samples
    variance = np.sum(np.asarray(task.inputs) ** 2) / task.inputs.size  # d
    num_in = len(task.inputs)
    imbalance = variance * np.trace(first @ first.T - second.T @ second) / len(first)
    matrix = np.diag(np.repeat([imbalance / 2, -imbalance / 2], [num_in, len(second)]))
    matrix[num_in:, :num_in], matrix[:num_in, num_in:] = correlations, correlations.T
    rates, basis = np.linalg.eigh(matrix)
    root = np.sqrt(variance) * basis.T @ np.concatenate([first.T, second])
    slow = np.abs(rates) < 1e-12
    maps, now = [], 0.0
    for time in times:
        parts = int(np.ceil((time - now) * np.abs(rates).max() / 2))
        for _ in range(parts):
            step = (time - now) / parts
            integral = np.expm1(2 * rates * step) / np.where(slow, 1, 2 * rates)
            integral = np.where(slow, step, integral)
            held = np.eye(root.shape[1]) + root.T @ (integral[:, None] * root)
            grown = np.exp(rates * step)[:, None] * root
            root = np.linalg.solve(np.linalg.cholesky(held), grown.T).T
        now = time
        whole = basis @ root
        maps.append(whole[num_in:] @ whole[:num_in].T / variance)
    return np.array(maps)


def map_losses(task, maps) -> np.ndarray:
    """Return the loss of each of several linear maps."""
    return np.sum((task.targets - maps @ task.inputs) ** 2, axis=(1, 2)) / (2 * task.num_samples)


SIMPLE, RANDOM = RELU[:3], RELU[3:]
TABLES = {
    "alternating_flows": Table(
        flows_alone,
        sweeps.grid(task=["diagonal 0", "xor 1", "decision 0"], scale=list(SMALL))
        + sweeps.grid(task=["linear 0", *RANDOM], scale=[1e-4, 1e-8, TINY]),
        row=6,
    ),
    "other_theories": Table(
        compare,
        sweeps.grid(task=RELU, scale=[LARGER[0]])
        + sweeps.grid(task=SIMPLE, scale=[LARGER[1], LARGER[-1]]),
        row=9,
    ),
    "saddle_levels": Table(saddles, sweeps.grid(task=["trees 3", "groups 0"]), row=1),
}
