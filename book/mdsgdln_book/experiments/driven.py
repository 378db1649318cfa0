"""Gated networks with one neuron for each mode of a pathway."""

import jax.numpy as jnp

from mdsgdln import theory


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
