"""Which contexts the neurons of a ReLU network let go, and what forecasts it."""

from collections.abc import Iterator
from math import comb

import jax
import numpy as np

from mdsgdln import discovery, networks, squared_error, tasks, theory, training
from mdsgdln_book import linear_maps, sweeps
from mdsgdln_book.experiments.letting_go_tasks import SIZES, contextual_setting, remove_item_means
from mdsgdln_book.tables import Table

SUM_STEP, CHUNK = 0.004, 250  # learning rate of the summed loss; steps between two looks
LEFT = (0.05, 0.01)  # of the loss when one looks at the neurons
RULES = ("no item", "fewer than half", "at most half")  # active, where a neuron counts as off
FORECASTS = ("preference", "context weights", "output weights", "active items")


def train_to_levels(network, weights, task, batch_size=None, step=SUM_STEP) -> Iterator[list]:
    """Train, and yield the weights at each of the remaining losses LEFT."""
    start, rate, chunks = squared_error(network, weights, task), step * task.num_samples, 0
    for left in LEFT:
        while squared_error(network, weights, task) > left * start:
            batches = {"batch_size": batch_size, "key": jax.random.key(chunks)}
            options = batches if batch_size else {}
            weights = training.train(network, weights, task, rate, CHUNK, **options).weights
            chunks += 1
        yield weights


def active_share_per_context(weights, task, num_contexts: int) -> np.ndarray:
    """Return the share of each context's items on which a neuron is active, (H, C).

    Active is what responds by 1 % of the neuron's largest response: what slides on the boundary of
    an item is within rounding of 0, on either side.
    """
    hidden = np.asarray(weights[0] @ task.inputs)
    on = hidden > 0.01 * np.maximum(hidden.max(axis=1, keepdims=True), 0)
    return on.reshape(len(on), num_contexts, -1).mean(axis=2)


def inactive_contexts_by_rule(share: np.ndarray) -> dict[str, np.ndarray]:
    """Return the contexts in which each neuron is inactive, (H, C), by three thresholds."""
    return dict(zip(RULES, (share == 0, share < 0.5, share <= 0.5), strict=True))


def lost_contexts(weights, task, num_contexts: int) -> tuple[list[np.ndarray], np.ndarray]:
    """Return the contexts that each neuron has lost, (H, C), by each of RULES, and its weight."""
    share = active_share_per_context(weights, task, num_contexts)
    lost = inactive_contexts_by_rule(share).values()
    return list(lost), np.asarray(discovery.importance(*weights[:2]))


