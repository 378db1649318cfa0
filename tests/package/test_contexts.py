"""Theory of contexts: closed form, race law, race reduction, prediction without a fit."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose as close, assert_array_equal as equal

from mdsgdln import deviation, gates, networks, squared_error, statistics, tasks, theory, training

pytestmark = [
    pytest.mark.usefixtures("compiled_in_less_time"),
    pytest.mark.xdist_group("contexts"),  # its programs are compiled once
]
KEY = jax.random.key(0)


def aligned(path_modes, start):
    """Weights of pathways that are balanced and aligned with their modes, all of one strength."""
    weights = {}
    for path, found in path_modes.items():
        weights[path[0], path[1]] = np.sqrt(start) * found.right.T
        weights[path[1], path[2]] = np.sqrt(start) * found.left
    return weights


def final_residual(task):
    """The task without what one linear pathway on all inputs learns of it."""
    fit = np.asarray(task.targets) @ np.linalg.pinv(task.inputs) @ np.asarray(task.inputs)
    return tasks.Task(task.inputs, task.targets - fit)


def all_but_one(task, num_contexts, num_items):
    """The contextual pathways of the all-but-one network, without the common one."""
    subsets = [set(range(num_contexts)) - {context} for context in range(num_contexts)]
    masks = np.zeros((num_contexts, len(task.inputs)))
    masks[:, :num_items] = 1
    chosen = gates.context_gates(num_contexts, num_items, subsets)
    return networks.pathways(task, chosen, num_items - 1, masks)


def test_context_gates_are_context_major():
    chosen = gates.context_gates(3, 2, [range(3), (0, 2), [1]])
    equal(chosen, [[1] * 6, [1, 1, 0, 0, 1, 1], [0, 0, 1, 1, 0, 0]])


@pytest.mark.parametrize("num_items", [1, 2])
def test_candidate_has_a_common_pathway_and_one_per_subset(num_items):
    task = tasks.contextual(4, num_items)
    network = networks.contextual_pathways(task, 4, 3, 5)
    hidden = [node for node in network.graph.neurons if str(node).startswith("pathway")]
    assert len(hidden) == 1 + 4
    seen = [network.graph.neurons[f"input {number}"] for number in (0, 1)]
    assert seen == [num_items + 4, num_items]
    on = np.stack([network.node_gates[node] for node in hidden])
    equal(on.sum(axis=1), num_items * np.array([4, 3, 3, 3, 3]))


@pytest.mark.parametrize("num_contexts", [2, 3])
def test_closed_form_is_the_limit_of_training_on_the_final_residual(num_contexts):
    num_items, strengths = 4, (2e-2, 1e-2)
    task = tasks.contextual(num_contexts, num_items)
    residual = final_residual(task)
    common = statistics.modes(task)
    linear = networks.LinearNetwork(
        (len(task.inputs), len(common.singular_values), len(task.targets))
    )
    root = np.sqrt(strengths[0])
    linear_weights = [root * common.right.T, root * common.left]
    gated = all_but_one(residual, num_contexts, num_items)
    gated_weights = aligned(theory.pathway_modes(gated, residual), strengths[1])
    errors = []
    for parts in (1, 2):
        rate, seen = 0.002 * task.num_samples / parts, slice(0, 2500 * parts, parts)
        whole, rest = (
            np.asarray(training.train(*case, rate, 5000).losses)[seen]
            for case in ((linear, linear_weights, task), (gated, gated_weights, residual))
        )
        losses = whole + rest - np.sum(np.asarray(residual.targets) ** 2) / (2 * task.num_samples)
        times = rate * np.arange(5000)[seen]
        closed = theory.contextual_closed_form(num_contexts, num_items, strengths, times)
        errors.append(deviation(closed, losses))
        race = theory.pathway_race(gated, residual, strengths[1], times)
        assert deviation(race.losses, rest) < 0.01 / parts
    assert errors[0] < 0.01
    assert errors[0] / errors[1] == pytest.approx(2, abs=0.1)


RACED = tasks.contextual(3, 4)
PATHWAYS, TIMES = networks.contextual_pathways(RACED, 3, 2, 6), np.linspace(0, 400, 401)


def test_race_reduction_of_one_pathway_is_equation_seven():
    task = tasks.semantic(num_items=4)
    network = networks.pathways(task, np.ones((1, 4)), 5)
    found = statistics.modes(task)
    times = np.linspace(0, 30, 50)
    race = theory.pathway_race(network, task, 1e-3, times)
    exact = theory.mode_trajectory(times, found.singular_values, found.input_variances, 1e-3)
    (path,) = race.strengths
    close(race.strengths[path], exact, atol=1e-6)
    close(race.losses, theory.mode_losses(task, found, exact), atol=1e-6)


def test_race_reduction_with_overlapping_outputs_is_the_loss_of_its_own_strengths():
    task, network = RACED, PATHWAYS
    path_modes = theory.pathway_modes(network, task)
    race = theory.pathway_race(network, task, 1e-3, TIMES, path_modes)
    now, weights = 37, {}  # while they are learned
    for path, found in path_modes.items():
        strengths = np.asarray(race.strengths[path])[:, now]
        weights[path[0], path[1]] = found.right.T
        weights[path[1], path[2]] = found.left * strengths[None, :]
    widths = [len(weights[path[0], path[1]]) for path in path_modes]
    masks = np.ones((4, 7))
    masks[1:, 4:] = 0
    on = [network.node_gates[path[1]] for path in path_modes]
    small = networks.pathways(task, np.stack(on), widths, masks)
    assert squared_error(small, weights, task) == pytest.approx(float(race.losses[now]), rel=1e-9)
    found = theory.pathway_strengths(jax.tree.map(jnp.asarray, weights), path_modes)
    for path, strengths in found.items():
        close(strengths, race.strengths[path][:, now])


def test_race_law():
    times = [theory.learning_time(6, k) for k in range(1, 6)]
    close(times, [1.011, 0.693, 0.534, 0.423, 0.324], atol=5e-4)


# Which contexts neurons prefer --------------------------------------------------------------------


def setting(num_contexts, num_items, num_hidden, scale, structures=None):
    task = tasks.contextual(num_contexts, num_items, structures)
    network = networks.ReLUNetwork((len(task.inputs), num_hidden, len(task.targets)))
    contexts = np.repeat(np.arange(num_contexts), num_items)
    return network, network.init(KEY, scale), task, contexts


def test_it_is_the_formula_whatever_the_order_of_samples():
    """Each context weighs the outputs by its own ratio, so that the sums no longer vanish."""
    network, weights, task, contexts = setting(3, 4, 20, 0.1, ["tree", "ring", "cross"])
    parts = []
    for data, layer in zip((task.inputs, task.targets), (weights[0], weights[1].T), strict=True):
        means = np.stack([np.asarray(data)[:, contexts == c].mean(axis=1) for c in range(3)], 1)
        means -= means.mean(axis=1, keepdims=True)
        parts.append((np.asarray(layer) @ means, np.linalg.norm(means, axis=0)))
    (told, xi), (asked, eta) = parts
    found = told + asked * xi / eta
    assert np.abs(found.mean(axis=1)).max() > 1e-3
    found -= found.mean(axis=1, keepdims=True)
    close(theory.context_preference(network, weights, task, contexts), found, atol=1e-12)
    order = np.random.default_rng(0).permutation(len(contexts))
    again = theory.context_preference(network, weights, task.take(order), contexts[order])
    close(again, found, atol=1e-12)
    named = contexts + 1_700_000_000  # in single precision these would be one number
    with jax.enable_x64(False):
        close(theory.context_preference(network, weights, task, named), found, atol=1e-6)


@pytest.mark.parametrize("num_contexts", [3, 5])
def test_a_neuron_that_is_on_everywhere_keeps_its_order(num_contexts):
    """On the targets, where ρ = 1, the linear flow of a neuron multiplies a by ‖F̄‖/C."""
    network, weights, task, contexts = setting(num_contexts, 4, 20, 0.1)
    first, second = map(np.asarray, weights)
    drive = np.asarray(task.targets @ task.inputs.T) / task.num_samples
    velocity = [second.T @ drive, drive @ first.T]
    before, grown = (
        theory.context_preference(network, at, task, contexts) for at in (weights, velocity)
    )
    rate = np.linalg.norm(tasks.structure("tree", 4).mean(axis=1)) / num_contexts
    close(grown, rate * before, atol=1e-12)


def test_contexts_without_a_mean_of_their_own_are_told():
    centred = tasks.structure("tree", 4) - tasks.structure("tree", 4).mean(axis=1, keepdims=True)
    network, weights, task, contexts = setting(3, 4, 5, 0.1, [centred] * 3)
    with pytest.warns(UserWarning, match="the same mean target"):
        theory.context_preference(network, weights, task, contexts)
