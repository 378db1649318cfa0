"""What a change of feedback or of initial weights changes, and which clipped neurons let go."""

import jax.numpy as jnp
import numpy as np

from mdsgdln import training
from mdsgdln_book import sweeps
from mdsgdln_book.experiments import learning_rule, letting_go
from mdsgdln_book.tables import Table


def changed(rule: str, how: str, contexts: int, seed: int) -> dict:
    """Train, change something, train again; compare what is lost, by each of COUNTS.

    ``how``: "rotated", the feedback from the answers of each context goes to the next; "redrawn",
    other initial input and output weights; "inputs", the trained output weights, and other input
    weights. ``followed``: the share of the weight whose lost contexts rotate by one; ``stayed``:
    whose lost contexts are as before.
    """
    weights, task, _ = learning_rule.setting("tree", contexts, 8, 1e-4, 0.1, "whole", seed)
    first, second, back = weights
    end = learning_rule.train_by(rule, weights, task)
    if how == "rotated":
        blocks = jnp.split(back, contexts + 1)
        back = jnp.concatenate([blocks[0], blocks[-1], *blocks[1:-1]])
    else:
        (first, second, _), _, _ = learning_rule.setting(
            "tree", contexts, 8, 1e-4, 0.1, "whole", seed + 500
        )
        second = end[1] if how == "inputs" else second
    again = learning_rule.train_by(rule, [first, second, back], task)
    lost, mass = letting_go.lost_contexts(end, task, contexts)
    after, after_mass = letting_go.lost_contexts(again, task, contexts)
    both = np.sqrt(mass * after_mass)
    turned = [
        letting_go.rotated_shares(before, now, both * letting_go.is_contextual(before))
        for before, now in zip(lost, after, strict=True)
    ]
    names = {"followed": "rotated", "stayed": "unchanged"}
    return {name: np.array([some[kept] for some in turned]) for name, kept in names.items()}


def driven_on(contexts: int, seed: int) -> dict:
    """Return how clipped items pull neurons under feedback alignment, and what these lose.

    Looked at is the context that the feedback of a neuron prefers least. The items clipped there
    pull by Q, the sum over them of (b_c − b̄)·F̃_i. ``everywhere``: the share of the weight that is
    ever active on all samples. Of what is clipped for a ``part`` of these items when a fifth of the
    loss is gone: the share of the weight that this is, the share of it with Q > 0, and the shares
    that lose the context in the end where Q > 0 and where Q < 0, by each of COUNTS.
    """
    weights, task, numbers = learning_rule.setting("tree", contexts, 8, 1e-4, 0.1, "whole", seed)
    first, _, back = weights
    score = learning_rule.preference(0 * first, back, task, numbers)
    least, each = score.argmin(axis=1), np.arange(len(score))
    network, rate = learning_rule.LearningRule("fixed"), 0.1 * letting_go.SUM_STEP * len(numbers)
    run = training.train(network, weights, task, rate, 1500, observe=lambda now: now[0], every=10)
    drive = np.asarray(run.observed @ task.inputs).reshape(-1, len(score), contexts, 8)
    everywhere = (drive > 0).all(axis=(2, 3))
    below = drive[:, each, least] < 0
    now = below[np.argmax(np.asarray(run.losses)[::10] < 0.8 * run.losses[0])]
    blocks = np.stack(np.split(np.asarray(back), contexts + 1)[1:])
    structure = np.asarray(task.targets)[: len(blocks[0]), :8]
    structure = structure - structure.mean(axis=1, keepdims=True)
    pulls = np.einsum("crh,ri->hci", blocks - blocks.mean(axis=0), structure)[each, least]
    end = learning_rule.train_by("fixed", weights, task)
    lost, mass = letting_go.lost_contexts(end, task, contexts)
    part, pull = mass * (now.any(axis=1) & ~now.all(axis=1)), (pulls * now).sum(axis=1)
    return {
        "everywhere": mass @ everywhere.any(axis=0) / mass.sum(),
        "part": part.sum() / mass.sum(),
        "part_positive": letting_go.weighted_mean(part, pull > 0),
        "part_lost": np.array(
            [
                [letting_go.weighted_mean(part * on, off[each, least]) for off in lost]
                for on in (pull > 0, pull < 0)
            ]
        ),
    }


SEEDS = learning_rule.SEEDS
TABLES = {
    "learning_rule_changed": Table(
        changed,
        sweeps.grid(rule=["fixed"], how=["rotated"], contexts=[3, 4], seed=SEEDS)
        + sweeps.grid(
            rule=["descent", "fixed"], how=["redrawn", "inputs"], contexts=[3], seed=SEEDS
        ),
    ),
    "learning_rule_clipped": Table(driven_on, sweeps.grid(contexts=[3, 4], seed=SEEDS)),
}
