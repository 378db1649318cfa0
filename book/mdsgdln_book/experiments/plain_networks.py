"""Smaller ReLU networks beside the wide limit: what does a plain simulation predict?"""

import jax

from mdsgdln import networks, reln, sweeps, tasks, training
from mdsgdln_book.experiments.relu_curve import HIDDEN, NUM_ITEMS, NUM_STEPS, SUM_STEP
from mdsgdln_book.tables import Table

WIDTHS = (32, 256, 700, 1024)


def experiment(contexts: int, scale: float, seed: int) -> dict:
    """Train the ReLU network of the table `relu_curve`; return how far plain ones are from it.

    A plain network has R neurons of σ √(H/R), as a wide limit by R representatives has: its squared
    weights sum to as much. With R = H it is another draw of the network itself.
    """
    task = tasks.contextual(contexts, NUM_ITEMS)
    rate = SUM_STEP * task.num_samples
    relu_key, *_ = jax.random.split(jax.random.key(seed), 4)  # as in `relu_curve`

    def losses(hidden, key):
        relu = networks.ReLUNetwork((len(task.inputs), hidden, len(task.targets)))
        weights = relu.init(key, scale * (HIDDEN / hidden) ** 0.5)
        return training.train(relu, weights, task, rate, NUM_STEPS[scale]).losses

    reference = losses(HIDDEN, relu_key)
    keys = jax.random.split(jax.random.key(1000 + seed), len(WIDTHS))
    return {
        f"plain_{hidden}": reln.deviation(losses(hidden, key), reference)
        for hidden, key in zip(WIDTHS, keys, strict=True)
    }


TABLES = {
    "plain_networks": Table(
        experiment, sweeps.grid(contexts=[3, 4, 5], scale=list(NUM_STEPS), seed=range(3)), row=11
    )
}
