"""Joint training of gated networks against predictions from balanced weights, of σ and drawn."""

import jax

from mdsgdln import deviation, networks, tasks, theory
from mdsgdln_book import dynamics, sweeps
from mdsgdln_book.experiments.reduced import reduced_losses
from mdsgdln_book.tables import Table

SUM_STEP, HIDDEN = 0.001, 200
NUM_STEPS = {1e-3: 8001, 1e-4: 10_001, 7e-6: 12_001}  # of a start at σ
STRUCTURES = {f"{c} contexts": ["tree"] * c for c in (2, 3, 4, 5, 6)}
STRUCTURES["tree, ring, cross"] = ["tree", "ring", "cross"]


def prediction_errors(case: str, scale: float, seed: int) -> dict:
    """Train the all-but-one network; return the errors of predictions from balanced weights.

    Those are of σ, and of the weights as drawn; ``left`` is the part of the loss at the end.
    What is trained is its reduction, which learns as it does.
    """
    structures = STRUCTURES[case]
    task = tasks.contextual(len(structures), 8, structures)
    network = networks.contextual_pathways(task, len(structures), len(structures) - 1, HIDDEN)
    rate = SUM_STEP * task.num_samples
    weights = network.init(jax.random.key(seed), scale)
    losses = reduced_losses(network, weights, task, rate, NUM_STEPS[scale])
    found = {"left": losses[-1] / losses[0]}
    for name, start in {"from_scale": scale, "from_weights": weights}.items():
        balanced = dynamics.balanced_weights(network, task, start)
        predicted = theory.predict(network, balanced, task, rate, len(losses)).losses
        found[name] = deviation(predicted, losses)
    return found


TABLES = {
    "prediction": Table(
        prediction_errors,
        sweeps.grid(case=list(STRUCTURES), scale=list(NUM_STEPS), seed=range(5)),
        repeated=(10,),
    ),
}
