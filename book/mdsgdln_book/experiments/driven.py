"""Starts of pathways from a ReLU network's own initial weights, by driven neurons.

The neurons, and pathways of one neuron for each mode, are driven by the same error, the error of
the common pathway alone, so that they do not interact (chapter on mixed selectivity). What driven
pathways learn is proportional to their start: what the neurons have learned over what pathways have
is the start, in units of theirs, at which pathways do as the neurons do.
"""

from functools import partial

import jax
import jax.numpy as jnp

from mdsgdln import networks, theory
from mdsgdln_book import linear_maps
from mdsgdln_book.experiments.reduced import reduce_network

MOST_STEPS = 4000  # after which neurons are compared that have not learned enough


def one_neuron_per_mode(task, build, starts):
    """Return a gated network with one neuron per mode of each pathway, and its weights.

    Args:
        task: what the network is for.
        build: takes the task and ``num_hidden``, the number of neurons of a pathway, or one for
            each; returns the network.
        starts: strengths of the modes of the common pathway, and of the others.
    """
    found = theory.pathway_modes(build(task, num_hidden=1), task).values()
    network = build(task, num_hidden=[len(modes.singular_values) for modes in found])
    weights = {}
    for path, modes in zip(network.graph.paths, found, strict=True):
        root = jnp.sqrt(starts[0] if path[1] == "pathway 0" else starts[1])
        into, out = network.graph.path_edges(path)
        weights |= {into: root * modes.right.T, out: root * modes.left}
    return network, weights


def matched_initial_strengths(neurons, task, build, scale, rate, levels=(0.01,)):
    """Return the initial strengths, in σ², at which pathways learn as fast as the given neurons.

    The common one is matched on the targets, when the neurons have learned 1 % of them; the others
    on the remaining targets, at each of ``levels``, shares that increase.
    """
    relu = networks.ReLUNetwork((len(task.inputs), len(neurons[0]), len(task.targets)))
    relu, neurons, task = reduce_network(relu, neurons, task)
    grow = partial(_grow, relu, neurons, task, rate=rate)
    start = one_neuron_per_mode(task, build, (scale**2, 0.0))
    (common,) = grow(*start, pattern=task.targets, levels=jnp.array([0.01]), raw=True)
    start = one_neuron_per_mode(task, build, (scale**2 * common, scale**2))
    left_over = linear_maps.linear_residual(task).targets
    return common, grow(*start, pattern=left_over, levels=jnp.array(levels), raw=False)


@partial(jax.jit, static_argnames="raw")
def _grow(relu, neurons, task, small, pathways, *, pattern, levels, rate, raw):
    """Return the ratio of a pattern learned by neurons and by pathways, at levels of it.

    The error is that of the common pathway, or the targets while they are ``raw``.
    """

    def outputs(neurons, pathways):
        return relu.apply(neurons, task.inputs), small.apply(pathways, task.inputs)

    def go_on(state):
        step, weights, _ = state
        common = {edge: w * ("pathway 0" in edge) for edge, w in weights[1].items()}
        error = task.targets - (0 if raw else small.apply(common, task.inputs))
        answers, pull = jax.vjp(outputs, *weights)
        slope = pull((error / task.num_samples,) * 2)
        weights = jax.tree.map(lambda w, g: w + rate * g, weights, slope)
        learned = jnp.array([jnp.sum(pattern * y) for y in answers]) / jnp.sum(pattern**2)
        return step + 1, weights, learned

    def until(state, level):
        def unfinished(state):
            step, _, learned = state
            return (learned[0] < level) & (step < MOST_STEPS)

        state = jax.lax.while_loop(unfinished, go_on, state)
        return state, state[2][0] / state[2][1]

    return jax.lax.scan(until, (0, (neurons, pathways), jnp.zeros(2)), levels)[1]
