"""Short trainings that no table has, on a hierarchy, XOR, and contexts; each done once."""

from functools import cache, partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from mdsgdln import networks, statistics, tasks, theory, training
from mdsgdln_book import linear_maps
from mdsgdln_book.experiments import context_candidates, published
from mdsgdln_book.experiments.reduced import orthonormal_span

# Compiled as a whole, and not every operation of it by itself.
trajectory = jax.jit(theory.mode_trajectory, static_argnames="depth")

# ---- A hierarchy of four items: MHS Fig. 7, NRR's background -------------------------------------
HIERARCHY = tasks.semantic("tree", 4)
LINEAR_RATE, LINEAR_SCALE, LINEAR_STEPS, LINEAR_EVERY = 0.01, 1e-3, 2500, 25
LINEAR_TIMES = LINEAR_RATE * LINEAR_EVERY * np.arange(LINEAR_STEPS // LINEAR_EVERY)


class LinearRun(NamedTuple):
    """A linear network every 25 steps: losses (T,), maps (T, 7, 4), strengths (T, 4)."""

    losses: np.ndarray
    maps: np.ndarray
    strengths: np.ndarray


@cache
def train_linear(depth: int, seed: int) -> LinearRun:
    """Train a linear network of one or two layers on the hierarchy."""
    network = networks.LinearNetwork((4, 7) if depth == 1 else (4, 100, 7))
    start, task = network.init(jax.random.key(seed), LINEAR_SCALE), HIERARCHY
    run = training.train(
        network, start, task, LINEAR_RATE, LINEAR_STEPS, observe="outputs", every=LINEAR_EVERY
    )
    maps, modes = np.asarray(run.observed), statistics.modes(task)  # inputs are the identity
    strengths = np.diagonal(modes.left.T @ maps @ modes.right, axis1=1, axis2=2)
    return LinearRun(np.asarray(run.losses)[::LINEAR_EVERY], maps, strengths)


# ---- XOR: MHS Fig. 2, NRR Fig. 3 --------------------------------------------------------
NEURONS, XOR_SCALE, XOR_RATE, XOR_STEPS = 128, 2e-4, 0.01, 4000
XOR_TIMES = XOR_RATE * np.arange(0, XOR_STEPS, 10)
RELU_XOR = networks.ReLUNetwork((3, NEURONS, 1))


@cache
def train_xor(margin: float) -> tuple[list, np.ndarray]:
    """Train ten ReLU networks; return the weights of the first, and every tenth loss (10, T)."""
    task = tasks.xor(margin)
    starts = [RELU_XOR.init(key, XOR_SCALE) for key in jax.random.split(jax.random.key(0), 10)]
    runs = [training.train(RELU_XOR, start, task, XOR_RATE, XOR_STEPS) for start in starts]
    return runs[0].weights, np.stack([run.losses[::10] for run in runs])


def xor_formula(margins, num_pathways: int, neurons: int) -> np.ndarray:
    """Return closed-form losses (margins, T), so many neurons in a path (MHS Eqs. 22, 23)."""
    margins = np.atleast_1d(margins)
    root = margins if num_pathways == 2 else np.sqrt(2 + margins**2)  # output at strength 1
    start = theory.expected_initial_strength(neurons, XOR_SCALE)
    modes = root / num_pathways, root**2 / num_pathways
    strengths = np.asarray(trajectory(XOR_TIMES, *modes, start))
    return 0.5 * (1 - strengths * root[:, None]) ** 2


# ---- Items in contexts: MHS Figs. 3, 4, 5 and 8 --------------------------------------------------
MIXED = "tree, ring, cross"  # MHS §4
ITEMS, NUM_STEPS, EVERY = published.NUM_ITEMS, published.NUM_STEPS, 100
SCALE, WIDTH = published.SCALE, published.PATHWAY_HIDDEN
SCALE_OF_FIVE = 0.005 / 600  # of gated networks for five contexts
STEPS = np.arange(0, NUM_STEPS, EVERY)


class Observations(NamedTuple):
    """A training, every 100 steps, times first.

    Attributes:
        losses: (T,).
        outputs: (T, N_out, P).
        hidden: activity of the hidden neurons, (T, neurons, P).
        strengths: of the residual's modes, {path: (T, modes)}; none for a ReLU network.
    """

    losses: np.ndarray
    outputs: np.ndarray
    hidden: np.ndarray
    strengths: dict


class ContextualSetting(NamedTuple):
    """A contextual task, its gated network, and the modes that its pathways are followed along.

    Targets and output weights are those in the span of the targets, in the basis given. But for the
    initial weights no error ever leaves it, and there are half as many numbers. Weights are drawn
    for the whole task: drawn in a basis, they would be others wherever another one is chosen.
    """

    whole: tasks.Task
    task: tasks.Task
    basis: np.ndarray
    rate: float
    network: networks.GatedNetwork
    scale: dict
    found: dict


@cache
def contextual_setting(case: str) -> ContextualSetting:
    """Return a task of MHS §4 or §5 and its all-but-one network with the published σ."""
    whole, rate, _ = context_candidates.contextual_setting(case)
    basis = orthonormal_span(whole.targets)
    task = tasks.Task(whole.inputs, basis.T @ np.asarray(whole.targets))
    number = len(context_candidates.STRUCTURES[case])
    network = networks.contextual_pathways(task, number, number - 1, WIDTH)
    everywhere = dict.fromkeys(network.graph.edges, SCALE_OF_FIVE if number == 5 else SCALE)
    scale = context_candidates.scale_contextual_pathways(network, 2) if number == 3 else everywhere
    found = theory.pathway_modes(network, linear_maps.linear_residual(task))
    found[network.graph.paths[0]] = statistics.modes(task)  # the common pathway
    return ContextualSetting(whole, task, basis, rate, network, scale, found)


def train_and_observe(
    network, start, setting: ContextualSetting, inside: bool = False
) -> Observations:
    """Train a network and look at it every 100 steps, at its outputs and neurons if ``inside``."""
    gated = isinstance(network, networks.GatedNetwork)
    inputs = setting.task.inputs

    def look(weights):
        seen = {"strengths": theory.pathway_strengths(weights, setting.found) if gated else {}}
        if inside:
            activity = network.activations(weights, inputs)
            parts = [activity[path[1]] for path in setting.found] if gated else activity[:1]
            seen["hidden"] = jnp.concatenate(parts)
            seen["outputs"] = setting.basis @ network.apply(weights, inputs)
        return seen

    run = training.train(
        network, start, setting.task, setting.rate, NUM_STEPS, observe=look, every=EVERY
    )
    nothing = {"outputs": np.empty(0), "hidden": np.empty(0)}
    return Observations(
        np.asarray(run.losses)[::EVERY], **nothing | jax.tree.map(np.asarray, run.observed)
    )


@cache
def train_gated(case: str) -> Observations:
    """Train the all-but-one network from random weights, and look inside that of MHS §4."""
    setting = contextual_setting(case)
    number = len(context_candidates.STRUCTURES[case])
    whole = networks.contextual_pathways(setting.whole, number, number - 1, WIDTH)
    start = whole.init(jax.random.key(10), setting.scale)
    for path in whole.graph.paths:
        start[path[1:]] = setting.basis.T @ start[path[1:]]
    return train_and_observe(setting.network, start, setting, inside=case == MIXED)


@cache
def train_reduced(case: str) -> Observations:
    """Train one neuron for each mode of the raw data, from a₀ = Hσ²/2: nothing is fitted."""
    setting = contextual_setting(case)
    number = len(context_candidates.STRUCTURES[case])
    found = theory.pathway_modes(setting.network, setting.task)
    width = [len(modes.singular_values) for modes in found.values()]
    small = networks.contextual_pathways(setting.task, number, number - 1, width)
    weights = {}
    for path, modes in found.items():
        into, out = path[:2], path[1:]
        root = theory.expected_initial_strength(WIDTH, setting.scale[into]) ** 0.5
        weights |= {into: root * modes.right.T, out: root * modes.left}
    return train_and_observe(small, weights, setting)


@cache
def predict_with_fit(case: str) -> tuple[np.ndarray, dict]:
    """Return the loss that MHS predicts from fitted starts, and strengths {path: (modes, T)}.

    Where structures differ it is the race reduction from 3e-9 in common and 6e-5 in other modes,
    here with all overlaps; with trees the closed form, from 5e-9 and 5e-5.
    """
    setting = contextual_setting(case)
    times, common = setting.rate * STEPS, setting.network.graph.paths[0]
    if case == MIXED:
        starts = {path: 3e-9 if path == common else 6e-5 for path in setting.found}
        race = theory.pathway_race(
            setting.network, setting.task, starts, times, path_modes=setting.found
        )
        return np.asarray(race.losses), jax.tree.map(np.asarray, race.strengths)
    number = len(context_candidates.STRUCTURES[case])
    closed = partial(theory.contextual_closed_form, number, ITEMS, (5e-9, 5e-5))
    strengths = {}
    for path in list(setting.found)[1:]:  # ȧ = 2a (s − a/P)
        s = np.asarray(setting.found[path].singular_values)[:, None]
        final = s * setting.task.num_samples
        strengths[path] = final / (1 + (final / 5e-5 - 1) * np.exp(-2 * s * times))
    return np.asarray(jax.jit(closed)(times)), strengths


@cache
def train_relu(case: str, seed: int) -> Observations:
    """Train the ReLU network, and look inside."""
    setting = contextual_setting(case)
    sizes = len(setting.task.inputs), published.HIDDEN
    whole = networks.ReLUNetwork((*sizes, len(setting.whole.targets)))
    first, second = whole.init(jax.random.key(seed), SCALE)
    network = networks.ReLUNetwork((*sizes, len(setting.task.targets)))
    return train_and_observe(network, (first, setting.basis.T @ second), setting, inside=True)
