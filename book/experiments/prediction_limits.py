"""Where the prediction of joint training stops working: large initial scale, narrow pathways."""

import jax
import jax.numpy as jnp

from mdsgdln import reln, tasks, theory, training

NUM_STEPS, STEP = 2000, 0.048
TASK = tasks.contextual(3, 4)


def experiment(hidden: int, scale: float, seed: int) -> dict:
    """Train the all-but-one network; return the deviation of both predictions.

    From σ = 0.1 on the step shrinks as 1/σ²: large weights make the loss steep.
    """
    network = reln.context_candidate(TASK, 3, 2, hidden)
    step = STEP * min(1.0, (0.1 / scale) ** 2)
    times = step * jnp.arange(NUM_STEPS)
    weights = network.init(jax.random.key(seed), scale)
    losses = training.train(network, weights, TASK, step, NUM_STEPS).losses
    from_scale = theory.predict_losses(network, TASK, scale, times, step)
    from_weights = theory.predict_losses(network, TASK, weights, times, step)
    # inside a compiled function, deviation accepts runs that never learn everything
    compare = jax.jit(reln.deviation)
    return {
        "from_scale": compare(from_scale, losses),
        "from_weights": compare(from_weights, losses),
        "left": losses[-1] / losses[0],
    }
