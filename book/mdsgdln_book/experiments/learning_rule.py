"""Which contexts neurons lose under rules that send errors back by other weights than descent."""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np

from mdsgdln import networks, theory
from mdsgdln_book import linear_maps, sweeps
from mdsgdln_book.experiments import letting_go
from mdsgdln_book.experiments.letting_go_tasks import contextual_task
from mdsgdln_book.tables import Table

HIDDEN = 300
RULES = {
    "descent": "descent",
    "mirror": "Kolen–Pollack",
    "sign": "sign-symmetric",
    "fixed": "feedback alignment",
}
SCORES = ("initial", "inputs", "feedback", "inputs + feedback", "signs", "activity", "another")
COUNTS = dict(zip(letting_go.RULES, ("strict", "loose", "at most half"), strict=True))
hold = jax.lax.stop_gradient


@dataclass(frozen=True)
class LearningRule(networks.Network):
    """A ReLU network whose hidden neurons are told of errors by the weights that a rule names.

    Weights are W (H, N_in), U (N_out, H) and the feedback V (N_out, H). The output is U relu(W x);
    its derivative by the hidden activity is

        descent: U · fixed: V · sign: |V| sign(U) · mirror: V, which learns as U (Kolen–Pollack)
    """

    rule: str

    def apply(self, weights, inputs):
        """Return the outputs for ``inputs``."""
        first, second, feedback = weights
        hidden = jax.nn.relu(first @ inputs)
        back = feedback if self.rule in ("fixed", "mirror") else second
        if self.rule == "sign":
            back = jnp.abs(feedback) * jnp.sign(second)
        back = hold(back)
        outputs = second @ hold(hidden) + back @ hidden - hold(back @ hidden)
        if self.rule == "mirror":
            outputs += feedback @ hold(hidden) - hold(feedback @ hidden)
        return outputs


def train_by(rule: str, weights, task, step: float = letting_go.SUM_STEP) -> list:
    """Train by a rule until 1 % of the loss is left; return the weights."""
    *_, end = letting_go.train_to_levels(LearningRule(rule), weights, task, step=step)
    return end


def setting(
    case: str, contexts: int, items: int, scale: float, feedback: float, targets: str, seed: int
):
    """Return weights as drawn, the task, and each sample's context; ``feedback``: the size of V.

    ``targets``: "whole", or "linear" for those that the best linear map gives.
    """
    task = contextual_task(case, contexts, items, seed)
    if targets == "linear":
        task = linear_maps.linear_part(task)
    network = networks.ReLUNetwork((len(task.inputs), HIDDEN, len(task.targets)))
    first, second = network.init(jax.random.key(seed), scale)
    back = feedback * jax.random.normal(jax.random.key(seed + 1000), second.shape)
    numbers = np.repeat(np.arange(contexts), items)
    return [first, second, back], task, numbers


def preference(first, second, task, contexts) -> np.ndarray:
    """Return ``theory.context_preference`` with any matrix in place of the output weights."""
    network = networks.ReLUNetwork((len(task.inputs), len(first), len(task.targets)))
    return np.asarray(theory.context_preference(network, [first, second], task, contexts))


def activity(first, task, num_contexts: int) -> np.ndarray:
    """Return each neuron's mean activity in each context, (H, C)."""
    hidden = np.maximum(np.asarray(first @ task.inputs), 0)
    return hidden.reshape(len(hidden), num_contexts, -1).mean(axis=2)


def scores(weights, task, contexts) -> list[np.ndarray]:
    """Return the scores that may forecast which contexts are lost, (H, C) each, as in SCORES."""
    first, second, back = map(np.asarray, weights)
    inputs, outputs, feedback, signs = (
        preference(some, other, task, contexts)
        for some, other in (
            (first, 0 * second),
            (0 * first, second),
            (0 * first, back),
            (0 * first, np.abs(back) * np.sign(second)),
        )
    )
    initial, before = inputs + outputs, activity(first, task, inputs.shape[1])
    another = np.roll(initial, 1, axis=0)
    return [initial, inputs, feedback, inputs + feedback, signs, before, another]


def forecast_by_rule(
    rule: str,
    case: str,
    contexts: int,
    items: int,
    scale: float,
    feedback: float,
    step: float,
    targets: str,
    seed: int,
) -> dict:
    """Train by a rule until 1 % of the loss is left; return which contexts are lost and foretold.

    By each of COUNTS: ``shares`` of the weight active in 0, 1, …, C contexts, what each of SCORES
    has ``recovered``, and ``chance``. ``feedback`` is the size of the feedback weights over σ for
    the rule "mirror", itself for the others.
    """
    size = feedback * scale if rule == "mirror" else feedback
    weights, task, numbers = setting(case, contexts, items, scale, size, targets, seed)
    now = train_by(rule, weights, task, step)
    return letting_go.count_and_forecast(now, task, scores(weights, task, numbers))


SEEDS = range(60, 65)
USUAL = {
    "case": ["tree"],
    "contexts": [3],
    "items": [8],
    "scale": [1e-4],
    "step": [letting_go.SUM_STEP],
    "targets": ["whole"],
    "seed": SEEDS,
}


def usual(rules, feedback=0.1, **other):
    """Return settings that differ from the usual ones in what is given."""
    return [
        entry
        for rule in rules
        for entry in sweeps.grid(
            rule=[rule], **USUAL | {"feedback": [1.0 if rule == "mirror" else feedback]} | other
        )
    ]


LOCAL = ["fixed", "mirror"]
TABLES = {
    "learning_rule": Table(
        forecast_by_rule,
        usual([*RULES])
        + usual(["descent", *LOCAL], case=["tree, ring, cross"])
        + usual(["descent", *LOCAL], contexts=[4])
        + usual(["fixed"], contexts=[5, 6])
        + usual(["fixed"], items=[4, 16])
        + usual(["fixed"], case=["ring", "random"])
        + usual(["fixed"], scale=[1e-5, 1e-3, 1e-2])
        + usual(["fixed", "sign"], feedback=0.01)
        + usual(["fixed"], feedback=0.001)
        + usual(["fixed"], step=[letting_go.SUM_STEP / 4])
        + usual(["descent", *LOCAL], targets=["linear"]),
        repeated=(0, 15),
    ),
    "learning_rule_more": Table(
        forecast_by_rule, usual(["fixed"], contexts=[4], seed=range(65, 85))
    ),
}