def inactive_contexts(weights, task, num_contexts: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the contexts in which each neuron is mostly inactive, (H, C), and neurons' weights."""
    (*_, off), mass = lost_contexts(weights, task, num_contexts)
    return off, mass


def shares_by_rule(weights, task, num_contexts: int) -> list[np.ndarray]:
    """Return the weight share of neurons active in 0, 1, …, C contexts, by each of RULES."""
    lost, mass = lost_contexts(weights, task, num_contexts)
    return [share_by_context_count(off, mass) for off in lost]


def count_and_forecast(weights, task, scores) -> dict[str, np.ndarray]:
    """Return by each of RULES which contexts are lost, and how well scores, (H, C) each, forecast.

    ``shares`` of the weight active in 0, 1, …, C contexts, (3, C + 1); what each score has
    ``recovered``, (3, scores), and ``chance``, (3,).
    """
    lost, mass = lost_contexts(weights, task, scores[0].shape[1])
    recovered = [[forecast_accuracy(score, off, mass) for score in scores] for off in lost]
    return {
        "shares": np.array([share_by_context_count(off, mass) for off in lost]),
        "recovered": np.array(recovered),
        "chance": np.array([chance_accuracy(off, mass) for off in lost]),
    }


def is_contextual(off: np.ndarray) -> np.ndarray:
    """Return which neurons are inactive in some contexts but not in all."""
    return off.any(axis=1) & ~off.all(axis=1)


def share_by_context_count(off: np.ndarray, mass: np.ndarray) -> np.ndarray:
    """Return the weight share of neurons active in 0, 1, …, C contexts."""
    return np.bincount((~off).sum(axis=1), mass, minlength=off.shape[1] + 1) / mass.sum()


def weighted_mean(weight: np.ndarray, of: np.ndarray) -> float:
    """Return the mean of ``of`` weighted by ``weight``, 0 if there is no weight."""
    return float(weight @ of / max(weight.sum(), np.finfo(float).tiny))


def forecast_accuracy(score: np.ndarray, off: np.ndarray, mass: np.ndarray) -> float:
    """Return the weight share of neurons whose inactive contexts have the lowest scores."""
    lowest = score.argsort(axis=1).argsort(axis=1) < off.sum(axis=1)[:, None]
    return weighted_mean(mass * is_contextual(off), (lowest == off).all(axis=1))


def chance_accuracy(off: np.ndarray, mass: np.ndarray) -> float:
    """Return the expected ``forecast_accuracy`` of random scores."""
    chances = np.array([1 / comb(off.shape[1], int(number)) for number in off.sum(axis=1)])
    return weighted_mean(mass * is_contextual(off), chances)


def rotated_shares(off, after, weight) -> dict[str, float]:
    """Return the weight shares of neurons whose inactive contexts rotate by one, or stay.

    Inactive contexts ``off`` before and ``after`` preferences are rotated, (H, C).
    """
    return {
        name: np.average((after == np.roll(off, by, axis=1)).all(axis=1), weights=weight)
        for name, by in (("rotated", 1), ("unchanged", 0))
    }


def context_directions(weights, task, contexts) -> tuple[np.ndarray, ...]:
    """Return the unit directions ξ and η of each context and the weights along them."""
    units = []
    for data in map(np.asarray, (task.inputs, task.targets)):
        means = np.stack([data[:, contexts == c].mean(axis=1) for c in np.unique(contexts)], axis=1)
        beyond = means - means.mean(axis=1, keepdims=True)
        units.append(beyond / np.linalg.norm(beyond, axis=0))
    return *units, np.asarray(weights[0]) @ units[0], np.asarray(weights[1]).T @ units[1]


def forecasts(network, weights, task, contexts) -> list[np.ndarray]:
    """Return the scores that may forecast inactive contexts, (H, C) each, as in FORECASTS."""
    first, second = map(np.asarray, weights)
    preference, incoming, outgoing = (
        theory.context_preference(network, some, task, contexts)
        for some in (weights, [first, 0 * second], [0 * first, second])
    )
    at_first = np.asarray(weights[0] @ task.inputs) > 0
    items_on = at_first.reshape(*preference.shape, -1).mean(axis=2)
    return [preference, incoming, outgoing, items_on]


def rotate_preferences(weights, task, contexts, shift: np.ndarray) -> list[np.ndarray]:
    """Rotate each neuron's context preferences by ``shift`` contexts, nothing else."""
    xi, eta, *along = context_directions(weights, task, contexts)
    num_contexts = xi.shape[1]
    places = (np.arange(num_contexts) - shift[:, None]) % num_contexts
    into, out = (np.take_along_axis(side, places, axis=1) - side for side in along)
    first, second = map(np.asarray, weights)
    return [first + into @ np.linalg.pinv(xi), second + (out @ np.linalg.pinv(eta)).T]


def remove_preferences(weights, task, contexts) -> list[np.ndarray]:
    """Remove each neuron's context preferences; keep all else in its weights."""
    xi, eta, into, out = context_directions(weights, task, contexts)
    first, second = map(np.asarray, weights)
    return [first - into @ np.linalg.pinv(xi), second - (out @ np.linalg.pinv(eta)).T]


def forecast_inactive_contexts(case: str, contexts: int, size: str, how: str, seed: int) -> dict:
    """Train a network; return its neurons' inactive contexts and how well each score forecast them.

    At each of LEFT: the ``shares`` of weight on in 0, 1, …, C contexts by each of RULES, and by
    each rule what each of FORECASTS has ``recovered``, next to ``chance``. They are of the weights
    as drawn and the task as it was.
    """
    network, weights, task, numbers = contextual_setting(case, contexts, size, seed)
    if how == "biases":
        task = tasks.with_ones(task)
        network = networks.ReLUNetwork((len(task.inputs), *network.sizes[1:]))
        weights = network.init(jax.random.key(seed), SIZES[size][1])
    scores, batch_size = forecasts(network, weights, task, numbers), None
    match how:
        case "minibatches":
            batch_size = task.num_samples // 4
        case "linear part":
            task = linear_maps.linear_part(task)
        case "no preference":
            weights = remove_preferences(weights, task, numbers)
        case "no item mean":
            task = remove_item_means(task, contexts)
    reached = train_to_levels(network, weights, task, batch_size)
    found = [count_and_forecast(now, task, scores) for now in reached]
    return {name: np.array([some[name] for some in found]) for name in found[0]}


def retrain_with_rotated_preferences(case: str, contexts: int, seed: int) -> dict:
    """Rotate the initial preferences by one context, train again, and compare.

    ``rotated``: the share of the weight whose off contexts turn with them; ``unchanged``: they
    stay. ``forecast``, ``before``: what the preferences after and before the turn have recovered.
    """
    network, weights, task, numbers = contextual_setting(case, contexts, "300", seed)
    preference = theory.context_preference(network, weights, task, numbers)
    off, mass = inactive_contexts(next(train_to_levels(network, weights, task)), task, contexts)

    start = rotate_preferences(weights, task, numbers, np.ones(len(off), int))
    end = next(train_to_levels(network, start, task))
    after, after_mass = inactive_contexts(end, task, contexts)
    now = theory.context_preference(network, start, task, numbers)
    return rotated_shares(off, after, mass * is_contextual(off)) | {
        "forecast": forecast_accuracy(now, after, after_mass),
        "before": forecast_accuracy(preference, after, after_mass),
    }


SEEDS = range(20, 25)
EQUAL = ["ring", "cross", "identity", "random", "graded"]
UNEQUAL = ["random, each", "trees of three sizes", "tree, ring, cross"]
TABLES = {
    "letting_go": Table(
        forecast_inactive_contexts,
        [
            setting
            for case, contexts, size, how in [
                (["tree"], [3, 4, 5, 6, 8], ["published"], [""]),
                ([*EQUAL, *UNEQUAL], [3], ["300"], [""]),
                (["tree"], [3], ["few", "large"], [""]),
                (["tree"], [3], ["300"], ["minibatches", "biases", "no item mean"]),
                (["tree"], [3], ["published"], ["no preference"]),
                (["tree"], [3, 4, 5], ["published"], ["linear part"]),
            ]
            for setting in sweeps.grid(case=case, contexts=contexts, size=size, how=how, seed=SEEDS)
        ],
        repeated=(25,),
    ),
    "letting_go_turned": Table(
        retrain_with_rotated_preferences,
        sweeps.grid(case=["tree"], contexts=[3, 4, 5], seed=SEEDS)
        + sweeps.grid(case=["tree, ring, cross"], contexts=[3], seed=SEEDS),
    ),
}
