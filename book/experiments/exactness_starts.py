"""Why all-but-one networks are early or late: inherited starts against what a gate costs."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from mdsgdln import gates, networks, reln, theory
from mdsgdln_book.experiments.exactness import SUM_STEP, max_steps, setup, side_by_side

HIDDEN, NUM_ITEMS, LEVEL = 700, 8, 0.01


def experiment(contexts: int, scale: float, seed: int) -> dict:
    """Return signed differences from the ReLU network for starts and costs, and the starts.

    "same": the ReLU network's σ. "counted": its neurons, shared out. "driven": what its neurons
    have grown to. "taxed": contextual pathways pay for their gates.
    """
    task, relu, free = setup(f"{contexts} contexts, {NUM_ITEMS} items, trees", HIDDEN)
    width = HIDDEN // (contexts + 1)
    cost = np.sqrt(NUM_ITEMS / (NUM_ITEMS + contexts))
    taxed = all_but_one(task, contexts, width, cost)
    keys = jax.random.split(jax.random.key(seed))
    weights = relu.init(keys[0], scale)
    counted = HIDDEN / 4, HIDDEN / (2 * contexts)
    starts = {
        "same": (free, (width / 2, width / 2)),
        "counted": (free, counted),
        "counted_taxed": (taxed, counted),
        "driven": (free, driven_starts(relu, weights, task, contexts, scale, 1.0)),
        "driven_taxed": (taxed, driven_starts(relu, weights, task, contexts, scale, cost)),
    }
    pairs = [(relu, weights)]
    for network, (common, contextual) in starts.values():
        scales = {
            edge: scale * jnp.sqrt(2 * (common if "pathway 0" in edge else contextual) / width)
            for edge in network.graph.edges
        }
        pairs.append((network, network.init(keys[1], scales)))
    losses, _, _ = side_by_side(pairs, task, max_steps(contexts, HIDDEN, scale))
    results = {"common_start": starts["driven"][1][0], "start": starts["driven"][1][1]}
    results["start_taxed"] = starts["driven_taxed"][1][1]
    for name, curve in zip(starts, losses[1:], strict=True):
        results[f"{name}_signed"] = jnp.sum(curve - losses[0]) / jnp.sum(losses[0])
        results[f"{name}_deviation"] = jax.jit(reln.deviation)(curve, losses[0])
    return results


def all_but_one(task, num_contexts, num_hidden, cost):
    """Return the candidate with contextual gates of ``cost`` where they are on."""
    subsets = [range(num_contexts)]
    subsets += [[c for c in range(num_contexts) if c != off] for off in range(num_contexts)]
    masks = np.ones((num_contexts + 1, len(task.inputs)))
    masks[1:, NUM_ITEMS:] = 0
    on = np.array(gates.context_gates(NUM_ITEMS, num_contexts, subsets), float)
    on[1:] *= cost
    return networks.pathways(task, on, num_hidden, masks)


def driven_starts(relu, weights, task, num_contexts, scale, cost):
    """Return the starts, in σ², of a common and of contextual pathways that match the neurons."""
    with jax.ensure_compile_time_eval():
        network = all_but_one(task, num_contexts, 1, cost)
        found = list(theory.pathway_modes(network, task).values())
        sizes = [len(modes.singular_values) for modes in found]
        small = all_but_one(task, num_contexts, sizes, cost)
        units = {}
        for path, modes in zip(small.graph.paths, found, strict=True):
            into, out = small.graph.path_edges(path)
            units |= {into: jnp.asarray(modes.right.T), out: jnp.asarray(modes.left)}
        linear = np.linalg.pinv(task.inputs) @ task.inputs
        left_over = task.targets - task.targets @ linear

    def pathways(common, contextual):
        return {
            e: scale * jnp.sqrt(common if "pathway 0" in e else contextual) * w
            for e, w in units.items()
        }

    grow = partial(_grow, relu, weights, small, task)
    common = grow(pathways(1.0, 0.0), task.targets, raw=True)
    return common, grow(pathways(common, 1.0), left_over, raw=False)


def _grow(relu, neurons, small, task, modes, pattern, raw):
    """Drive neurons and pathways by one error; return their ratio at ``LEVEL`` of the pattern."""

    def outputs(neurons, modes):
        return relu.apply(neurons, task.inputs), small.apply(modes, task.inputs)

    def share(output):
        return jnp.sum(pattern * output) / jnp.sum(pattern**2)

    def step(state):
        step, neurons, modes, _ = state
        kept = {e: w * ("pathway 0" in e) for e, w in modes.items()}
        error = task.targets - (0 if raw else small.apply(kept, task.inputs))
        learned, pull = jax.vjp(outputs, neurons, modes)
        slope = pull((SUM_STEP * error,) * 2)
        neurons, modes = jax.tree.map(jnp.add, (neurons, modes), slope)
        return step + 1, neurons, modes, jnp.array([share(y) for y in learned])

    def unfinished(state):
        return (state[3][0] < LEVEL) & (state[0] < 4000)

    learned = jax.lax.while_loop(unfinished, step, (0, neurons, modes, jnp.zeros(2)))[3]
    return learned[0] / learned[1]
