"""Which contexts a ReLU neuron lets go: the order in which its initial weights prefer them.

While a neuron is on everywhere it grows with all others, and the linear modes in which contexts
differ only amplify an order that is there from the start. What is left afterwards is invisible to
a neuron that is on everywhere (R Xᵀ = 0 for the best linear map). So it becomes contextual by
clipping, and first in the context that it prefers least.
"""

import warnings
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from mdsgdln import _checks as checks
from mdsgdln._checks import Numbers
from mdsgdln.networks import ReLUNetwork
from mdsgdln.tasks import Task

FLAT = 1e-9  # over the means themselves: contexts that differ by less do not differ


def context_preference(
    network: ReLUNetwork, weights: Sequence[Numbers], task: Task, contexts: Numbers
) -> Float[np.ndarray, "H C"]:
    """Return how much each hidden neuron prefers each context; the lowest is let go first.

    a_c = wᵀξ_c + uᵀη_c ‖ξ_c‖/‖η_c‖ minus its mean over contexts, with ξ_c = x̄_c − x̄ and
    η_c = ȳ_c − ȳ: what the mean input and the mean target of context c have beyond their means over
    contexts. Where all contexts have one block F with item mean F̄, it is
    (w_c − w̄) + F̄ᵀ(u_c − ū)/‖F̄‖, twice the neuron's part in the C−1 linear modes of contexts.

    It is a theorem that a keeps its direction and grows as exp (‖F̄‖/C)∫ρ while the neuron is on
    everywhere, for equal blocks and a residual that permutations of contexts leave as it is, ρ its
    share of what two contexts differ in. That the contexts with the lowest a_c are those in which
    the neuron is off in the end is a forecast, best for many neurons and small weights.

    Args:
        network: with one hidden layer.
        weights: the initial ones, W₁ (H, N_in) and W₂ (N_out, H).
        task: whose inputs tell contexts apart. Warns where mean targets do not.
        contexts: the context of each sample, as a number, shape (P,).

    Returns:
        a row for each neuron, a column for each context, in the order of their numbers.

    Raises:
        ValueError: more than one hidden layer, weights that do not fit, contexts of the wrong
            length, one context, or inputs with the same mean in all.
    """
    checks.instance("network", network, ReLUNetwork)
    if len(network.sizes) != 3:
        raise ValueError(f"network: expected one hidden layer, got {len(network.sizes) - 2}")
    network._reading(task)
    network._check_weights(weights)
    contexts = np.asarray(checks.finite_array("contexts", contexts, 1, "(P,)"))
    if len(contexts) != task.num_samples:
        raise ValueError(f"contexts: expected {task.num_samples} numbers, got {len(contexts)}")
    names = np.unique(contexts)
    if len(names) < 2:
        raise ValueError(f"contexts: expected at least two, got {len(names)}")
    inputs, targets = (
        _beyond_the_mean(np.asarray(data, float), contexts, names)
        for data in (task.inputs, task.targets)
    )
    told, asked = (np.linalg.norm(beyond, axis=0) for beyond in (inputs, targets))
    if not told.all():
        raise ValueError("contexts: expected inputs whose means differ between contexts")
    if not asked.all():
        warnings.warn(
            "context_preference: contexts have the same mean target, so that no linear mode tells "
            "them apart; which of them a neuron lets go is then nearly a matter of chance",
            stacklevel=2,
        )
    first, second = (np.asarray(layer, float) for layer in weights)
    ratio = np.where(asked > 0, told / np.where(asked > 0, asked, 1), 0)
    preferred = first @ inputs + ratio * (second.T @ targets)
    return preferred - preferred.mean(axis=1, keepdims=True)


def _beyond_the_mean(
    data: Float[np.ndarray, "n P"], contexts: np.ndarray, names: np.ndarray
) -> Float[np.ndarray, "n C"]:
    """Return the mean of each context minus the mean of these; zeros for what is rounding."""
    means = np.stack([data[:, contexts == name].mean(axis=1) for name in names], axis=1)
    beyond = means - means.mean(axis=1, keepdims=True)
    size = np.linalg.norm(beyond, axis=0)
    return np.where(size > FLAT * np.linalg.norm(means), beyond, 0)
