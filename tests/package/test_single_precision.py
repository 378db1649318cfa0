"""JAX's default precision, in which readers run the package, against double precision."""

import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from numpy.testing import assert_allclose as close

import mdsgdln as md

pytestmark = pytest.mark.usefixtures("compiled_in_less_time")
KEY = jax.random.key(0)
TASK = np.random.default_rng(0)
INPUTS = TASK.standard_normal((60, 10)) @ TASK.standard_normal((10, 10))
TARGETS = np.tanh(INPUTS @ TASK.standard_normal((10, 3)) / 3)


def in_both(function):
    """What a function returns in double and in single precision."""
    results = []
    for double in (True, False):
        with jax.enable_x64(double):
            results.append(function())
    return results


@pytest.mark.filterwarnings("ignore:predict. the curve may be")  # for the noise of batches
def test_runs_and_predictions_agree():
    def runs():
        task = md.Task.from_samples(INPUTS, TARGETS)
        network = md.Layered((10, 100, 3), jnp.tanh, biases=True)
        held_out = md.Task.from_samples(INPUTS[:9], TARGETS[:9])
        how = {"optimiser": optax.adam(1e-3), "batch_size": 16, "key": KEY, "held_out": held_out}
        weights = network.init(KEY, 0.01)
        trained = md.train(network, weights, task, None, 200, **how)
        return trained, md.predict(network, 0.01, task, None, 200, **how)

    double, single = in_both(runs)
    for one, other in zip(double, single, strict=True):
        assert other.losses.dtype == other.held_out.dtype == np.float32
        assert one.losses.dtype == np.float64
    # the weights of both are drawn by other numbers
    assert md.deviation(single[0].losses, double[0].losses, None) < 0.1
    assert md.deviation(single[1].losses, double[1].losses, None) < 0.1
    close(single[1].error, double[1].error, rtol=0.7)


def test_closed_forms_and_reductions_agree():
    def values():
        task = md.tasks.contextual(3, 4, ["tree", "ring", "cross"])
        gated = md.networks.contextual_pathways(task, 3, 2, 30)
        weights = {
            edge: jnp.asarray(0.1 * np.random.default_rng(1).standard_normal(shape))
            for edge, shape in gated.graph.shapes.items()
        }
        modes = md.statistics.modes(task)
        times = jnp.arange(50) * 0.5
        strengths = md.theory.mode_trajectory(
            times, modes.singular_values, modes.input_variances, 1e-4
        )
        small, _, reduced = md.theory.stand_in(gated, weights, task)
        return {
            "losses": md.train(gated, weights, task, 0.05, 300).losses,
            "reduced": md.predict(gated, weights, task, 0.05, 300).losses,
            "from σ": md.predict(gated, 1e-2, task, 0.05, 300).losses,
            "modes": modes.singular_values,
            "trajectories": md.theory.mode_losses(task, modes, strengths),
            "sizes": np.array([*small.graph.neurons.values(), *reduced.targets.shape]),
        }

    double, single = in_both(values)
    for name, value in double.items():
        close(single[name], value, rtol=2e-4, err_msg=name)


def test_importing_leaves_the_precision_alone():
    code = (
        "import mdsgdln as md, jax; print(jax.numpy.ones(1).dtype, md.tasks.xor(1.0).inputs.dtype)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "float32 float32", done.stderr
