"""What neurons remember of their initial weights, by step size, batches and loss; and controls.

Under Adam a weight moves by about one step size η an update, whatever its gradient: ρ = η/σ
compares this with the initial weights.
"""

from functools import partial

import jax
import numpy as np
import optax

import mdsgdln as md
from mdsgdln_book import linear_maps, sweeps
from mdsgdln_book.experiments import letting_go, people_gates
from mdsgdln_book.experiments.reduced import keep_weights
from mdsgdln_book.tables import Table

HIDDEN, LEFT = 300, 0.03  # neurons; share of the loss when one looks at them
LOSSES = people_gates.LOSSES
UPDATES = {"squared": 1.0, "logistic": 3.0}  # times η, that a weight can move
RECORDED = 300  # times at which weights are kept
RULES = {
    "descent": lambda step: optax.sgd(step),
    "AdamW": lambda step: optax.adamw(step, weight_decay=0.01),
}


def train_until(task, start, optimiser, loss: str, num_steps: int, batch_size, key):
    """Return the network's weights just before 3 % of the loss is left, and this loss's share.

    Raises:
        ArithmeticError: it never is.
    """
    network = md.ReLUNetwork((len(task.inputs), HIDDEN, len(task.targets)))
    batches = {} if batch_size is None else {"batch_size": batch_size, "key": key}
    run = md.train(
        network,
        start,
        task,
        None,
        num_steps,
        optimiser=optimiser,
        loss=LOSSES[loss],
        observe=keep_weights,
        every=max(num_steps // RECORDED, 1),
        **batches,
    )
    losses = jax.vmap(lambda weights: LOSSES[loss](network, weights, task))(run.observed)
    low = np.asarray(losses) <= LEFT * losses[0]
    if not low.any():
        raise ArithmeticError(f"{losses[-1] / losses[0]:.3f} of the loss is left at the end")
    now = max(int(low.argmax()) - 1, 0)
    return jax.tree.map(lambda layer: np.asarray(layer[now]), run.observed)


def train_and_forecast(
    kind: str, rule: str, loss: str, step: float, scale: float, batch: int, seed: int
) -> dict:
    """Train on trees in three contexts until 3 % of the loss is left; see what stays active.

    Returns:
        ``shares`` of the weight by each of letting_go.RULES in 0, 1, …, C contexts; ``recovered``
        and ``chance`` by each of them, from a neuron's own initial preferences and from another's.
    """
    task = people_gates.task_by_kind(kind, 3, "tree", 0)
    weights_key, key = jax.random.split(jax.random.key(seed))
    network = md.ReLUNetwork((len(task.inputs), HIDDEN, len(task.targets)))
    start = network.init(weights_key, scale)
    numbers = np.repeat(np.arange(3), people_gates.NUM_ITEMS)
    preference = np.asarray(md.theory.context_preference(network, start, task, numbers))
    updates = int(UPDATES[loss] / step) if rule != "descent" else 4000
    now = train_until(task, start, RULES[rule](step), loss, updates, batch or None, key)
    scores = preference, np.roll(preference, 1, axis=0)
    found = letting_go.count_and_forecast(now, task, scores)
    return found | {"recovered": found["recovered"].T}  # by score, then by rule


def let_go_of_linear_targets(rule: str, targets: str, seed: int) -> dict:
    """Train on the whole task, or on what the best linear map gives; return shares of the weight.

    ``shares`` by each of letting_go.RULES in 0, 1, …, C contexts when 3 % of the squared error that
    can be learned is left. On linear targets no neuron has to be silent anywhere.
    """
    task = people_gates.task_by_kind("conjunction", 3, "tree", 0)
    if targets == "linear":
        task = linear_maps.linear_part(task)
    optimiser, steps, _ = people_gates.RULES[rule]
    weights_key, key = jax.random.split(jax.random.key(seed))
    network = md.ReLUNetwork((len(task.inputs), HIDDEN, len(task.targets)))
    start = network.init(weights_key, people_gates.SCALE)
    batch = people_gates.BATCH if rule == "batches" else None
    now = train_until(task, start, optimiser, "squared", 2 * steps, batch, key)
    return {"shares": letting_go.shares_by_rule(now, task, 3)}


SEEDS = range(30, 35)
STEPS, SCALES, BATCHES = (1e-3, 1e-4), (1e-5, 1e-4, 1e-3, 1e-2), (0, 8, 4)
TABLES = {
    "people_memory": Table(
        partial(train_and_forecast, "conjunction"),
        sweeps.grid(
            rule=["AdamW"], loss=[*LOSSES], step=STEPS, scale=SCALES, batch=BATCHES, seed=SEEDS
        ),
    ),
    "people_needed": Table(
        partial(train_and_forecast, "equivalence", loss="logistic"),
        sweeps.grid(rule=["AdamW"], step=[1e-3], scale=[1e-4, 1e-2], batch=[0, 8], seed=SEEDS)
        + sweeps.grid(rule=["descent"], step=[0.1], scale=[1e-4], batch=[0, 8], seed=SEEDS),
    ),
    "people_linear": Table(
        let_go_of_linear_targets,
        sweeps.grid(rule=[*people_gates.RULES], targets=["whole", "linear"], seed=SEEDS),
    ),
}
