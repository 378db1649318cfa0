"""What a change of feedback or of initial weights changes, and which clipped neurons let go."""

import jax.numpy as jnp
import numpy as np

from mdsgdln import training
from mdsgdln_book import sweeps
from mdsgdln_book.experiments import learning_rule, letting_go
from mdsgdln_book.tables import Table


def changed(rule: str, how: str, contexts: int, seed: int) -> dict:
    """Train, change something, train again; compare what is lost, by each of COUNTS.

    ``how``: "rotated", the feedback from the answers of each context goes to the next;
    "preference", only its preferences do; "silenced", no feedback from the answers of the first
    context; "redrawn", other initial input and output weights; "inputs", the trained output
    weights, and other input weights.
    ``followed``: the share of the weight whose lost contexts rotate by one; ``stayed``: whose lost
    contexts are as before; ``forecast``: of what loses some, what feedback then forecasts;
    ``first``: the share of it that loses the first.
    """
    weights, task, numbers = learning_rule.setting("tree", contexts, 8, 1e-4, 0.1, "whole", seed)
    first, second, back, gain = weights
    *_, end = learning_rule.levels(rule, weights, task, letting_go.SUM_STEP, seed)
    rows, other = len(gain) // (contexts + 1), None
    match how:
        case "rotated":
            blocks = np.split(np.asarray(back), contexts + 1)
            back = np.concatenate([blocks[0], blocks[-1], *blocks[1:-1]])
        case "preference":
            turn = np.ones(learning_rule.HIDDEN, int)
            back = letting_go.rotate_preferences([first, back], task, numbers, turn)[1]
        case "silenced":
            gain = gain.at[rows : 2 * rows].set(0)
        case "redrawn" | "inputs":
            (first, other, *_), _, _ = learning_rule.setting(
                "tree", contexts, 8, 1e-4, 0.1, "whole", seed + 500
            )
            second = end[1] if how == "inputs" else other
    start = [first, second, jnp.asarray(back), gain]
    *_, again = learning_rule.levels(rule, start, task, letting_go.SUM_STEP, seed)
    lost, mass = letting_go.lost_contexts(end, task, contexts)
    after, after_mass = letting_go.lost_contexts(again, task, contexts)
    score = learning_rule.preference(0 * first, start[2], task, numbers)
    found: dict[str, list] = {"followed": [], "stayed": [], "forecast": [], "first": []}
    for before, now in zip(lost, after, strict=True):
        both = np.sqrt(mass * after_mass) * letting_go.is_contextual(before)
        turned = letting_go.rotated_shares(before, now, both)
        found["followed"].append(turned["rotated"])
        found["stayed"].append(turned["unchanged"])
        found["forecast"].append(letting_go.forecast_accuracy(score, now, after_mass))
        some = after_mass * letting_go.is_contextual(now)
        found["first"].append(letting_go.weighted_mean(some, now[:, 0]))
    return {name: np.array(values) for name, values in found.items()}


def driven_on(contexts: int, seed: int) -> dict:
    """Return how clipped items pull neurons under feedback alignment, and what these lose.

    Looked at is the context that the feedback of a neuron prefers least. The items clipped there
    pull by Q, the sum over them of (b_c − b̄)·F̃_i. ``everywhere``: the share of the weight that is
    ever active on all samples; of it, by the ``first`` item that is clipped afterwards, and of what
    is clipped in ``part`` when a fifth of the loss is gone: the share of the weight that this is,
    the share of it with Q > 0, and the shares that lose the context in the end where Q > 0 and
    where Q < 0, by each of COUNTS.
    """
    weights, task, numbers = learning_rule.setting("tree", contexts, 8, 1e-4, 0.1, "whole", seed)
    first, _, back, _ = weights
    score = learning_rule.preference(0 * first, back, task, numbers)
    least, each = score.argmin(axis=1), np.arange(len(score))
    network, rate = learning_rule.LearningRule("fixed"), 0.1 * letting_go.SUM_STEP * len(numbers)
    run = training.train(network, weights, task, rate, 1500, observe=lambda now: now[0], every=10)
    drive = np.asarray(run.observed @ task.inputs).reshape(-1, len(score), contexts, 8)
    everywhere = (drive > 0).all(axis=(2, 3))
    later = np.arange(len(drive))[:, None] > everywhere.argmax(axis=0)
    below = drive[:, each, least] < 0
    clipped = below & later[..., None]
    when = clipped.any(axis=2).argmax(axis=0)
    one = np.eye(8)[clipped[when, each].argmax(axis=1)]
    now = below[np.argmax(np.asarray(run.losses)[::10] < 0.8 * run.losses[0])]
    blocks = np.stack(np.split(np.asarray(back), contexts + 1)[1:])
    structure = np.asarray(task.targets)[: len(blocks[0]), :8]
    structure = structure - structure.mean(axis=1, keepdims=True)
    pulls = np.einsum("crh,ri->hci", blocks - blocks.mean(axis=0), structure)[each, least]
    *_, end = learning_rule.levels("fixed", weights, task, letting_go.SUM_STEP, seed)
    lost, mass = letting_go.lost_contexts(end, task, contexts)
    ends = [off[each, least] for off in lost]

    def summary(which, items):
        some, pull = mass * which, (pulls * items).sum(axis=1)
        sides = [
            [letting_go.weighted_mean(some * on, off) for off in ends]
            for on in (pull > 0, pull < 0)
        ]
        return [some.sum() / mass.sum(), letting_go.weighted_mean(some, pull > 0)], sides

    ever = everywhere.any(axis=0)
    (_, half), first_lost = summary(ever & clipped.any(axis=(0, 2)), one)
    (share, positive), part_lost = summary(now.any(axis=1) & ~now.all(axis=1), now)
    return {
        "everywhere": mass @ ever / mass.sum(),
        "first_positive": half,
        "first_lost": np.array(first_lost),
        "part": share,
        "part_positive": positive,
        "part_lost": np.array(part_lost),
    }


SEEDS = learning_rule.SEEDS
TABLES = {
    "learning_rule_changed": Table(
        changed,
        sweeps.grid(rule=["fixed"], how=["rotated", "preference"], contexts=[3, 4], seed=SEEDS)
        + sweeps.grid(
            rule=["descent", "fixed"],
            how=["silenced", "redrawn", "inputs"],
            contexts=[3],
            seed=SEEDS,
        ),
    ),
    "learning_rule_clipped": Table(driven_on, sweeps.grid(contexts=[3, 4], seed=SEEDS)),
}
