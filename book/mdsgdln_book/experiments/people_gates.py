"""In how many contexts the neurons of a ReLU network stay active: by rule, loss and task."""

from functools import cache, partial

import jax
import numpy as np
import optax

import mdsgdln as md
from mdsgdln_book import sweeps
from mdsgdln_book.experiments import letting_go
from mdsgdln_book.experiments.reduced import keep_weights
from mdsgdln_book.tables import Table

NUM_ITEMS, NUM_ROWS = 8, 15
HIDDEN, SCALE = 300, 1e-4
EVERY = 10  # steps between two looks
LEFT = (0.1, 0.03, 0.01)  # of the loss when one looks at the neurons
FORECASTS = ("preference", "another neuron")
BATCH = 8  # samples, where there are batches
# {rule: (optimiser, steps with the squared loss, with the logistic loss)}
RULES = {
    "descent": (optax.sgd(0.1), 2500, 2500),
    "momentum": (optax.sgd(0.01, momentum=0.9), 2500, 1500),
    "weight decay": (optax.chain(optax.add_decayed_weights(1e-3), optax.sgd(0.1)), 2500, 1500),
    "clipping": (optax.chain(optax.clip_by_global_norm(0.1), optax.sgd(0.1)), 3500, 6000),
    "batches": (optax.sgd(0.1), 2500, 1500),
    "Adam": (optax.adam(1e-3), 500, 1500),
    "AdamW": (optax.adamw(1e-3, weight_decay=0.01), 500, 1500),
    "Muon": (optax.contrib.muon(5e-3), 500, 1500),
}
# {rule: (optimiser, steps until a thousandth of the squared loss is left)}
LONGER = {
    "descent": (RULES["descent"][0], 8000),
    "Adam": (RULES["Adam"][0], 3000),
    "Adam, a tenth of the step": (optax.adam(1e-4), 20_000),
}
LATE = (0.03, 0.001)  # of the loss
LOSSES = {"squared": md.squared_error, "logistic": md.logistic}


def binary_structure(structure: str, seed: int) -> np.ndarray:
    """Return a binary (rows, items) structure: a tree, arcs on a ring, or random."""
    match structure:
        case "tree":
            return np.asarray(md.tasks.structure("tree", NUM_ITEMS))
        case "arcs":
            arcs = [np.roll([1.0] * 3 + [0.0] * 5, shift) for shift in range(NUM_ITEMS)]
            return np.vstack([np.ones(NUM_ITEMS), arcs])
    return np.random.default_rng(seed).integers(0, 2, (NUM_ROWS, NUM_ITEMS)).astype(float)


def contextual_task(num_contexts: int, rows: np.ndarray, function) -> md.Task:
    """Return a task whose block b of targets in context c is ``function(rows, b == c)``."""
    task = md.tasks.contextual(num_contexts, NUM_ITEMS, [rows] * num_contexts, rows)
    every = range(num_contexts)
    blocks = [[function(rows, block == context) for context in every] for block in every]
    return md.Task(task.inputs, np.vstack([np.tile(rows, num_contexts), np.block(blocks)]))


KINDS = {  # targets of a block in its own context, and elsewhere: zero, or the opposite
    "conjunction": lambda rows, own: rows * own,
    "equivalence": lambda rows, own: rows if own else 1 - rows,
}


@cache
def task_by_kind(kind: str, num_contexts: int, structure: str, seed: int) -> md.Task:
    """Return a task by name: conjunction or equivalence."""
    return contextual_task(num_contexts, binary_structure(structure, seed), KINDS[kind])


