"""Joint training of gated networks against predictions from balanced weights, of σ and drawn."""

import jax

from mdsgdln import deviation, networks, tasks, theory, training
from mdsgdln_book import dynamics, sweeps
from mdsgdln_book.experiments.reduced import reduced_losses
from mdsgdln_book.tables import Table

SUM_STEP, HIDDEN = 0.001, 200
NUM_STEPS = {1e-3: 8001, 1e-4: 10_001, 7e-6: 12_001}  # of a start at σ
STRUCTURES = {f"{c} contexts": ["tree"] * c for c in (2, 3, 4, 5, 6)}
STRUCTURES["tree, ring, cross"] = ["tree", "ring", "cross"]


def prediction_errors(case: str, scale: float, seed: int) -> dict:
    """Train the all-but-one network; return the relative error of each prediction.

    What is trained is its reduction, which learns as it does.
    """
    structures = STRUCTURES[case]
    task = tasks.contextual(len(structures), 8, structures)
    network = networks.contextual_pathways(task, len(structures), len(structures) - 1, HIDDEN)
    rate = SUM_STEP * task.num_samples
    weights = network.init(jax.random.key(seed), scale)
    losses = reduced_losses(network, weights, task, rate, NUM_STEPS[scale])
    starts = (network, scale), (network, weights)
    return balanced_prediction_errors(starts, task, rate, losses)


def prediction_errors_at_limits(hidden: int, scale: float, seed: int) -> dict:
    """Train few or strongly initialised neurons; return the errors of both predictions.

    From σ = 0.1 on the step shrinks as 1/σ²: large weights make the loss steep.
    """
    task, num_steps = tasks.contextual(3, 4), 2000
    network = networks.contextual_pathways(task, 3, 2, hidden)
    step = 0.048 * min(1.0, (0.1 / scale) ** 2)
    weights = network.init(jax.random.key(seed), scale)
    losses = training.train(network, weights, task, step, num_steps).losses
    width = max(hidden, 6)  # room for every mode of a pathway, at the same a₀
    roomy = networks.contextual_pathways(task, 3, 2, width)
    starts = (roomy, scale * (hidden / width) ** 0.5), (network, weights)
    # Large weights and few neurons learn less.
    return balanced_prediction_errors(starts, task, step, losses, learned=None)


def balanced_prediction_errors(starts, task, rate: float, losses, **options) -> dict:
    """Return the errors of predictions from balanced weights: of σ, and of the weights as drawn."""
    found = {"left": losses[-1] / losses[0]}
    for name, (network, start) in zip(("from_scale", "from_weights"), starts, strict=True):
        balanced = dynamics.balanced_weights(network, task, start)
        predicted = theory.predict(network, balanced, task, rate, len(losses)).losses
        found[name] = deviation(predicted, losses, **options)
    return found


TABLES = {
    "prediction": Table(
        prediction_errors,
        sweeps.grid(case=list(STRUCTURES), scale=list(NUM_STEPS), seed=range(5)),
        repeated=(10,),
    ),
    "prediction_limits": Table(
        prediction_errors_at_limits,
        sweeps.grid(
            hidden=[2, 4, 16, 100, 500],
            scale=[1e-4, 1e-3, 1e-2, 0.03, 0.1, 0.3, 1.0],
            seed=range(5),
        ),
        repeated=(99,),
    ),
}
