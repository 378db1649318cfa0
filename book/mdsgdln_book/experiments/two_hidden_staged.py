"""Two hidden layers: the published gated network, whose pathways are switched on in stages."""

from functools import cache, partial

import jax
import jax.numpy as jnp
import numpy as np
import optax

from mdsgdln import gates, networks, squared_error
from mdsgdln_book import sweeps
from mdsgdln_book.experiments import two_hidden
from mdsgdln_book.tables import Table

MODULE = 60  # neurons; four modules make the common pathway, three are contextual
START, CONTEXT_START = 500, 12_000  # published steps at which the stages begin
# σ of first layer, second layer, common readouts, contextual readouts
PUBLISHED_SCALES = (0.000575, 0.00055, 0.00055, 0.004)
# The ReLU network's, and larger readouts
ONE_SCALE = (*[two_hidden.SCALE] * 3, 8 * two_hidden.SCALE)


@cache
def modular_network(subsets=two_hidden.PAIRS, scales=ONE_SCALE):
    """Return the published gated network, with the σ and the stage of each edge.

    ``subsets`` are the contexts in which each of its contextual modules is on.
    """
    rows = gates.context_gates(two_hidden.CONTEXTS, two_hidden.ITEMS, subsets)
    names = ["on in " + " and ".join(str(c + 1) for c in subset) for subset in subsets]
    modules = dict(zip(names, rows, strict=True))
    sizes = {"input": 11, "first": 7 * MODULE, "common": 4 * MODULE}
    sizes |= dict.fromkeys(modules, MODULE) | {"output": 60}
    edges = [("input", "first"), ("first", "common"), ("common", "output")]
    edges += [edge for name in modules for edge in (("first", name), (name, "output"))]
    network = networks.GatedNetwork(sizes, edges, node_gates=modules)
    first, second, common, contextual = scales
    scale = {edge: contextual if edge[0] in modules else second for edge in edges}
    scale |= {("input", "first"): first, ("common", "output"): common}
    stage = {edge: "contextual" if set(edge) & set(modules) else "common" for edge in edges}
    return network, scale, stage


def half_squared_error(error):
    """Return half the squared error, averaged over samples."""
    return jnp.sum(error**2) / (2 * error.shape[1])


def loss_with_gradient_of(descended):
    """Return a loss function whose gradient is that of another function, ``descended``.

    ``descended`` takes targets and the outputs through common and through contextual readouts.
    """

    def loss(network, weights, task):
        def part(readouts):
            kept = {edge: w if edge in readouts else 0 * w for edge, w in weights.items()}
            inside = {edge: w for edge, w in weights.items() if edge[1] != "output"}
            return network.apply(kept | inside, task.inputs)

        readouts = [edge for edge in weights if edge[1] == "output"]
        common, contextual = part(readouts[:1]), part(readouts[1:])
        value = half_squared_error(task.targets - common - contextual)
        chosen = descended(task, common, contextual)
        return jax.lax.stop_gradient(value - chosen) + chosen

    return jax.jit(loss)


# The contextual modules are off: the others learn the targets alone.
common_alone = loss_with_gradient_of(
    lambda task, common, contextual: half_squared_error(task.targets - common)
)
# As published: no gradient of one loss. The common pathway goes on as if it were alone, the modules
# learn what it leaves at the moment; both reach the first layer.
one_after_other = loss_with_gradient_of(
    lambda task, common, contextual: (
        half_squared_error(task.targets - common)
        + half_squared_error(task.targets - jax.lax.stop_gradient(common) - contextual)
    )
)


@cache
def delayed_descent(frozen):
    """Return gradient descent that starts at START and keeps frozen modules fixed."""
    rate = two_hidden.PUBLISHED_RATE * two_hidden.COARSER
    descent = optax.sgd(lambda step: jnp.where(step >= START / two_hidden.COARSER, rate, 0.0))
    if not frozen:
        return descent
    stages = {"common": descent, "contextual": optax.set_to_zero()}
    return optax.multi_transform(stages, modular_network()[2])


def train_in_stages(
    structures, seed, scales=ONE_SCALE, subsets=two_hidden.PAIRS, second=squared_error, frozen=False
):
    """Train the published network in two stages, with modules gated off in the first.

    What the second stage descends is ``second``. ``frozen`` modules are not off: they do not learn,
    but take part in the outputs, and so in what the first layer learns.
    """
    network, scale, _ = modular_network(subsets, scales)
    observe = two_hidden.output_observer(network, structures)
    go_on = partial(two_hidden.train_coarsely, network, structures=structures, observe=observe)
    weights = network.init(jax.random.key(seed), scale)
    descended = squared_error if frozen else common_alone
    one, before = go_on(
        weights, steps=CONTEXT_START, optimiser=delayed_descent(frozen), loss=descended
    )
    two, after = go_on(one.weights, steps=two_hidden.PUBLISHED_STEPS - CONTEXT_START, loss=second)
    losses = np.concatenate([before, after])
    return {"losses": losses} | two_hidden.outputs_on_plateaus(
        structures, np.concatenate([one.observed, two.observed])
    )


def train_at_once(structures, seed):
    """Train the whole published network from the start; return its losses."""
    network, scale, _ = modular_network()
    weights = network.init(jax.random.key(seed), scale)
    return {"losses": two_hidden.train_coarsely(network, weights, structures)[1]}


NETWORKS = {
    "ReLU": two_hidden.train_relu,
    "linear, half": two_hidden.train_linear,
    "as published": partial(train_in_stages, scales=PUBLISHED_SCALES, second=one_after_other),
    "staged": train_in_stages,
    "one context": partial(train_in_stages, subsets=two_hidden.SINGLES),
    "frozen": partial(train_in_stages, frozen=True),
    "unstaged": train_at_once,
}


def train_by_name(structures: str, network: str, seed: int) -> dict:
    """Train one of ``NETWORKS``; return thinned losses and observations."""
    return NETWORKS[network](structures, seed)


TABLES = {
    "two_hidden": Table(
        train_by_name,
        sweeps.grid(structures=["trees"], network=list(NETWORKS), seed=range(10))
        + sweeps.grid(structures=["tree, ring, cross"], network=["ReLU"], seed=range(10))
        # more ReLU networks: how far one set of them is from another
        + sweeps.grid(structures=list(two_hidden.TASKS), network=["ReLU"], seed=range(10, 15)),
        repeated=(10,),
    ),
}
