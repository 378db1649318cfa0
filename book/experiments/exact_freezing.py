"""What it costs to freeze the gates of an exact ReLN at some time of a training."""

import jax
import jax.numpy as jnp

from mdsgdln import networks, reln, tasks, training

# MHS App. H: hidden neurons, σ, steps, step of the summed loss
HIDDEN, SCALE, NUM_STEPS, SUM_STEP = 700, 0.005 / 700, 8001, 0.001
STRUCTURES = {
    "3 contexts": [["tree"] * 3],
    "tree, ring, cross": [["tree", "ring", "cross"]],
    "4 contexts": [["tree"] * 4],
}


def experiment(case: str, time: float, seed: int) -> dict:
    """Freeze the gates at ``time``, in units of the time at which a tenth of the loss is gone."""
    (structures,) = STRUCTURES[case]
    task = tasks.contextual(len(structures), 8, structures)
    rate = SUM_STEP * task.num_samples
    relu = networks.ReLUNetwork((len(task.inputs), HIDDEN, len(task.targets)))
    weights = relu.init(jax.random.key(seed), SCALE)
    early = training.train(relu, weights, task, rate, 1000).losses
    tenth = jnp.argmax(early < 0.9 * early[0])
    step = jnp.round(time * tenth)
    run = reln.exact(relu, weights, task, rate, NUM_STEPS, freeze_at=step)
    return {
        "step": step,
        "learned": 1 - run.losses[step.astype(int)] / run.losses[0],
        "deviation": reln.deviation(run.gated_losses, run.losses),
        "summed_loss": run.gated_losses.sum() / run.losses.sum(),
    }
