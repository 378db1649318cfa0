"""Weights of other frameworks: the same outputs, and the same descent on the same clock."""

import jax
import numpy as np
import optax
import pytest
from numpy.testing import assert_allclose as close, assert_array_equal as equal

from mdsgdln import networks, tasks, training

RNG = np.random.default_rng(0)
INPUTS, TARGETS = RNG.normal(size=(5, 12)), RNG.normal(size=(3, 12))
W1, W2, B1 = RNG.normal(size=(7, 5)) / 3, RNG.normal(size=(3, 7)) / 3, RNG.normal(size=7) / 3
B2 = RNG.normal(size=3) / 3
TASK = tasks.Task(INPUTS, TARGETS)
RATE, STEPS = 0.3, 20


def same(layers, biases, outputs, losses, convention, factor, descended=None):
    """Hold a framework's start, outputs (rows) and descent against the network of its weights.

    ``factor`` is its loss over ours, and ``descended``, if another one, that of its gradient.
    """
    network, weights = networks.from_weights(
        layers, biases, convention=convention, check=(INPUTS.T, outputs)
    )
    step = RATE * (factor if descended is None else descended)
    run = training.train(network, weights, TASK, step, STEPS)
    close(factor * run.losses, losses, rtol=1e-5)
    assert run.losses[-1] < 0.9 * run.losses[0]


def test_the_layers_are_those_that_were_given():
    theirs, biases = [W1.copy(), W2], [B1.copy(), None]
    network, ((first, bias), second) = networks.from_weights(theirs, biases)
    theirs[0] += 1  # their framework trains on
    biases[0] += 1
    assert network == networks.ReLUNetwork((5, 7, 3), [True, False])
    equal(first, W1)
    equal(bias, B1)
    equal(second, W2)
    deep = [W1.T, W2.T, W2]
    for convention in ("flax", "sklearn"):
        linear, weights = networks.from_weights(deep, convention=convention, activation="linear")
        assert isinstance(linear, networks.LinearNetwork) and linear.sizes == (5, 7, 3, 7)
        for layer, given in zip(weights, deep, strict=True):
            equal(layer, given.T)


def outputs_of(activation, bias=0.0):
    """Outputs of a network with another activation, samples as rows."""
    return (W2 @ activation(W1 @ INPUTS + B1[:, None]) + bias).T


@pytest.mark.parametrize(
    "outputs",
    [
        outputs_of(lambda z: np.maximum(z, 0.01 * z)),
        outputs_of(np.tanh),
        outputs_of(lambda z: np.maximum(z, 0), bias=0.01),
        outputs_of(lambda z: np.maximum(z, 0))[::-1],
    ],
    ids=["leaky", "tanh", "output bias", "order"],
)
def test_outputs_of_another_network_are_refused_though_they_are_small(outputs):
    with pytest.raises(ValueError, match="check: .*activation.*bias.*order"):
        networks.from_weights([W1, 1e-4 * W2], [B1, None], check=(INPUTS.T, 1e-4 * outputs))


SMALL = [1e-3 * W1, W2]


def outputs_of_small(inputs):
    """A function of a framework: samples are rows, activity is that of a tangent."""
    assert inputs.dtype == np.float32
    return np.tanh(inputs @ SMALL[0].T) @ SMALL[1].T


@pytest.mark.parametrize("activation", ["linear", jax.numpy.tanh])
def test_outputs_that_do_not_show_the_activation_are_refused(activation):
    inputs = INPUTS.T.astype(np.float32)
    check = inputs, outputs_of_small(inputs)
    with pytest.raises(ValueError, match="check: expected outputs that no other activation gives"):
        networks.from_weights(SMALL, activation=activation, check=check)


def test_the_function_of_a_framework_is_asked_where_neurons_are_active():
    network, _ = networks.from_weights(SMALL, activation=jax.numpy.tanh, check=outputs_of_small)
    assert network.activation is jax.numpy.tanh
    for other in ("linear", "relu", jax.nn.gelu):
        with pytest.raises(ValueError, match="check: expected the outputs"):
            networks.from_weights(SMALL, activation=other, check=outputs_of_small)


@pytest.mark.parametrize("biases", [(B1, None), (None, B2)], ids=["hidden", "output"])
def test_a_function_is_asked_where_one_layer_alone_has_a_bias(biases):
    first, second = (0 if bias is None else bias for bias in biases)

    def theirs(samples):
        return np.maximum(samples @ W1.T + first, 0) @ W2.T + second

    network, _ = networks.from_weights([W1, W2], biases, check=theirs)
    assert network.biases == tuple(bias is not None for bias in biases)


class Tensor(np.ndarray):
    """As of PyTorch: NumPy cannot read it in half precision."""

    def detach(self):
        return self

    cpu = detach

    def element_size(self):
        return self.itemsize

    def double(self):
        return np.asarray(self, float)

    def __array__(self, *arguments, **named):
        raise TypeError("Got unsupported ScalarType BFloat16")


def test_tensors_of_half_precision_are_read():
    _, (found,) = networks.from_weights([W1.astype(np.float16).view(Tensor)], activation="linear")
    equal(found, W1.astype(np.float16).astype(float))


def test_scikit_learn():
    """Its ``loss_`` is a mean over outputs, its gradient that of their sum."""
    from sklearn.neural_network import MLPRegressor

    mlp = MLPRegressor(
        hidden_layer_sizes=7,
        solver="sgd",
        alpha=0,
        batch_size=12,
        learning_rate_init=RATE,
        momentum=0,
        shuffle=False,
    )
    mlp.partial_fit(INPUTS.T, TARGETS.T)
    mlp.coefs_, mlp.intercepts_ = [W1.T.copy(), W2.T.copy()], [B1.copy(), B2.copy()]
    layers, biases = [part.copy() for part in mlp.coefs_], [B1, B2]
    outputs, losses = mlp.predict(INPUTS.T), []
    for _ in range(STEPS):
        mlp.partial_fit(INPUTS.T, TARGETS.T)
        losses.append(mlp.loss_)
    same(layers, biases, outputs, losses, "sklearn", 1 / 3, 1)


@pytest.mark.parametrize(
    ("convention", "error", "factor"),
    [("torch", optax.l2_loss, 1 / 3), ("flax", optax.squared_error, 2 / 3)],
)
def test_layers_as_other_libraries_have_them(convention, error, factor):
    """(out, in) as of PyTorch and Equinox, (in, out) as of Flax; the loss a mean over outputs."""

    def turned(layer):
        return layer.T if convention == "flax" else layer

    def outputs(layers):
        hidden = turned(layers["first"]) @ INPUTS + layers["bias"][:, None]
        return (turned(layers["second"]) @ jax.nn.relu(hidden)).T

    def loss(layers):
        return error(outputs(layers), TARGETS.T).mean()

    def step(layers, _):
        value, slopes = jax.value_and_grad(loss)(layers)
        return jax.tree.map(lambda layer, slope: layer - RATE * slope, layers, slopes), value

    start = {"first": turned(W1), "bias": B1, "second": turned(W2)}
    _, losses = jax.jit(lambda layers: jax.lax.scan(step, layers, length=STEPS))(start)
    layers = [start["first"], start["second"]]
    same(layers, [B1, None], outputs(start), losses, convention, factor)
