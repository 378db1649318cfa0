"""The small system that stands for a two-layer network: against descent written out, bad input."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from bad_input import BAD_INPUT

from mdsgdln import networks, tasks, theory
from mdsgdln.theory import ReducedNetwork

KEY = jax.random.key(0)
TASK = tasks.contextual(2, 4)
NETWORK = networks.contextual_pathways(TASK, 2, 1, 6)
WEIGHTS = NETWORK.init(KEY, 0.2)


def descended(system, rate, num_steps):
    """Losses of gradient descent in steps of ``rate``, the gradient by autodiff."""

    def loss(weights):
        return system._replace(first=weights[0], second=weights[1]).loss()

    weights, masks, losses = (system.first, system.second), (system.first_mask, 1.0), []
    for _ in range(num_steps):
        value, gradient = jax.value_and_grad(loss)(weights)
        losses.append(value)
        weights = jax.tree.map(lambda w, g, mask: w - rate * g * mask, weights, gradient, masks)
    return np.array(losses)


def test_evolution_is_descent_to_second_order():
    system, rate = ReducedNetwork.of(NETWORK, TASK, WEIGHTS), 0.1
    losses = descended(system, rate, 200)
    times = rate * np.arange(200)
    flow, steps = system.evolve(times), system.evolve(times, rate)
    assert losses[-1] < 0.1 * losses[0]
    assert abs(flow - losses).max() > 0.005 * losses[0]
    assert abs(steps - losses).max() < 0.1 * abs(flow - losses).max()
    np.testing.assert_array_equal(flow, theory.predict_losses(NETWORK, TASK, WEIGHTS, times))


def test_descent_is_the_flow_less_half_a_step_of_its_change():
    system, step = ReducedNetwork.of(NETWORK, TASK, WEIGHTS), 0.3

    def flow(weights):
        return system._replace(first=weights[0], second=weights[1]).flow()

    velocity, change = jax.jvp(flow, [(system.first, system.second)], [system.flow()])
    expected = jax.tree.map(lambda v, c: v - step / 2 * c, velocity, change)
    jax.tree.map(np.testing.assert_allclose, system._descent(step), expected)


@pytest.mark.parametrize("step", [0.0, 0.1])
def test_what_is_traced_is_what_is_known(step):
    """Inside of jit and vmap, and its derivative by σ, diffrax gives what SciPy gives outside."""
    times = 0.1 * np.arange(200)

    def predict(scale):
        return theory.predict_losses(NETWORK, TASK, scale, times, step)

    known, scales = predict(0.2), jnp.array([0.2, 0.25])
    np.testing.assert_allclose(jax.jit(predict)(0.2), known, rtol=1e-5)
    np.testing.assert_allclose(jax.vmap(predict)(scales)[0], known, rtol=1e-5)
    _, slope = jax.jvp(predict, [0.2], [1.0])
    difference = (predict(0.2001) - predict(0.1999)) / 2e-4
    np.testing.assert_allclose(slope, difference, rtol=1e-4, atol=1e-5)


def test_whatever_is_asked_for_is_returned_along_the_way():
    system, times = ReducedNetwork.of(NETWORK, TASK, 0.01), list(range(0, 60, 20))
    outputs = system.evolve(times, output=ReducedNetwork.outputs)
    assert outputs.shape == (3, *system.targets.shape)
    errors = jnp.sum((system.targets[None] - outputs) ** 2, axis=(1, 2)) / (2 * TASK.num_samples)
    np.testing.assert_allclose(errors, system.evolve(times), rtol=1e-12)
    np.testing.assert_allclose(outputs[0], system.outputs(), rtol=1e-12)


def test_nothing_stands_for_a_network_without_a_mode():
    nothing = tasks.Task(TASK.inputs, jnp.zeros((3, 8)))
    network = networks.contextual_pathways(nothing, 2, 1, 6)
    assert ReducedNetwork.of(network, nothing, 0.1) is None


def deep():
    edges = [("x", "h"), ("h", "g"), ("g", "y")]
    return networks.GatedNetwork({"x": 6, "h": 2, "g": 2, "y": len(TASK.targets)}, edges)


def neurons():
    sizes, edges = {"x": 6, "h": 2, "y": len(TASK.targets)}, [("x", "h"), ("h", "y")]
    return networks.GatedNetwork(sizes, edges, {"h": np.ones((2, 8))})


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"network": networks.LinearNetwork((6, 3, 7))}, "network"),
        ({"network": deep()}, "one edge in and one edge out"),
        ({"network": neurons(), "scale": 0.1}, "one per neuron"),
        ({"task": tasks.contextual(2, 8)}, "targets"),
        ({"task": TASK.take([0, 1, 2])}, "samples"),
        ({"task": TASK.inputs}, "task"),
        ({"scale": -0.1}, "scale"),
        ({"scale": [0.1, 0.2, 0.3]}, "scale"),
        ({"scale": {edge: np.ones((2, 2)) for edge in WEIGHTS}}, "weights"),
        ({"scale": dict(list(WEIGHTS.items())[1:])}, "weights"),
    ],
)
def test_what_cannot_be_reduced_is_named(changes, words):
    arguments = {"network": NETWORK, "task": TASK, "scale": WEIGHTS} | changes
    with pytest.raises(BAD_INPUT, match=words):
        ReducedNetwork.of(**arguments)
