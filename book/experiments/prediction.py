"""Joint training of gated networks against its prediction from σ alone and from the weights."""

import jax
import jax.numpy as jnp

from mdsgdln import reln, tasks, theory, training

SUM_STEP, NUM_STEPS = 0.001, 12_001
STRUCTURES = {f"{c} contexts": ["tree"] * c for c in range(2, 7)}
STRUCTURES["tree, ring, cross"] = ["tree", "ring", "cross"]


def experiment(case: str, scale: float, hidden: int, seed: int) -> dict:
    """Train the all-but-one network jointly; return the deviation of each prediction."""
    structures = STRUCTURES[case]
    task = tasks.contextual(len(structures), 8, structures)
    network = reln.context_candidate(task, len(structures), len(structures) - 1, hidden)
    rate = SUM_STEP * task.num_samples
    weights = network.init(jax.random.key(seed), scale)
    losses = training.train(network, weights, task, rate, NUM_STEPS).losses
    times = rate * jnp.arange(NUM_STEPS)
    from_scale = theory.predict_losses(network, task, scale, times)
    from_weights = theory.predict_losses(network, task, weights, times, step=rate)
    return {
        "from_scale": reln.deviation(from_scale, losses),
        "from_weights": reln.deviation(from_weights, losses),
        "left": losses[-1] / losses[0],
    }
