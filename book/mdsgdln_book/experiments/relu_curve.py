"""The loss curve of a ReLU network in contexts, and what predicts it from data, width and σ."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from mdsgdln import deviation, networks, statistics, tasks, theory
from mdsgdln_book import sweeps
from mdsgdln_book.experiments.driven import matched_initial_strengths, one_neuron_per_mode
from mdsgdln_book.experiments.published import HIDDEN, NUM_ITEMS, SUM_STEP
from mdsgdln_book.experiments.reduced import reduced_losses
from mdsgdln_book.tables import Table

NUM_STEPS = {1e-6: 9000, 1e-5: 8000, 1e-4: 7000, 1e-3: 6000}


def compare_loss_predictions(contexts: int, scale: float, seed: int) -> dict:
    """Train a ReLU network; return the relative error of each prediction."""
    task = tasks.contextual(contexts, NUM_ITEMS)
    rate, num_steps = SUM_STEP * task.num_samples, NUM_STEPS[scale]
    relu_key, _, draw_key = jax.random.split(jax.random.key(seed), 3)
    relu = networks.ReLUNetwork((len(task.inputs), HIDDEN, len(task.targets)))
    times = rate * jnp.arange(num_steps)
    reference = reduced_losses(relu, relu.init(relu_key, scale), task, rate, num_steps)
    curves = {
        "closed_free": staged_mode_loss(contexts, scale, times, tax=False),
        "closed": staged_mode_loss(contexts, scale, times),
        "driven": losses_from_driven_neurons(
            task, contexts, relu.init(draw_key, scale), scale, rate, num_steps
        ),
    }
    return {name: deviation(curve, reference) for name, curve in curves.items()}


def staged_mode_loss(num_contexts: int, scale: float, times, tax: bool = True):
    """Return the closed-form loss of modes that are learned one after another.

    Half of the neurons start on the common pathway's side, so it starts at Hσ²/4. The contextual
    ones share Hσ²/2 and for their gate keep only √(n/(n+C)) of their drive; until the common mode
    is half learned they grow on the raw data, then on the residual.
    """
    task, tree = tasks.contextual(num_contexts, NUM_ITEMS), tasks.structure("tree", NUM_ITEMS)
    count, others = task.num_samples, num_contexts - 1
    common = statistics.modes(task)
    s, d = common.singular_values, common.input_variances
    start = HIDDEN * scale**2 / 4
    learned = theory.mode_trajectory(times, s, d, start)
    kept = NUM_ITEMS / (NUM_ITEMS + num_contexts) if tax else 1.0
    spread = np.linalg.svd(tree - tree.mean(axis=1, keepdims=True), compute_uv=False)
    kappa = spread[spread > 1e-9] / count
    top = kappa * np.sqrt(num_contexts * (num_contexts + 1))  # s_c
    raw, residual = kappa * np.sqrt(others * (others + 1)), kappa * np.sqrt(others / num_contexts)
    half = jnp.log(top / (num_contexts / count) / start) / (2 * top)  # T₀, of the common mode
    cosine = np.sqrt(others / num_contexts / (others + 1) / others)  # of raw and residual answers
    paid = np.sqrt(kept)
    head_start = ((1 + cosine) / 2) ** 2 * jnp.exp(2 * paid * (raw - residual) * half)
    begin = HIDDEN * scale**2 / (2 * num_contexts) * kept * head_start
    stop = 1 / count
    strengths = theory.mode_trajectory(times, paid * residual, paid * stop, begin)
    gain = residual[:, None] * strengths - stop * strengths**2 / 2
    return theory.mode_losses(task, common, learned) - num_contexts * jnp.sum(gain, axis=0)


def losses_from_driven_neurons(
    task, num_contexts: int, neurons, scale: float, rate: float, num_steps: int
):
    """Return the losses predicted from initial strengths of driven neurons."""
    build = partial(
        networks.contextual_pathways, num_contexts=num_contexts, subset_size=num_contexts - 1
    )
    common, (other,) = matched_initial_strengths(neurons, task, build, scale, rate)
    small, weights = one_neuron_per_mode(task, build, (scale**2 * common, scale**2 * other))
    return theory.predict(small, weights, task, rate, num_steps).losses


TABLES = {
    "relu_curve": Table(
        compare_loss_predictions,
        sweeps.grid(contexts=[3, 4, 5], scale=list(NUM_STEPS), seed=range(3)),
        repeated=(9,),
    )
}
