"""Linear experts, weighed against one another by a soft router: how many contexts each serves."""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np

from mdsgdln import gates, networks, training
from mdsgdln_book.experiments.gate_race import context_subsets
from mdsgdln_book.experiments.own_gate import RATE, SEEDS, setting
from mdsgdln_book.tables import Table

CONTEXTS, ITEMS, STEPS = 3, 8, 12_000
SETS = context_subsets(CONTEXTS)  # of given gates


@dataclass(frozen=True)
class Experts(networks.Network):
    """Linear experts, ŷ = Σ_k π_k(x) U_k W_k x, with π = softmax(β R x).

    Attributes:
        sizes: (N_in, H, N_out) of each of the experts.
        experts: K.
        beta: β; logits βRx learn β² times as fast, and with β = 0 all π_k are 1/K. None: no
            router, and π_k is 0 or 1, a given gate for each of SETS.
    """

    sizes: tuple[int, int, int]
    experts: int
    beta: float | None = 1.0

    def parts(self, weights, inputs):
        """Return what each expert adds to the outputs, π_k U_k W_k x, (K, N_out, P)."""
        router, into, out = weights
        if self.beta is None:
            share = gates.context_gates(CONTEXTS, ITEMS, SETS)
        else:
            share = jax.nn.softmax(self.beta * (router @ inputs), axis=0)
        return share[:, None] * jnp.einsum("koh,khi,ip->kop", out, into, inputs)

    def apply(self, weights, inputs):
        """Return the outputs, (N_out, P)."""
        return self.parts(weights, jnp.asarray(inputs)).sum(axis=0)

    def init(self, key, scale):
        """Draw Gaussian weights R, W, U of the three standard deviations ``scale``."""
        (inputs, hidden, outputs), number = self.sizes, self.experts
        shapes = [(number, inputs), (number, hidden, inputs), (number, outputs, hidden)]
        return networks.network.draw_gaussian(key, shapes, scale)


def served(
    seed, experts=6, hidden=10, beta=1.0, scale=0.01, start=0.01, structure="tree", targets="whole"
) -> dict:
    """Train, and return the share of what experts contribute by the number of contexts they serve.

    ``mainly`` and ``strict``, in 0, 1, … C contexts: an expert serves those in which its mean
    contribution ‖π_k U_k W_k x‖ is more than half of that in its best context, or in which an item
    gives 1 % of its largest. ``best``, the expert that contributes most to each context;
    ``foretold``, the same after training with π_k = 1/K, and ``strongest``, to all together then.
    """
    task = setting("ReGLU", structure, CONTEXTS, ITEMS, scale, seed, targets=targets)[2]
    network = Experts((len(task.inputs), hidden, len(task.targets)), experts, beta)
    weights = network.init(jax.random.key(seed), [start, scale, scale])

    def learn(network):
        run = training.train(network, weights, task, RATE, STEPS)
        size = np.linalg.norm(network.parts(run.weights, task.inputs), axis=1)
        return run.losses, size.reshape(experts, CONTEXTS, ITEMS)

    losses, size = learn(network)
    uniform = learn(Experts(network.sizes, experts, beta=0.0))[1].mean(axis=2)
    mean, largest = size.mean(axis=2), size.max(axis=2)
    found = {"left": losses[-1] / losses[0], "best": mean.argmax(axis=0)}
    found |= {"foretold": uniform.argmax(axis=0), "strongest": uniform.sum(axis=1).argmax()}
    weight = np.sqrt((size**2).mean(axis=(1, 2)))
    for rule, response, least in (("mainly", mean, 0.5), ("strict", largest, 0.01)):
        number = (response > least * response.max(axis=1, keepdims=True)).sum(axis=1)
        found[rule] = np.bincount(number, weight, CONTEXTS + 1) / weight.sum()
    return found


CASES = {f"{number} experts": {"experts": number} for number in (3, 6, 12)}
CASES |= {f"σ = {scale}": {"scale": scale, "start": scale} for scale in (0.003, 0.03)}
CASES |= {f"β = {beta:g}": {"beta": beta} for beta in (0.3, 3)} | {"router from 1": {"start": 1.0}}
CASES |= {"4 units each": {"hidden": 4}, "three structures": {"structure": "tree, ring, cross"}}
CASES |= {"linear targets": {"targets": "linear"}, "uniform": {"beta": 0.0}}
CASES |= {"given gates": {"experts": len(SETS), "beta": None}}
SETTINGS = [case | {"seed": seed} for case in CASES.values() for seed in SEEDS]
TABLES = {"soft_router": Table(served, SETTINGS, repeated=(0, 60))}
