"""ReLU networks with few and many hidden neurons in contexts, beside all-but-one networks."""

import jax
import jax.numpy as jnp

from mdsgdln import networks, reln, tasks, training

NUM_ITEMS, NUM_CONTEXTS, SCALE = 8, 3, 1e-5
NUM_STEPS, SUM_STEP = 1250, 0.008  # on the summed loss: eight times the step of MHS App. H


def experiment(hidden: int, seed: int) -> dict:
    """Return what is left of the loss, who is dead, and the deviation of the all-but-one network.

    The gated network has as many neurons in all, at least one per pathway.
    """
    task = tasks.contextual(NUM_CONTEXTS, NUM_ITEMS)
    relu = networks.ReLUNetwork((len(task.inputs), hidden, len(task.targets)))
    width = max(hidden // (NUM_CONTEXTS + 1), 1)
    gated = reln.context_candidate(task, NUM_CONTEXTS, NUM_CONTEXTS - 1, width)
    keys = jax.random.split(jax.random.key(seed))
    rate = SUM_STEP * task.num_samples
    run, other = (
        training.train(network, network.init(key, SCALE), task, rate, NUM_STEPS)
        for network, key in zip((relu, gated), keys, strict=True)
    )
    first, second = run.weights
    norm = jnp.linalg.norm(first, axis=1) * jnp.linalg.norm(second, axis=0)
    on = relu.gates(run.weights, task.inputs)[0]
    return {
        "left": run.losses[-1] / run.losses[0],
        "gated_left": other.losses[-1] / other.losses[0],
        "deviation": jax.jit(reln.deviation)(other.losses, run.losses),
        "dead": jnp.mean(on.sum(axis=1) == 0),
        "idle": jnp.mean(norm < 0.01 * norm.mean()),
        "losses": jnp.round(run.losses[::50], 4),
    }