def weights_at_loss(run, left: float) -> list[np.ndarray]:
    """Return the recorded weights just before the loss falls to ``left`` of its initial value.

    Raises:
        ArithmeticError: it never is.
    """
    losses = np.asarray(run.losses)
    if losses[-1] > left * losses[0]:
        raise ArithmeticError(f"{losses[-1] / losses[0]:.3f} of the loss is left at the end")
    step = int(np.argmax(losses <= left * losses[0]))
    return [np.asarray(layer[step // EVERY]) for layer in run.observed]


def train_and_record(task, weights, rule: str, loss: str, key):
    """Return the network and its training run with recorded weights."""
    optimiser, *steps = RULES[rule]
    network = md.ReLUNetwork((len(task.inputs), HIDDEN, len(task.targets)))
    train = partial(
        md.train,
        network,
        weights,
        task,
        None,
        steps[[*LOSSES].index(loss)],
        optimiser=optimiser,
        loss=LOSSES[loss],
        **({"batch_size": BATCH, "key": key} if rule == "batches" else {}),
    )
    run = train(observe=keep_weights, every=EVERY)
    if rule == "batches":  # whose losses are those of single batches
        run = run._replace(losses=train(observe="loss").observed)
    return network, run


def measure_active_contexts(
    task: str, structure: str, contexts: int, rule: str, loss: str, seed: int
) -> dict:
    """Train a network; return its neurons' active contexts and how well each score forecast them.

    ``shares`` at each of LEFT, by each of letting_go.RULES, of the weight that is active in 0, 1,
    …, C contexts. ``recovered`` by FORECASTS, at 3 % of the loss: the share of the weight whose off
    contexts, their number given, have the lowest initial preferences. ``always_on`` as below.
    """
    data = task_by_kind(task, contexts, structure, seed)
    weights_key, key, linear_key = jax.random.split(jax.random.key(seed), 3)
    relu = md.ReLUNetwork((len(data.inputs), HIDDEN, len(data.targets)))
    start = relu.init(weights_key, SCALE)
    network, run = train_and_record(data, start, rule, loss, key)
    recorded = [weights_at_loss(run, left) for left in LEFT]
    off, mass = letting_go.inactive_contexts(recorded[LEFT.index(0.03)], data, contexts)
    numbers = np.repeat(np.arange(contexts), NUM_ITEMS)
    preference = md.theory.context_preference(network, start, data, numbers)
    forecasts = preference, np.roll(preference, 1, axis=0)
    results = {
        "shares": [letting_go.shares_by_rule(now, data, contexts) for now in recorded],
        "recovered": [letting_go.forecast_accuracy(score, off, mass) for score in forecasts],
    }
    if rule == "descent":
        losses = np.asarray(run.losses)
        results["always_on"] = loss_left_by_linear_network(data, losses, loss, linear_key)
    return results


def loss_left_by_linear_network(task, losses: np.ndarray, loss: str, key) -> np.ndarray:
    """Return the share of the initial loss that a linear network retains after training.

    When 3 % is left of the losses of a ReLU network, which has twice as many neurons, and at the
    end.
    """
    linear = md.LinearNetwork((len(task.inputs), HIDDEN // 2, len(task.targets)))
    how = {"optimiser": RULES["descent"][0], "loss": LOSSES[loss]}
    run = md.train(linear, linear.init(key, SCALE), task, None, len(losses), **how)
    then = np.argmax(losses <= 0.03 * losses[0])
    return np.asarray(run.losses)[[then, -1]] / run.losses[0]


def measure_silence(rule: str, seed: int) -> dict:
    """Return the share of the weight that no item of some context activates, late in training.

    When each of LATE of the loss is left, on trees in three contexts, with the squared error.
    """
    optimiser, steps = LONGER[rule]
    trees = task_by_kind("conjunction", 3, "tree", 0)
    network = md.ReLUNetwork((len(trees.inputs), HIDDEN, len(trees.targets)))
    run = md.train(
        network,
        network.init(jax.random.key(seed), SCALE),
        trees,
        None,
        steps,
        optimiser=optimiser,
        observe=keep_weights,
        every=EVERY,
    )
    late = [weights_at_loss(run, left) for left in LATE]
    shares = [letting_go.shares_by_rule(now, trees, 3)[0] for now in late]
    return {"silent": [share[1:-1].sum() for share in shares]}


SEEDS = range(20, 25)
TABLES = {
    "people_silence": Table(
        measure_silence, sweeps.grid(rule=[*LONGER], seed=range(30, 35)), repeated=(5,)
    ),
    "people_gates": Table(
        measure_active_contexts,
        sweeps.grid(
            task=[*KINDS],
            structure=["tree", "arcs", "drawn"],
            contexts=[3, 4],
            rule=["descent"],
            loss=[*LOSSES],
            seed=SEEDS,
        )
        + sweeps.grid(
            task=["conjunction"],
            structure=["tree"],
            contexts=[3],
            rule=[rule for rule in RULES if rule != "descent"],
            loss=[*LOSSES],
            seed=SEEDS,
        ),
    ),
}
