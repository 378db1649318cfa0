"""When pathways that are on in k of C contexts have learned what the common pathway leaves."""

import jax
import jax.numpy as jnp
import numpy as np

from mdsgdln import reln, statistics, tasks, theory, training

NUM_ITEMS, HIDDEN = 2, 20
SUM_STEP, NUM_STEPS = 0.01, 6000
STRENGTH = 1.0  # κ, the singular value of a tree of two items without its mean


def experiment(kind: str, scale: float, seed: int) -> dict:
    """Return the time at which half of the residual is learned, per κ and ln(1/a₀)/2."""
    num_contexts, subset_size = (int(word) for word in kind.split() if word.isdigit())
    task = tasks.contextual(num_contexts, NUM_ITEMS)
    rate = SUM_STEP * task.num_samples
    modes = statistics.modes(task)
    fit = modes.left * (modes.singular_values / modes.input_variances) @ modes.right.T
    residual = np.asarray(task.targets) - fit @ np.asarray(task.inputs)
    network = reln.context_candidate(task, num_contexts, subset_size, HIDDEN)

    def learned(weights):
        return jnp.sum(residual * network.apply(weights, task.inputs)) / (residual**2).sum()

    weights = network.init(jax.random.key(seed), scale)
    run = training.train(network, weights, task, rate, NUM_STEPS, observe=learned)
    half = rate * jnp.argmax(run.observed > 0.5)
    start = theory.expected_start(HIDDEN, scale)
    unit = task.num_samples / STRENGTH * jnp.log(1 / start) / 2
    return {"time": half / unit, "learned": run.observed[-1]}
