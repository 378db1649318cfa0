"""``training.train`` against loops in Python and against its matrix products alone.

The contextual ReLU network of MHS §4: three contexts, 700 hidden neurons, 8001 steps. With batches:
against a scan written out, of 64 of as many samples as MNIST has, 784 inputs, 128 hidden neurons.
"""

import jax
import jax.numpy as jnp
import numpy as np
import optax
from timing import interleaved

from mdsgdln import losses, networks, tasks, training

SCALE, RATE, NUM_STEPS = 0.005 / 700, 0.024, 8001
SAMPLES, IMAGE, CLASSES, BATCH, BATCHES = 60_000, (784, 128), 10, 64, 3000


def measure():
    """Return seconds of each way to train, and the ratios that matter."""
    task = tasks.contextual(3)
    sizes = len(task.inputs), 700, len(task.targets)
    network = networks.ReLUNetwork(sizes)
    draw = np.random.default_rng(0)  # the same start in both precisions, but for rounding
    weights = [
        jnp.asarray(SCALE * draw.normal(size=shape))
        for shape in zip(sizes[1:], sizes, strict=False)
    ]
    curve = training.train(network, weights, task, RATE, NUM_STEPS).losses
    best = interleaved(
        train=lambda: training.train(network, weights, task, RATE, NUM_STEPS).losses,
        loop_that_reads=lambda: loop(weights, task, reads=True),
        loop=lambda: loop(weights, task, reads=False),
        products=lambda: products(*weights, task.inputs),
    )
    best |= measure_batches()
    return best | {
        "losses": curve[1000::1000].tolist(),
        "loop_that_reads / train": best["loop_that_reads"] / best["train"],
        "loop / train": best["loop"] / best["train"],
        "train / products": best["train"] / best["products"],
        "batches / bare_scan": best["batches"] / best["bare_scan"],
    }


def measure_batches():
    """Return seconds with batches, and of the same updates by a scan of samples in rows."""
    draw = np.random.default_rng(0)
    images = jnp.asarray(draw.normal(size=(SAMPLES, IMAGE[0])), float)
    labels = jnp.asarray(np.eye(CLASSES)[draw.integers(0, CLASSES, SAMPLES)], float)
    task = tasks.Task.from_samples(images, labels)
    network, key = networks.ReLUNetwork((*IMAGE, CLASSES)), jax.random.key(0)
    weights = network.init(key, 0.01)
    batches = jnp.asarray(draw.integers(0, SAMPLES, (BATCHES, BATCH)), np.int32)
    options = {"loss": losses.cross_entropy, "batch_size": BATCH, "key": key}
    return interleaved(
        batches=lambda: training.train(network, weights, task, 0.1, BATCHES, **options).losses,
        bare_scan=lambda: bare_scan(weights, images, labels, batches)[1],
    )


@jax.jit
def bare_scan(weights, images, labels, batches):
    """Descend the cross-entropy of one batch after another, as is usual with rows."""

    def loss_of(weights, images, labels):
        first, second = weights
        outputs = jax.nn.relu(images @ first.T) @ second.T
        return optax.softmax_cross_entropy(outputs, labels).mean()

    def step(weights, batch):
        value, gradient = jax.value_and_grad(loss_of)(weights, images[batch], labels[batch])
        return jax.tree.map(lambda old, slope: old - 0.1 * slope, weights, gradient), value

    return jax.lax.scan(step, weights, batches)


OPTIMISER = optax.sgd(RATE)


def loss(weights, inputs, targets):
    """The loss written out, as in any such experiment."""
    first, second = weights
    errors = targets - second @ jax.nn.relu(first @ inputs)
    return jnp.sum(errors**2) / (2 * inputs.shape[1])


@jax.jit
def update(weights, state, inputs, targets):
    """One step of gradient descent."""
    value, gradient = jax.value_and_grad(loss)(weights, inputs, targets)
    change, state = OPTIMISER.update(gradient, state, weights)
    return optax.apply_updates(weights, change), state, value


def loop(weights, task, reads):
    """Train as is usual: a compiled update, called once a step; perhaps the loss is looked at."""
    state, losses = OPTIMISER.init(weights), []
    for _ in range(NUM_STEPS):
        weights, state, value = update(weights, state, task.inputs, task.targets)
        losses.append(float(value) if reads else value)
    return losses


@jax.jit
def products(first, second, inputs):
    """The five matrix products of a step, and nothing else, as often."""

    def step(weights, _):
        first, second = weights
        hidden = first @ inputs
        outputs = second @ hidden
        return (second.T @ outputs @ inputs.T, outputs @ hidden.T), None

    return jax.lax.scan(step, (first, second), None, length=NUM_STEPS)[0]
